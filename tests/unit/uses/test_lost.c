/* test_lost.c - runs of words that only removed documents have, counted and estimated */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/hash.h"
#include "uses/eval/lost.h"

enum { RUNS = 40000 };

/* Run i: every third is kept too, and every fifth is only kept. */
static void add(struct nd_lost *l, uint64_t i)
{
    if (i % 5)
        assert_true(nd_lost_add(l, nd_mix64(i), false));
    if (i % 3 == 0 || i % 5 == 0)
        assert_true(nd_lost_add(l, nd_mix64(i), true));
}

static void count(size_t most, bool backwards, uint64_t *removed, uint64_t *lost)
{
    struct nd_lost l = {.most = most};

    for (uint64_t i = 0; i < RUNS; i++)
        add(&l, backwards ? RUNS - 1 - i : i);
    for (uint64_t i = 0; i < RUNS; i += 7) /* again changes nothing */
        add(&l, i);
    assert_true(l.count <= most);
    nd_lost_count(&l, removed, lost);
    nd_lost_release(&l);
}

static void all_are_counted_while_there_is_room(void **state)
{
    uint64_t removed, lost;

    (void)state;
    count(RUNS, false, &removed, &lost);
    assert_int_equal(removed, RUNS * 4 / 5);
    assert_int_equal(lost, RUNS * 4 / 5 - (RUNS / 3 + 1 - RUNS / 15 - 1));
}

static void a_sample_estimates_in_whatever_order(void **state)
{
    uint64_t removed, lost, again, lost_again;

    (void)state;
    count(1000, false, &removed, &lost);
    count(1000, true, &again, &lost_again);
    assert_int_equal(removed, again);
    assert_int_equal(lost, lost_again);
    assert_in_range(removed, RUNS * 4 / 5 * 9 / 10, RUNS * 4 / 5 * 11 / 10);
    assert_in_range(lost, RUNS * 8 / 15 * 9 / 10, RUNS * 8 / 15 * 11 / 10);
}

/* Give all removed runs first, to some workers, and then those of kept documents. */
static void count_sealed(size_t most, uint64_t *removed, uint64_t *lost, unsigned *shift)
{
    struct nd_lost l[3] = {{.most = most}, {.most = most}, {.most = most}};

    for (uint64_t i = 0; i < RUNS; i++) {
        const uint64_t hash = nd_mix64(i);

        if (i % 5)
            assert_true(nd_lost_add_removed(&l[i % 7 % 3], &hash, 1));
    }
    for (unsigned k = 1; k < 3; k++)
        assert_true(nd_lost_join(&l[0], &l[k]));
    assert_true(nd_lost_seal(&l[0]));
    for (uint64_t i = 0; i < RUNS; i++) {
        const uint64_t hash[] = {nd_mix64(i), nd_mix64(i + RUNS)};

        if (i % 3 == 0 || i % 5 == 0)
            nd_lost_meet_kept(&l[0], hash, 2);
    }
    nd_lost_count(&l[0], removed, lost);
    *shift = l[0].shift;
    for (unsigned k = 0; k < 3; k++)
        nd_lost_release(&l[k]);
}

static void runs_of_removed_documents_alone_need_room(void **state)
{
    uint64_t removed, lost;
    unsigned shift;

    (void)state;
    count_sealed(RUNS, &removed, &lost, &shift);
    assert_int_equal(shift, 0);
    assert_int_equal(removed, RUNS * 4 / 5);
    assert_int_equal(lost, RUNS * 4 / 5 - (RUNS / 3 + 1 - RUNS / 15 - 1));
    count_sealed(2000, &removed, &lost, &shift);
    assert_true(shift > 0);
    assert_in_range(removed, RUNS * 4 / 5 * 9 / 10, RUNS * 4 / 5 * 11 / 10);
    assert_in_range(lost, RUNS * 8 / 15 * 9 / 10, RUNS * 8 / 15 * 11 / 10);
}

static void nothing_is_lost_of_nothing(void **state)
{
    const struct nd_lost l = {.most = 1};
    uint64_t removed, lost;

    (void)state;
    nd_lost_count(&l, &removed, &lost);
    assert_int_equal(removed + lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_counted_while_there_is_room),
        cmocka_unit_test(a_sample_estimates_in_whatever_order),
        cmocka_unit_test(runs_of_removed_documents_alone_need_room),
        cmocka_unit_test(nothing_is_lost_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
