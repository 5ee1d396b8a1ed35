/* test_tokeniser.c - the fast path against the plain algorithm */
#include "base/hash.h"
#include "base/utf8.h"
#include "text/normal.h"
#include "text/places.h"
#include "text/text_stream.h"
#include "text/tokeniser.h"

#include <neardup/cpu.h>
#include <neardup/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 1;
static uint64_t rnd(void)
{
    return nd_mix64(state += UINT64_C(0x9E3779B97F4A7C15));
}

static struct nd_tokeniser *tokeniser;
static struct nd_text_stream *stream;

static int make(void **unused)
{
    (void)unused;
    tokeniser = nd_tokeniser_new();
    stream = nd_text_stream_new();
    return tokeniser && stream ? 0 : -1;
}

static int release(void **unused)
{
    (void)unused;
    nd_tokeniser_free(tokeniser);
    nd_text_stream_free(stream);
    return 0;
}

/* The windows' hashes are those of the plain tokens, in order. */
static void assert_same_tokens(const char *text, size_t len)
{
    struct nd_token *token;
    const uint64_t *hash;
    size_t n_tokens, count, seen = 0;
    int status;

    assert_int_equal(nd_text_tokens(text, len, &token, &n_tokens, NULL), ND_OK);
    nd_tokeniser_start(tokeniser, text, len);
    while ((status = nd_tokeniser_next(tokeniser, &hash, &count)) == 1) {
        assert_true(count > 0 && seen + count <= n_tokens);
        for (size_t i = 0; i < count; i++)
            assert_true(hash[i] == token[seen + i].hash);
        seen += count;
    }
    assert_int_equal(status, 0);
    assert_int_equal(seen, n_tokens);
    free(token);
}

/* The windows of the stream are the normalised text, and their length is told. */
/* The places that are found faster are those of the plain algorithm. */
static void assert_same_places(const char *text, size_t len)
{
    struct nd_token *token, *plain;
    size_t n, n_plain;

    assert_int_equal(nd_text_tokens(text, len, &plain, &n_plain, NULL), ND_OK);
    assert_int_equal(nd_token_places(text, len, &token, &n), ND_OK);
    assert_int_equal(n, n_plain);
    for (size_t i = 0; i < n; i++)
        assert_true(token[i].offset == plain[i].offset && token[i].len == plain[i].len);
    free(token);
    assert_int_equal(nd_tokens_in_place(text, len, &token, &n, NULL), ND_OK);
    assert_int_equal(n, n_plain);
    for (size_t i = 0; i < n; i++)
        assert_true(token[i].offset == plain[i].offset && token[i].len == plain[i].len &&
                    token[i].hash == plain[i].hash);
    free(token);
    free(plain);
}

static void assert_same_text(const char *text, size_t len)
{
    char *normal;
    const char *bytes;
    size_t normal_len, n, seen = 0;
    int64_t codes = 0;
    int status;

    assert_int_equal(nd_text_normalise(text, len, &normal, &normal_len, NULL), ND_OK);
    nd_text_stream_start(stream, text, len);
    while ((status = nd_text_stream_next(stream, &bytes, &n)) == 1) {
        assert_true(n > 0 && seen + n <= normal_len);
        assert_memory_equal(bytes, normal + seen, n);
        assert_true((bytes[0] & 0xC0) != 0x80);
        seen += n;
    }
    assert_int_equal(status, 0);
    assert_int_equal(seen, normal_len);
    for (size_t i = 0; i < normal_len; i++)
        codes += ((uint8_t)normal[i] & 0xC0) != 0x80;
    assert_int_equal(nd_text_length(text, len), codes);
    free(normal);
}

/* The text in an allocation of its exact size, so that the sanitisers see a read beyond it. */
static void assert_same(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);

    if (len)
        memcpy(copy, text, len);
    assert_same_tokens(copy, len);
    assert_same_text(copy, len);
    free(copy);
    assert_same_places(text, len);
}

static void every_code_point_alone_and_between_letters(void **unused)
{
    (void)unused;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char text[16] = "e";
        size_t n;

        if (c >= 0xD800 && c < 0xE000)
            continue;
        if (c > 0x32500 && c < 0xDFF00) /* unassigned, 700,000 of them: every 64th */
            c += 63;
        n = nd_utf8_put(text + 1, c);
        memcpy(text + 1 + n, "aB", 2);
        assert_same_tokens(text + 1, n);
        assert_same(text, n + 3);
    }
}

/* The code points that the rules treat unlike plain letters, by what they do. */
static uint32_t special[8000];
static size_t n_special;

