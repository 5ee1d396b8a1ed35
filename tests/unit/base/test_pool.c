/* test_pool.c - every task runs once, on a worker of its own, the job beside them; turns come in
 * the order of their tickets */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread/pool.h"

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

enum { TICKETS = 400, IN_TURN = 200 };

struct turns {
    struct nd_pool *pool;
    struct counts counts;
    struct nd_ticket_lock plain, helped, led;
    atomic_ulong ticket;
    atomic_int inside_plain, inside_led;
    unsigned long next_plain, next_led; /* by whoever has the turn */
    atomic_int wrong;
    unsigned long taken[64];
    unsigned long written[2]; /* equal whenever nobody writes */
};

/* Whoever leads has tasks done by those who wait to lead, each a worker of its own. */
static void lead(struct turns *t, unsigned worker, unsigned long ticket)
{
    nd_pool_lead(t->pool, worker, &t->led, ticket);
    if (atomic_fetch_add(&t->inside_led, 1) != 0 || t->next_led++ != ticket)
        atomic_fetch_add(&t->wrong, 1);
    nd_pool_write_lock(t->pool);
    t->written[0]++;
    nd_pool_run(t->pool, ticket % 3 ? IN_TURN : 1, count, &t->counts);
    t->written[1]++;
    nd_pool_write_unlock(t->pool);
    atomic_fetch_sub(&t->inside_led, 1);
    nd_pool_pass(t->pool, &t->led);
}

static void go_through(void *context, unsigned worker)
{
    struct turns *t = context;

    for (;;) {
        unsigned long ticket = atomic_fetch_add(&t->ticket, 1);

        nd_pool_await(t->pool, &t->plain, ticket);
        if (atomic_fetch_add(&t->inside_plain, 1) != 0 || t->next_plain++ != ticket)
            atomic_fetch_add(&t->wrong, 1);
        atomic_fetch_sub(&t->inside_plain, 1);
        nd_pool_pass(t->pool, &t->plain);
        for (int i = 0; i < 4; i++) {
            nd_pool_read_lock(t->pool, worker);
            if (t->written[0] != t->written[1])
                atomic_fetch_add(&t->wrong, 1);
            nd_pool_read_unlock(t->pool, worker);
        }
        nd_pool_await_helping(t->pool, worker, &t->helped, ticket);
        nd_pool_pass(t->pool, &t->helped);
        lead(t, worker, ticket);
        t->taken[worker]++;
        if (ticket >= TICKETS)
            return;
    }
}

static void turns_come_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 16; threads *= 2) {
        static struct turns t;
        struct nd_pool *pool = nd_pool_new(threads, NULL);

        for (int round = 0; round < 3; round++) {
            unsigned long taken = 0;

            t = (struct turns){.pool = pool};
            nd_pool_each(pool, go_through, &t);
            assert_int_equal(t.wrong, 0);
            assert_int_equal(t.counts.overlaps, 0);
            for (unsigned i = 0; i < threads; i++) {
                assert_true(t.taken[i] > 0); /* each thread was there */
                taken += t.taken[i];
            }
            assert_int_equal(taken, TICKETS + threads);
            assert_int_equal(t.next_led, taken);
            for (int i = 1; i < IN_TURN; i++)
                assert_int_equal(t.counts.runs[i], taken - (taken + 2) / 3);
            assert_int_equal(t.counts.runs[0], taken);
            /* Afterwards the caller's own runs go as before. */
            nd_pool_run(pool, TASKS, count, &t.counts);
            assert_int_equal(t.counts.runs[TASKS - 1], 1);
            assert_int_equal(t.counts.overlaps, 0);
        }
        nd_pool_free(pool);
    }
}

struct locked {
    struct nd_pool *pool;
    unsigned long sum; /* no atomic */
};

static void add(void *context, unsigned worker)
{
    struct locked *l = context;

    (void)worker;
    for (int i = 0; i < TASKS; i++) {
        nd_pool_lock(l->pool);
        l->sum++;
        nd_pool_unlock(l->pool);
    }
}

static void the_lock_keeps_others_out(void **state)
{
    struct locked l = {nd_pool_new(4, NULL), 0};

    (void)state;
    nd_pool_each(l.pool, add, &l);
    assert_int_equal(l.sum, 4 * TASKS);
    nd_pool_free(l.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_runs_once),
                                       cmocka_unit_test(turns_come_in_order),
                                       cmocka_unit_test(the_lock_keeps_others_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
