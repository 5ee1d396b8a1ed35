/* test_terms.c - shared terms and template words against counting them one by one */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <neardup/compare.h>

enum { MOST = 50, KINDS = 12 };

static uint32_t seed = 5;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void terms_are_counted_as_one_by_one(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 5000; round++) {
        uint64_t a[MOST], b[MOST], tf_a[KINDS] = {0}, tf_b[KINDS] = {0};
        size_t n_a = draw(MOST), n_b = draw(MOST);
        struct nd_term_overlap expected = {.tokens_a = n_a, .tokens_b = n_b}, found;

        for (size_t i = 0; i < n_a; i++)
            tf_a[a[i] = draw(KINDS)]++;
        for (size_t i = 0; i < n_b; i++)
            tf_b[b[i] = draw(KINDS)]++;
        for (unsigned k = 0; k < KINDS; k++) {
            expected.distinct.a += tf_a[k] > 0;
            expected.distinct.b += tf_b[k] > 0;
            expected.distinct.shared += tf_a[k] && tf_b[k];
            expected.inner += tf_a[k] * tf_b[k];
            expected.squares_a += tf_a[k] * tf_a[k];
            expected.squares_b += tf_b[k] * tf_b[k];
        }
        assert_int_equal(nd_terms_compare(a, n_a, b, n_b, &found, NULL), ND_OK);
        assert_memory_equal(&found, &expected, sizeof found);
    }
}

/* The bounds themselves count: 80% of the terms, a length of 80% of the longer. */
static void conrad_and_schriber_want_both_shares(void **state)
{
    const struct nd_ratio share = {4, 5};
    struct nd_term_overlap o = {.distinct = {100, 90, 80}, .tokens_a = 1000, .tokens_b = 800};

    (void)state;
    assert_true(nd_conrad_schriber(&o, share, share));
    o.tokens_b = 799;
    assert_false(nd_conrad_schriber(&o, share, share));
    o.tokens_b = 1250;
    assert_true(nd_conrad_schriber(&o, share, share));
    o.tokens_b = 1251;
    assert_false(nd_conrad_schriber(&o, share, share));
    o.tokens_b = 1000;
    o.distinct.shared = 79;
    assert_false(nd_conrad_schriber(&o, share, share));
    o.distinct = (struct nd_overlap){0, 0, 0};
    o.tokens_a = o.tokens_b = 0;
    assert_false(nd_conrad_schriber(&o, share, share));
}

enum { DOCUMENTS = 7, WIDTH_MOST = 4 };

/* Whether the shingle stands anywhere in the document. */
static bool stands_in(const uint64_t *shingle, unsigned width, const struct nd_token_list *document)
{
    for (size_t i = 0; i + width <= document->count; i++)
        if (memcmp(document->hash + i, shingle, width * sizeof *shingle) == 0)
            return true;
    return false;
}

static void template_words_are_those_of_shingles_in_enough_documents(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 1500; round++) {
        uint64_t token[DOCUMENTS][MOST];
        struct nd_token_list document[DOCUMENTS];
        size_t n = 1 + draw(DOCUMENTS);
        unsigned width = 1 + draw(WIDTH_MOST);
        struct nd_ratio share = {1 + draw(5), 5};
        struct nd_template found;

        for (size_t i = 0; i < n; i++) {
            document[i] = (struct nd_token_list){token[i], draw(MOST)};
            for (size_t k = 0; k < document[i].count; k++)
                token[i][k] = draw(round % 3 ? 3 : 30);
        }
        assert_int_equal(nd_template_find(document, n, width, share, &found, NULL), ND_OK);
        for (size_t i = 0; i < n; i++) {
            unsigned char expected[MOST] = {0};

            for (size_t k = 0; k + width <= document[i].count; k++) {
                uint64_t documents = 0;

                for (size_t other = 0; other < n; other++)
                    documents += stands_in(&token[i][k], width, &document[other]);
                if (documents >= 2 && documents * share.q >= n * share.p)
                    memset(expected + k, 1, width);
            }
            assert_memory_equal(found.is_shared[i], expected, document[i].count);
        }
        nd_template_release(&found);
    }
}

static void template_shingles_are_counted(void **state)
{
    const uint64_t a[] = {1, 2, 3, 4, 1, 2}, b[] = {9, 1, 2, 3}, c[] = {3, 4, 5};
    const struct nd_token_list document[] = {{a, 6}, {b, 4}, {c, 3}};
    struct nd_template t;

    (void)state;
    assert_int_equal(nd_template_find(document, 3, 2, (struct nd_ratio){2, 3}, &t, NULL), ND_OK);
    assert_int_equal(t.least, 2);
    assert_int_equal(t.shingles, 3); /* 1 2, 2 3, 3 4 */
    assert_int_equal(t.in_model[0], 3);
    assert_int_equal(t.in_model[1], 2);
    assert_int_equal(t.in_model[2], 1);
    nd_template_release(&t);
    assert_int_equal(nd_template_find(document, 3, 2, (struct nd_ratio){4, 3}, &t, NULL),
                     ND_EINVAL);
    assert_int_equal(nd_template_find(document, 3, 0, (struct nd_ratio){1, 3}, &t, NULL),
                     ND_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_counted_as_one_by_one),
        cmocka_unit_test(conrad_and_schriber_want_both_shares),
        cmocka_unit_test(template_words_are_those_of_shingles_in_enough_documents),
        cmocka_unit_test(template_shingles_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
