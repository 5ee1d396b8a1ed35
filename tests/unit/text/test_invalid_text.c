/* test_invalid_text.c - texts that are not valid UTF-8 are refused, and no byte beyond them is read
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <neardup/feature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

/* All that takes a text, of exactly so many bytes of memory, so that the address sanitizer sees a
 * byte too many. */
static void read_all(const char *bytes, size_t len)
{
    char *text = malloc(len ? len : 1), *out = NULL;
    struct nd_document document = {.text = {text, len}};
    struct nd_feature_params params = nd_feature_params_default();
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_feature_place *place;
    struct nd_features features;
    struct nd_featurer *featurer;
    struct nd_tokeniser *tokeniser = nd_tokeniser_new();
    struct nd_token *token;
    struct nd_sketch sketch;
    enum nd_status expected;
    const uint64_t *hash;
    size_t n;
    int got;

    assert_non_null(text);
    if (len)
        memcpy(text, bytes, len);
    expected = nd_utf8_valid(text, len) ? ND_OK : ND_EINVAL;
    for (int unit = 0; unit < 2; unit++) {
        const struct nd_sketch_params p = {.unit = (enum nd_shingle_unit)unit, .w = 2};
        struct nd_sketcher *sketcher = nd_sketcher_new(&p, NULL);

        assert_int_equal(nd_sketcher_run(sketcher, text, len, ND_SKETCH_ALL, &sketch), expected);
        assert_int_equal(nd_sketcher_read(sketcher, text, len, &sketch), expected);
        assert_int_equal(nd_sketcher_run(sketcher, "a b", 3, ND_SKETCH_ALL, &sketch), ND_OK);
        assert_int_equal(sketch.n_tokens, unit ? 3 : 2);
        nd_sketcher_free(sketcher);
    }
    assert_int_equal(nd_text_normalise(text, len, &out, &n, NULL), expected);
    if (expected == ND_OK)
        free(out);
    got = (int)nd_text_length(text, len);
    assert_true(expected == ND_OK ? got >= 0 : got == ND_EINVAL);
    assert_int_equal(nd_text_tokens(text, len, &token, &n, NULL), expected);
    if (expected == ND_OK)
        free(token);
    nd_tokeniser_start(tokeniser, text, len);
    while ((got = nd_tokeniser_next(tokeniser, &hash, &n)) == 1)
        ;
    assert_int_equal(got, expected);
    params.unit = ND_FEATURE_SENTENCES;
    featurer = nd_featurer_new(&params, &weights, NULL, NULL);
    assert_int_equal(nd_featurer_run(featurer, &document, &features), expected);
    assert_int_equal(nd_featurer_run_hashes(featurer, &document, &features), expected);
    assert_int_equal(nd_featurer_explain(featurer, &document, &out, &n, &features), expected);
    if (expected == ND_OK)
        free(out);
    assert_int_equal(nd_featurer_locate(featurer, &document, &place, &n), expected);
    if (expected == ND_OK)
        free(place);
    nd_featurer_free(featurer);
    nd_tokeniser_free(tokeniser);
    free(text);
}

static void sequences_that_are_cut_are_refused(void **state)
{
    static const char whole[] = "a\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";

    (void)state;
    for (size_t from = 0; from < sizeof whole - 1; from++)
        for (size_t to = from; to < sizeof whole; to++)
            read_all(whole + from, to - from);
}

static void any_bytes_are_safe(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        char bytes[300];
        size_t len = round % sizeof bytes;

        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (char)(round % 3 ? seed >> 24 : 0x80 | seed >> 25);
        }
        read_all(bytes, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_that_are_cut_are_refused),
        cmocka_unit_test(any_bytes_are_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
