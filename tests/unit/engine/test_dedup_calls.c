/* test_dedup_calls.c - the engine misused: after a failure, from its own callbacks, after a fork; a
 * call is refused, and what goes on is right */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine_fixture.h"
#include "sleeping.h"

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
    assert_int_equal(nd_dedup_query(d, item, 1, count_pair, &n, &err[4]), ND_EINVAL);
    assert_int_equal(n, 0);
    for (size_t i = 0; i < 5; i++)
        assert_non_null(strstr(err[i].message, reason));
}

static void after_found_has_stopped_pairs_everything_is_refused(void **state)
{
    struct nd_dedup *d = make(ND_CLUSTER_PAIRS, 2, NULL);

    (void)state;
    assert_int_equal(nd_dedup_push_pairs(d, item, N, stop, NULL, NULL), ND_ECANCELLED);
    all_calls_are_refused(d, "earlier call failed (ND_ECANCELLED)");
    nd_dedup_free(d);
}

static void after_found_has_stopped_asking_the_answers_are_the_same(void **state)
{
    struct nd_dedup *d = make(ND_CLUSTER_PAIRS, 2, NULL);
    size_t n = 0;

    (void)state;
    assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N / 3);
    n = 0;
    assert_int_equal(nd_dedup_query(d, item, N, stop, NULL, NULL), ND_ECANCELLED);
    assert_int_equal(nd_dedup_query(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N + 2 * (N / 3));
    nd_dedup_free(d);
}

static void after_its_source_failed_pushing_is_refused(void **state)
{
    struct nd_decision decision[N];

    (void)state;
    for (int which = 0; which < 2; which++) {
        struct source own = {.keep = which ? ND_OK : ND_EIO};
        const struct nd_text_source source = {.context = &own, .fetch = fetch, .keep = keep};
        struct nd_dedup *d = make(ND_CLUSTER_STAR, 2, &source);

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
    const struct nd_text_source source = {.context = &own, .fetch = fetch, .keep = keep};
    struct nd_decision decision[N];
    struct nd_component_via via[N];
    struct nd_dedup_params params = nd_dedup_params_default();
    struct nd_dedup *d;

    (void)state;
    params.cluster = ND_CLUSTER_COMPONENTS;
    params.threads = 2;
    params.cache_bytes = 0;
    d = nd_dedup_new_with(&params, &source, NULL);
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
    struct nd_dedup *d = make(ND_CLUSTER_STAR, 2, NULL);
    size_t n = 0;

    (void)state;
    assert_int_equal(nd_dedup_push(d, &bad, 1, decision, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, &none, 1, decision, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, NULL, 1, decision, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, item, 1, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, item, N, decision, NULL), ND_OK);
    assert_int_equal(nd_dedup_push_pairs(d, item, N, stop, NULL, NULL), ND_EINVAL);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(decision[i].kept, i % 3 == 1 ? i - 1 : i);
    nd_dedup_free(d);
    d = make(ND_CLUSTER_PAIRS, 2, NULL);
    assert_int_equal(nd_dedup_push_pairs(d, item, 1, NULL, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_query(d, item, 1, NULL, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N / 3);
    nd_dedup_free(d);
}

/* From its first call on, an engine refuses what is not for its kind, and is none the worse. */
static void functions_of_another_kind_are_refused(void **state)
{
    static const enum nd_cluster kinds[] = {ND_CLUSTER_STAR, ND_CLUSTER_COMPLETE,
                                            ND_CLUSTER_COMPONENTS, ND_CLUSTER_PAIRS};

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool stars = kinds[k] == ND_CLUSTER_STAR || kinds[k] == ND_CLUSTER_COMPLETE,
             components = kinds[k] == ND_CLUSTER_COMPONENTS, pairs = kinds[k] == ND_CLUSTER_PAIRS;
        struct nd_dedup *d = make(kinds[k], 1, NULL);
        struct nd_decision decision;
        struct nd_component_via via;
        struct nd_error err = {0};
        size_t n = 0;

        for (unsigned round = 0; round < 2; round++) {
            assert_int_equal(nd_dedup_push(d, item, 1, &decision, &err) == ND_OK, stars);
            assert_int_equal(nd_dedup_push_components(d, item, 1, &err) == ND_OK, components);
            assert_int_equal(nd_dedup_components(d, 0, 1, &decision, &via, &err) == ND_OK,
                             components);
            assert_int_equal(nd_dedup_push_pairs(d, item, 1, count_pair, &n, &err) == ND_OK, pairs);
            assert_int_equal(nd_dedup_push_prototypes(d, item, 1, &err) == ND_OK, pairs);
            assert_int_equal(nd_dedup_query(d, item, 1, count_pair, &n, &err) == ND_OK, pairs);
            assert_int_equal(err.status, ND_EINVAL);
            assert_non_null(strstr(err.message, "this engine was made for"));
        }
        nd_dedup_free(d);
    }
}

static void options_may_ask_for_pairs(void **state)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_decision decision;
    struct nd_dedup *d;
    size_t n = 0;

    (void)state;
    assert_non_null(recipe);
    assert_int_equal(nd_recipe_set(recipe, "cluster=components", NULL), ND_OK);
    options.makes_pairs = 1;
    d = nd_dedup_new(recipe, &options, NULL);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(n, N / 3);
    assert_int_equal(nd_dedup_push(d, item, 1, &decision, NULL), ND_EINVAL);
    nd_dedup_free(d);
    nd_recipe_free(recipe);
}

static void a_source_gives_both_of_its_functions(void **state)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    const struct nd_text_source source[] = {{.keep = keep}, {.fetch = fetch}};
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_null(nd_dedup_new_with(&params, &source[i], &err));
        assert_int_equal(err.status, ND_EINVAL);
    }
}

