/* test_reach.c - the rule by which two documents could match: indexes find whom a plain comparison does */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "base/hash.h"
#include "candidates/row_maker.h"

enum { ROWS = 300, WORDS = 8, GROUPS = 2 };

static uint64_t random_state = 7;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

/* A document: its row, and the bits of a fingerprint. */
static struct nd_index_row row[ROWS];
static uint64_t bits[ROWS][WORDS];

static void fill_any(unsigned i)
{
    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        row[i].low[m] = (uint8_t)below(256);
    row[i].simhash = below(UINT64_MAX);
    row[i].identity = below(UINT64_MAX);
    row[i].n_shingles = (uint32_t)(50 + below(60));
    for (unsigned w = 0; w < WORDS; w++)
        bits[i][w] = below(UINT64_MAX);
}

/* Most are like an earlier one, but for some minima and bits. */
static void make_rows(void)
{
    memset(row, 0, sizeof row);
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned from = i < 10 ? 0 : (unsigned)below(i), differ = (unsigned)below(128);

        fill_any(i);
        row[i].group = (uint32_t)below(GROUPS);
        if (i < 10)
            continue;
        for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
            row[i].low[m] = below(128) < differ ? row[i].low[m] : row[from].low[m];
        row[i].simhash = row[from].simhash;
        memcpy(bits[i], bits[from], sizeof bits[i]);
        for (uint64_t flips = below(16); flips; flips--) {
            row[i].simhash ^= flips < 5 ? UINT64_C(1) << below(64) : 0;
            bits[i][below(WORDS)] ^= UINT64_C(1) << below(64);
        }
    }
}

/* ---- The plain comparison ---- */

static unsigned ones(uint64_t x)
{
    unsigned n = 0;

    for (; x; x >>= 1)
        n += x & 1;
    return n;
}

static unsigned plain_distance(const struct nd_row_plan *plan, unsigned a, unsigned b)
{
    unsigned n = 0;

    if (plan->kind == ND_ROW_SIMHASH)
        return ones(row[a].simhash ^ row[b].simhash);
    if (plan->kind == ND_ROW_LOW_BYTES)
        for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
            n += row[a].low[m] != row[b].low[m];
    for (size_t w = 0; plan->kind == ND_ROW_FINGERPRINT && w < plan->words; w++)
        n += ones((bits[a][w] ^ bits[b][w]) & plan->mask[w]);
    return n;
}

static const void *body(const struct nd_row_plan *plan, unsigned i)
{
    return plan->kind == ND_ROW_LOW_BYTES     ? (const void *)row[i].low
           : plan->kind == ND_ROW_SIMHASH     ? (const void *)&row[i].simhash
           : plan->kind == ND_ROW_FINGERPRINT ? (const void *)bits[i]
                                              : NULL;
}

/* Resemblance is at most the smaller count by the greater. */
static bool counts_allow(const struct nd_row_plan *plan, uint64_t a, uint64_t b)
{
    return plan->plan.matching || plan->plan.params.verify == ND_VERIFY_NONE ||
           (a < b ? a : b) * plan->plan.threshold.den >= (a < b ? b : a) * plan->plan.threshold.num;
}

static bool is_reached(const struct nd_row_plan *plan, unsigned a, unsigned b)
{
    return counts_allow(plan, row[a].n_shingles, row[b].n_shingles) &&
           (plan->kind == ND_ROW_NOTHING || plain_distance(plan, a, b) <= plan->plan.distance);
}

static bool shares_table(const struct nd_row_plan *plan, unsigned table, unsigned a, unsigned b)
{
    return nd_table_key(&plan->plan.index, table, &row[a]) ==
           nd_table_key(&plan->plan.index, table, &row[b]);
}

/* By bits, all that are near enough share a key. */
static bool should_meet(const struct nd_row_plan *plan, unsigned a, unsigned b)
{
    bool shares = false;

    for (unsigned t = 0; t < nd_table_queried(&plan->plan.index); t++)
        shares = shares || shares_table(plan, t, a, b);
    assert_true(plan->kind != ND_ROW_SIMHASH || shares || !is_reached(plan, a, b) ||
                row[a].group != row[b].group);
    return shares && row[a].group == row[b].group && is_reached(plan, a, b);
}

/* ---- Pairs of rows ---- */

static void check_pairs(const struct nd_row_plan *plan)
{
    for (unsigned a = 0; a < ROWS; a++) {
        struct nd_reach reach = nd_engine_plan_reach(&plan->plan, row[a].n_shingles);

        for (unsigned b = 0; b < ROWS; b++) {
            unsigned distance = nd_row_distance(plan, body(plan, a), body(plan, b));

            assert_int_equal(distance, plain_distance(plan, a, b));
            assert_int_equal(nd_reaches(reach, row[b].n_shingles, distance),
                             is_reached(plan, a, b));
        }
    }
}

/* ---- The live index ---- */

static void check_keys(const struct nd_row_plan *plan, const struct nd_index *index, unsigned a,
                       unsigned n)
{
    uint32_t full[ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2] = {0};
    const unsigned n_tables = nd_table_identity(&plan->plan.index);

    nd_index_count_keys(index, &row[a], nd_engine_plan_reach(&plan->plan, row[a].n_shingles),
                        UINT32_MAX, full);
    for (unsigned t = 0; t < n_tables; t++) {
        uint32_t expected = 0;

        for (unsigned b = 0; b < n; b++)
            expected += shares_table(plan, t, a, b) && should_meet(plan, a, b);
        assert_int_equal(full[t], expected);
    }
}

