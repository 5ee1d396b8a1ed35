/* test_shares.c - every task is taken once: its own share from the front, others' from the back */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/system/c_functions.h"
#include "base/thread/shares.h"

static void one_worker_takes_all_in_order(void **state)
{
    struct nd_share *share = nd_shares_new(1);
    size_t task;

    (void)state;
    nd_shares_deal(share, 1, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_false(nd_shares_are_empty(share, 1));
        assert_true(nd_shares_take(share, 1, 0, &task));
        assert_int_equal(task, i);
    }
    assert_true(nd_shares_are_empty(share, 1));
    assert_false(nd_shares_take(share, 1, 0, &task));
    nd_aligned_free(share);
}

static void own_from_the_front_others_from_the_back(void **state)
{
    static const size_t expected[] = {4, 5, 6, 7, 11, 10, 9, 8, 3, 2, 1, 0};
    struct nd_share *share = nd_shares_new(3);
    size_t task;

    (void)state;
    nd_shares_deal(share, 3, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_true(nd_shares_take(share, 3, 1, &task));
        assert_int_equal(task, expected[i]);
    }
    assert_false(nd_shares_take(share, 3, 1, &task));
    nd_aligned_free(share);
}

/* The one it is given to takes all in order, another the last. */
static void all_can_be_one_workers(void **state)
{
    static const size_t expected[] = {0, 1, 5, 2, 4, 3};
    static const unsigned worker[] = {1, 1, 0, 1, 2, 1};
    struct nd_share *share = nd_shares_new(3);
    size_t task;

    (void)state;
    nd_shares_deal(share, 3, 9); /* what was there before is gone */
    nd_shares_give(share, 3, 1, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_false(nd_shares_are_empty(share, 3));
        assert_true(nd_shares_take(share, 3, worker[i], &task));
        assert_int_equal(task, expected[i]);
    }
    assert_true(nd_shares_are_empty(share, 3));
    nd_aligned_free(share);
}

/* By any workers in any order, for numbers of tasks that the workers do not divide. */
static void every_task_is_taken_once(void **state)
{
    (void)state;
    srand(7);
    for (unsigned workers = 1; workers <= 9; workers++) {
        struct nd_share *share = nd_shares_new(workers);

        for (size_t n = 0; n < 40; n++) {
            unsigned char taken[40] = {0};
            size_t task, count = 0;

            nd_shares_deal(share, workers, n);
            while (nd_shares_take(share, workers, (unsigned)rand() % workers, &task)) {
                assert_true(task < n);
                assert_int_equal(taken[task]++, 0);
                count++;
            }
            assert_int_equal(count, n);
            assert_true(nd_shares_are_empty(share, workers));
        }
        nd_aligned_free(share);
    }
}

static void as_many_as_may_be_dealt(void **state)
{
    struct nd_share *share = nd_shares_new(2);
    size_t task;

    (void)state;
    nd_shares_deal(share, 2, ND_SHARES_MAX);
    assert_true(nd_shares_take(share, 2, 1, &task));
    assert_int_equal(task, ND_SHARES_MAX / 2);
    nd_aligned_free(share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_worker_takes_all_in_order),
        cmocka_unit_test(own_from_the_front_others_from_the_back),
        cmocka_unit_test(all_can_be_one_workers),
        cmocka_unit_test(every_task_is_taken_once),
        cmocka_unit_test(as_many_as_may_be_dealt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
