/* test_sketcher.c - texts to sketches, against a slow way that has the whole text in hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/sketch.h>
#include <neardup/text.h>

#include "base/hash.h"
#include "simd/sketch/sketch_kernels.h"
#include "sketch/sketcher.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

/* Words of a small vocabulary, some of them long, some not ASCII; about len bytes. */
static char *make_text(size_t len, unsigned vocabulary, size_t *actual)
{
    static const char *const rare[] = {"é", "ß", "日本語", "ไทย", "Ångström", "ﬁ", "\xC2\xAD"};
    char *text = malloc(len + 64);
    size_t n = 0;

    assert_non_null(text);
    while (n < len) {
        uint64_t word = nd_mix64(any() % vocabulary), letters = word;
        const char *extra = word % 11 == 0 ? rare[word % 7] : "";

        for (uint64_t i = word % 16 < 15 ? 1 + word % 9 : 30; i > 0; i--, letters /= 2)
            text[n++] = (char)("aAbc"[letters % 4] + (char)(letters % 3));
        memcpy(text + n, extra, strlen(extra));
        n += strlen(extra);
        text[n++] = any() % 9 ? ' ' : '\n';
    }
    *actual = n;
    return text;
}

/* The distinct shingles of all the tokens at once, by looking at those before. */
static size_t slow_shingles(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    size_t count = 0;

    for (size_t i = 0; i + w <= n; i++) {
        uint64_t x;
        size_t k = 0;

        nd_sketch_scalar.shingles(token + i, 1, w, &x);
        while (k < count && out[k] != x)
            k++;
        out[count] = x;
        count += k == count;
    }
    return count;
}

static void expect_shingles(const struct nd_sketch *sketch, const uint64_t *token, size_t n,
                            unsigned w)
{
    uint64_t *expected = malloc((n + 1) * sizeof *expected);
    size_t count;

    assert_non_null(expected);
    count = slow_shingles(token, n, w, expected);
    assert_int_equal(sketch->n_tokens, n);
    assert_int_equal(sketch->n_shingles, count);
    assert_memory_equal(sketch->shingle, expected, count * sizeof *expected);
    free(expected);
}

static void a_text_of_many_windows_has_the_shingles_of_all_its_tokens(void **state)
{
    struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);

    (void)state;
    assert_non_null(sketcher);
    for (unsigned round = 0; round < 6; round++) {
        size_t len, n_tokens;
        char *text = make_text(1000 + round * 40000, 20u << round, &len);
        struct nd_token *token;
        uint64_t *hash;
        struct nd_sketch sketch;

        assert_int_equal(nd_text_tokens(text, len, &token, &n_tokens, NULL), ND_OK);
        hash = malloc((n_tokens + 1) * sizeof *hash);
        assert_non_null(hash);
        for (size_t i = 0; i < n_tokens; i++)
            hash[i] = token[i].hash;
        assert_int_equal(nd_sketcher_run(sketcher, text, len, 0, &sketch), ND_OK);
        expect_shingles(&sketch, hash, n_tokens, 3);
        assert_int_equal(nd_shingle_set_shared(nd_sketcher_shingles(sketcher), sketch.shingle,
                                               sketch.n_shingles, 0),
                         sketch.n_shingles);
        free(hash);
        free(token);
        free(text);
    }
    nd_sketcher_free(sketcher);
}

static void character_shingles_run_over_the_normalised_text(void **state)
{
    struct nd_sketch_params params = {.unit = ND_SHINGLE_CHARACTERS, .w = 4};
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
    size_t len, n = 0;
    char *text = make_text(20000, 30, &len), *normal;
    uint64_t *hash = malloc(2 * len * sizeof *hash);
    struct nd_sketch sketch;

    (void)state;
    assert_non_null(sketcher);
    assert_non_null(hash);
    assert_int_equal(nd_sketcher_run(sketcher, text, len, 0, &sketch), ND_OK);
    assert_int_equal(nd_text_normalise(text, len, &normal, &len, NULL), ND_OK);
    for (size_t i = 0; i < len;) {
        unsigned char lead = (unsigned char)normal[i++];
        uint32_t code = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1F : lead & 0x0F;

        for (; i < len && ((unsigned char)normal[i] & 0xC0) == 0x80; i++)
            code = code << 6 | ((unsigned char)normal[i] & 0x3F);
        hash[n++] = nd_mix64(code);
    }
    expect_shingles(&sketch, hash, n, 4);
    free(hash);
    free(normal);
    free(text);
    nd_sketcher_free(sketcher);
}

