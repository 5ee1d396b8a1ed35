/* test_dedup_calls.c - the engine misused: after a failure, from its own callbacks, by threads,
 * after a fork; a call is refused, and what goes on is right */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <neardup/dedup.h>

#include "base/pool.h"

enum { N = 120, TEXT = 400 };

static char text[N][TEXT];
static struct nd_dedup_item item[N];

/* Every third text is a near copy of the one before. */
static int make_texts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        size_t len = 0;

        for (unsigned w = 0; w < 40; w++)
            len += (size_t)snprintf(text[i] + len, TEXT - len, "w%u ",
                                    (i % 3 == 1 ? i - 1 : i) * 40 + w);
        if (i % 3 == 1)
            text[i][len - 2] = 'x';
        item[i] = (struct nd_dedup_item){.text = {text[i], len}};
    }
    return 0;
}

static struct nd_dedup *make(unsigned threads, const struct nd_text_source *source)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    struct nd_dedup *d;

    params.threads = threads;
    params.cache_bytes = 1 << 20;
    d = nd_dedup_new(&params, source, NULL);
    assert_non_null(d);
    return d;
}

static enum nd_status count_pair(void *context, const struct nd_found_pair *pair)
{
    size_t *n = context;

    assert_true(pair->b < N);
    ++*n;
    return ND_OK;
}

static enum nd_status stop(void *context, const struct nd_found_pair *pair)
{
    (void)context;
    (void)pair;
    return ND_ECANCELLED;
}

static void all_calls_are_refused(struct nd_dedup *d, const char *reason)
{
    struct nd_decision decision[N];
    struct nd_component_via via;
    struct nd_error err[5] = {{0}};
    size_t n = 0;

    assert_int_equal(nd_dedup_push(d, item, 1, decision, &err[0]), ND_EINVAL);
    assert_int_equal(nd_dedup_push_pairs(d, item, 1, count_pair, &n, &err[1]), ND_EINVAL);
    assert_int_equal(nd_dedup_push_components(d, item, 1, &err[2]), ND_EINVAL);
    assert_int_equal(nd_dedup_components(d, 0, 0, decision, &via, &err[3]), ND_EINVAL);
    assert_int_equal(nd_dedup_ask(d, item, 1, count_pair, &n, &err[4]), ND_EINVAL);
    assert_int_equal(n, 0);
    for (size_t i = 0; i < 5; i++)
        assert_non_null(strstr(err[i].message, reason));
}

static void after_found_has_stopped_pairs_everything_is_refused(void **state)
{
    struct nd_dedup *d = make(2, NULL);

    (void)state;
    assert_int_equal(nd_dedup_push_pairs(d, item, N, stop, NULL, NULL), ND_ECANCELLED);
    all_calls_are_refused(d, "earlier call failed (ND_ECANCELLED)");
    nd_dedup_free(d);
}

static void after_found_has_stopped_asking_the_answers_are_the_same(void **state)
{
    struct nd_dedup *d = make(2, NULL);
    size_t n = 0;

    (void)state;
    assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N / 3);
    n = 0;
    assert_int_equal(nd_dedup_ask(d, item, N, stop, NULL, NULL), ND_ECANCELLED);
    assert_int_equal(nd_dedup_ask(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N + 2 * (N / 3));
    nd_dedup_free(d);
}

/* A source that fails when it is told to. */
struct source {
    enum nd_status fetch, keep;
    struct nd_dedup *d;
    void (*meanwhile)(struct nd_dedup *d);
};

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *out,
                            struct nd_error *err)
{
    struct source *source = context;

    (void)worker;
    if (source->fetch)
        return nd_fail(err, source->fetch, "told to");
    if (source->meanwhile)
        source->meanwhile(source->d);
    *out = item[document].text;
    return ND_OK;
}

static enum nd_status keep(void *context, uint64_t document, size_t place, struct nd_error *err)
{
    const struct source *source = context;

    (void)document;
    (void)place;
    return source->keep ? nd_fail(err, source->keep, "told to") : ND_OK;
}

