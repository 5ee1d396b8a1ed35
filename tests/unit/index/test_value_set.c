/* test_value_set.c - sets of values, and the samples that are expected of documents */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "index/containers.h"
#include "index/value_set.h"

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

/* Samples are of small values, and the sets of several workers are joined. */
static void a_set_has_what_was_added_and_nothing_else(void **state)
{
    enum { VALUES = 300000, RANGE = 1 << 22 };
    static bool is_in[RANGE];
    struct nd_value_set a = {.n_slots = 0}, b = {.n_slots = 0};
    uint64_t seed = 7;
    size_t count = 0;
    (void)state;

    assert_false(nd_value_set_has(&a, 1));
    for (size_t i = 0; i < VALUES; i++) {
        uint32_t value = (uint32_t)(1 + next(&seed) % (RANGE - 1));

        assert_true(nd_value_set_add(i % 3 ? &a : &b, value));
        count += !is_in[value];
        is_in[value] = true;
    }
    assert_true(nd_value_set_add_all(&a, &b));
    assert_int_equal(a.count, count);
    for (uint32_t value = 1; value < RANGE; value++)
        if (nd_value_set_has(&a, value) != is_in[value])
            fail_msg("%u", value);
    assert_true(nd_value_set_add(&a, UINT32_MAX));
    assert_true(nd_value_set_has(&a, UINT32_MAX));
    nd_value_set_release(&a);
    nd_value_set_release(&b);
    assert_true(nd_value_set_add_all(&a, &b));
    assert_false(nd_value_set_has(&a, 1));
}

/* The sample of a document is the same, whatever is left out of the rest. */
static void expected_values_begin_with_the_sample(void **state)
{
    enum { DOCUMENTS = 40, MOST = 400 };
    const struct nd_container_params params = {.way = ND_CONTAINERS_IN_KEPT,
                                               .threshold = {1, 1},
                                               .sample = ND_SAMPLE_OF_ALL,
                                               .min_shared = ND_SAMPLE_OF_ALL};
    static uint64_t shingle[DOCUMENTS][MOST], scratch[2 * MOST];
    static uint32_t all[MOST], some[MOST];
    size_t n[DOCUMENTS], n_left_out = 0;
    struct nd_value_set expected = {.n_slots = 0};
    uint64_t seed = 11;
    (void)state;

    assert_true(nd_containers_expect(&params));
    for (size_t d = 0; d < DOCUMENTS; d++) {
        n[d] = 1 + next(&seed) % MOST;
        for (size_t i = 0; i < n[d]; i++)
            shingle[d][i] = next(&seed) % 20000;
        assert_true(nd_container_expect(&params, shingle[d], n[d], &expected));
    }
    for (size_t d = 0; d < DOCUMENTS; d++) {
        size_t whole = nd_container_values(shingle[d], n[d], 0, NULL, all, scratch),
               left = nd_container_values(shingle[d], n[d], 0, &expected, some, scratch);
        size_t sample = whole < ND_SAMPLE_OF_ALL ? whole : ND_SAMPLE_OF_ALL;

        assert_true(left >= sample);
        assert_memory_equal(all, some, sample * sizeof *all);
        n_left_out += whole - left;
    }
    assert_true(n_left_out > 1000);
    nd_value_set_release(&expected);
}

static void nothing_is_expected_where_a_sample_may_be_shared_in_part(void **state)
{
    struct nd_container_params params = {.way = ND_CONTAINERS_IN_KEPT,
                                         .threshold = {1, 1},
                                         .sample = ND_SAMPLE_OF_ALL,
                                         .min_shared = ND_SAMPLE_OF_ALL};
    (void)state;

    params.way = ND_CONTAINERS_BY_SMALLER;
    assert_false(nd_containers_expect(&params));
    params.way = ND_CONTAINERS_IN_KEPT;
    params.threshold = (struct nd_ratio){9, 10};
    assert_false(nd_containers_expect(&params));
    params.threshold = (struct nd_ratio){1, 1};
    params.min_shared = 1;
    assert_false(nd_containers_expect(&params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_what_was_added_and_nothing_else),
        cmocka_unit_test(expected_values_begin_with_the_sample),
        cmocka_unit_test(nothing_is_expected_where_a_sample_may_be_shared_in_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
