/* test_ask.c - asking finds the pairs that pushing would have found, and keeps nothing */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(asking_finds_what_pushing_would)};

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