static int find_special(void **unused)
{
    struct nd_normal normal = {0};

    (void)unused;
    for (uint32_t c = 0; c < ND_UNICODE_LIMIT; c++) {
        bool plain;

        if (c >= 0xD800 && c < 0xE000)
            continue;
        if (c >= 0xAC00 && c < 0xD7A4 && c % 97) /* Hangul: some of each kind */
            continue;
        if (!nd_normal_run(&normal, &c, 1))
            return -1;
        plain = normal.out.count == 1 && nd_normal_is_boundary(c);
        if ((!plain || normal.out.code[0] != c) && n_special < sizeof special / sizeof *special)
            special[n_special++] = c;
    }
    nd_normal_release(&normal);
    printf("special code points: %zu\n", n_special);
    return make(unused);
}

static uint32_t composing[2000];
static size_t n_composing;

/* Everything that combines or composes, after every first of a composite, and in threes. */
static void find_composing(void)
{
    n_composing = 0;
    for (size_t i = 0; i < n_special; i++)
        if (!nd_normal_is_boundary(special[i]))
            composing[n_composing++] = special[i];
}

static void starters_and_what_combines_with_them(void **unused)
{
    (void)unused;
    find_composing();
    for (size_t i = 0; i < ND_N_COMPOSITES; i++) {
        uint32_t first = nd_composites[i].first;

        if (i > 0 && first == nd_composites[i - 1].first)
            continue;
        for (size_t k = 0; k < n_composing; k++) {
            char text[20];
            size_t n = nd_utf8_put(text, first);

            n += nd_utf8_put(text + n, composing[k]);
            assert_same_tokens(text, n);
            n += nd_utf8_put(text + n, composing[rnd() % n_composing]);
            n += nd_utf8_put(text + n, nd_composites[i].second);
            assert_same_tokens(text, n);
        }
    }
}

/* A random text of `n` code points, from the pools that the round names. */
static size_t random_text(char *text, size_t n, uint64_t round)
{
    static const uint32_t start[] = {'a',     ' ',     0xE0,    0x3B1,  0x430,  0x5D0,  0x628,
                                     0x915,   0x985,   0xE01,   0xE40,  0x1100, 0x1161, 0x11A8,
                                     0x1F80,  0x3041,  0x3099,  0x4E00, 0xAC00, 0xFB00, 0xFF61,
                                     0x1D400, 0x20000, 0x2F800, 0xE0100};
    size_t len = 0, pools = sizeof start / sizeof *start;
    uint32_t favourite = start[rnd() % pools];

    for (size_t i = 0; i < n; i++) {
        uint64_t r = rnd();
        uint32_t c;

        switch (r % (round % 6 + 3)) {
        case 0: c = (uint32_t)(r >> 8 & 63) + 64; break;
        case 1: c = r >> 8 & 1 ? ' ' : 'e'; break;
        case 2: c = favourite + (uint32_t)(r >> 8) % 48; break;
        case 3: c = composing[(r >> 8) % n_composing]; break;
        case 4: c = special[(r >> 8) % n_special]; break;
        case 5: c = start[(r >> 8) % pools] + (uint32_t)(r >> 16) % 32; break;
        case 6: c = (uint32_t)(r >> 8) % 0x3000; break;
        default: c = (uint32_t)(r >> 8) % 0x110000;
        }
        if (c >= 0xD800 && c < 0xE000)
            c = '.';
        len += nd_utf8_put(text + len, c);
    }
    return len;
}

static void random_texts_of_all_scripts(void **unused)
{
    char text[4 * 400];

    (void)unused;
    find_composing();
    for (uint64_t round = 0; round < 8000; round++)
        assert_same(text, random_text(text, rnd() % (round % 50 ? 24 : 400), round));
}

/* The plain algorithm over a whole text at once gives what it gives piece by piece. */
static void texts_may_be_cut_before_boundaries(void **unused)
{
    struct nd_normal normal = {0};
    struct nd_codes whole = {0};
    char text[4 * 200];

    (void)unused;
    find_composing();
    for (uint64_t round = 0; round < 4000; round++) {
        size_t len = random_text(text, rnd() % 200, round), n, normal_len, at = 0;
        char *pieces, bytes[4];

        whole.count = 0;
        for (size_t i = 0; i < len; i += n)
            assert_true(nd_codes_append(&whole, nd_utf8_decode(text + i, &n)));
        assert_true(nd_normal_run(&normal, whole.code, whole.count));
        assert_int_equal(nd_text_normalise(text, len, &pieces, &normal_len, NULL), ND_OK);
        for (size_t i = 0; i < normal.out.count; i++) {
            n = nd_utf8_put(bytes, normal.out.code[i]);
            assert_true(at + n <= normal_len);
            assert_memory_equal(pieces + at, bytes, n);
            at += n;
        }
        assert_int_equal(at, normal_len);
        free(pieces);
    }
    nd_normal_release(&normal);
    nd_codes_release(&whole);
}

