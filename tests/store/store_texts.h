/* store_texts.h - texts that are near each other or not, and what makes them so, by definition */
#ifndef STORE_TEXTS_H
#define STORE_TEXTS_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/recipe.h>
#include <neardup/sketch.h>

#include "base/hash.h"
#include "base/number/bits.h"

enum { TEXTS = 120, TEXT_WORDS = 40, TEXT_BYTES = TEXT_WORDS * 6 };

static uint64_t random_state = 1;

static inline uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

struct text {
    char bytes[TEXT_BYTES];
    size_t len;
    struct nd_sketch sketch;
    uint64_t shingle[TEXT_WORDS];
    uint8_t low[ND_MINHASH_COUNT];
};
static struct text text[TEXTS];
static unsigned text_families = 8; /* so many at least */

/* Families: a text, copies with one or two other words, and copies in other letters; some texts are
 * short, some empty. */
static inline void write_text(struct text *t, const unsigned *word, unsigned n, bool in_capitals)
{
    t->len = 0;
    for (unsigned i = 0; i < n; i++)
        t->len += (size_t)snprintf(t->bytes + t->len, TEXT_BYTES - t->len, "%c%u ",
                                   in_capitals ? 'W' : 'w', word[i]);
}

static inline void sketch_texts(const struct nd_recipe *recipe)
{
    const struct nd_sketch_params params = nd_recipe_sketch_params(recipe);
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);

    for (unsigned i = 0; i < TEXTS; i++) {
        struct text *t = &text[i];

        assert_int_equal(nd_sketcher_run(sketcher, t->bytes, t->len, ND_SKETCH_ALL, &t->sketch),
                         ND_OK);
        memcpy(t->shingle, t->sketch.shingle, t->sketch.n_shingles * sizeof *t->shingle);
        for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
            t->low[m] = (uint8_t)t->sketch.minhash[m];
    }
    nd_sketcher_free(sketcher);
}

static inline void make_texts(void)
{
    static unsigned word[TEXTS][TEXT_WORDS];
    static unsigned n[TEXTS];

    for (unsigned i = 0; i < TEXTS; i++) {
        bool is_new = i < text_families || (text_families > 1 && below(10) == 0);
        unsigned from = is_new ? 0 : (unsigned)below(i), edits = (unsigned)below(3);

        n[i] = is_new ? TEXT_WORDS - 3 : n[from];
        if (below(12) == 0)
            n[i] = (unsigned)below(4);
        for (unsigned w = 0; w < TEXT_WORDS; w++)
            word[i][w] = is_new ? (unsigned)below(900) : word[from][w];
        for (; edits && n[i] && !is_new; edits--)
            word[i][below(n[i])] = (unsigned)below(900);
        write_text(&text[i], word[i], n[i], below(6) == 0);
        if (n[i] == 0) /* no tokens, and different bytes */
            text[i].len = (size_t)snprintf(text[i].bytes, TEXT_BYTES, "%*s", (int)(i % 3), "");
    }
}

static inline bool same_bytes(unsigned i, unsigned j)
{
    return text[i].len == text[j].len && memcmp(text[i].bytes, text[j].bytes, text[i].len) == 0;
}

static inline bool same_tokens(unsigned i, unsigned j)
{
    return text[i].sketch.identity == text[j].sketch.identity;
}

static inline uint64_t shared_shingles(unsigned i, unsigned j)
{
    uint64_t n = 0;

    for (size_t x = 0; x < text[i].sketch.n_shingles; x++)
        for (size_t y = 0; y < text[j].sketch.n_shingles; y++)
            n += text[i].shingle[x] == text[j].shingle[y];
    return n;
}

static inline unsigned distance(unsigned i, unsigned j)
{
    return nd_count_ones(text[i].sketch.simhash ^ text[j].sketch.simhash);
}

static inline unsigned equal_minima(unsigned i, unsigned j)
{
    unsigned n = 0;

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        n += text[i].low[m] == text[j].low[m];
    return n;
}

#endif