/* A service may have one for each of its users. */
static void an_empty_engine_is_small(void **state)
{
    struct nd_dedup_stats stats;
    struct nd_decision decision;
    struct nd_dedup *d = make(ND_CLUSTER_STAR, 1, NULL);

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
        inside = make(ND_CLUSTER_PAIRS, threads, NULL);
        n = 0;
        n_inside = 0;
        assert_int_equal(nd_dedup_push_pairs(inside, item, N, call_again, &n, NULL), ND_OK);
        assert_int_equal(n, N / 3);
        assert_int_equal(n_inside, N / 3);
        n = 0;
        assert_int_equal(nd_dedup_query(inside, item, 1, call_again, &n, NULL), ND_OK);
        assert_int_equal(nd_dedup_query(inside, item, N, call_again, &n, NULL), ND_OK);
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
    const struct nd_text_source source = {.context = &own, .fetch = fetch, .keep = keep};
    struct nd_decision decision[N];
    size_t n = 0;

    (void)state;
    own.d = make(ND_CLUSTER_STAR, 3, &source);
    for (unsigned i = 0; i < N; i += 10)
        assert_int_equal(nd_dedup_push(own.d, item + i, 10, decision + i, NULL), ND_OK);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(decision[i].kept, i % 3 == 1 ? i - 1 : i);
    nd_dedup_free(own.d);
    own.d = make(ND_CLUSTER_PAIRS, 3, &source);
    assert_int_equal(nd_dedup_push_pairs(own.d, item, N, count_pair, &n, NULL), ND_OK);
    n = 0;
    assert_int_equal(nd_dedup_query(own.d, item, N, count_pair, &n, NULL), ND_OK);
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
    inside = make(ND_CLUSTER_PAIRS, 2, NULL);
    assert_int_equal(nd_dedup_push_pairs(inside, item, N, free_it, &n, NULL), ND_OK);
    assert_int_equal(n, N / 3);
    inside = make(ND_CLUSTER_PAIRS, 2, NULL);
    assert_int_equal(nd_dedup_push_pairs(inside, item, N, count_pair, &n, NULL), ND_OK);
    assert_int_equal(nd_dedup_query(inside, item, 1, free_it, &n, NULL), ND_OK);
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
        struct nd_dedup *d = make(ND_CLUSTER_STAR, threads, NULL);

        assert_int_equal(nd_dedup_push(d, item, N, decision, NULL), ND_OK);
#if defined(__SANITIZE_ADDRESS__)
        await_sleeping_threads();
#endif
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            enum nd_status got;

            alarm(300); /* a deadlock ends */
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

/* Ask the engine about all texts in the child, and free it: 0 if all went as expected. */
static int go_on(struct nd_dedup *d, enum nd_status expected)
{
    enum nd_status got;
    size_t n = 0;

    alarm(300); /* a deadlock ends */
    got = nd_dedup_after_fork(d, NULL);
    if (got == ND_OK)
        got = nd_dedup_query(d, item, N, count_pair, &n, NULL);
    if (got == ND_OK)
        got = nd_dedup_query(d, item, 1, count_pair, &n, NULL);
    nd_dedup_free(d);
    return got == expected && (got != ND_OK || n > N / 3) ? 0 : 1;
}

static void assert_child_ends(pid_t child)
{
    int status;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void in_a_child_it_goes_on_with_one_thread(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* threads and fork are too much for it */
#endif
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct nd_dedup *d = make(ND_CLUSTER_PAIRS, threads, NULL);
        size_t n = 0;
        pid_t child;

        assert_int_equal(nd_dedup_push_pairs(d, item, N, count_pair, &n, NULL), ND_OK);
        assert_int_equal(nd_dedup_after_fork(d, NULL), ND_OK);
#if defined(__SANITIZE_ADDRESS__)
        await_sleeping_threads();
#endif
        child = fork();
        if (child == 0)
            _exit(go_on(d, ND_OK));
        assert_child_ends(child);
        assert_int_equal(nd_dedup_query(d, item, N, count_pair, &n, NULL), ND_OK);
        nd_dedup_free(d);
    }
}

static enum nd_status fork_inside(void *context, const struct nd_found_pair *pair)
{
    pid_t *child = context;

    (void)pair;
    if (*child)
        return ND_OK;
    *child = fork();
    if (*child == 0)
        _exit(go_on(inside, ND_EINVAL));
    return ND_OK;
}

static void in_use_at_the_fork_it_does_not_go_on(void **state)
{
    pid_t child = 0;

    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* threads and fork are too much for them */
#endif
    inside = make(ND_CLUSTER_PAIRS, 2, NULL);
    assert_int_equal(nd_dedup_push_pairs(inside, item, N, fork_inside, &child, NULL), ND_OK);
    assert_child_ends(child);
    nd_dedup_free(inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_found_has_stopped_pairs_everything_is_refused),
        cmocka_unit_test(after_found_has_stopped_asking_the_answers_are_the_same),
        cmocka_unit_test(after_its_source_failed_pushing_is_refused),
        cmocka_unit_test(after_its_source_failed_components_can_be_asked_again),
        cmocka_unit_test(what_is_wrong_before_anything_changed_breaks_nothing),
        cmocka_unit_test(functions_of_another_kind_are_refused),
        cmocka_unit_test(options_may_ask_for_pairs),
        cmocka_unit_test(a_source_gives_both_of_its_functions),
        cmocka_unit_test(an_empty_engine_is_small),
        cmocka_unit_test(calls_from_a_callback_of_pairs_are_refused),
        cmocka_unit_test(calls_from_a_source_are_refused),
        cmocka_unit_test(freed_from_a_callback_it_goes_when_the_call_ends),
        cmocka_unit_test(in_a_child_it_can_be_freed_and_nothing_else),
        cmocka_unit_test(in_a_child_it_goes_on_with_one_thread),
        cmocka_unit_test(in_use_at_the_fork_it_does_not_go_on),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
