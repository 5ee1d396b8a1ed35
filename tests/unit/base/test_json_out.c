/* test_json_out.c - JSON and TSV that are written can be read back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json_out.h"
#include "base/number/number.h"

static void assert_text(struct nd_json *j, const char *expected)
{
    assert_false(j->failed);
    assert_int_equal(j->text.len, strlen(expected));
    assert_memory_equal(j->text.data, expected, j->text.len);
    nd_json_release(j);
}

static void commas_stand_between_values_only(void **state)
{
    struct nd_json j = {0};

    (void)state;
    nd_json_open(&j, '{');
    nd_json_key(&j, "a");
    nd_json_open(&j, '[');
    nd_json_uint(&j, 1);
    nd_json_null(&j);
    nd_json_bool(&j, true);
    nd_json_close(&j, ']');
    nd_json_key(&j, "b");
    nd_json_open(&j, '{');
    nd_json_close(&j, '}');
    nd_json_key(&j, "c");
    nd_json_hex(&j, 0xABC);
    nd_json_close(&j, '}');
    nd_json_line(&j);
    nd_json_uint(&j, UINT64_MAX);
    assert_text(&j, "{\"a\":[1,null,true],\"b\":{},\"c\":\"0000000000000abc\"}\n"
                    "18446744073709551615");
}

static void numbers_have_their_digits(void **state)
{
    static const uint64_t number[] = {0, 9, 10, 99, 100, 12345678, UINT64_C(10000000000000000000)};

    (void)state;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        struct nd_json j = {0};
        char expected[32];

        snprintf(expected, sizeof expected, "%" PRIu64, number[i]);
        nd_json_uint(&j, number[i]);
        assert_text(&j, expected);
    }
}

static void strings_are_escaped_and_bad_bytes_shown(void **state)
{
    struct nd_json j = {0};

    (void)state;
    nd_json_string(&j, (struct nd_view){"a\"\\\n\x01\x7f/\0", 8});
    assert_text(&j, "\"a\\\"\\\\\\n\\u0001\\u007f/\\u0000\"");
    /* Overlong, surrogate, too large, cut short; then valid ones of 2, 3 and 4 bytes. */
    nd_json_text(&j, "\xC0\x80|\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82");
    assert_text(
        &j, "\"\\\\xC0\\\\x80|\\\\xED\\\\xA0\\\\x80|\\\\xF4\\\\x90\\\\x80\\\\x80|\\\\xE2\\\\x82\"");
    nd_json_text(&j, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xB9");
    assert_text(&j, "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xB9\"");
}

static void tsv_fields_hold_no_tab_or_line_end(void **state)
{
    struct nd_json j = {0};

    (void)state;
    nd_tsv_field(&j, (struct nd_view){"a\tb\nc\rd\\e\xFF", 10});
    assert_text(&j, "a\\tb\\nc\\rd\\\\e\\xFF");
}

/* Oracle: strtod.  Shortest: no text with fewer digits reads back. */
static void doubles_are_the_shortest_that_read_back(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        char text[32], shorter[32];
        union {
            uint64_t bits;
            double value;
        } u;
        int digits = 0;

        random = nd_mix64(random + 1);
        u.bits = random;
        if (i % 2)
            u.value = (double)(random % 1000) / (double)(1 + (random >> 32) % 1000);
        if (!isfinite(u.value))
            continue;
        text[nd_double_text(u.value, text)] = '\0';
        assert_true(strtod(text, NULL) == u.value);
        for (const char *at = text; *at && *at != 'e'; at++)
            digits += *at >= (digits ? '0' : '1') && *at <= '9'; /* no leading zeroes */
        if (digits < 16)
            continue;
        snprintf(shorter, sizeof shorter, "%.15g", u.value);
        assert_false(strtod(shorter, NULL) == u.value);
    }
}

/* The quick way and the library's: every share of small counts, and doubles of every kind. */
static void shares_are_written_as_the_library_would(void **state)
{
    uint64_t random = 1;
    size_t taken = 0;

    (void)state;
    for (unsigned i = 0; i < 400000; i++) {
        char quick[32] = "", slow[32] = "";
        double value;
        int len;

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        if (i < 200000)
            value = (double)(i % 447) / (double)(1 + i / 447);
        else if (i & 1)
            value = (double)(random >> 11) / 9007199254740992.0;
        else
            value = (double)(random >> 40) / (double)(1 + (random & 0xFFFFFF));
        len = nd_fraction_text(value, quick);
        for (int digits = 1; digits <= 17; digits += digits < 15 ? 14 : 1) {
            snprintf(slow, sizeof slow, "%.*g", digits, value);
            if (strtod(slow, NULL) == value)
                break;
        }
        taken += len > 0;
        if (len) {
            assert_string_equal(quick, slow);
            assert_int_equal(len, strlen(slow));
        }
    }
    assert_true(taken > 200000);
}

static void a_double_that_is_no_number_is_null(void **state)
{
    struct nd_json j = {0};

    (void)state;
    nd_json_open(&j, '[');
    nd_json_double(&j, (double)NAN);
    nd_json_double(&j, (double)INFINITY);
    nd_json_double(&j, 0.1);
    nd_json_close(&j, ']');
    assert_text(&j, "[null,null,0.1]");
}

static void tsv_escapes_what_could_steer_a_terminal(void **state)
{
    struct nd_json j = {0};
    const char text[] = "a\x1B[\x07 \x7F \xC2\x9B \xE2\x80\xAE \xD8\x9C \xE2\x80\x9C\xC3\xA9\x9B\t";

    (void)state;
    nd_tsv_field(&j, (struct nd_view){text, sizeof text - 1});
    assert_text(&j, "a\\x1B[\\x07 \\x7F \\xC2\\x9B \\xE2\\x80\\xAE \\xD8\\x9C "
                    "\xE2\x80\x9C\xC3\xA9\\x9B\\t");
}

static void cells_of_csv_are_quoted_where_they_need_it(void **state)
{
    static const char *const cells[][2] = {{"plain \\t; text", "plain \\t; text"},
                                           {"a,b", "\"a,b\""},
                                           {"say \"no\"", "\"say \"\"no\"\"\""},
                                           {"two\nlines", "\"two\nlines\""},
                                           {" blank", "\" blank\""},
                                           {"", ""},
                                           {"\xC3\xA9\xFF", "\xC3\xA9\\xFF"}};

    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct nd_json j = {0};

        nd_csv_cell(&j, (struct nd_view){cells[i][0], strlen(cells[i][0])});
        assert_text(&j, cells[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tsv_escapes_what_could_steer_a_terminal),
        cmocka_unit_test(commas_stand_between_values_only),
        cmocka_unit_test(numbers_have_their_digits),
        cmocka_unit_test(strings_are_escaped_and_bad_bytes_shown),
        cmocka_unit_test(tsv_fields_hold_no_tab_or_line_end),
        cmocka_unit_test(doubles_are_the_shortest_that_read_back),
        cmocka_unit_test(shares_are_written_as_the_library_would),
        cmocka_unit_test(a_double_that_is_no_number_is_null),
        cmocka_unit_test(cells_of_csv_are_quoted_where_they_need_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
