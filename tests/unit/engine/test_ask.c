/* test_ask.c - asking finds the pairs that pushing would have found, and keeps nothing */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/dedup.h>

#include "engine/engine.h"

enum { N = 300, HALF = 180, TEXT = 1200, PAIRS = 20000 };

static char text[N][TEXT];
static struct nd_dedup_item item[N];
static uint32_t seed = 9;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Copies, near copies, short and empty texts, in two groups. */
static int make_texts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        size_t len = 0, words = draw(10) ? 5 + draw(120) : draw(3);
        unsigned from = i && draw(3) ? draw(i) : i;

        if (from < i) {
            memcpy(text[i], text[from], TEXT);
            for (unsigned k = draw(4); k && *text[i]; k--)
                text[i][draw((uint32_t)strlen(text[i]))] = 'x';
        } else {
            for (size_t w = 0; w < words; w++)
                len += (size_t)snprintf(text[i] + len, TEXT - len, "w%u ", draw(5000));
        }
        item[i] = (struct nd_dedup_item){.text = {text[i], strlen(text[i])}, .group = i % 7 == 0};
    }
    return 0;
}

struct list {
    struct nd_found_pair at[PAIRS];
    size_t n;
};

static enum nd_status add(void *context, const struct nd_found_pair *pair)
{
    struct list *list = context;

    assert_true(list->n < PAIRS);
    list->at[list->n++] = *pair;
    return ND_OK;
}

static enum nd_status ignore(void *context, const struct nd_found_pair *pair)
{
    (void)context;
    (void)pair;
    return ND_OK;
}

/* Check that the judgement follows from what is found, and from the texts. */
static void check_judged(struct nd_dedup *d, const struct list *found)
{
    static struct nd_decision decision[N - HALF];
    struct nd_dedup_stats counts = {0};
    const struct nd_found_pair *nearest[N - HALF] = {NULL};
    uint64_t same = 0, near = 0, kept = 0;

    for (size_t i = 0; i < found->n; i++)
        if (found->at[i].is_nearest)
            nearest[found->at[i].a] = &found->at[i];
    assert_int_equal(
        nd_dedup_judge(d, item + HALF, N - HALF, decision, &counts, ignore, NULL, NULL), ND_OK);
    for (size_t i = 0; i < N - HALF; i++) {
        const struct nd_found_pair *p = nearest[i];
        bool has_bytes = p && strcmp(text[p->b], text[HALF + i]) == 0;

        assert_true(decision[i].kept == (p ? p->b : UINT64_MAX));
        kept += !p;
        if (!p)
            continue;
        assert_int_equal(decision[i].identical, has_bytes     ? ND_IDENTICAL_BYTES
                                                : p->is_equal ? ND_IDENTICAL_TOKENS
                                                              : ND_IDENTICAL_NO);
        assert_int_equal(decision[i].verified, ND_VERIFIED_TEXT);
        assert_memory_equal(&decision[i].overlap, &p->overlap, sizeof p->overlap);
        same += has_bytes;
        near += !p->is_equal;
    }
    assert_int_equal(counts.identical_bytes, same);
    assert_int_equal(counts.near, near);
    assert_int_equal(counts.kept, kept);
    assert_true(same + near && kept);
}

static void check(struct nd_dedup_params params)
{
    struct list *all = calloc(1, sizeof *all), *asked = calloc(1, sizeof *asked);
    struct nd_dedup *d = nd_dedup_new_with(&params, NULL, NULL);
    struct nd_dedup_stats before, after;
    size_t n = 0;

    assert_true(all && asked && d);
    assert_int_equal(nd_dedup_push_pairs(d, item, N, add, all, NULL), ND_OK);
    nd_dedup_free(d);
    d = nd_dedup_new_with(&params, NULL, NULL);
    assert_int_equal(nd_dedup_push_pairs(d, item, HALF, ignore, NULL, NULL), ND_OK);
    nd_dedup_get_stats(d, &before);
    for (unsigned round = 0; round < 2; round++) { /* the second time nothing has changed */
        asked->n = n = 0;
        assert_int_equal(nd_dedup_query(d, item + HALF, N - HALF, add, asked, NULL), ND_OK);
        for (size_t i = 0; i < all->n; i++) {
            const struct nd_found_pair *p = &all->at[i], *q = &asked->at[n];

            if (p->a < HALF || p->b >= HALF)
                continue;
            assert_true(n < asked->n);
            assert_int_equal(q->a + HALF, p->a);
            assert_int_equal(q->b, p->b);
            assert_int_equal(q->distance, p->distance);
            assert_memory_equal(&q->overlap, &p->overlap, sizeof p->overlap);
            n++;
        }
        assert_int_equal(n, asked->n);
    }
    assert_true(n > 20);
    check_judged(d, asked);
    nd_dedup_get_stats(d, &after);
    assert_int_equal(after.documents, before.documents);
    assert_int_equal(after.kept, before.kept);
    nd_dedup_free(d);
    free(all);
    free(asked);
}

