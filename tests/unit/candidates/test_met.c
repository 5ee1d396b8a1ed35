/* test_met.c - which rows could meet a set of documents: as a plain comparison with all of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "base/hash.h"
#include "candidates/met.h"
#include "candidates/row_maker.h"

enum { SET = 400, ROWS = 3000 };

static uint64_t random_state = 5;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

/* The low bytes have 8 more behind them here, too. */
static struct nd_sketch_row set[SET], row[ROWS];

static void fill_any(struct nd_sketch_row *r)
{
    *r = (struct nd_sketch_row){.identity = nd_mix64(below(UINT64_MAX)),
                                .simhash = nd_mix64(below(UINT64_MAX)),
                                .tokens = below(20) ? 30 + below(40) : below(4),
                                .n_shingles = (uint32_t)(28 + below(40))};
    r->text_hash[0] = nd_mix64(below(UINT64_MAX));
    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        r->low[i] = (uint8_t)below(256);
}

/* Like another, but for some of its minima and bits. */
static void fill_like(struct nd_sketch_row *r, const struct nd_sketch_row *other)
{
    fill_any(r);
    if (below(6) == 0) {
        *r = *other;
        return;
    }
    r->tokens = other->tokens;
    for (unsigned i = 0, differ = (unsigned)below(128); i < ND_MINHASH_COUNT; i++)
        r->low[i] = below(128) < differ ? (uint8_t)below(256) : other->low[i];
    r->simhash = other->simhash ^ (UINT64_C(1) << below(64) | UINT64_C(1) << below(64));
}

static void make_rows(void)
{
    for (unsigned i = 0; i < SET; i++)
        fill_any(&set[i]);
    for (unsigned i = 0; i < ROWS; i++)
        if (below(3))
            fill_any(&row[i]);
        else
            fill_like(&row[i], &set[below(SET)]);
}

static bool shares_table(const struct nd_index_params *index, const struct nd_sketch_row *a,
                         const struct nd_sketch_row *b)
{
    struct nd_index_row x = {.simhash = a->simhash}, y = {.simhash = b->simhash};

    memcpy(x.low, a->low, sizeof a->low);
    memcpy(y.low, b->low, sizeof b->low);
    for (unsigned t = 0; t < nd_table_identity(index); t++)
        if (nd_table_key(index, t, &x) == nd_table_key(index, t, &y))
            return true;
    return false;
}

static bool are_near(const struct nd_row_plan *plan, const struct nd_sketch_row *a,
                     const struct nd_sketch_row *b)
{
    unsigned distance = plan->kind == ND_ROW_LOW_BYTES
                            ? ND_MINHASH_COUNT - nd_low_bytes_equal(a->low, b->low)
                            : nd_count_ones(a->simhash ^ b->simhash);

    return nd_reaches(nd_engine_plan_reach(&plan->plan, a->n_shingles), b->n_shingles, distance);
}

static bool meets_plainly(const struct nd_row_plan *plan, const struct nd_sketch_row *r,
                          size_t from, size_t to)
{
    unsigned w = plan->plan.params.sketch.w;

    for (size_t i = from; i < to; i++)
        if (r->identity == set[i].identity ||
            (plan->kind != ND_ROW_NOTHING && r->tokens >= w && set[i].tokens >= w &&
             shares_table(&plan->plan.index, r, &set[i]) && are_near(plan, r, &set[i])))
            return true;
    return false;
}

/* All rows, sifted 64 at a time and fewer.  Returns how many were let through. */
static size_t check_all(const struct nd_met_set *met, const struct nd_row_plan *plan, size_t from,
                        size_t to, bool is_fresh)
{
    size_t passed = 0;

    for (size_t at = 0, n; at < ROWS; at += n) {
        struct nd_met_keys keys[ND_MET_SIFTED];
        uint64_t sifted;

        n = 1 + below(ND_MET_SIFTED);
        n = n < ROWS - at ? n : ROWS - at;
        for (size_t i = 0; i < n; i++)
            keys[i] = (struct nd_met_keys){row[at + i].low, row[at + i].identity};
        sifted = nd_met_set_sift(met, keys, (unsigned)n, is_fresh);
        assert_true(n == ND_MET_SIFTED || sifted >> n == 0);
        for (size_t i = 0; i < n; i++) {
            bool has = nd_met_set_has(met, &row[at + i], is_fresh);

            if (plan->plan.index.rows <= 8) /* of longer bands only a part is compared */
                assert_int_equal(has, meets_plainly(plan, &row[at + i], from, to));
            assert_true(has || !meets_plainly(plan, &row[at + i], from, to));
            assert_true(!has || (sifted >> i & 1));
            passed += sifted >> i & 1;
        }
    }
    return passed;
}

static void add(struct nd_met_set *met, size_t from, size_t to)
{
    struct nd_error err;

    for (size_t i = from; i < to; i++)
        assert_int_equal(nd_met_set_add(met, &set[i], &err), ND_OK);
    assert_int_equal(nd_met_set_link(met, &err), ND_OK);
}

static void check_recipe(const char *assignment, bool sifts)
{
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    struct nd_row_plan plan;
    struct nd_met_set *met;
    const char *key;
    size_t passed;

    if (assignment)
        assert_int_equal(nd_recipe_set(recipe, assignment, &err), ND_OK);
    assert_int_equal(nd_row_plan_init(&plan, recipe, &key, &err), ND_OK);
    for (unsigned round = 0; round < 3; round++) {
        make_rows();
        met = nd_met_set_new(recipe, round ? SET : 1, &err);
        assert_non_null(met);
        assert_int_equal(check_all(met, &plan, 0, 0, false), 0);
        add(met, 0, SET / 2);
        passed = check_all(met, &plan, 0, SET / 2, false);
        nd_met_set_begin_round(met);
        assert_int_equal(check_all(met, &plan, 0, 0, true), 0);
        for (size_t i = SET / 2; i < SET; i += 10)
            add(met, i, i + 10);
        check_all(met, &plan, SET / 2, SET, true);
        check_all(met, &plan, 0, SET, false);
        /* Not many rows pass that meet nobody: a third of them are like some document. */
        assert_true(!sifts || passed < ROWS / 2);
        nd_met_set_free(met);
    }
    nd_row_plan_release(&plan);
    nd_recipe_free(recipe);
}

static void rows_meet_a_set_as_in_a_plain_comparison(void **state)
{
    (void)state;
    check_recipe(NULL, true);
    check_recipe("threshold=0.5", false);
    check_recipe("threshold=0.95", true);
    check_recipe("threshold=0.99", true);
    check_recipe("candidates=simhash", false);
    check_recipe("candidates=identity", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_meet_a_set_as_in_a_plain_comparison),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
