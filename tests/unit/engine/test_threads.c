/* test_threads.c - what threads of a program may do at once with the engine and the live index, and
 * what threads of the library do not do */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <neardup/index.h>
#include <neardup/recipe.h>

#include "base/thread/pool.h"
#include "engine/engine.h"

#include "engine_fixture.h"

enum { ASKERS = 6, ROUNDS = 40 };

struct asker {
    struct nd_dedup *d;
    unsigned batch;
    size_t n;
};

static void *ask_often(void *argument)
{
    struct asker *a = argument;

    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < N; i += a->batch)
            if (nd_dedup_query(a->d, item + i, a->batch, count_pair, &a->n, NULL) != ND_OK)
                return NULL;
    return NULL;
}

static void ask_by_threads(struct nd_dedup *d)
{
    struct asker asker[ASKERS];
    pthread_t thread[ASKERS];
    size_t n = 0;

    assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
    n = 0;
    assert_int_equal(nd_dedup_query(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_true(n > N);
    for (unsigned i = 0; i < ASKERS; i++) {
        asker[i] = (struct asker){d, i % 2 ? 1 : 30, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, &asker[i]), 0);
    }
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(asker[i].n, ROUNDS * n);
    nd_dedup_free(d);
}

static void several_threads_ask_at_once(void **state)
{
    struct source own = {0};
    const struct nd_text_source source = {.context = &own, .fetch = fetch, .keep = keep};

    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        ask_by_threads(make(ND_CLUSTER_PAIRS, threads, NULL));
        ask_by_threads(make(ND_CLUSTER_PAIRS, threads, &source));
    }
}

static void several_threads_ask_for_signatures_at_once(void **state)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_dedup *d;

    (void)state;
    assert_int_equal(nd_recipe_by_name(&recipe, "broder-1997", NULL), ND_OK);
    recipe.dedup.method = &recipe.method;
    recipe.dedup.cluster = ND_CLUSTER_PAIRS;
    for (recipe.dedup.threads = 1; recipe.dedup.threads <= 3; recipe.dedup.threads++) {
        d = nd_dedup_new_with(&recipe.dedup, NULL, NULL);
        assert_non_null(d);
        ask_by_threads(d);
    }
}

/* ---- The live index is asked by any number of threads ---- */

struct querying {
    struct nd_index *index;
    struct nd_sketch sketch[N];
};

static void *query_often(void *argument)
{
    const struct querying *q = argument;
    struct nd_candidates met = {0};
    size_t *n = calloc(1, sizeof *n);

    for (unsigned round = 0; n && round < ROUNDS; round++)
        for (unsigned i = 0; i < N; i++)
            if (nd_index_query(q->index, &q->sketch[i], 0, &met) == ND_OK)
                *n += met.count;
    nd_candidates_release(&met);
    return n;
}

static void several_threads_query_an_index_at_once(void **state)
{
    const struct nd_index_params params = nd_index_params_default();
    const struct nd_sketch_params words = nd_sketch_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&words, NULL);
    static struct querying q;
    pthread_t thread[ASKERS];
    uint32_t number;
    size_t *alone;
    void *n;

    (void)state;
    q.index = nd_index_new(&params, NULL);
    assert_true(q.index && sketcher);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(
            nd_sketcher_run(sketcher, text[i], strlen(text[i]), ND_SKETCH_ALL, &q.sketch[i]),
            ND_OK);
        assert_int_equal(nd_index_insert(q.index, &q.sketch[i], 0, &number, NULL), ND_OK);
    }
    alone = query_often(&q);
    assert_non_null(alone);
    assert_true(*alone >= ROUNDS * (size_t)N);
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, query_often, &q), 0);
    for (unsigned i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(thread[i], &n), 0);
        assert_int_equal(*(size_t *)n, *alone);
        free(n);
    }
    free(alone);
    nd_index_free(q.index);
    nd_sketcher_free(sketcher);
}

static void look_at_mask(void *context, size_t task, unsigned worker)
{
    sigset_t mask;
    int *is_blocked = context;

    (void)task;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    if (worker)
        *is_blocked &= sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1) &&
                       !sigismember(&mask, SIGBUS);
    usleep(2000); /* so that others take part */
}

static void threads_of_the_library_get_no_signals(void **state)
{
    struct nd_pool *pool = nd_pool_new(2, NULL);
    int is_blocked = 1;
    sigset_t mask;

    (void)state;
    assert_non_null(pool);
    nd_pool_run(pool, 16, look_at_mask, &is_blocked);
    assert_true(is_blocked);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    assert_false(sigismember(&mask, SIGTERM));
    nd_pool_free(pool);
}

static void count_processors(void *context, unsigned worker)
{
    cpu_set_t set;

    if (worker && sched_getaffinity(0, sizeof set, &set) == 0)
        *(int *)context = CPU_COUNT(&set);
}

static void threads_stay_on_processors_only_where_asked(void **state)
{
    cpu_set_t set;
    unsigned n;
    int here = 0, pinned = 0;
    struct nd_pool *pool;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    n = (unsigned)CPU_COUNT(&set);
    if (n < 2)
        skip();
    pool = nd_pool_new(n, NULL);
    nd_pool_each(pool, count_processors, &here);
    nd_pool_free(pool);
    pool = nd_pool_new_pinned(n, NULL);
    nd_pool_each(pool, count_processors, &pinned);
    nd_pool_free(pool);
    assert_int_equal(here, n);
    assert_int_equal(pinned, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_ask_at_once),
        cmocka_unit_test(several_threads_ask_for_signatures_at_once),
        cmocka_unit_test(several_threads_query_an_index_at_once),
        cmocka_unit_test(threads_of_the_library_get_no_signals),
        cmocka_unit_test(threads_stay_on_processors_only_where_asked),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
