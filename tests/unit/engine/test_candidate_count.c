/* test_candidate_count.c - candidates counted at any threshold, beside every pair compared */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "engine/candidate_count.h"
#include "engine/engine.h"
#include "index/index_row.h"
#include "index/live.h"
#include "simd/sketch/sketch_kernels.h"

enum { DOCUMENTS = 150, WORDS = 30, IN_BLOCK = 7 };

/* Documents in families of six: each member has some words of its own. */
static void make_text(unsigned i, char out[WORDS * 8])
{
    size_t at = 0;

    for (unsigned w = 0; w < WORDS; w++) {
        uint64_t family = nd_mix64(i / 6 * 1000 + w + 1), own = nd_mix64(i * 1000 + w + 500000);
        uint64_t word = own % 100 < i % 6 * 4 ? own : family;

        at += (size_t)sprintf(out + at, "w%05u ", (unsigned)(word % 100000));
    }
}

/* An engine that has pushed them, which were kept, and their sketches. */
struct corpus {
    struct nd_dedup *dedup;
    struct nd_decision decision[DOCUMENTS];
    uint8_t low[DOCUMENTS][ND_MINIMA];
    uint64_t n_shingles[DOCUMENTS];
    uint32_t block[DOCUMENTS];
};

static void make_corpus(struct corpus *c)
{
    const struct nd_dedup_params params = nd_dedup_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&params.sketch, NULL);
    struct nd_sketch sketch;
    char text[WORDS * 8];

    c->dedup = nd_dedup_new_with(&params, NULL, NULL);
    assert_non_null(c->dedup);
    assert_non_null(sketcher);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_dedup_item item = {.group = 0};

        make_text(i, text);
        item.text = (struct nd_view){text, strlen(text)};
        assert_int_equal(nd_dedup_push(c->dedup, &item, 1, &c->decision[i], NULL), ND_OK);
        assert_int_equal(nd_sketcher_run(sketcher, text, strlen(text), ND_SKETCH_ALL, &sketch),
                         ND_OK);
        nd_sketch_kernels()->low_bytes(sketch.minhash, c->low[i]);
        c->n_shingles[i] = sketch.n_shingles;
        c->block[i] = i / IN_BLOCK;
    }
    nd_sketcher_free(sketcher);
}

static bool share_a_band(const struct corpus *c, unsigned a, unsigned b, unsigned bands,
                         unsigned rows)
{
    for (unsigned band = 0; band < bands; band++)
        if (memcmp(c->low[a] + band * rows, c->low[b] + band * rows, rows) == 0)
            return true;
    return false;
}

static bool are_candidates(const struct corpus *c, unsigned a, unsigned b,
                           const struct nd_candidate_count *of, struct nd_ratio t)
{
    uint64_t x = c->n_shingles[a], y = c->n_shingles[b];
    unsigned equal = 0;

    for (unsigned i = 0; i < ND_MINIMA; i++)
        equal += c->low[a][i] == c->low[b][i];
    return (x < y ? x : y) * t.q >= (x < y ? y : x) * t.p &&
           equal >= nd_low_bytes_agreeing(t.p, t.q) && share_a_band(c, a, b, of->bands, of->rows);
}

static void every_pair_of_kept_documents_is_counted_once(void **state)
{
    static struct corpus c;
    double before = DOCUMENTS * DOCUMENTS;

    (void)state;
    make_corpus(&c);
    assert_true(nd_dedup_has_bands(c.dedup));
    for (unsigned p = 10; p < 20; p++) {
        const struct nd_ratio t = {p, 20};
        struct nd_candidate_count got;
        unsigned within = 0, across = 0, bands, rows;

        assert_int_equal(nd_dedup_count_candidates(c.dedup, c.block, t, 1, &got, NULL), ND_OK);
        assert_int_equal(nd_bands_choose(t, nd_dedup_params_default().recall, &bands, &rows, NULL),
                         ND_OK);
        assert_true(got.bands == bands && got.rows == rows);
        for (unsigned a = 0; a < DOCUMENTS; a++)
            for (unsigned b = 0; b < a; b++)
                if (c.decision[a].kept == a && c.decision[b].kept == b &&
                    are_candidates(&c, a, b, &got, t))
                    ++*(c.block[a] == c.block[b] ? &within : &across);
        assert_true(got.within == within && got.across == across);
        assert_true(got.within + got.across <= before);
        before = got.within + got.across;
        assert_true(p > 10 || (within > 0 && across > 0));
    }
    nd_dedup_free(c.dedup);
}

/* 0/1: those that the engine has. */
static void the_engine_has_bands_of_its_own(void **state)
{
    static struct corpus c;
    const struct nd_ratio own = {0, 1}, same = nd_dedup_params_default().threshold;
    struct nd_candidate_count a, b;

    (void)state;
    make_corpus(&c);
    assert_int_equal(nd_dedup_count_candidates(c.dedup, c.block, own, 1, &a, NULL), ND_OK);
    assert_int_equal(nd_dedup_count_candidates(c.dedup, c.block, same, 1, &b, NULL), ND_OK);
    assert_true(a.bands == b.bands && a.rows == b.rows);
    assert_true(a.within == b.within && a.across == b.across);
    nd_dedup_free(c.dedup);
}

static void an_engine_without_bands_is_refused(void **state)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    const struct nd_ratio t = {4, 5};
    struct nd_candidate_count got;
    struct nd_dedup *dedup;

    (void)state;
    params.candidates = ND_CANDIDATES_SIMHASH;
    params.verify = ND_VERIFY_NONE;
    dedup = nd_dedup_new_with(&params, NULL, NULL);
    assert_non_null(dedup);
    assert_false(nd_dedup_has_bands(dedup));
    assert_int_equal(nd_dedup_count_candidates(dedup, NULL, t, 1, &got, NULL), ND_EINVAL);
    nd_dedup_free(dedup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_kept_documents_is_counted_once),
        cmocka_unit_test(the_engine_has_bands_of_its_own),
        cmocka_unit_test(an_engine_without_bands_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
