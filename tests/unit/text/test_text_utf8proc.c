/* test_text_utf8proc.c - normalised text and classes against utf8proc, another implementation */
#if __has_include(<utf8proc.h>)
#include "base/hash.h"
#include "base/utf8.h"
#include "text/normal.h"
#include "text/text_stream.h"

#include <utf8proc.h>

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

/* Default_Ignorable_Code_Point; utf8proc knows nothing of unassigned ones. */
static bool is_ignorable(int32_t c)
{
    return utf8proc_get_property(c)->ignorable || c == 0x2065 || (c >= 0xFFF0 && c <= 0xFFF8) ||
           (c >= 0xE0000 && c <= 0xE0FFF);
}

/* One step by utf8proc; frees its input where asked. */
static uint8_t *step(uint8_t *text, utf8proc_ssize_t *len, unsigned options, bool is_mine)
{
    uint8_t *out;

    *len = utf8proc_map(text, *len, &out, (utf8proc_option_t)options);
    assert_true(*len >= 0);
    if (is_mine)
        free(text);
    return out;
}

/* NFKC(casefold(NFKC(text))), then without the ignorable ones. */
static uint8_t *expected(const char *text, size_t text_len, size_t *len)
{
    const unsigned nfkc = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    utf8proc_ssize_t n = (utf8proc_ssize_t)text_len, at = 0, used;
    uint8_t *out = step((uint8_t *)(uintptr_t)text, &n, nfkc, false);
    int32_t c;

    out = step(out, &n, UTF8PROC_CASEFOLD, true);
    out = step(out, &n, nfkc, true);
    *len = 0;
    for (; at < n; at += used) {
        used = utf8proc_iterate(out + at, n - at, &c);
        assert_true(used > 0);
        if (is_ignorable(c))
            continue;
        memmove(out + *len, out + at, (size_t)used);
        *len += (size_t)used;
    }
    return out;
}

static struct nd_text_stream *stream;

static void assert_agrees(const char *text, size_t len)
{
    size_t want_len, n, seen = 0;
    uint8_t *want = expected(text, len, &want_len);
    const char *bytes;

    nd_text_stream_start(stream, text, len);
    while (nd_text_stream_next(stream, &bytes, &n) == 1) {
        assert_true(seen + n <= want_len);
        assert_memory_equal(bytes, want + seen, n);
        seen += n;
    }
    assert_int_equal(seen, want_len);
    free(want);
}

static void every_code_point_normalises_alike(void **unused)
{
    (void)unused;
    for (uint32_t c = 1; c < 0x110000; c++) {
        char text[8];

        if (c < 0xD800 || c >= 0xE000)
            assert_agrees(text, nd_utf8_put(text, c));
    }
}

static void every_code_point_has_the_same_class(void **unused)
{
    (void)unused;
    for (uint32_t c = 0; c < 0x110000; c++) {
        utf8proc_category_t category = utf8proc_category((int32_t)c);
        bool is_word = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
        enum nd_class class = nd_class_of(c);

        assert_int_equal(class == ND_CLASS_IGNORED, is_ignorable((int32_t)c));
        if (class != ND_CLASS_IGNORED)
            assert_int_equal(class != ND_CLASS_SEPARATOR, is_word);
    }
}

/* Neighbours of one place, Latin letters, and combining marks from everywhere. */
static size_t random_text(char *text)
{
    size_t len = 0, n = rnd() % 30;
    uint32_t place = (uint32_t)rnd() % 0x33000;

    for (size_t i = 0; i < n; i++) {
        uint64_t r = rnd();
        uint32_t c = place + (uint32_t)(r >> 8) % 64;

        if (r % 4 == 0)
            c = (r >> 20) % 4 ? 0x300 + (uint32_t)(r >> 8) % 0x70 : 'A' + (uint32_t)(r >> 8) % 57;
        if (r % 4 == 1)
            do
                c = (uint32_t)(rnd() % 0x20000);
            while (utf8proc_get_property((int32_t)c)->combining_class == 0);
        if (c == 0 || (c >= 0xD800 && c < 0xE000))
            c = ' ';
        len += nd_utf8_put(text + len, c);
    }
    return len;
}

static void random_texts_normalise_alike(void **unused)
{
    char text[4 * 30];

    (void)unused;
    for (int round = 0; round < 50000; round++)
        assert_agrees(text, random_text(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_normalises_alike),
        cmocka_unit_test(every_code_point_has_the_same_class),
        cmocka_unit_test(random_texts_normalise_alike),
    };

    if (strcmp(utf8proc_unicode_version(), "15.0.0") != 0) {
        printf("skipped: utf8proc has Unicode %s\n", utf8proc_unicode_version());
        return 77;
    }
    stream = nd_text_stream_new();
    return stream ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
#else
#include <stdio.h>

int main(void)
{
    printf("skipped: no utf8proc (libutf8proc-dev)\n");
    return 77;
}
#endif
