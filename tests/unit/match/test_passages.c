/* test_passages.c - copied passages against trying every run of tokens */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "match/winnow.h"
#include <neardup/compare.h>

enum { MOST = 90 };

static uint32_t seed = 3;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* The longest run from b[j] on that stands anywhere in a. */
static size_t longest(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t j)
{
    size_t best = 0;

    for (size_t i = 0; i < n_a; i++) {
        size_t k = 0;

        while (i + k < n_a && j + k < n_b && a[i + k] == b[j + k])
            k++;
        best = k > best ? k : best;
    }
    return best;
}

/* The definition: runs of b in a, that are part of no longer one. */
static size_t slow_passages(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                            size_t fewest, struct nd_passage *out)
{
    size_t n = 0, end = 0;

    for (size_t j = 0; j < n_b; j++) {
        size_t len = longest(a, n_a, b, n_b, j);

        if (len >= fewest && j + len > end)
            out[n++] = (struct nd_passage){.at_b = j, .count_b = len};
        if (len && j + len > end)
            end = j + len;
    }
    return n;
}

static void make_texts(uint64_t *a, size_t *n_a, uint64_t *b, size_t *n_b)
{
    uint32_t kinds = 1 + draw(draw(2) ? 3 : 40);

    *n_a = draw(MOST + 1);
    *n_b = 0;
    for (size_t i = 0; i < *n_a; i++)
        a[i] = draw(kinds);
    while (*n_b < MOST && draw(8)) {
        size_t room = MOST - *n_b, from = *n_a ? draw((uint32_t)*n_a) : 0, len = draw(20);

        if (draw(3) == 0 || !*n_a) {
            b[(*n_b)++] = draw(kinds + 3);
            continue;
        }
        len = len < *n_a - from ? len : *n_a - from;
        len = len < room ? len : room;
        memcpy(b + *n_b, a + from, len * sizeof *b);
        *n_b += len;
    }
}

static void all_passages_are_found_and_no_others(void **state)
{
    uint64_t a[MOST + 1], b[MOST + 1];
    struct nd_passage expected[MOST + 1];

    (void)state;
    for (unsigned round = 0; round < 30000; round++) {
        struct nd_passage_params params = {.shingle = 1 + draw(4)};
        struct nd_passage *found;
        size_t n_a, n_b, n, n_expected;

        params.least = params.shingle + draw(6);
        make_texts(a, &n_a, b, &n_b);
        n_expected = slow_passages(a, n_a, b, n_b, params.least, expected);
        assert_int_equal(nd_passages_find(a, n_a, b, n_b, &params, &found, &n, NULL), ND_OK);
        /* Passages that meet or overlap in both texts were joined: each expected one lies in one
         * that was found, and those begin and end with expected ones. */
        for (size_t i = 0, e = 0; i < n; i++) {
            const struct nd_passage *p = &found[i];

            assert_true(e < n_expected && expected[e].at_b == p->at_b);
            while (e < n_expected && expected[e].at_b + expected[e].count_b <= p->at_b + p->count_b)
                e++;
            assert_int_equal(expected[e - 1].at_b + expected[e - 1].count_b, p->at_b + p->count_b);
            assert_int_equal(p->equal, p->count_b);
            assert_true(p->at_a + p->count_a <= n_a);
            assert_memory_equal(a + p->at_a, b + p->at_b, params.least * sizeof *a);
            assert_memory_equal(a + p->at_a + p->count_a - params.least,
                                b + p->at_b + p->count_b - params.least, params.least * sizeof *a);
            assert_true(i + 1 < n || e == n_expected);
        }
        assert_true(n || !n_expected);
        free(found);
    }
}

static void a_gap_joins_passages_in_the_same_order(void **state)
{
    const uint64_t a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b[] = {1, 2, 3, 4, 99, 6, 7, 8, 9},
                   c[] = {6, 7, 8, 9, 99, 1, 2, 3, 4};
    struct nd_passage_params params = {.shingle = 2, .least = 3, .gap = 1};
    struct nd_passage *found;
    size_t n;

    (void)state;
    assert_int_equal(nd_passages_find(a, 9, b, 9, &params, &found, &n, NULL), ND_OK);
    assert_int_equal(n, 1);
    assert_int_equal(found[0].count_a, 9);
    assert_int_equal(found[0].count_b, 9);
    assert_int_equal(found[0].equal, 8);
    free(found);
    assert_int_equal(nd_passages_find(a, 9, c, 9, &params, &found, &n, NULL), ND_OK);
    assert_int_equal(n, 2);
    assert_int_equal(found[0].at_a, 5);
    assert_int_equal(found[1].at_a, 0);
    assert_int_equal(nd_passages_cover(found, n, 0), 8);
    assert_int_equal(nd_passages_cover(found, n, 1), 8);
    free(found);
    params.gap = 0;
    assert_int_equal(nd_passages_find(a, 9, b, 9, &params, &found, &n, NULL), ND_OK);
    assert_int_equal(n, 2);
    free(found);
}