static void after_its_source_failed_pushing_is_refused(void **state)
{
    struct nd_decision decision[N];

    (void)state;
    for (int which = 0; which < 2; which++) {
        struct source own = {.keep = which ? ND_OK : ND_EIO};
        const struct nd_text_source source = {&own, fetch, keep};
        struct nd_dedup *d = make(2, &source);

        if (which) {
            assert_int_equal(nd_dedup_push(d, item, 1, decision, NULL), ND_OK);
            own.fetch = ND_EIO;
        }
        assert_int_equal(nd_dedup_push(d, item, N, decision, NULL), ND_EIO);
        own.fetch = own.keep = ND_OK;
        all_calls_are_refused(d, "earlier call failed (ND_EIO)");
        nd_dedup_free(d);
    }
}

static void after_its_source_failed_components_can_be_asked_again(void **state)
{
    struct source own = {0};
    const struct nd_text_source source = {&own, fetch, keep};
    struct nd_decision decision[N];
    struct nd_component_via via[N];
    struct nd_dedup_params params = nd_dedup_params_default();
    struct nd_dedup *d;

    (void)state;
    params.threads = 2;
    params.cache_bytes = 0;
    d = nd_dedup_new(&params, &source, NULL);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push_components(d, item, N, NULL), ND_OK);
    nd_dedup_free(d);

    params.verify = ND_VERIFY_NONE; /* so that the texts are read by the last call alone */
    d = nd_dedup_new(&params, &source, NULL);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push_components(d, item, N, NULL), ND_OK);
    own.fetch = ND_EIO;
    assert_int_equal(nd_dedup_components(d, 0, N, decision, via, NULL), ND_EIO);
    own.fetch = ND_OK;
    assert_int_equal(nd_dedup_components(d, 0, N, decision, via, NULL), ND_OK);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(decision[i].kept, i % 3 == 1 ? i - 1 : i);
    nd_dedup_free(d);
}

static void what_is_wrong_before_anything_changed_breaks_nothing(void **state)
{
    const struct nd_dedup_item bad = {.text = {"\xff", 1}}, none = {.text = {NULL, 1}};
    struct nd_decision decision[N];
    struct nd_dedup *d = make(2, NULL);

    (void)state;
    assert_int_equal(nd_dedup_push(d, &bad, 1, decision, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, &none, 1, decision, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, NULL, 1, decision, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, item, 1, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push_pairs(d, item, 1, NULL, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_ask(d, item, 1, NULL, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, item, N, decision, NULL), ND_OK);
    assert_int_equal(nd_dedup_push_pairs(d, item, N, stop, NULL, NULL), ND_EINVAL);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(decision[i].kept, i % 3 == 1 ? i - 1 : i);
    nd_dedup_free(d);
}

static void a_source_gives_both_of_its_functions(void **state)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    const struct nd_text_source source[] = {{NULL, NULL, keep}, {NULL, fetch, NULL}};
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_null(nd_dedup_new(&params, &source[i], &err));
        assert_int_equal(err.status, ND_EINVAL);
    }
}

/* A service may have one for each of its users. */
static void an_empty_engine_is_small(void **state)
{
    struct nd_dedup_stats stats;
    struct nd_decision decision;
    struct nd_dedup *d = make(1, NULL);

    (void)state;
    nd_dedup_get_stats(d, &stats);
    assert_true(stats.index_bytes < 32 << 10);
    assert_int_equal(nd_dedup_push(d, item, 1, &decision, NULL), ND_OK);
    nd_dedup_get_stats(d, &stats);
    assert_true(stats.index_bytes < 600 << 10);
    nd_dedup_free(d);
}

/* ---- From inside a callback ---- */

static struct nd_dedup *inside;
static int n_inside;

static enum nd_status call_again(void *context, const struct nd_found_pair *pair)
{
    n_inside++;
    all_calls_are_refused(inside, "");
    return count_pair(context, pair);
}

static void calls_from_a_callback_of_pairs_are_refused(void **state)
{
    size_t n = 0;

    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        inside = make(threads, NULL);
        n = 0;
        n_inside = 0;
        assert_int_equal(nd_dedup_push_pairs(inside, item, N, call_again, &n, NULL), ND_OK);
        assert_int_equal(n, N / 3);
        assert_int_equal(n_inside, N / 3);
        n = 0;
        assert_int_equal(nd_dedup_ask(inside, item, 1, call_again, &n, NULL), ND_OK);
        assert_int_equal(nd_dedup_ask(inside, item, N, call_again, &n, NULL), ND_OK);
        assert_int_equal(n, 2 + N + 2 * (N / 3));
        nd_dedup_free(inside);
    }
}

