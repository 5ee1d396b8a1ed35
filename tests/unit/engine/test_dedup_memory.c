/* test_dedup_memory.c - every allocation of the engine fails once: an error, or the same result */
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
#include <sys/types.h>

#include <neardup/dedup.h>
#include <neardup/recipe.h>

#include "base/thread/pool.h"
#include "engine/engine.h"

#define FAILING_MAPS
#include "failing_wraps.h"

enum {
    N = 64,
    BATCH = 40,
    TEXT = 1600,
    LONG_WORDS = 45000,
    LONG_TEXT = LONG_WORDS * 8,
    PAIRS = 4000
};

static char text[N][TEXT], long_text[2][LONG_TEXT];
static struct nd_dedup_item item[N];
static uint32_t seed = 5;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static size_t put_words(char *to, size_t words)
{
    size_t len = 0;

    for (size_t w = 0; w < words; w++)
        len += (size_t)sprintf(to + len, "w%u ", draw(5000));
    return len;
}

/*
 * Copies, near copies, empty and short texts.  Two near copies are long enough that what a worker
 * holds of them needs memory of its own: they stand where a worker of two prepares the next
 * document while it looks at one.
 */
static int make_texts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        if (i % 3 && i > 2)
            memcpy(text[i], text[draw(i)], TEXT);
        else
            put_words(text[i], i % 7 ? 10 + draw(200) : draw(3));
        for (unsigned k = i % 5 ? draw(3) : 0; k && *text[i]; k--)
            text[i][draw((uint32_t)strlen(text[i]))] = 'x';
        item[i] = (struct nd_dedup_item){.text = {text[i], strlen(text[i])}, .group = i % 9 == 0};
    }
    put_words(long_text[0], LONG_WORDS);
    memcpy(long_text[1], long_text[0], LONG_TEXT);
    memcpy(long_text[1], "other", 5);
    return 0;
}

/* The result of a run of the engine. */
struct result {
    struct nd_decision decision[N];
    struct nd_component_via via[N];
    struct nd_found_pair pair[PAIRS];
    size_t n_pairs;
};

static enum nd_status note(void *context, const struct nd_found_pair *pair)
{
    struct result *out = context;

    assert_true(out->n_pairs < PAIRS);
    out->pair[out->n_pairs++] = *pair;
    return ND_OK;
}

struct kind {
    const char *name;
    enum nd_cluster cluster;
    enum nd_candidates_by candidates;
    const char *recipe; /* with signatures; NULL: none */
    enum nd_status (*run)(struct nd_dedup *d, struct result *out, struct nd_error *err);
};

static enum nd_status push(struct nd_dedup *d, struct result *out, struct nd_error *err)
{
    enum nd_status status = nd_dedup_push(d, item, BATCH, out->decision, err);

    return status ? status : nd_dedup_push(d, item + BATCH, N - BATCH, out->decision + BATCH, err);
}

/* As a run over files does it, but for one thread at a time. */
static enum nd_status push_prepared(struct nd_dedup *d, struct result *out, struct nd_error *err)
{
    static struct nd_dedup_item with_long[BATCH];
    enum nd_status status;

    memcpy(with_long, item, sizeof with_long);
    with_long[3] = (struct nd_dedup_item){.text = {long_text[0], strlen(long_text[0])}};
    with_long[7] = (struct nd_dedup_item){.text = {long_text[1], strlen(long_text[1])}};
    nd_dedup_prepare(d, 0, with_long, BATCH);
    status = nd_dedup_push_prepared(d, 0, out->decision, err);
    if (status != ND_OK)
        return status;
    nd_dedup_prepare(d, 0, item + BATCH, N - BATCH);
    return nd_dedup_push_prepared(d, 0, out->decision + BATCH, err);
}

/* Both are matched before either is pushed: the second must look again in its turn. */
static enum nd_status push_ahead(struct nd_dedup *d, struct result *out, struct nd_error *err)
{
    enum nd_status status;

    nd_dedup_prepare(d, 0, item, BATCH);
    nd_dedup_match_ahead(d, 0, 0);
    nd_dedup_prepare(d, 1, item + BATCH, N - BATCH);
    nd_dedup_match_ahead(d, 1, 1);
    status = nd_dedup_push_prepared(d, 0, out->decision, err);
    return status ? status : nd_dedup_push_prepared(d, 1, out->decision + BATCH, err);
}

