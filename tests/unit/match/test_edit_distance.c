/* test_edit_distance.c - the banded distance and its script against the whole table */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <neardup/compare.h>

enum { MOST = 60 };

static uint64_t least(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

/* The definition: every cell of the table of prefixes. */
static uint64_t slow_distance(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                              const struct nd_edit_costs *costs)
{
    static uint64_t cell[MOST + 1][MOST + 1];

    for (size_t i = 0; i <= n_a; i++) {
        for (size_t j = 0; j <= n_b; j++) {
            uint64_t best = i + j ? UINT64_MAX : 0;

            if (i)
                best = least(best, cell[i - 1][j] + costs->remove);
            if (j)
                best = least(best, cell[i][j - 1] + costs->insert);
            if (i && j)
                best =
                    least(best, cell[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : costs->replace));
            cell[i][j] = best;
        }
    }
    return cell[n_a][n_b];
}

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Two texts of few different tokens, the second often made of the first by some edits. */
static void make_texts(uint64_t *a, size_t *n_a, uint64_t *b, size_t *n_b)
{
    uint32_t kinds = 1 + draw(6);

    *n_a = draw(MOST + 1);
    *n_b = 0;
    for (size_t i = 0; i < *n_a; i++)
        a[i] = draw(kinds);
    if (draw(3) == 0) {
        *n_b = draw(MOST + 1);
        for (size_t i = 0; i < *n_b; i++)
            b[i] = draw(kinds);
        return;
    }
    for (size_t i = 0; i < *n_a && *n_b < MOST; i++) {
        switch (draw(12)) {
        case 0: break;
        case 1: b[(*n_b)++] = draw(kinds + 2); break;
        case 2:
            b[(*n_b)++] = draw(kinds + 2);
            if (*n_b < MOST)
                b[(*n_b)++] = a[i];
            break;
        default: b[(*n_b)++] = a[i];
        }
    }
}

static struct nd_edit_costs draw_costs(void)
{
    if (draw(2))
        return nd_edit_costs_default();
    return (struct nd_edit_costs){1 + draw(9), 1 + draw(9), 1 + draw(20)};
}

static void the_distance_is_that_of_the_whole_table(void **state)
{
    uint64_t a[MOST + 1], b[MOST + 1];

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        struct nd_edit_costs costs = draw_costs();
        uint64_t expected, distance = 7, limit;
        size_t n_a, n_b;

        make_texts(a, &n_a, b, &n_b);
        expected = slow_distance(a, n_a, b, n_b, &costs);
        assert_int_equal(
            nd_edit_distance(a, n_a, b, n_b, &costs, ND_EDIT_NO_LIMIT, &distance, NULL), ND_OK);
        assert_int_equal(distance, expected);
        limit = draw((uint32_t)expected + 20);
        assert_int_equal(nd_edit_distance(a, n_a, b, n_b, &costs, limit, &distance, NULL), ND_OK);
        assert_true(distance == (expected <= limit ? expected : ND_EDIT_BEYOND));
    }
}

/* The script covers both texts in order, keeps only equal tokens, and costs what it should. */
static void check_script(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                         const struct nd_edit_costs *costs, const struct nd_edit *edit, size_t n,
                         uint64_t expected)
{
    uint64_t cost = 0;
    size_t i = 0, j = 0;

    for (size_t e = 0; e < n; e++) {
        assert_int_equal(edit[e].at_a, i);
        assert_int_equal(edit[e].at_b, j);
        assert_true(edit[e].count > 0);
        assert_true(e == 0 || edit[e - 1].kind != edit[e].kind);
        for (size_t k = 0; k < edit[e].count; k++) {
            switch (edit[e].kind) {
            case ND_EDIT_KEEP: assert_int_equal(a[i + k], b[j + k]); break;
            case ND_EDIT_REPLACE:
                assert_true(a[i + k] != b[j + k]);
                cost += least(costs->replace, costs->insert + costs->remove);
                break;
            case ND_EDIT_REMOVE: cost += costs->remove; break;
            case ND_EDIT_INSERT: cost += costs->insert; break;
            }
        }
        i += edit[e].kind == ND_EDIT_INSERT ? 0 : edit[e].count;
        j += edit[e].kind == ND_EDIT_REMOVE ? 0 : edit[e].count;
    }
    assert_int_equal(i, n_a);
    assert_int_equal(j, n_b);
    assert_int_equal(cost, expected);
}

