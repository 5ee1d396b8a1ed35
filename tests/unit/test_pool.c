/* test_pool.c - every task runs once, on a worker of its own, and the job and the work ahead beside
 * them */
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

enum { STAGES = 3, AHEAD = 500 };

struct ahead {
    struct counts counts;
    atomic_int begun[STAGES], over[STAGES];
    atomic_int early; /* begun or run when the stage before was not over */
    struct stage {
        struct ahead *of;
        int number;
    } stage[STAGES];
};

static size_t begin_stage(void *context)
{
    struct stage *stage = context;
    struct ahead *a = stage->of;

    if (stage->number > 0 && a->over[stage->number - 1] != AHEAD)
        atomic_fetch_add(&a->early, 1);
    atomic_fetch_add(&a->begun[stage->number], 1);
    return AHEAD;
}

static void run_stage(void *context, size_t task, unsigned worker)
{
    struct stage *stage = context;
    struct ahead *a = stage->of;

    if (a->begun[stage->number] != 1)
        atomic_fetch_add(&a->early, 1);
    count(&a->counts, (size_t)stage->number * AHEAD + task, worker);
    atomic_fetch_add(&a->over[stage->number], 1);
}

static void give(struct nd_pool *pool, struct ahead *a)
{
    struct nd_stage stage[STAGES];

    *a = (struct ahead){0};
    for (int i = 0; i < STAGES; i++) {
        a->stage[i] = (struct stage){a, i};
        stage[i] = (struct nd_stage){begin_stage, run_stage, &a->stage[i]};
    }
    nd_pool_ahead(pool, stage, STAGES);
}

/* Runs and jobs meanwhile: the workers are each in one place at a time all the same. */
static void work_ahead_goes_stage_by_stage(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        static struct ahead a;
        struct nd_pool *pool = nd_pool_new(threads, NULL);

        assert_non_null(pool);
        for (unsigned reach = 0; reach <= STAGES; reach++) {
            for (int round = 0; round < 20; round++) {
                give(pool, &a);
                nd_pool_begin(pool, job, &a.counts);
                nd_pool_run(pool, TASKS / 10, count, &a.counts);
                nd_pool_reach(pool, reach);
                for (unsigned i = 0; i < reach; i++)
                    assert_int_equal(a.over[i], AHEAD);
                if (reach < STAGES)
                    assert_int_equal(a.begun[reach], 1);
                nd_pool_finish(pool);
                assert_int_equal(a.counts.jobs, 1);
                assert_int_equal(a.counts.overlaps, 0);
                assert_int_equal(a.early, 0);
            }
        }
        nd_pool_free(pool);
    }
}

/* After it has ended nothing of it runs. */
static void work_ahead_can_be_dropped(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        static struct ahead a;
        struct nd_pool *pool = nd_pool_new(threads, NULL);

        for (int round = 0; round < 100; round++) {
            int over;

            give(pool, &a);
            nd_pool_drop(pool);
            over = a.over[0];
            nd_pool_run(pool, TASKS / 10, count, &a.counts);
            assert_int_equal(a.over[0], over);
            assert_int_equal(a.early, 0);
        }
        nd_pool_reach(pool, STAGES); /* nothing was given */
        nd_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_runs_once),
                                       cmocka_unit_test(work_ahead_goes_stage_by_stage),
                                       cmocka_unit_test(work_ahead_can_be_dropped)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
