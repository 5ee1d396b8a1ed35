/* test_crowd.c - documents that are candidates of one another and match none: how many are listed,
 * and that documents elsewhere have no say in it */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup.h>

#include "base/hash.h"

enum { TEXT_MAX = 2048, MOST = 4000 };

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

struct corpus {
    char (*text)[TEXT_MAX];
    struct nd_dedup_item item[MOST];
    unsigned n;
};

static struct corpus *new_corpus(void)
{
    struct corpus *c = calloc(1, sizeof *c);

    assert_non_null(c);
    c->text = calloc(MOST, sizeof *c->text);
    assert_non_null(c->text);
    random_state = 3;
    return c;
}

static void free_corpus(struct corpus *c)
{
    free(c->text);
    free(c);
}

/* Words of a template, then words that no other document has. */
static void add_page(struct corpus *c, unsigned template, unsigned n_shared, unsigned n_own)
{
    char *text = c->text[c->n];
    size_t len = 0;

    assert_true(c->n < MOST);
    for (unsigned i = 0; i < n_shared; i++)
        len += (size_t)sprintf(text + len, "t%uw%u ", template, i);
    for (unsigned i = 0; i < n_own; i++)
        len += (size_t)sprintf(text + len, "o%u ", below(1u << 30));
    c->item[c->n++].text = (struct nd_view){text, len};
}

/* An earlier page, its last words others: some reach the threshold with it, or with one like it. */
static void add_variant(struct corpus *c, unsigned from)
{
    size_t len = c->item[from].text.len;
    unsigned n = 1 + below(9);

    memcpy(c->text[c->n], c->text[from], len);
    for (unsigned spaces = 0; spaces <= n && len > 1; len--)
        spaces += c->text[c->n][len - 2] == ' ' && spaces < n + 1;
    for (len++; n; n--)
        len += (size_t)sprintf(c->text[c->n] + len, "o%u ", below(1u << 30));
    c->item[c->n].text = (struct nd_view){c->text[c->n], len};
    c->n++;
}

static struct nd_dedup_stats push(const struct nd_dedup_params *p, const struct corpus *c,
                                  unsigned batch, struct nd_decision *got)
{
    struct nd_dedup *d = nd_dedup_new(p, NULL, NULL);
    struct nd_dedup_stats stats;

    assert_non_null(d);
    for (unsigned i = 0; i < c->n; i += batch)
        assert_int_equal(
            nd_dedup_push(d, c->item + i, batch < c->n - i ? batch : c->n - i, got + i, NULL),
            ND_OK);
    nd_dedup_get_stats(d, &stats);
    nd_dedup_free(d);
    return stats;
}

/* Pages of one template at .78 of one another, twice and four times as many. */
static void candidates_grow_with_the_documents(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    uint64_t candidates[3];

    (void)state;
    p.max_checks = 16;
    for (unsigned i = 0; i < 3; i++) {
        struct nd_dedup_stats stats;

        while (c->n < 1000u << i)
            add_page(c, 0, 100, 14);
        stats = push(&p, c, 500, got);
        candidates[i] = stats.candidates;
        assert_int_equal(stats.kept, c->n);
        assert_true(stats.candidates <= (uint64_t)c->n * p.max_checks * stats.bands);
        assert_true(stats.checks <= (uint64_t)c->n * p.max_checks);
        assert_true(stats.crowded_documents > c->n / 2);
        assert_true(stats.crowded_keys >= stats.crowded_documents);
    }
    assert_true(candidates[1] * 10 < candidates[0] * 23);
    assert_true(candidates[2] * 10 < candidates[1] * 23);
    free_corpus(c);
}

/* A later copy of such a page with a word more is found by the words that only they have. */
static void near_copies_in_a_crowd_are_found(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    unsigned n;

    (void)state;
    p.max_checks = 8;
    while (c->n < 1500)
        add_page(c, 0, 100, 14);
    n = c->n;
    for (unsigned i = 0; i < n; i += 10) {
        size_t len = c->item[i].text.len;

        memcpy(c->text[c->n], c->text[i], len);
        len += (size_t)sprintf(c->text[c->n] + len, "more ");
        c->item[c->n].text = (struct nd_view){c->text[c->n], len};
        c->n++;
    }
    (void)push(&p, c, 700, got);
    for (unsigned i = n; i < c->n; i++)
        assert_int_equal(got[i].kept, (i - n) * 10);
    free_corpus(c);
}

/* What joins documents into components: the same group, counts, and enough equal low bytes. */
struct known {
    uint8_t low[ND_MINHASH_COUNT];
    uint64_t n_shingles;
};