static void the_script_makes_one_of_the_other_and_costs_the_distance(void **state)
{
    uint64_t a[MOST + 1], b[MOST + 1];

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        struct nd_edit_costs costs = draw_costs();
        uint64_t expected, distance;
        struct nd_edit *edit;
        size_t n_a, n_b, n;

        make_texts(a, &n_a, b, &n_b);
        expected = slow_distance(a, n_a, b, n_b, &costs);
        assert_int_equal(
            nd_edit_script(a, n_a, b, n_b, &costs, ND_EDIT_NO_LIMIT, &distance, &edit, &n, NULL),
            ND_OK);
        assert_int_equal(distance, expected);
        check_script(a, n_a, b, n_b, &costs, edit, n, expected);
        free(edit);
        if (expected) {
            assert_int_equal(
                nd_edit_script(a, n_a, b, n_b, &costs, expected - 1, &distance, &edit, &n, NULL),
                ND_OK);
            assert_true(distance == ND_EDIT_BEYOND && !edit && n == 0);
        }
    }
}

/* 100,000 tokens with 300 edits: the whole table would be ten thousand million cells. */
static void a_long_text_with_few_edits_needs_few_cells(void **state)
{
    enum { LONG = 100000, EDITS = 300 };
    uint64_t *a = malloc(LONG * sizeof *a), *b = malloc(LONG * sizeof *b), distance;
    const struct nd_edit_costs costs = nd_edit_costs_default();
    struct nd_edit *edit;
    size_t n;

    (void)state;
    assert_true(a && b);
    for (size_t i = 0; i < LONG; i++)
        a[i] = b[i] = i;
    for (size_t i = 0; i < EDITS; i++)
        b[i * (LONG / EDITS) + 5] = LONG + i;
    assert_int_equal(nd_edit_script(a, LONG, b, LONG, &costs, EDITS, &distance, &edit, &n, NULL),
                     ND_OK);
    assert_int_equal(distance, EDITS);
    assert_int_equal(n, 2 * EDITS + 1);
    free(edit);
    free(a);
    free(b);
}

static void costs_out_of_range_and_texts_too_long_are_refused(void **state)
{
    const struct nd_edit_costs free_insert = {0, 1, 1}, dear = {1, 256, 1};
    struct nd_error err;
    uint64_t distance = 5, a = 0;

    (void)state;
    assert_int_equal(nd_edit_distance(&a, 1, &a, 1, &free_insert, 9, &distance, &err), ND_EINVAL);
    assert_int_equal(nd_edit_distance(&a, 1, &a, 1, &dear, 9, &distance, &err), ND_EINVAL);
    assert_int_equal(nd_edit_distance(&a, UINT32_MAX, &a, 1, &(struct nd_edit_costs){1, 1, 1}, 9,
                                      &distance, &err),
                     ND_EUNSUPPORTED);
    assert_int_equal(distance, 5);
}

static void a_limit_for_so_many_cells_bounds_the_band(void **state)
{
    const struct nd_edit_costs unit = nd_edit_costs_default(), twice = {2, 2, 2};

    (void)state;
    assert_int_equal(nd_edit_limit_for(1000, 1000, &twice, 100 * 1000), 200);
    assert_int_equal(nd_edit_limit_for(1000, 1300, &twice, 100 * 1000), 600);
    assert_int_equal(nd_edit_limit_for(1000, 1000, &unit, 10 * 1000), 10);
    assert_int_equal(nd_edit_limit_for(1000, 1300, &unit, 100 * 1000), 2300); /* all, in bits */
    assert_true(nd_edit_limit_for(0, 10, &unit, 1000) >= 10);
}

/* Unlike texts of several blocks of 64: in bits, and by single cells where the costs are doubled.
 */
static void the_table_in_bits_is_the_table(void **state)
{
    enum { LONG = 700 };
    const struct nd_edit_costs unit = {1, 1, 1}, twice = {2, 2, 2};
    uint64_t a[LONG], b[LONG];

    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        size_t n_a = draw(LONG), n_b = draw(LONG), n;
        uint64_t in_bits, in_cells, kinds = 1 + draw(round % 2 ? 5 : 300);
        struct nd_edit *edit;

        for (size_t i = 0; i < n_a; i++)
            a[i] = draw((uint32_t)kinds);
        for (size_t i = 0; i < n_b; i++)
            b[i] = i < n_a && draw(4) ? a[i] : draw((uint32_t)kinds);
        assert_int_equal(
            nd_edit_distance(a, n_a, b, n_b, &twice, ND_EDIT_NO_LIMIT, &in_cells, NULL), ND_OK);
        assert_int_equal(
            nd_edit_script(a, n_a, b, n_b, &unit, ND_EDIT_NO_LIMIT, &in_bits, &edit, &n, NULL),
            ND_OK);
        assert_int_equal(2 * in_bits, in_cells);
        check_script(a, n_a, b, n_b, &unit, edit, n, in_bits);
        free(edit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_that_of_the_whole_table),
        cmocka_unit_test(the_script_makes_one_of_the_other_and_costs_the_distance),
        cmocka_unit_test(a_long_text_with_few_edits_needs_few_cells),
        cmocka_unit_test(costs_out_of_range_and_texts_too_long_are_refused),
        cmocka_unit_test(a_limit_for_so_many_cells_bounds_the_band),
        cmocka_unit_test(the_table_in_bits_is_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