static enum nd_status push_pairs(struct nd_dedup *d, struct result *out, struct nd_error *err)
{
    enum nd_status status = nd_dedup_push_pairs(d, item, BATCH, note, out, err);

    return status ? status : nd_dedup_push_pairs(d, item + BATCH, N - BATCH, note, out, err);
}

static enum nd_status push_components(struct nd_dedup *d, struct result *out, struct nd_error *err)
{
    enum nd_status status = nd_dedup_push_components(d, item, BATCH, err);

    if (status == ND_OK)
        status = nd_dedup_push_components(d, item + BATCH, N - BATCH, err);
    if (status != ND_OK)
        return status;
    status = nd_dedup_components(d, 0, N, out->decision, out->via, err);
    if (status == ND_OK)
        return status;
    /* It changes nothing, so it can be called again. */
    assert_int_equal(nd_dedup_components(d, 0, N, out->decision, out->via, err), ND_OK);
    return ND_OK;
}

static enum nd_status ask(struct nd_dedup *d, struct result *out, struct nd_error *err)
{
    enum nd_status status = nd_dedup_push_pairs(d, item, BATCH, note, out, err);
    size_t before = out->n_pairs;

    if (status != ND_OK)
        return status;
    if (nd_dedup_withdraw(d, 2, err) != ND_OK)
        assert_int_equal(nd_dedup_withdraw(d, 2, err), ND_OK);
    for (size_t i = BATCH; i < N; i += 8) {
        before = out->n_pairs;
        if (nd_dedup_query(d, item + i, 8, note, out, err) == ND_OK)
            continue;
        out->n_pairs = before; /* the same */
        assert_int_equal(nd_dedup_query(d, item + i, 8, note, out, err), ND_OK);
    }
    return ND_OK;
}

