/* test_pool.c - every task runs once, on a worker of its own, and the job beside them */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"

enum { TASKS = 10000 };

struct counts {
    atomic_int runs[TASKS];
    atomic_int inside[64];
    atomic_int overlaps;
    atomic_int jobs;
};

static void count(void *context, size_t task, unsigned worker)
{
    struct counts *c = context;

    if (atomic_fetch_add(&c->inside[worker], 1) != 0)
        atomic_fetch_add(&c->overlaps, 1);
    atomic_fetch_add(&c->runs[task], 1);
    atomic_fetch_sub(&c->inside[worker], 1);
}

static void job(void *context)
{
    atomic_fetch_add(&((struct counts *)context)->jobs, 1);
}

static void every_task_runs_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        static struct counts c;
        struct nd_pool *pool = nd_pool_new(threads, NULL);

        assert_non_null(pool);
        assert_int_equal(nd_pool_threads(pool), threads);
        c = (struct counts){0};
        for (int round = 1; round <= 20; round++) {
            nd_pool_begin(pool, job, &c);
            nd_pool_run(pool, TASKS, count, &c);
            nd_pool_finish(pool);
            assert_int_equal(c.jobs, round);
        }
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(c.runs[i], 20);
        assert_int_equal(c.overlaps, 0);
        nd_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_runs_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