static void asking_finds_what_pushing_would(void **state)
{
    struct nd_dedup_params params = nd_dedup_params_default();

    (void)state;
    params.cluster = ND_CLUSTER_PAIRS;
    params.threads = 1;
    check(params);
    params.threads = 3;
    check(params);
    params.threshold = (struct nd_ratio){1, 2};
    check(params);
    params.candidates = ND_CANDIDATES_ALL;
    check(params);
    params.candidates = ND_CANDIDATES_SIMHASH;
    params.verify = ND_VERIFY_NONE;
    check(params);
    params.candidates = ND_CANDIDATES_IDENTITY;
    params.verify = ND_VERIFY_JACCARD;
    check(params);
}

/* The pairs of a query with documents that are not withdrawn, and where they are in an engine that
 * has only those. */
static void check_withdrawn(struct nd_dedup_params params)
{
    struct list *expected = calloc(1, sizeof *expected), *asked = calloc(1, sizeof *asked);
    struct nd_dedup *all = nd_dedup_new_with(&params, NULL, NULL),
                    *rest = nd_dedup_new_with(&params, NULL, NULL);
    struct nd_error err;
    uint64_t place[HALF], n = 0;

    assert_true(expected && asked && all && rest);
    assert_int_equal(nd_dedup_push_prototypes(all, item, HALF / 2, NULL), ND_OK);
    for (uint64_t i = 0; i < HALF; i++) {
        if (i == HALF / 2)
            assert_int_equal(nd_dedup_push_prototypes(all, item + i, HALF / 2, NULL), ND_OK);
        if (i % 3 == 0) {
            assert_int_equal(nd_dedup_withdraw(all, i, NULL), ND_OK);
            continue;
        }
        assert_int_equal(nd_dedup_push_prototypes(rest, &item[i], 1, NULL), ND_OK);
        place[n++] = i;
    }
    assert_int_equal(nd_dedup_withdraw(all, 0, &err), ND_EINVAL);
    assert_string_equal(err.message, "the engine has no document 0");
    assert_int_equal(nd_dedup_withdraw(all, HALF, NULL), ND_EINVAL);
    assert_int_equal(nd_dedup_query(all, item, N, add, asked, NULL), ND_OK);
    assert_int_equal(nd_dedup_query(rest, item, N, add, expected, NULL), ND_OK);
    assert_int_equal(asked->n, expected->n);
    assert_true(asked->n > N / 2);
    for (size_t i = 0; i < asked->n; i++) {
        expected->at[i].b = place[expected->at[i].b];
        assert_memory_equal(&asked->at[i], &expected->at[i], sizeof asked->at[i]);
    }
    nd_dedup_free(all);
    nd_dedup_free(rest);
    free(expected);
    free(asked);
}

static void what_is_withdrawn_is_not_found(void **state)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    struct nd_dedup *stars;

    (void)state;
    params.threads = 2;
    stars = nd_dedup_new_with(&params, NULL, NULL);
    assert_non_null(stars);
    assert_int_equal(nd_dedup_withdraw(stars, 0, NULL), ND_EINVAL);
    nd_dedup_free(stars);
    params.cluster = ND_CLUSTER_PAIRS;
    check_withdrawn(params);
    params.short_policy = ND_SHORT_TOKENS;
    params.threshold = (struct nd_ratio){1, 2};
    check_withdrawn(params);
    params.verify = ND_VERIFY_CONTAINMENT;
    check_withdrawn(params);
}

static void what_is_withdrawn_takes_no_place_of_another(void **state)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    const struct nd_dedup_item same = {.text = {"one two three four five", 23}};
    struct list *found = calloc(1, sizeof *found);
    struct nd_dedup *d;

    (void)state;
    params.cluster = ND_CLUSTER_PAIRS;
    params.max_checks = 1;
    d = nd_dedup_new_with(&params, NULL, NULL);
    assert_true(found && d);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(nd_dedup_push_prototypes(d, &same, 1, NULL), ND_OK);
    assert_int_equal(nd_dedup_withdraw(d, 0, NULL), ND_OK);
    assert_int_equal(nd_dedup_withdraw(d, 2, NULL), ND_OK);
    assert_int_equal(nd_dedup_query(d, &same, 1, add, found, NULL), ND_OK);
    assert_int_equal(found->n, 1);
    assert_int_equal(found->at[0].b, 1);
    assert_true(found->at[0].is_equal && found->at[0].is_nearest);
    nd_dedup_free(d);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_finds_what_pushing_would),
        cmocka_unit_test(what_is_withdrawn_is_not_found),
        cmocka_unit_test(what_is_withdrawn_takes_no_place_of_another)};

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