static void refuse_everything(struct nd_dedup *d)
{
    struct nd_decision decision;
    struct nd_component_via via;
    struct nd_error err;

    assert_int_equal(nd_dedup_push(d, item, 1, &decision, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "freed"));
    assert_int_equal(nd_dedup_push_pairs(d, item, 1, note, NULL, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_push_components(d, item, 1, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_components(d, 0, 0, &decision, &via, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_query(d, item, 1, note, NULL, &err), ND_EINVAL);
}

static struct nd_recipe recipe_of(const struct kind *kind)
{
    struct nd_recipe recipe = nd_recipe_default();

    if (kind->recipe)
        assert_int_equal(nd_recipe_by_name(&recipe, kind->recipe, NULL), ND_OK);
    else
        recipe.dedup.candidates = kind->candidates;
    recipe.dedup.cluster = kind->cluster;
    recipe.dedup.cache_bytes = 1 << 20;
    recipe.dedup.threshold = (struct nd_ratio){1, 2};
    return recipe;
}

/* One run in which allocation n fails; true: there was one. */
static bool run_once(const struct kind *kind, struct nd_pool *pool, long n,
                     const struct result *expected, struct result *out)
{
    struct nd_recipe recipe = recipe_of(kind);
    struct nd_dedup *d;
    struct nd_error err = {0};
    enum nd_status status;

    if (kind->recipe)
        recipe.dedup.method = &recipe.method;
    recipe.dedup.threads = nd_pool_threads(pool);
    d = kind->run == push_prepared || kind->run == push_ahead
            ? nd_dedup_new_on(pool, &recipe.dedup, NULL, &err)
            : nd_dedup_new_with(&recipe.dedup, NULL, &err);
    assert_non_null(d);
    memset(out, 0, sizeof *out);
    atomic_store(&has_failed, 0);
    atomic_store(&countdown, n);
    status = kind->run(d, out, &err);
    atomic_store(&countdown, -1);
    if (status != ND_OK) {
        assert_true(expected && has_failed);
        assert_int_equal(status, ND_ENOMEM);
        assert_int_equal(err.status, status);
        refuse_everything(d);
    } else if (expected && memcmp(out, expected, sizeof *out) != 0) {
        fail_msg("%s: allocation %ld: ND_OK, and another result", kind->name, n);
    }
    nd_dedup_free(d);
    return has_failed;
}

/* Some allocations stand for all if each run takes twenty times as long. */
#if defined(__SANITIZE_THREAD__)
enum { STEP = 11 };
#elif defined(__SANITIZE_ADDRESS__)
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

static void fail_each(const struct kind *kind, unsigned threads)
{
    struct nd_pool *pool = nd_pool_new(threads, NULL);
    struct result *expected = malloc(sizeof *expected), *got = malloc(sizeof *got);
    long n = 0;

    assert_non_null(pool);
    assert_true(expected && got);
    assert_false(run_once(kind, pool, -1, NULL, expected));
    /* Which one of several threads makes the n-th varies: their number does so a little. */
    for (unsigned without = 0; without < 3; n += STEP)
        without = run_once(kind, pool, n, expected, got) ? 0 : without + 1;
    assert_true(n > 10);
    free(expected);
    free(got);
    nd_pool_free(pool);
}

static void stars_fail_or_are_the_same(void **state)
{
    static const struct kind kind = {"stars", ND_CLUSTER_STAR, ND_CANDIDATES_MINHASH, NULL, push};

    (void)state;
    fail_each(&kind, 1);
    fail_each(&kind, 2);
}

static void prepared_batches_fail_or_are_the_same(void **state)
{
    static const struct kind kind[] = {
        {"prepared", ND_CLUSTER_STAR, ND_CANDIDATES_MINHASH, NULL, push_prepared},
        {"matched ahead", ND_CLUSTER_STAR, ND_CANDIDATES_MINHASH, NULL, push_ahead},
        {"matched ahead, simhash", ND_CLUSTER_STAR, ND_CANDIDATES_SIMHASH, NULL, push_ahead},
        {"prepared, simhash", ND_CLUSTER_STAR, ND_CANDIDATES_SIMHASH, NULL, push_prepared},
        {"prepared, all", ND_CLUSTER_STAR, ND_CANDIDATES_ALL, NULL, push_prepared},
        {"prepared, signed", ND_CLUSTER_STAR, ND_CANDIDATES_MATCH, "broder-1997", push_prepared},
    };

    (void)state;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        fail_each(&kind[i], 2);
}

static void clusters_fail_or_are_the_same(void **state)
{
    static const struct kind kind[] = {
        {"components", ND_CLUSTER_COMPONENTS, ND_CANDIDATES_MINHASH, NULL, push_components},
        {"complete", ND_CLUSTER_COMPLETE, ND_CANDIDATES_MINHASH, NULL, push},
        {"components, signed", ND_CLUSTER_COMPONENTS, ND_CANDIDATES_MATCH, "broder-1997",
         push_components},
    };

    (void)state;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        fail_each(&kind[i], 2);
}

static void pairs_fail_or_are_the_same(void **state)
{
    static const struct kind kind[] = {
        {"pairs", ND_CLUSTER_PAIRS, ND_CANDIDATES_MINHASH, NULL, push_pairs},
        {"asked", ND_CLUSTER_PAIRS, ND_CANDIDATES_MINHASH, NULL, ask},
        {"pairs, signed", ND_CLUSTER_PAIRS, ND_CANDIDATES_MATCH, "broder-1997", push_pairs},
        {"asked, signed", ND_CLUSTER_PAIRS, ND_CANDIDATES_MATCH, "broder-1997", ask},
    };

    (void)state;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        fail_each(&kind[i], 2);
}

/* An engine that cannot be made leaves nothing behind (the leak checker looks). */
static void making_one_fails_or_works(void **state)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_dedup *d = NULL;

    (void)state;
    recipe.dedup.threads = 2;
    assert_int_equal(nd_recipe_by_name(&recipe, "broder-1997", NULL), ND_OK);
    recipe.dedup.method = &recipe.method;
    for (long n = 0; !d; n++) {
        struct nd_error err = {0};

        atomic_store(&countdown, n);
        d = nd_dedup_new_with(&recipe.dedup, NULL, &err);
        atomic_store(&countdown, -1);
        assert_true(d || err.status == ND_ENOMEM);
    }
    nd_dedup_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_fail_or_are_the_same),
        cmocka_unit_test(prepared_batches_fail_or_are_the_same),
        cmocka_unit_test(clusters_fail_or_are_the_same),
        cmocka_unit_test(pairs_fail_or_are_the_same),
        cmocka_unit_test(making_one_fails_or_works),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
