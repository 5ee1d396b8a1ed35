/* test_equal.c - what equal documents make of stars, clusters and pairs, whatever the batches */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup.h>

#include "base/hash.h"
#include "engine/engine.h"

enum { N = 120, TEXT = 200, PAIRS = N * N };

static uint64_t random_state;
static char text[N][TEXT];
static struct nd_field field[N];
static struct nd_document document[N];
static struct nd_dedup_item item[N];

static unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

/* Copies, texts of equal tokens, near ones, short and empty ones; and a field that differs. */
static void make_texts(uint64_t seed)
{
    random_state = seed;
    for (unsigned i = 0; i < N; i++) {
        unsigned kind = i ? below(8) : 7;
        size_t len = 0;

        *text[i] = '\0';
        if (kind < 6)
            memcpy(text[i], text[below(i)], TEXT);
        else
            for (unsigned n = below(3) ? 6 + below(20) : below(4); n; n--)
                len += (size_t)sprintf(text[i] + len, "w%u ", below(40));
        len = strlen(text[i]);
        if (len && kind < 2)
            text[i][below((unsigned)len)] = 'w';
        if (len && kind == 2)
            text[i][len - 1] = '.';
        field[i] = (struct nd_field){{"f", 1}, {below(2) ? "x" : "y", 1}};
        document[i] =
            (struct nd_document){.text = {text[i], len}, .fields = &field[i], .n_fields = 1};
        item[i] = (struct nd_dedup_item){
            .text = document[i].text, .group = i % 7 == 0, .document = &document[i]};
    }
}

/* The answer of an engine about all: of pairs a list, else who is kept for whom, and why. */
struct answer {
    size_t n;
    uint64_t a[PAIRS], b[PAIRS];
    unsigned identical[PAIRS];
};

static enum nd_status add(void *context, const struct nd_found_pair *pair)
{
    struct answer *answer = context;

    answer->a[answer->n] = pair->a;
    answer->b[answer->n] = pair->b;
    answer->identical[answer->n++] = pair->is_equal;
    return ND_OK;
}

enum mode { STARS, COMPLETE, COMPONENTS, PAIRWISE, MODES };

static void push(struct nd_dedup *d, enum mode mode, unsigned from, unsigned n,
                 struct nd_decision *decision, struct answer *answer)
{
    enum nd_status status = ND_OK;

    switch (mode) {
    case STARS:
    case COMPLETE: status = nd_dedup_push(d, item + from, n, decision + from, NULL); break;
    case COMPONENTS: status = nd_dedup_push_components(d, item + from, n, NULL); break;
    case PAIRWISE: status = nd_dedup_push_pairs(d, item + from, n, add, answer, NULL); break;
    case MODES: break;
    }
    assert_int_equal(status, ND_OK);
}

static void ask(struct nd_dedup_params params, enum mode mode, unsigned batch, unsigned threads,
                struct answer *answer)
{
    static struct nd_decision decision[N];
    static struct nd_component_via via[N];
    static const enum nd_cluster cluster[MODES] = {[STARS] = ND_CLUSTER_STAR,
                                                   [COMPONENTS] = ND_CLUSTER_COMPONENTS,
                                                   [COMPLETE] = ND_CLUSTER_COMPLETE,
                                                   [PAIRWISE] = ND_CLUSTER_PAIRS};
    struct nd_dedup *d;

    params.cluster = cluster[mode];
    params.threads = threads;
    d = nd_dedup_new_with(&params, NULL, NULL);
    assert_non_null(d);
    memset(answer, 0, sizeof *answer);
    for (unsigned from = 0; from < N; from += batch)
        push(d, mode, from, batch < N - from ? batch : N - from, decision, answer);
    if (mode == COMPONENTS)
        assert_int_equal(nd_dedup_components(d, 0, N, decision, via, NULL), ND_OK);
    for (unsigned i = 0; mode != PAIRWISE && i < N; i++) {
        answer->a[i] = decision[i].kept;
        answer->b[i] = mode == COMPONENTS ? via[i].document : 0;
        answer->identical[i] = decision[i].identical;
        answer->n++;
    }
    nd_dedup_free(d);
}

static void check(const char *recipe_text, enum nd_short short_policy)
{
    static struct answer expected, got;
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_dedup_params params;

    assert_int_equal(nd_recipe_parse(&recipe, "test", recipe_text, strlen(recipe_text), NULL),
                     ND_OK);
    params = recipe.dedup;
    params.method = &recipe.method;
    params.short_policy = short_policy;
    for (enum mode mode = STARS; mode < MODES; mode++) {
        ask(params, mode, 1, 1, &expected);
        for (unsigned batch = 4; batch < 5 * N; batch *= 5) {
            for (unsigned threads = 1; threads <= 3; threads += 2) {
                ask(params, mode, batch, threads, &got);
                assert_memory_equal(&got, &expected, sizeof got);
            }
        }
    }
}

static void batches_and_threads_change_nothing(void **state)
{
    static const char *const recipe[] = {
        "",
        "[decide]\nthreshold = 0.5\nverify = none\nbands = 64\nrows = 2\n",
        /* rejected where there are fewer than 12 terms */
        "[signature s]\nkind = checksums\nleast_terms = 12\ngroups = 8\n[decide]\n"
        "candidates = match\nverify = none\nmatch = equal(s) >= 6\n",
        "[signature s]\nreserved_bits = 8\nreserved_field = f\n[decide]\n"
        "candidates = match\nverify = none\nmatch = distance(s) <= 14 and same(s) >= 1\n",
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        make_texts(seed);
        for (size_t i = 0; i < sizeof recipe / sizeof *recipe; i++)
            for (enum nd_short policy = ND_SHORT_IDENTICAL; policy <= ND_SHORT_TOKENS; policy++)
                check(recipe[i], policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_and_threads_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
