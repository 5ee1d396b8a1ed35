/* test_slice.c - keys of documents beside a slow definition; what a slice leaves of batches */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/hash.h"
#include "reading/slice.h"

enum { PIECE = 24, STEP = 8, END = 8192, DOCUMENTS = 4000, WORDS = 80, TEXT = 16 * WORDS };

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(*state) % below;
}

static struct nd_parsed parsed_of(const char *text, size_t len, const char *id)
{
    struct nd_parsed parsed = {.document = {.text = {text, len}, .id = {id, strlen(id)}}};

    nd_slice_note(&parsed);
    return parsed;
}

/* ---- The key, byte by byte ---- */

static uint64_t slow_hash(const unsigned char *piece)
{
    uint64_t hash = 0;

    for (unsigned w = 0; w < PIECE / STEP; w++) {
        uint64_t word = 0;

        for (unsigned i = 0; i < STEP; i++) {
            unsigned char c = piece[w * STEP + i];

            word |= (uint64_t)((c <= ' ' ? 0 : c) | 0x20) << 8 * i;
        }
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash * UINT64_C(0xD6E8FEB86659FD93);
}

static uint64_t slow_key(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t end = len < END ? len : END;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i / STEP * STEP + STEP + PIECE <= end; i++) {
        bool begins = (s[i] > ' ' && (i == 0 || s[i - 1] <= ' ')) || s[i] >> 4 == 0xE;
        uint64_t hash = begins ? slow_hash(s + i) : UINT64_MAX;

        least = hash < least ? hash : least;
    }
    return least == UINT64_MAX ? nd_hash_bytes(text, len) : least;
}

static void keys_are_those_of_a_slow_definition(void **state)
{
    static const char kinds[][12] = {"ab cd\ne", "x", " ", "\xE4\xB8\xAD\xE6\x96\x87 y",
                                     "\xC3\xA4 b Z.\t"};
    uint64_t seed = 1;

    (void)state;
    for (unsigned n = 0; n < 3000; n++) {
        const char *from = kinds[n % 5];
        size_t len = 1 + draw(&seed, n % 50 ? 300 : 2 * END);
        char *text = malloc(len);

        for (size_t i = 0; i < len; i++)
            text[i] = from[draw(&seed, strlen(from))];
        assert_int_equal(parsed_of(text, len, "").mark.key, slow_key(text, len));
        assert_int_equal(parsed_of(text, len, "").mark.text, nd_hash_bytes(text, len));
        free(text);
    }
}

/* ---- Documents of words ---- */

static size_t write_words(char text[TEXT], uint64_t seed, unsigned n, unsigned changed)
{
    size_t len = 0;

    for (unsigned i = 0; i < n; i++)
        len += (size_t)sprintf(text + len, "w%06u%c",
                               (unsigned)draw(&seed, 1000000) + (i == changed ? 1000000 : 0),
                               i % 9 ? ' ' : '\n');
    return len;
}

static void case_and_ends_of_lines_do_not_matter(void **state)
{
    static const char a[] = "The quick brown fox jumps over the lazy dog and then it sleeps",
                      b[] = "THE quick BROWN fox\njumps over the lazy\tdog and Then it sleeps";

    (void)state;
    assert_int_equal(parsed_of(a, sizeof a - 1, "").mark.key,
                     parsed_of(b, sizeof b - 1, "").mark.key);
    assert_int_not_equal(parsed_of(a, sizeof a - 1, "").mark.text,
                         parsed_of(b, sizeof b - 1, "").mark.text);
}

static void near_documents_mostly_share_a_key(void **state)
{
    unsigned same = 0, both = 0, other = 0;
    char a[TEXT], b[TEXT];

    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_parsed x = parsed_of(a, write_words(a, i, WORDS, WORDS), ""),
                         y = parsed_of(b, write_words(b, i, WORDS, i % WORDS), ""),
                         z = parsed_of(b, write_words(b, i + DOCUMENTS, WORDS, WORDS), "");

        same += x.mark.key == y.mark.key;
        both += x.mark.near == y.mark.near;
        other += x.mark.near == z.mark.near;
    }
    /* A word is in 3 or 4 of some 79 pieces of each text. */
    assert_true(same > 0.9 * DOCUMENTS && both > 0.85 * DOCUMENTS && both <= same);
    assert_int_equal(other, 0);
}

static void documents_without_text_are_told_apart_by_their_ids(void **state)
{
    (void)state;
    assert_int_equal(parsed_of("", 0, "a").mark.key, parsed_of("", 0, "a").mark.key);
    assert_int_not_equal(parsed_of("", 0, "a").mark.key, parsed_of("", 0, "b").mark.key);
}

/* ---- Batches ---- */

static void the_slice_has_its_share_of_long_and_of_short_documents(void **state)
{
    struct nd_slice *slice = nd_slice_new(0.1, 2);
    struct nd_bad_record bad = {.reason = "no record"};
    struct nd_slice_totals totals;
    unsigned is_long = 0, is_short = 0, is_bad = 0;
    char text[TEXT];

    (void)state;
    assert_non_null(slice);
    for (unsigned i = 0; i < 2 * DOCUMENTS; i++) {
        size_t len = write_words(text, i / 4 * 4, i % 2 ? WORDS : 6, WORDS);
        struct nd_parsed pair[] = {{.bad = &bad}, parsed_of(text, len, "")};
        size_t n = 2;

        assert_true(nd_slice_cut(slice, pair, &n, i % 2));
        is_bad += pair[0].bad != NULL;
        is_long += n == 2 && i % 2;
        is_short += n == 2 && i % 2 == 0;
    }
    nd_slice_spent(slice, 0, 1000000000, 0);
    nd_slice_spent(slice, 1, 500000000, 250000000);
    assert_int_equal(nd_slice_total(slice, &totals, NULL), ND_OK);
    assert_int_equal(is_bad, 2 * DOCUMENTS);
    assert_true(fabs(is_long / 0.1 / DOCUMENTS - 1) < 0.2);
    assert_true(fabs(is_short / 0.1 / DOCUMENTS - 1) < 0.2);
    assert_int_equal(totals.documents, 2 * DOCUMENTS);
    /* Each four documents have two pairs that are equal, so they are in the slice. */
    assert_true(fabs(totals.all.text - 0.5) < 1e-3 && fabs(totals.sampled.text - 0.5) < 1e-3);
    assert_true(fabs(totals.all.near - 0.5) < 1e-3);
    assert_true(totals.parsing_seconds == 1.5 && totals.slice_seconds == 0.25);
    nd_slice_free(slice);
}

static void nothing_read_is_nothing(void **state)
{
    struct nd_slice *slice = nd_slice_new(0.5, 1);
    struct nd_slice_totals totals;

    (void)state;
    assert_int_equal(nd_slice_total(slice, &totals, NULL), ND_OK);
    assert_true(totals.documents == 0 && totals.all.text == 0 && totals.sampled.near == 0);
    nd_slice_free(slice);
    nd_slice_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_a_slow_definition),
        cmocka_unit_test(case_and_ends_of_lines_do_not_matter),
        cmocka_unit_test(near_documents_mostly_share_a_key),
        cmocka_unit_test(documents_without_text_are_told_apart_by_their_ids),
        cmocka_unit_test(the_slice_has_its_share_of_long_and_of_short_documents),
        cmocka_unit_test(nothing_read_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