static void covered_tokens_are_counted_once(void **state)
{
    const struct nd_passage p[] = {{10, 5, 0, 5, 5}, {12, 5, 3, 5, 5}, {0, 4, 20, 4, 4}};

    (void)state;
    assert_int_equal(nd_passages_cover(p, 3, 0), 7 + 4);
    assert_int_equal(nd_passages_cover(p, 3, 1), 8 + 4);
    assert_int_equal(nd_passages_cover(NULL, 0, 1), 0);
}

/* Every window has a shingle that was kept; the rightmost of the least. */
static void winnowing_keeps_the_rightmost_least_of_every_window(void **state)
{
    uint64_t token[MOST], value[MOST];

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned width = 1 + draw(4), window = 1 + draw(8);
        size_t n = draw(MOST), n_kept, n_values = n >= width ? n - width + 1 : 0;
        struct nd_placed_value *kept;
        size_t at = 0;

        for (size_t i = 0; i < n; i++)
            token[i] = draw(3);
        nd_run_hashes(token, n, width, value);
        assert_true(nd_winnow(token, n, width, window, &kept, &n_kept));
        for (size_t i = 0; i + window <= n_values; i++) {
            size_t best = i;

            for (size_t k = i; k < i + window; k++)
                best = value[k] <= value[best] ? k : best;
            at += i > 0 && kept[at].place != best;
            assert_true(at < n_kept && kept[at].place == best && kept[at].value == value[best]);
        }
        assert_int_equal(n_kept, n_values >= window ? at + 1 : 0);
        free(kept);
    }
}

static void equal_runs_have_equal_hashes_wherever_they_stand(void **state)
{
    uint64_t token[40], value[40], alone;

    (void)state;
    for (size_t i = 0; i < 40; i++)
        token[i] = draw(1000);
    for (unsigned width = 1; width <= 9; width++) {
        nd_run_hashes(token, 40, width, value);
        for (size_t i = 0; i + width <= 40; i++) {
            nd_run_hashes(token + i, width, width, &alone);
            assert_int_equal(value[i], alone);
        }
    }
}

/* A text of one token, a million times: what is within the passage found is not extended again. */
static void repetition_does_not_explode(void **state)
{
    enum { LONG = 1000000 };
    uint64_t *a = calloc(LONG, sizeof *a);
    struct nd_passage_params params = nd_passage_params_default();
    struct nd_passage *found;
    size_t n;

    (void)state;
    assert_non_null(a);
    assert_int_equal(nd_passages_find(a, LONG, a, LONG, &params, &found, &n, NULL), ND_OK);
    assert_int_equal(n, 1);
    assert_int_equal(found[0].count_b, LONG);
    free(found);
    free(a);
}

static void parameters_that_cannot_be_are_refused(void **state)
{
    struct nd_passage_params params = {.shingle = 4, .least = 3};
    struct nd_passage *found;
    struct nd_error err;
    size_t n;

    (void)state;
    assert_int_equal(nd_passages_find(NULL, 0, NULL, 0, &params, &found, &n, &err), ND_EINVAL);
    params.shingle = 0;
    assert_int_equal(nd_passages_find(NULL, 0, NULL, 0, &params, &found, &n, &err), ND_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_passages_are_found_and_no_others),
        cmocka_unit_test(a_gap_joins_passages_in_the_same_order),
        cmocka_unit_test(covered_tokens_are_counted_once),
        cmocka_unit_test(winnowing_keeps_the_rightmost_least_of_every_window),
        cmocka_unit_test(equal_runs_have_equal_hashes_wherever_they_stand),
        cmocka_unit_test(repetition_does_not_explode),
        cmocka_unit_test(parameters_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
