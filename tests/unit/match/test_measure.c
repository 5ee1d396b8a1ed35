/* test_measure.c - thresholds in integers against trying every count */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/measure.h"

static bool reaches(enum nd_verify verify, uint64_t a, uint64_t b, uint64_t shared,
                    struct nd_fraction bound, bool strictly)
{
    struct nd_overlap overlap = {a, b, shared};

    return nd_fraction_compare(nd_measure(verify, &overlap), bound) >= (strictly ? 1 : 0);
}

static void need_is_the_least_that_reaches(void **state)
{
    static const struct nd_ratio threshold[] = {{4, 5},   {1, 2},   {1, 1},
                                                {1, 100}, {17, 20}, {999, 1000}};
    static const enum nd_verify verify[] = {ND_VERIFY_JACCARD, ND_VERIFY_CONTAINMENT,
                                            ND_VERIFY_COSINE, ND_VERIFY_CONTAINMENT_OF_KEPT,
                                            ND_VERIFY_CONTAINMENT_EITHER};

    (void)state;
    for (unsigned v = 0; v < 5; v++) {
        for (unsigned t = 0; t < sizeof threshold / sizeof *threshold; t++) {
            struct nd_fraction bound = nd_measure_threshold(verify[v], threshold[t]);

            for (uint64_t a = 1; a < 60; a++) {
                for (uint64_t b = 1; b < 60; b++) {
                    uint64_t most = a < b ? a : b;

                    for (int strictly = 0; strictly < 2; strictly++) {
                        uint64_t need = nd_measure_need(verify[v], a, b, bound, strictly),
                                 least = 1;

                        while (least <= most && !reaches(verify[v], a, b, least, bound, strictly))
                            least++;
                        if (least <= most)
                            assert_int_equal(need, least);
                        else
                            assert_true(need > most);
                    }
                }
            }
        }
    }
}

static void the_range_is_where_the_need_is_possible(void **state)
{
    static const struct nd_ratio threshold[] = {{4, 5}, {1, 2}, {1, 1}, {1, 100}, {17, 20}};

    (void)state;
    for (enum nd_verify v = ND_VERIFY_JACCARD; v <= ND_VERIFY_CONTAINMENT_EITHER; v++) {
        if (v == ND_VERIFY_NONE)
            continue;
        for (unsigned t = 0; t < sizeof threshold / sizeof *threshold; t++) {
            struct nd_fraction bound = nd_measure_threshold(v, threshold[t]);

            for (uint64_t a = 1; a < 120; a++) {
                uint32_t least, most;

                nd_measure_range(v, a, bound, &least, &most);
                for (uint64_t b = 1; b < 300; b++) {
                    bool possible = nd_measure_need(v, a, b, bound, false) <= (a < b ? a : b);

                    assert_int_equal(possible, b >= least && b <= most);
                }
            }
        }
    }
}

static void large_counts_do_not_overflow(void **state)
{
    const uint64_t n = UINT64_C(0x7fffffff);
    struct nd_overlap all = {n, n, n}, less = {n, n, n - 1};

    (void)state;
    for (enum nd_verify v = ND_VERIFY_JACCARD; v <= ND_VERIFY_CONTAINMENT_EITHER; v++) {
        if (v == ND_VERIFY_NONE)
            continue;
        struct nd_fraction one = nd_measure_threshold(v, (struct nd_ratio){1, 1});

        assert_int_equal(nd_fraction_compare(nd_measure(v, &all), one), 0);
        assert_true(nd_fraction_compare(nd_measure(v, &less), one) < 0);
        assert_int_equal(nd_measure_need(v, n, n, one, false), n);
        assert_true(nd_measure_need(v, n, n, one, true) > n);
    }
}

static void containment_has_a_direction(void **state)
{
    struct nd_overlap o = {10, 40, 8}, turned = {40, 10, 8};

    (void)state;
    assert_int_equal(nd_measure(ND_VERIFY_CONTAINMENT, &o).den, 10);
    assert_int_equal(nd_measure(ND_VERIFY_CONTAINMENT, &turned).den, 40);
    assert_int_equal(nd_measure(ND_VERIFY_CONTAINMENT_OF_KEPT, &o).den, 40);
    assert_int_equal(nd_measure(ND_VERIFY_CONTAINMENT_OF_KEPT, &turned).den, 10);
    assert_int_equal(nd_measure(ND_VERIFY_CONTAINMENT_EITHER, &o).den, 10);
    assert_int_equal(nd_measure(ND_VERIFY_CONTAINMENT_EITHER, &turned).den, 10);
}

static void nothing_shared_measures_nothing(void **state)
{
    struct nd_overlap none = {0, 0, 0};

    (void)state;
    assert_int_equal(nd_measure(ND_VERIFY_JACCARD, &none).num, 0);
    assert_int_not_equal(nd_measure(ND_VERIFY_CONTAINMENT, &none).den, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(need_is_the_least_that_reaches),
        cmocka_unit_test(the_range_is_where_the_need_is_possible),
        cmocka_unit_test(large_counts_do_not_overflow),
        cmocka_unit_test(containment_has_a_direction),
        cmocka_unit_test(nothing_shared_measures_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
