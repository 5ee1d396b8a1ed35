/* test_shingle_set.c - distinct hashes, and counting those of another list, against a slow search
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/sketch.h>

#include "base/hash.h"
#include "sketch/shingle_set.h"

enum { MOST = 3000 };

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static bool stands_in(const uint64_t *list, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* Values that repeat, that begin their search at the same slot, and the value 0. */
static void fill(uint64_t *value, size_t n, unsigned kind)
{
    for (size_t i = 0; i < n; i++)
        switch (kind) {
        case 0: value[i] = any(); break;
        case 1: value[i] = any() % (n / 2 + 1); break;
        case 2: value[i] = any() % 97 << 57; break;
        default: value[i] = any() % 16 | UINT64_C(0xFFFFFFFFFFFFFFF0); break;
        }
}

static void distinct_values_are_kept_in_order_of_first_occurrence(void **state)
{
    static uint64_t value[MOST], expected[MOST];
    struct nd_shingle_set set = {0};

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        size_t n = round < 20 ? round : any() % MOST, n_expected = 0, done = 0;

        fill(value, n, round % 4);
        for (size_t i = 0; i < n; i++)
            if (!stands_in(expected, n_expected, value[i]))
                expected[n_expected++] = value[i];
        nd_shingle_set_clear(&set);
        while (done < n) {
            size_t m = 1 + any() % (n - done);

            assert_true(nd_shingle_set_add(&set, value + done, m));
            done += m;
        }
        assert_int_equal(set.count, n_expected);
        if (n_expected)
            assert_memory_equal(set.distinct, expected, n_expected * sizeof *expected);
    }
    nd_shingle_set_release(&set);
}

static size_t make_distinct(uint64_t *out, size_t n, unsigned kind)
{
    size_t count = 0;

    fill(out, n, kind);
    for (size_t i = 0; i < n; i++)
        if (!stands_in(out, count, out[i]))
            out[count++] = out[i];
    return count;
}

static void shared_values_are_counted_exactly(void **state)
{
    static uint64_t a[MOST], b[MOST];
    struct nd_shingle_set set = {0};

    (void)state;
    for (unsigned round = 0; round < 80; round++) {
        size_t n_a = make_distinct(a, any() % 700, round % 4), n_b, shared = 0;
        uint64_t found;

        n_b = make_distinct(b, any() % 700, any() % 4);
        for (size_t i = 0; i < n_b && n_a; i++)
            if (any() % 2 && !stands_in(b, n_b, a[i % n_a]))
                b[i] = a[i % n_a];
        for (size_t i = 0; i < n_b; i++)
            shared += stands_in(a, n_a, b[i]);
        assert_true(round % 2 ? nd_shingle_set_build(&set, a, n_a)
                              : nd_shingle_set_build_distinct(&set, a, n_a));
        found = nd_shingle_set_shared(&set, b, n_b, 0);
        assert_int_equal(found, shared);
        assert_int_equal(nd_shingle_set_shared(&set, b, n_b, shared), shared);
        assert_true(nd_shingle_set_shared(&set, b, n_b, shared + 1) == ND_SHARED_TOO_FEW);
    }
    nd_shingle_set_release(&set);
}

/* In slots of 16 bits and of 32: value i is one of the first `different`, which are distinct. */
static void occurrences_are_counted_exactly(void **state)
{
    enum { LARGE = 200000 };
    static const size_t different[] = {1, 7, 500, 70000};
    uint64_t *value = malloc(LARGE * sizeof *value);

    (void)state;
    assert_non_null(value);
    for (size_t d = 0; d < sizeof different / sizeof *different; d++) {
        uint32_t *count = calloc(LARGE, sizeof *count), *expected = calloc(LARGE, sizeof *count);
        struct nd_shingle_set set = {0};

        assert_true(count && expected);
        for (size_t i = 0; i < LARGE; i++) {
            size_t which = i < different[d] ? i : any() % different[d];

            value[i] = nd_mix64(which);
            expected[which]++;
        }
        assert_true(nd_shingle_set_build(&set, value, LARGE));
        assert_int_equal(set.count, different[d]);
        nd_shingle_set_count(&set, value, LARGE, count);
        assert_memory_equal(count, expected, LARGE * sizeof *count);
        nd_shingle_set_release(&set);
        free(count);
        free(expected);
    }
    free(value);
}