/* Long texts: tokens, bigrams and marks that stand across the borders of blocks and windows. */
static void windows_join_without_a_seam(void **unused)
{
    static const char *const filler[] = {
        "abcdefg ", "x", "日本語", "é", "ไทย ", "e\xCC\x81", "a\xCC\xA3\xCC\x87", "\xC2\xAD"};
    static const char *const probe[] = {
        "e\xCC\x81", "が", "か\xE3\x82\x99", "日本", "ß", "q\xCC\x87\xCC\xA3", "한", "."};
    enum { SIZE = 40000 };
    char *text = malloc(SIZE + 64);

    (void)unused;
    for (size_t f = 0; f < 8; f++)
        for (size_t p = 0; p < 8; p++)
            for (size_t shift = 0; shift < 6; shift++) {
                size_t n = 0, step = strlen(filler[f]);

                for (size_t i = 0; i < shift; i++)
                    text[n++] = 'z';
                for (; n + step < SIZE; n += step)
                    memcpy(text + n, filler[f], step);
                if (p < 7) /* somewhere near the border of a window */
                    n = shift + (n - shift) / step / 2 * step;
                memcpy(text + n, probe[p], strlen(probe[p]));
                n += strlen(probe[p]);
                memcpy(text + n, "日e\xCC\x81 end", 11);
                assert_same(text, n + 11);
            }
    free(text);
}

static void a_token_may_be_longer_than_any_window(void **unused)
{
    enum { SIZE = 300000 };
    char *text = malloc(SIZE);

    (void)unused;
    for (size_t len = 8185; len < 8200; len++) {
        memset(text, 'w', len);
        assert_same(text, len);
    }
    memset(text, 'Y', SIZE);
    assert_same(text, SIZE);
    text[100000] = ' ';
    text[100001] = ' ';
    assert_same(text, SIZE);
    for (size_t i = 0; i < SIZE; i += 2) /* one starter and its 149,999 marks, out of order */
        memcpy(text + i, i == 0 ? "ee" : i % 4 ? "\xCC\xA3" : "\xCC\x81", 2);
    assert_same(text, SIZE);
    free(text);
}

static void marks_at_the_very_start(void **unused)
{
    (void)unused;
    assert_same("\xCC\x81\xCC\xA3 a", 6);
    assert_same("\xE3\x82\x99か", 6);
    assert_same("\xE1\x85\xA1\xE1\x86\xA8", 6);
    assert_same("\xCD\x85\xCC\x81", 4);
}

static void an_empty_text_has_no_tokens(void **unused)
{
    const uint64_t *hash;
    size_t count;

    (void)unused;
    nd_tokeniser_start(tokeniser, NULL, 0);
    assert_int_equal(nd_tokeniser_next(tokeniser, &hash, &count), 0);
    assert_int_equal(nd_tokeniser_next(tokeniser, &hash, &count), 0);
    assert_same("", 0);
    assert_same(" \n\t ", 4);
}

/* One that is not valid is refused; who promises that it is gets an end all the same. */
static void a_text_that_is_cut_has_an_end(void **unused)
{
    static const char text[16] = "cut \xe3\x81";
    const uint64_t *hash;
    const char *bytes;
    size_t count, total = 0;

    (void)unused;
    nd_tokeniser_start(tokeniser, text, 6);
    assert_int_equal(nd_tokeniser_next(tokeniser, &hash, &count), ND_EINVAL);
    assert_int_equal(nd_tokeniser_next(tokeniser, &hash, &count), ND_EINVAL);
    nd_tokeniser_begin(tokeniser, text, 6);
    while (total < 100 && nd_tokeniser_next(tokeniser, &hash, &count) == 1)
        total += count;
    assert_in_range(total, 1, 2);
    nd_text_stream_start(stream, text, 6);
    for (total = 0; total < 100 && nd_text_stream_next(stream, &bytes, &count) == 1;)
        total += count;
    assert_in_range(total, 4, 8);
}

int main(void)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512", "neon"};
    const struct CMUnitTest on_each[] = {
        cmocka_unit_test(random_texts_of_all_scripts),
        cmocka_unit_test(windows_join_without_a_seam),
        cmocka_unit_test(a_token_may_be_longer_than_any_window),
        cmocka_unit_test(marks_at_the_very_start),
        cmocka_unit_test(an_empty_text_has_no_tokens),
        cmocka_unit_test(a_text_that_is_cut_has_an_end),
    };
    const struct CMUnitTest on_the_best[] = {
        cmocka_unit_test(every_code_point_alone_and_between_letters),
        cmocka_unit_test(starters_and_what_combines_with_them),
        cmocka_unit_test(texts_may_be_cut_before_boundaries),
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof isa / sizeof *isa; i++) {
        if (nd_cpu_force(isa[i], NULL) != ND_OK)
            continue;
        printf("kernels: %s\n", isa[i]);
        n_special = 0;
        failed += cmocka_run_group_tests(on_each, find_special, release);
    }
    n_special = 0;
    return failed + cmocka_run_group_tests(on_the_best, find_special, release);
}