static void call_all(struct nd_dedup *d)
{
    all_calls_are_refused(d, "");
}

static void calls_from_a_source_are_refused(void **state)
{
    struct source own = {.meanwhile = call_all};
    const struct nd_text_source source = {&own, fetch, keep};
    struct nd_decision decision[N];
    size_t n = 0;

    (void)state;
    own.d = make(3, &source);
    for (unsigned i = 0; i < N; i += 10)
        assert_int_equal(nd_dedup_push(own.d, item + i, 10, decision + i, NULL), ND_OK);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(decision[i].kept, i % 3 == 1 ? i - 1 : i);
    nd_dedup_free(own.d);
    own.d = make(3, &source);
    assert_int_equal(nd_dedup_push_pairs(own.d, item, N, count_pair, &n, NULL), ND_OK);
    n = 0;
    assert_int_equal(nd_dedup_ask(own.d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N + 2 * (N / 3));
    nd_dedup_free(own.d);
}

static enum nd_status free_it(void *context, const struct nd_found_pair *pair)
{
    nd_dedup_free(inside);
    return count_pair(context, pair);
}

/* It goes when the call ends; its callbacks still come, as before. */
static void freed_from_a_callback_it_goes_when_the_call_ends(void **state)
{
    size_t n = 0;

    (void)state;
    inside = make(2, NULL);
    assert_int_equal(nd_dedup_push_pairs(inside, item, N, free_it, &n, NULL), ND_OK);
    assert_int_equal(n, N / 3);
    inside = make(2, NULL);
    assert_int_equal(nd_dedup_push_pairs(inside, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(nd_dedup_ask(inside, item, 1, free_it, &n, NULL), ND_OK);
}

/* ---- Threads ---- */

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
            if (nd_dedup_ask(a->d, item + i, a->batch, count_pair, &a->n, NULL) != ND_OK)
                return NULL;
    return NULL;
}

static void ask_by_threads(const struct nd_text_source *source, unsigned threads)
{
    struct nd_dedup *d = make(threads, source);
    struct asker asker[ASKERS];
    pthread_t thread[ASKERS];
    size_t n = 0;

    assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
    for (unsigned i = 0; i < ASKERS; i++) {
        asker[i] = (struct asker){d, i % 2 ? 1 : 30, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, &asker[i]), 0);
    }
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(asker[i].n, ROUNDS * (N + 2 * (N / 3)));
    nd_dedup_free(d);
}

static void several_threads_ask_at_once(void **state)
{
    struct source own = {0};
    const struct nd_text_source source = {&own, fetch, keep};

    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        ask_by_threads(NULL, threads);
        ask_by_threads(&source, threads);
    }
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

/* ---- fork ---- */

static void in_a_child_it_can_be_freed_and_nothing_else(void **state)
{
    struct nd_decision decision[N];
    int status;
    pid_t child;

    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* threads and fork are too much for it */
#endif
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct nd_dedup *d = make(threads, NULL);

        assert_int_equal(nd_dedup_push(d, item, N, decision, NULL), ND_OK);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            enum nd_status got;

            alarm(20);
            got = nd_dedup_push(d, item, 1, decision, NULL);
            nd_dedup_free(d);
            _exit(got == (threads == 1 ? ND_OK : ND_EINVAL) ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(nd_dedup_push(d, item, 1, decision, NULL), ND_OK);
        nd_dedup_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_found_has_stopped_pairs_everything_is_refused),
        cmocka_unit_test(after_found_has_stopped_asking_the_answers_are_the_same),
        cmocka_unit_test(after_its_source_failed_pushing_is_refused),
        cmocka_unit_test(after_its_source_failed_components_can_be_asked_again),
        cmocka_unit_test(what_is_wrong_before_anything_changed_breaks_nothing),
        cmocka_unit_test(a_source_gives_both_of_its_functions),
        cmocka_unit_test(an_empty_engine_is_small),
        cmocka_unit_test(calls_from_a_callback_of_pairs_are_refused),
        cmocka_unit_test(calls_from_a_source_are_refused),
        cmocka_unit_test(freed_from_a_callback_it_goes_when_the_call_ends),
        cmocka_unit_test(several_threads_ask_at_once),
        cmocka_unit_test(threads_of_the_library_get_no_signals),
        cmocka_unit_test(threads_stay_on_processors_only_where_asked),
        cmocka_unit_test(in_a_child_it_can_be_freed_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
