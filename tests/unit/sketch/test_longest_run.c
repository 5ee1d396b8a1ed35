/* test_longest_run.c - what of a document another one has, beside a search that tries everything */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/sketch.h>
#include <neardup/text.h>

#include "simd/sketch/sketch_kernels.h"

enum { TOKENS = 40, ROUNDS = 2000 };

static uint64_t state = 1;
static uint64_t any(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The longest piece of `a` of at least w tokens that is a piece of b, found by trying all. */
static size_t longest_common(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                             unsigned w, size_t *first)
{
    size_t best = 0;

    for (size_t i = 0; i < n_a; i++) {
        size_t n = 0;

        /* Every shingle of the piece is somewhere in b. */
        for (size_t at = i; at + w <= n_a; at++) {
            bool found = false;

            for (size_t j = 0; !found && j + w <= n_b; j++)
                found = memcmp(a + at, b + j, w * sizeof *a) == 0;
            if (!found)
                break;
            n = at - i + w;
        }
        if (n > best) {
            best = n;
            *first = i;
        }
    }
    return best;
}

static void the_longest_run_is_that_of_a_search_of_everything(void **unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t a[TOKENS], b[TOKENS], shingle[TOKENS];
        size_t n_a = any() % (TOKENS + 1), n_b = any() % (TOKENS + 1), n = 0;
        size_t right_first = 0, first = 0, right;
        unsigned w = 1 + (unsigned)(any() % 4);

        for (size_t i = 0; i < TOKENS; i++) {
            a[i] = (any() % 4 + 1) * UINT64_C(0x9E3779B97F4A7C15);
            b[i] = (any() % 4 + 1) * UINT64_C(0x9E3779B97F4A7C15);
        }
        for (size_t i = 0; i + w <= n_b; i++)
            shingle[n++] = nd_shingle_of(b + i, w);
        qsort(shingle, n, sizeof *shingle, ascending);
        right = longest_common(a, n_a, b, n_b, w, &right_first);
        assert_int_equal(nd_shingles_longest_run(a, n_a, w, shingle, n, &first), right);
        if (right)
            assert_int_equal(first, right_first);
    }
}

static void a_short_text_is_a_shingle_of_a_longer_one(void **unused)
{
    static const char *const text[] = {"one", "one two", "one two three", "one two three four"};

    (void)unused;
    for (unsigned n = 1; n <= 4; n++) {
        struct nd_sketch_params whole = {.unit = ND_SHINGLE_WORDS, .w = 5}, part = whole;
        struct nd_sketcher *short_sketcher = nd_sketcher_new(&whole, NULL), *sketcher;
        struct nd_sketch x, y;

        part.w = n;
        sketcher = nd_sketcher_new(&part, NULL);
        assert_non_null(short_sketcher);
        assert_non_null(sketcher);
        assert_int_equal(nd_sketcher_read(short_sketcher, text[n - 1], strlen(text[n - 1]), &x),
                         ND_OK);
        assert_int_equal(nd_sketcher_read(sketcher, text[n - 1], strlen(text[n - 1]), &y), ND_OK);
        assert_int_equal(x.n_shingles, 1);
        assert_int_equal(y.n_shingles, 1);
        assert_true(x.shingle[0] != y.shingle[0]);
        assert_true(nd_shingle_within(x.shingle[0], n) == y.shingle[0]);
        nd_sketcher_free(short_sketcher);
        nd_sketcher_free(sketcher);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_run_is_that_of_a_search_of_everything),
        cmocka_unit_test(a_short_text_is_a_shingle_of_a_longer_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
