/* crowd_fixture.h - many documents that resemble one another: pages of a template, near copies */
#ifndef ND_TESTS_CROWD_FIXTURE_H
#define ND_TESTS_CROWD_FIXTURE_H

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
#include "engine/engine.h"

enum { TEXT_MAX = 2048, MOST = 4000 };

static uint64_t random_state;

static inline unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

struct corpus {
    char (*text)[TEXT_MAX];
    struct nd_dedup_item item[MOST];
    unsigned n;
};

static inline struct corpus *new_corpus(void)
{
    struct corpus *c = calloc(1, sizeof *c);

    assert_non_null(c);
    c->text = calloc(MOST, sizeof *c->text);
    assert_non_null(c->text);
    random_state = 3;
    return c;
}

static inline void free_corpus(struct corpus *c)
{
    free(c->text);
    free(c);
}

/* Words of a template, then words that no other document has. */
static inline void add_page(struct corpus *c, unsigned template, unsigned n_shared, unsigned n_own)
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

/* Forty words, of four different ones: most documents share keys, and few could match. */
static inline void add_small_vocabulary(struct corpus *c)
{
    size_t len = 0;

    for (unsigned i = 0; i < 40; i++)
        len += (size_t)sprintf(c->text[c->n] + len, "%c ", 'a' + (int)below(4));
    c->item[c->n].text = (struct nd_view){c->text[c->n], len};
    c->n++;
}

/* An earlier page, its last words others: some reach the threshold with it, or with one like it. */
static inline void add_variant(struct corpus *c, unsigned from)
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

static inline struct nd_dedup_stats push(const struct nd_dedup_params *p, const struct corpus *c,
                                         unsigned batch, struct nd_decision *got)
{
    struct nd_dedup *d = nd_dedup_new_with(p, NULL, NULL);
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

/* Add the same words but one, another in each. */
static inline void add_near_copy(struct corpus *c)
{
    char *text = c->text[c->n];
    unsigned changed = below(100);
    size_t len = 0;

    for (unsigned i = 0; i < 100; i++)
        len += i == changed ? (size_t)sprintf(text + len, "o%u ", below(1u << 30))
                            : (size_t)sprintf(text + len, "same%u ", i);
    c->item[c->n++].text = (struct nd_view){text, len};
}

/*
 * The properties that join documents into components: the same group, counts, and enough equal low
 * bytes.
 */
struct known {
    uint8_t low[ND_MINHASH_COUNT];
    uint64_t n_shingles;
};

static inline struct known *read_all(const struct corpus *c, const struct nd_dedup_params *p)
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

static inline unsigned equal_bytes(const struct known *a, const struct known *b)
{
    unsigned n = 0;

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        n += a->low[m] == b->low[m];
    return n;
}

static inline bool share_band(const struct known *a, const struct known *b, unsigned bands,
                              unsigned rows)
{
    for (unsigned band = 0; band < bands; band++)
        if (memcmp(a->low + band * rows, b->low + band * rows, rows) == 0)
            return true;
    return false;
}

static inline unsigned root(unsigned *parent, unsigned x)
{
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

/* The component of each document, at a threshold of .8: 62 bytes. */
static inline void join_all(const struct corpus *c, const struct known *known, unsigned bands,
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

#endif
