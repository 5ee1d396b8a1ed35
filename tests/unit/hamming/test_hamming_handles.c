/* test_hamming_handles.c - what handles refuse, that functions may call back, and that memory of
 * what was removed comes back
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <neardup/hamming.h>
#include <neardup/hamming_file.h>
#include <neardup/hamming_stats.h>

#include "base/hash.h"

static struct nd_hamming_plan plan_of(enum nd_hamming_family family, uint64_t count)
{
    const struct nd_hamming_problem problem = {64, 3, count};
    struct nd_hamming_plan plan;

    assert_int_equal(nd_hamming_design(&problem, NULL, family, 0, 4, &plan, NULL), ND_OK);
    return plan;
}

static struct nd_hamming *index_of(enum nd_hamming_family family, uint64_t count)
{
    struct nd_hamming_plan plan = plan_of(family, count);
    struct nd_hamming *index;

    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
    return index;
}

/* Uniform, and with ever more ones, so that every shard of popcount is met. */
static uint64_t any_row(uint64_t i)
{
    uint64_t x = nd_mix64(i), y = nd_mix64(i + 1000000007);

    return i % 4 == 0 ? x & y : i % 4 == 1 ? x | y : i % 4 == 2 ? x << i % 64 : x;
}

static void memory_of_what_was_removed_comes_back(void **state)
{
    enum { ROUNDS = 60, EACH = 2000, STAYING = 1000 };

    (void)state;
    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++) {
        const enum nd_hamming_family family = (enum nd_hamming_family)f;
        struct nd_hamming *index = index_of(family, STAYING);
        size_t after_some = 0, after_all;

        for (uint64_t i = 0; i < STAYING; i++) {
            uint64_t row = any_row(i);

            assert_int_equal(nd_hamming_add(index, &row, NULL, (uint32_t)i, 1, NULL), ND_OK);
        }
        for (uint64_t round = 0; round < ROUNDS; round++) {
            for (uint64_t i = 0; i < EACH; i++) {
                uint64_t row = any_row((round + 1) * 1000003 + i);

                assert_int_equal(nd_hamming_add(index, &row, NULL, (uint32_t)i, 1, NULL), ND_OK);
            }
            for (uint64_t i = 0; i < EACH; i++) {
                uint64_t row = any_row((round + 1) * 1000003 + i);

                assert_int_equal(nd_hamming_remove(index, &row, (uint32_t)i, NULL), ND_OK);
            }
            if (round == ROUNDS / 4)
                after_some = nd_hamming_bytes(index);
        }
        after_all = nd_hamming_bytes(index);
        print_message("%s: %zu bytes, then %zu\n", nd_hamming_family_name(family), after_some,
                      after_all);
        if (family == ND_HAMMING_POPCOUNT) /* twice what is there, and 16 in each shard */
            assert_true(after_all <= 12 * (2 * STAYING + 16 * 65) + 8192);
        else
            assert_true(after_all <= after_some + after_some / 50);
        assert_int_equal(nd_hamming_count(index), STAYING);
        nd_hamming_free(index);
    }
}

/* Twice what is there, and 16 in each shard, beside what an empty one has. */
static void an_emptied_popcount_is_small(void **state)
{
    struct nd_hamming *index = index_of(ND_HAMMING_POPCOUNT, 100);
    size_t empty = nd_hamming_bytes(index);

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t row = any_row(i);

        assert_int_equal(nd_hamming_add(index, &row, NULL, (uint32_t)i, 1, NULL), ND_OK);
    }
    assert_true(nd_hamming_bytes(index) > empty + 20000 * 12);
    for (uint64_t i = 20000; i-- > 0;) {
        uint64_t row = any_row(i), count;

        assert_int_equal(nd_hamming_remove(index, &row, (uint32_t)i, NULL), ND_OK);
        row = any_row(0);
        if (i % 500 == 1) {
            assert_int_equal(nd_hamming_query_count(index, &row, 1, 0, &count, NULL), ND_OK);
            assert_true(count > 0);
        }
        assert_true(nd_hamming_bytes(index) <= empty + 12 * (2 * i + 16 * 65));
    }
    assert_int_equal(nd_hamming_bytes(index), empty);
    nd_hamming_free(index);
}