static void overlap_is_the_same_both_ways(void **state)
{
    static uint64_t a[MOST], b[MOST];
    size_t n_a = make_distinct(a, MOST, 1), n_b = make_distinct(b, MOST / 3, 1);
    struct nd_overlap ab, ba;

    (void)state;
    assert_int_equal(nd_shingles_overlap(a, n_a, b, n_b, &ab), ND_OK);
    assert_int_equal(nd_shingles_overlap(b, n_b, a, n_a, &ba), ND_OK);
    assert_int_equal(ab.shared, ba.shared);
    assert_int_equal(ab.a, n_a);
    assert_int_equal(ab.b, n_b);
    assert_int_equal(nd_shingles_overlap(a, 0, b, n_b, &ab), ND_OK);
    assert_int_equal(ab.shared, 0);
}

/* A large set, then a small one in the same memory, must not see the large one's values. */
static void a_set_forgets_what_it_held(void **state)
{
    static uint64_t large[MOST], small[8];
    struct nd_shingle_set set = {0};

    (void)state;
    fill(large, MOST, 0);
    fill(small, 8, 0);
    for (int round = 0; round < 3; round++) {
        assert_true(nd_shingle_set_build(&set, large, MOST));
        assert_int_equal(nd_shingle_set_shared(&set, large, MOST, 0), MOST);
        assert_true(nd_shingle_set_build(&set, small, 8));
        assert_int_equal(nd_shingle_set_shared(&set, large, MOST, 0), 0);
    }
    assert_true(nd_shingle_set_build(&set, NULL, 0));
    assert_int_equal(nd_shingle_set_shared(&set, small, 8, 0), 0);
    nd_shingle_set_release(&set);
}

/* Numbers of entries outgrow 16 bits between one addition and the next, and at once. */
static void a_set_of_any_size_is_exact(void **state)
{
    enum { LARGE = 150000 };
    static const size_t sizes[] = {65534, 65535, 65536, LARGE};
    static const size_t steps[] = {LARGE, 8192, 65535};
    uint64_t *value = malloc(2 * LARGE * sizeof *value);
    struct nd_shingle_set set = {0};

    (void)state;
    assert_non_null(value);
    for (size_t i = 0; i < (size_t)2 * LARGE; i++)
        value[i] = nd_mix64(i);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            size_t n = sizes[s];

            nd_shingle_set_clear(&set);
            for (size_t i = 0; i < n; i += steps[k])
                assert_true(
                    nd_shingle_set_add(&set, value + i, n - i < steps[k] ? n - i : steps[k]));
            assert_true(nd_shingle_set_add(&set, value, n / 2));
            assert_int_equal(set.count, n);
            assert_memory_equal(set.distinct, value, n * sizeof *value);
            assert_int_equal(nd_shingle_set_shared(&set, value + n / 3, LARGE, 0), n - n / 3);
            assert_true(nd_shingle_set_build_distinct(&set, value, n));
            assert_memory_equal(set.distinct, value, n * sizeof *value);
            assert_int_equal(nd_shingle_set_shared(&set, value + n / 3, LARGE, 0), n - n / 3);
        }
    nd_shingle_set_release(&set);
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distinct_values_are_kept_in_order_of_first_occurrence),
        cmocka_unit_test(shared_values_are_counted_exactly),
        cmocka_unit_test(occurrences_are_counted_exactly),
        cmocka_unit_test(overlap_is_the_same_both_ways),
        cmocka_unit_test(a_set_forgets_what_it_held),
        cmocka_unit_test(a_set_of_any_size_is_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