static struct known *read_all(const struct corpus *c, const struct nd_dedup_params *p)
{
    struct nd_sketcher *s = nd_sketcher_new(&p->sketch, NULL);
    struct known *known = calloc(c->n, sizeof *known);
    struct nd_sketch sketch;

    assert_non_null(s);
    assert_non_null(known);
    for (unsigned i = 0; i < c->n; i++) {
        assert_int_equal(
            nd_sketcher_run(s, c->item[i].text.data, c->item[i].text.len, ND_SKETCH_ALL, &sketch),
            ND_OK);
        known[i].n_shingles = sketch.n_shingles;
        for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
            known[i].low[m] = (uint8_t)sketch.minhash[m];
    }
    nd_sketcher_free(s);
    return known;
}

static unsigned equal_bytes(const struct known *a, const struct known *b)
{
    unsigned n = 0;

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        n += a->low[m] == b->low[m];
    return n;
}

static bool share_band(const struct known *a, const struct known *b, unsigned bands, unsigned rows)
{
    for (unsigned band = 0; band < bands; band++)
        if (memcmp(a->low + band * rows, b->low + band * rows, rows) == 0)
            return true;
    return false;
}

static unsigned root(unsigned *parent, unsigned x)
{
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

/* The component of each document, at a threshold of .8: 62 bytes. */
static void join_all(const struct corpus *c, const struct known *known, unsigned bands,
                     unsigned rows, unsigned *parent)
{
    for (unsigned i = 0; i < c->n; i++) {
        parent[i] = i;
        for (unsigned j = 0; j < i; j++) {
            uint64_t a = known[i].n_shingles, b = known[j].n_shingles;

            if (5 * a >= 4 * b && 5 * b >= 4 * a && equal_bytes(&known[i], &known[j]) >= 62 &&
                share_band(&known[i], &known[j], bands, rows))
                parent[root(parent, i)] = root(parent, j);
        }
    }
}

/* The documents of the component of the first one, alone and among all. */
static void compare_with_component(const struct corpus *c, const struct nd_dedup_params *p,
                                   const struct nd_decision *got, unsigned *parent)
{
    struct corpus *part = new_corpus();
    static struct nd_decision alone[MOST];
    static unsigned whole[MOST];

    for (unsigned i = 0; i < c->n; i++)
        if (root(parent, i) == root(parent, 0)) {
            whole[part->n] = i;
            part->item[part->n++] = c->item[i];
        }
    assert_true(part->n > 300 && part->n < c->n - 300);
    (void)push(p, part, 170, alone);
    for (unsigned i = 0; i < part->n; i++) {
        const struct nd_decision *x = &alone[i], *y = &got[whole[i]];

        assert_int_equal(whole[x->kept], y->kept);
        assert_int_equal(x->was_cut, y->was_cut);
        assert_int_equal(x->checks, y->checks);
        assert_memory_equal(&x->overlap, &y->overlap, sizeof x->overlap);
    }
    free_corpus(part);
}

/*
 * Pages that share some words with a template have bands in common with its pages, and the keys of
 * these, but too few bytes: whether they are there or not changes nothing for the others.
 */
static void documents_elsewhere_have_no_say(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    static unsigned parent[MOST];
    struct nd_dedup_stats stats;
    unsigned meetings = 0;
    struct known *known;

    (void)state;
    p.bands = 3;
    p.rows = 2;
    while (c->n < 1200) {
        unsigned kind = c->n ? below(4) : 0;

        if (kind == 0)
            add_page(c, 0, 60, 12);
        else if (kind == 1)
            add_variant(c, below(c->n));
        else
            add_page(c, 0, 30, 50);
    }
    known = read_all(c, &p);
    join_all(c, known, p.bands, p.rows, parent);
    for (unsigned i = 0; i < c->n; i++)
        for (unsigned j = 0; j < i; j++)
            meetings +=
                (root(parent, i) == root(parent, 0)) != (root(parent, j) == root(parent, 0)) &&
                share_band(&known[i], &known[j], p.bands, p.rows);
    assert_true(meetings > 1000 && c->n == 1200);
    for (p.max_checks = 1; p.max_checks <= 256; p.max_checks *= 4)
        for (p.threads = 1; p.threads <= 3; p.threads += 2) {
            stats = push(&p, c, 230, got);
            assert_true(stats.crowded_keys > 0 || p.max_checks > 64);
            compare_with_component(c, &p, got, parent);
        }
    free(known);
    free_corpus(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_grow_with_the_documents),
        cmocka_unit_test(near_copies_in_a_crowd_are_found),
        cmocka_unit_test(documents_elsewhere_have_no_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