/* Return how many are found. */
static size_t check_query(const struct nd_row_plan *plan, const struct nd_index *index, unsigned a,
                          unsigned n)
{
    const struct nd_reach reach = nd_engine_plan_reach(&plan->plan, row[a].n_shingles);
    struct nd_candidates found = {0};
    bool is_found[ROWS] = {false};
    size_t n_found;

    assert_int_equal(nd_index_query_row(index, &row[a], reach, &found, NULL), ND_OK);
    n_found = found.count;
    for (size_t i = 0; i < n_found; i++)
        is_found[found.items[i].number] = true;
    for (unsigned b = 0; b < n; b++) {
        assert_int_equal(is_found[b], should_meet(plan, a, b));
        assert_int_equal(nd_index_is_candidate(index, &row[a], reach, b), is_found[b]);
    }
    check_keys(plan, index, a, n);
    nd_candidates_release(&found);
    return n_found;
}

static size_t check_live_index(const struct nd_row_plan *plan)
{
    struct nd_error err;
    struct nd_index *index = nd_index_new(&plan->plan.index, &err);
    size_t n_found = 0;

    assert_non_null(index);
    for (unsigned i = 0; i < ROWS; i++) {
        uint32_t number;

        n_found += check_query(plan, index, i, i);
        assert_int_equal(nd_index_add(index, &row[i], &number, &err), ND_OK);
        assert_int_equal(number, i);
    }
    nd_index_free(index);
    return n_found;
}

/* ---- The index of signatures ---- */

static size_t check_signed(const struct nd_row_plan *plan, struct nd_signature_index *index,
                           const struct nd_signature_row *signed_row, unsigned a)
{
    const struct nd_matching *m = plan->plan.matching;
    struct nd_key_list keys = {0}, scratch = {0};
    struct nd_numbers found = {0};
    bool is_found[ROWS] = {false};
    size_t n_found;

    assert_true(nd_signature_index_row_keys(m->shape, m->lookup, m->n_lookups, signed_row, &keys));
    assert_true(nd_signature_index_query(index, signed_row->signature, &keys, &scratch, &found));
    n_found = found.count;
    for (size_t i = 0; i < n_found; i++)
        is_found[found.items[i]] = true;
    for (unsigned b = 0; b < a; b++)
        if (row[a].group == row[b].group)
            assert_int_equal(is_found[b], is_reached(plan, a, b));
    nd_numbers_release(&found);
    nd_key_list_release(&scratch);
    nd_key_list_release(&keys);
    return n_found;
}

static size_t check_signature_index(const struct nd_row_plan *plan)
{
    struct nd_signature_index *index = nd_matching_index(plan->plan.matching);
    size_t n_found = 0;

    assert_non_null(index);
    assert_int_equal(plan->signature, 0);
    for (unsigned i = 0; i < ROWS; i++) {
        struct nd_signature signature = {bits[i], plan->words, 0};
        struct nd_signature_row signed_row = {&signature, row[i].group, 100};

        n_found += check_signed(plan, index, &signed_row, i);
        assert_true(nd_signature_index_append(index, &signed_row) &&
                    nd_signature_index_list(index, i));
    }
    nd_signature_index_free(index);
    return n_found;
}

/* ---- Recipes ---- */

static void check_recipe(const char *name, const char *assignment)
{
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    struct nd_row_plan plan;
    const char *key;

    assert_int_equal(nd_recipe_by_name(recipe, name, &err), ND_OK);
    if (assignment)
        assert_int_equal(nd_recipe_set(recipe, assignment, &err), ND_OK);
    assert_int_equal(nd_row_plan_init(&plan, recipe, &key, &err), ND_OK);
    make_rows();
    check_pairs(&plan);
    if (plan.kind == ND_ROW_FINGERPRINT)
        assert_true(check_signature_index(&plan) > 0);
    else
        assert_true(check_live_index(&plan) > 0 || plan.kind == ND_ROW_NOTHING);
    nd_row_plan_release(&plan);
    nd_recipe_free(recipe);
}

static void documents_within_reach_are_those_of_a_plain_comparison(void **state)
{
    (void)state;
    check_recipe("default", NULL);
    check_recipe("default", "threshold=0.5");
    check_recipe("default", "threshold=0.95");
    check_recipe("default", "verify=none");
    check_recipe("default", "candidates=simhash");
    check_recipe("default", "candidates=identity");
    check_recipe("manku-2007", NULL);
    check_recipe("henzinger-2006-c", NULL);
}

static void the_counts_of_two_documents_allow_each_other(void **state)
{
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct nd_ratio t = {1 + (uint32_t)below(1000), 1000};
        struct nd_row_plan plan;
        const char *key;

        assert_int_equal(nd_row_plan_init(&plan, recipe, &key, &err), ND_OK);
        plan.plan.threshold = nd_measure_threshold(ND_VERIFY_JACCARD, t);
        for (unsigned k = 0; k < 2000; k++) {
            uint32_t a = (uint32_t)(below(2) ? below(UINT32_MAX) : below(100)),
                     b = (uint32_t)((uint64_t)a * t.p / t.q + below(3));

            assert_int_equal(nd_reaches_count(nd_engine_plan_reach(&plan.plan, a), b),
                             nd_reaches_count(nd_engine_plan_reach(&plan.plan, b), a));
        }
        nd_row_plan_release(&plan);
    }
    nd_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_within_reach_are_those_of_a_plain_comparison),
        cmocka_unit_test(the_counts_of_two_documents_allow_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