static void what_cannot_be_planned_is_refused(void **state)
{
    const struct nd_hamming_problem fine = {64, 3, 1000}, bad[] = {{31, 3, 1000},
                                                                   {513, 3, 1000},
                                                                   {0, 0, 0},
                                                                   {64, 17, 1000},
                                                                   {UINT32_MAX, UINT32_MAX, 0}};
    const double figures[] = {0, -1, (double)NAN, (double)INFINITY};
    struct nd_hamming_shape shape;
    struct nd_hamming_plan plan, plans[ND_HAMMING_PLANS_MAX];
    size_t n;

    (void)state;
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const struct nd_hamming_problem *p = i ? &bad[i - 1] : NULL;

        assert_int_equal(nd_hamming_choose(p, NULL, 0, &plan, NULL), ND_EINVAL);
        assert_int_equal(nd_hamming_plans(p, NULL, plans, ND_HAMMING_PLANS_MAX, &n, NULL),
                         ND_EINVAL);
        assert_int_equal(nd_hamming_design(p, NULL, ND_HAMMING_SCAN, 0, 0, &plan, NULL), ND_EINVAL);
        shape = (struct nd_hamming_shape){.codec = ND_HAMMING_EF};
        if (p) {
            shape.bits = p->bits;
            shape.distance = p->distance;
        }
        assert_int_equal(nd_hamming_file_plan(p ? &shape : NULL, 1, &plan, NULL), ND_EINVAL);
        assert_true(isnan(nd_hamming_chance_degree(p)));
        assert_true(isnan(nd_hamming_chance_pairs(p)));
    }
    for (size_t i = 0; i < sizeof(struct nd_hamming_machine) / sizeof(double); i++)
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            struct nd_hamming_machine machine = nd_hamming_machine_default();

            memcpy((double *)(void *)&machine + i, &figures[k], sizeof(double));
            assert_int_equal(nd_hamming_choose(&fine, &machine, 0, &plan, NULL), ND_EINVAL);
            assert_int_equal(
                nd_hamming_plans(&fine, &machine, plans, ND_HAMMING_PLANS_MAX, &n, NULL),
                ND_EINVAL);
            assert_int_equal(
                nd_hamming_design(&fine, &machine, ND_HAMMING_BLOCKS, 0, 4, &plan, NULL),
                ND_EINVAL);
        }
    assert_int_equal(nd_hamming_choose(&fine, NULL, (double)NAN, &plan, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_design(&fine, NULL, 99, 0, 0, &plan, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_design(&fine, NULL, ND_HAMMING_BLOCKS, UINT32_MAX, 0, &plan, NULL),
                     ND_EINVAL);
}

static void no_plan_and_altered_ones_are_refused(void **state)
{
    static const char path[] = "/nonexistent/index";
    const uint64_t row = 5;
    struct nd_hamming *index;
    uint64_t keys[64];

    (void)state;
    assert_int_equal(nd_hamming_new(&index, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_plan_keys(NULL, keys, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_file_write(path, NULL, &row, NULL, 1, NULL), ND_EINVAL);
    for (int how = 0; how < 4; how++) {
        struct nd_hamming_plan plan = plan_of(ND_HAMMING_BLOCKS, 1000);

        plan.tables += how == 0;
        plan.key_bits += how == 1;
        plan.problem.distance += how == 2 ? 14 : 0;
        if (how == 3)
            plan.family = 99;
        assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_EINVAL);
        assert_int_equal(nd_hamming_plan_keys(&plan, keys, NULL), ND_EINVAL);
        assert_int_equal(nd_hamming_file_write(path, &plan, &row, NULL, 1, NULL), ND_EINVAL);
    }
}

static int count_pairs(void *context, const struct nd_hamming_pair *pairs, size_t n)
{
    (void)pairs;
    *(size_t *)context += n;
    return 0;
}

static void what_is_not_there_is_refused(void **state)
{
    const uint64_t row[2] = {5, 7};
    struct nd_hamming_stats *none = NULL;
    struct nd_hamming_matches found = {.items = NULL};
    struct nd_hamming_batch *batch;
    struct nd_hamming *index = index_of(ND_HAMMING_POPCOUNT, 10);
    size_t n = 0;

    (void)state;
    assert_int_equal(nd_hamming_add(index, NULL, NULL, 0, 1, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_add(index, NULL, NULL, 0, 0, NULL), ND_OK);
    assert_int_equal(nd_hamming_add(index, row, NULL, UINT32_MAX, 2, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_count(index), 0);
    assert_int_equal(nd_hamming_add(index, row, NULL, UINT32_MAX - 1, 2, NULL), ND_OK);
    assert_int_equal(nd_hamming_remove(index, NULL, 0, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_query(index, NULL, 1, 3, &found, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_query(index, row, 1, 3, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_query_count(index, row, 1, 3, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_query(index, row, 1, 4, &found, NULL), ND_EINVAL);
    nd_hamming_free(index);
    assert_int_equal(nd_hamming_pairs(row, 2, 64, 3, 1, NULL, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_pairs(NULL, 2, 64, 3, 1, count_pairs, &n, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_batch_new(&batch, NULL, 2, 64, 3, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_batch_new(&batch, row, 2, 64, 3, NULL), ND_OK);
    assert_int_equal(nd_hamming_batch_feed(batch, row, 2, 0, NULL, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_batch_feed(batch, NULL, 2, 0, count_pairs, &n, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_batch_feed(batch, row, 2, 0, count_pairs, &n, NULL), ND_OK);
    assert_int_equal(n, 4);
    nd_hamming_batch_free(batch);
    assert_int_equal(nd_hamming_stats_make(row, 2, 64, 128, none, NULL), ND_EINVAL);
}

static void no_shape_and_no_entries_are_refused(void **state)
{
    static const char path[] = "/nonexistent/index";
    const uint64_t row = 5;
    const struct nd_hamming_entries one = {&row, 1, NULL, NULL}, none = {NULL, 1, NULL, NULL};
    const struct nd_hamming_shape fine = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};

    (void)state;
    assert_int_equal(nd_hamming_file_build(path, NULL, &one, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_file_build(path, &fine, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_file_build(path, &fine, &none, NULL), ND_EINVAL);
    for (int how = 0; how < 5; how++) {
        struct nd_hamming_shape shape = fine;

        shape.bits = how == 0 ? 513 : how == 1 ? 0 : 64;
        shape.distance = how == 2 ? 17 : 3;
        shape.tables = how == 3 ? 3 : 0;
        if (how == 4)
            shape.codec = 3;
        assert_int_equal(nd_hamming_file_build(path, &shape, &one, NULL), ND_EINVAL);
    }
}

/* The use that functions which take pairs make of the handle that calls them. */
struct caller {
    struct nd_hamming_batch *batch;
    const uint64_t *row;
    size_t n, depth, pairs;
    bool frees;
};

static int call_back(void *context, const struct nd_hamming_pair *pairs, size_t n)
{
    struct caller *c = context;

    (void)pairs;
    c->pairs += n;
    if (c->depth < 3 && c->batch) {
        c->depth++;
        assert_int_equal(nd_hamming_batch_feed(c->batch, c->row, c->n, 0, call_back, c, NULL),
                         ND_OK);
        c->depth--;
    }
    if (c->frees) {
        nd_hamming_batch_free(c->batch);
        c->batch = NULL;
        c->frees = false;
    }
    return 0;
}

static void a_batch_may_be_fed_and_freed_by_what_it_calls(void **state)
{
    enum { N = 700 };
    uint64_t row[N];

    (void)state;
    for (uint64_t i = 0; i < N; i++)
        row[i] = i < 20 ? 1 : nd_mix64(i);
    for (unsigned distance = 3; distance <= 4; distance++)
        for (int frees = 0; frees < 2; frees++) {
            struct caller c = {.row = row, .n = 20, .frees = frees};

            assert_int_equal(nd_hamming_batch_new(&c.batch, row, N, 64, distance, NULL), ND_OK);
            assert_int_equal(nd_hamming_batch_feed(c.batch, row, N, 0, call_back, &c, NULL), ND_OK);
            assert_true(c.pairs >= 20 * 20 + N - 20);
            if (!frees)
                nd_hamming_batch_free(c.batch);
        }
}

/* A join within what a join calls. */
static int join_again(void *context, const struct nd_hamming_pair *pairs, size_t n)
{
    const uint64_t row[3] = {1, 1, 3};
    size_t found = 0;

    (void)pairs;
    assert_int_equal(nd_hamming_pairs(row, 3, 64, 3, 2, count_pairs, &found, NULL), ND_OK);
    assert_int_equal(found, 3);
    *(size_t *)context += n;
    return 0;
}

static void a_join_may_be_begun_within_a_join(void **state)
{
    uint64_t row[100];
    size_t n = 0;

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        row[i] = i < 50 ? 1 : nd_mix64(i);
    assert_int_equal(nd_hamming_pairs(row, 100, 64, 3, 2, join_again, &n, NULL), ND_OK);
    assert_int_equal(n, 50 * 49 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_what_was_removed_comes_back),
        cmocka_unit_test(an_emptied_popcount_is_small),
        cmocka_unit_test(what_cannot_be_planned_is_refused),
        cmocka_unit_test(no_plan_and_altered_ones_are_refused),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(no_shape_and_no_entries_are_refused),
        cmocka_unit_test(a_batch_may_be_fed_and_freed_by_what_it_calls),
        cmocka_unit_test(a_join_may_be_begun_within_a_join),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
