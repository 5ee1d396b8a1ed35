/* test_title.c - a title is one line, cut behind a whole character */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "store/catalog/catalog.h"

static void assert_made(const char *text, const char *expected)
{
    struct nd_title title;

    nd_title_make((struct nd_view){text, strlen(text)}, &title);
    assert_int_equal(title.len, strlen(expected));
    assert_memory_equal(title.text, expected, title.len);
}

static void white_space_and_controls_become_single_spaces(void **state)
{
    (void)state;
    assert_made("", "");
    assert_made(" \t\r\n", "");
    assert_made("Rate cut", "Rate cut");
    assert_made("  Rate \n\x1b\t cut\x7f", "Rate cut");
    assert_made("a\xC2\x85"
                "b\xC2\xA0"
                "c\xE2\x80\xA8"
                "d\xE2\x80\xA9",
                "a b c d");
    assert_made("Z\xC3\xBC"
                "rich \xF0\x9F\x90\x9D",
                "Z\xC3\xBC"
                "rich \xF0\x9F\x90\x9D");
}

static void a_title_without_bytes_may_have_no_place(void **state)
{
    struct nd_title title = {.len = 5};

    (void)state;
    nd_title_make((struct nd_view){NULL, 0}, &title);
    assert_int_equal(title.len, 0);
}

/* A character of each length ends at, or beyond, the last byte that there is room for. */
static void a_long_title_is_cut_behind_a_whole_character(void **state)
{
    static const uint32_t letter[] = {'e', 0xE9, 0x20AC, 0x1F41D};
    char text[2 * ND_STORE_TITLE_MAX];
    struct nd_title title;

    (void)state;
    for (size_t before = ND_STORE_TITLE_MAX - 6; before <= ND_STORE_TITLE_MAX; before++)
        for (size_t i = 0; i < 4; i++)
            for (size_t gap = 0; gap < 3; gap++) {
                size_t len = before + gap, last, whole;

                memset(text, 'x', before);
                memset(text + before, ' ', gap);
                last = nd_utf8_put(text + len, letter[i]);
                whole = before + (gap > 0) + last;
                nd_title_make((struct nd_view){text, len + last}, &title);
                assert_int_equal(title.len, whole <= ND_STORE_TITLE_MAX ? whole : before);
                if (whole <= ND_STORE_TITLE_MAX)
                    assert_memory_equal(title.text + whole - last, text + len, last);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_and_controls_become_single_spaces),
        cmocka_unit_test(a_title_without_bytes_may_have_no_place),
        cmocka_unit_test(a_long_title_is_cut_behind_a_whole_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