/* The parts not asked for are those of an empty text; asked for later, they are the same. */
static void the_parts_may_come_later(void **state)
{
    struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
    size_t len;
    char *text = make_text(5000, 500, &len);
    struct nd_sketch whole, later;

    (void)state;
    assert_non_null(sketcher);
    assert_int_equal(nd_sketcher_run(sketcher, text, len, ND_SKETCH_ALL, &whole), ND_OK);
    assert_int_equal(nd_sketcher_read(sketcher, text, len, &later), ND_OK);
    assert_true(later.simhash == 0 && whole.simhash != 0);
    assert_true(later.minhash[0] == UINT32_MAX && later.minhash[127] == UINT32_MAX);
    assert_true(later.identity == whole.identity);
    nd_sketch_finish(&later, ND_SKETCH_SIMHASH);
    assert_true(later.simhash == whole.simhash);
    assert_true(later.minhash[0] == UINT32_MAX);
    nd_sketch_finish(&later, ND_SKETCH_MINHASH);
    assert_memory_equal(later.minhash, whole.minhash, sizeof whole.minhash);
    nd_sketch_finish(&later, ND_SKETCH_ALL);
    assert_memory_equal(later.minhash, whole.minhash, sizeof whole.minhash);
    assert_true(later.simhash == whole.simhash);
    free(text);
    nd_sketcher_free(sketcher);
}

static void shingles_of_no_tokens_or_too_many_are_refused(void **state)
{
    struct nd_sketch_params params = {.unit = ND_SHINGLE_WORDS, .w = 0};
    struct nd_error err;

    (void)state;
    assert_null(nd_sketcher_new(&params, &err));
    assert_int_equal(err.status, ND_EINVAL);
    params.w = ND_SHINGLE_MAX + 1;
    assert_null(nd_sketcher_new(&params, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_string_equal(err.message, "shingles of 33 tokens: must be from 1 to 32");
    assert_null(nd_sketcher_new(&params, NULL));
    nd_sketcher_free(NULL);
}

static void an_empty_text_after_a_full_one_is_empty(void **state)
{
    static const enum nd_shingle_unit unit[] = {ND_SHINGLE_WORDS, ND_SHINGLE_CHARACTERS};

    (void)state;
    for (int u = 0; u < 2; u++) {
        struct nd_sketch_params params = {.unit = unit[u], .w = 2};
        struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
        struct nd_sketch sketch;

        assert_non_null(sketcher);
        assert_int_equal(nd_sketcher_run(sketcher, "a b c", 5, ND_SKETCH_ALL, &sketch), ND_OK);
        assert_int_equal(sketch.n_shingles, u == 0 ? 2 : 4);
        assert_int_equal(nd_sketcher_run(sketcher, NULL, 0, ND_SKETCH_ALL, &sketch), ND_OK);
        assert_int_equal(sketch.n_tokens, 0);
        assert_int_equal(sketch.n_shingles, 0);
        assert_true(sketch.identity == 0 && sketch.simhash == 0);
        assert_int_equal(sketch.minhash[64], UINT32_MAX);
        nd_sketcher_free(sketcher);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_of_many_windows_has_the_shingles_of_all_its_tokens),
        cmocka_unit_test(character_shingles_run_over_the_normalised_text),
        cmocka_unit_test(the_parts_may_come_later),
        cmocka_unit_test(shingles_of_no_tokens_or_too_many_are_refused),
        cmocka_unit_test(an_empty_text_after_a_full_one_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
