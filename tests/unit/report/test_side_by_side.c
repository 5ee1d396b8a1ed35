/* test_side_by_side.c - pages: what is escaped, bars, and which words of two texts are marked */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "report/side_by_side.h"

static struct nd_view view_of(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

static const char *text_of(struct nd_json *page)
{
    nd_json_bytes(page, "", 1);
    assert_false(page->failed);
    return page->text.data;
}

static void text_from_outside_means_nothing_but_itself(void **state)
{
    static const struct {
        const char *text, *html;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"},
        {"a\x01z\n\t", "a\xEF\xBF\xBDz\n\t"},
        {"a\xFFz\xC3", "a\xEF\xBF\xBDz\xEF\xBF\xBD"},
        {"\xE2\x80\xAE"
         "evil\xC3\xA9",
         "\xEF\xBF\xBD"
         "evil\xC3\xA9"},
        {"\xC2\x85\xF0\x9F\x98\x80", "\xEF\xBF\xBD\xF0\x9F\x98\x80"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nd_json page = {.failed = false};

        nd_html_words(&page, rows[i].text);
        assert_string_equal(text_of(&page), rows[i].html);
        nd_json_release(&page);
    }
}

static void numbers_have_commas_and_shares_one_digit(void **state)
{
    struct nd_json page = {.failed = false};
    (void)state;

    nd_html_count(&page, 0);
    nd_html_put(&page, " ");
    nd_html_count(&page, 999);
    nd_html_put(&page, " ");
    nd_html_count(&page, 1000);
    nd_html_put(&page, " ");
    nd_html_count(&page, UINT64_MAX);
    nd_html_put(&page, " ");
    nd_html_share(&page, 1, 8);
    nd_html_put(&page, " ");
    nd_html_share(&page, 0, 0);
    assert_string_equal(text_of(&page), "0 999 1,000 18,446,744,073,709,551,615 12.5% 0.0%");
    nd_json_release(&page);
}

static void the_longest_bar_is_that_of_the_greatest_value(void **state)
{
    const struct nd_html_bar bar[] = {{"<2", 200}, {"3", 1}, {"4", 0}};
    struct nd_json page = {.failed = false};
    const char *html;
    (void)state;

    nd_html_bars(&page, "size", "clusters", bar, 3);
    html = text_of(&page);
    assert_non_null(
        strstr(html, "&lt;2</th><td><svg aria-hidden=\"true\"><rect width=\"100.00%\""));
    assert_non_null(strstr(html, ">3</th><td><svg aria-hidden=\"true\"><rect width=\"0.50%\""));
    assert_non_null(strstr(html, ">4</th><td><svg aria-hidden=\"true\"></svg></td><td>0<"));
    nd_json_release(&page);
}

static void a_page_loads_nothing(void **state)
{
    struct nd_json page = {.failed = false};
    const char *html;
    (void)state;

    nd_html_begin(&page, "<title>", view_of("p { color: red }\n"));
    nd_html_end(&page, nd_web_report_keys_mjs);
    html = text_of(&page);
    assert_non_null(strstr(html, "default-src 'none'"));
    assert_non_null(strstr(html, "<title>&lt;title&gt;</title>"));
    assert_non_null(strstr(html, "p { color: red }\n</style>"));
    assert_null(strstr(html, "://"));
    assert_null(strstr(html, "@import"));
    nd_json_release(&page);
}

/* The rows of the table, as "left | right" with a line for each. */
static void expect_rows(const char *a, const char *b, size_t context, const char *rows)
{
    const struct nd_side side[2] = {{view_of(a), view_of("A")}, {view_of(b), view_of("B")}};
    struct nd_json page = {.failed = false};
    struct nd_error err;
    char expected[2000];

    snprintf(expected, sizeof expected,
             "<div class=\"beside\" tabindex=\"0\" role=\"group\" aria-label=\"The two texts\">"
             "<table class=\"texts\"><thead><tr><th scope=\"col\">A</th><th scope=\"col\">B</th>"
             "</tr></thead><tbody>\n%s</tbody></table></div>\n",
             rows);
    assert_int_equal(nd_html_side_by_side(&page, side, context, &err), ND_OK);
    assert_string_equal(text_of(&page), expected);
    nd_json_release(&page);
}

#define ROW(kind, left, right)                                                                     \
    "<tr class=\"" kind "\"><td class=\"text\">" left "</td><td class=\"text\">" right             \
    "</td></tr>\n"
#define FOLD(words) "<tr class=\"fold\"><td colspan=\"2\">… " words " …</td></tr>\n"

static void words_that_differ_are_marked(void **state)
{
    (void)state;

    expect_rows("", "", 5, ROW("same", "", ""));
    expect_rows("?!", "<", 5, ROW("same", "?!", "&lt;"));
    expect_rows("(One two.)", "one, TWO", 5, ROW("same", "(One two.)", "one, TWO"));
    expect_rows("to Hull at 9", "to York at 9", 5,
                ROW("changed", "to <del>Hull</del> at 9", "to <ins>York</ins> at 9"));
    expect_rows("\"Hull\" at 9", "at 9", 5,
                ROW("changed", "&quot;<del>Hull</del>&quot; at 9", "at 9"));
    expect_rows("a", "a b & c.", 5, ROW("changed", "a", "a <ins>b &amp; c</ins>."));
    expect_rows("½", "½", 5, ROW("same", "½", "½"));
    expect_rows("½ to", "¼ to", 5, ROW("changed", "½<del>½</del> to", "¼<ins>¼</ins> to"));
    expect_rows("x", "", 5, ROW("changed", "<del>x</del>", ""));
}

static void long_runs_of_equal_words_are_left_out(void **state)
{
    (void)state;

    expect_rows("a b c d e f g h i j X", "a b c d e f g h i j Y", 2,
                FOLD("8 equal words") ROW("changed", "i j <del>X</del>", "i j <ins>Y</ins>"));
    expect_rows("X a b c d e f g h", "Y a b c d e f g h", 2,
                ROW("changed", "<del>X</del> a b ", "<ins>Y</ins> a b ") FOLD("6 equal words"));
    expect_rows("X a b c d e f Y", "a b c d e f", 2,
                ROW("changed", "<del>X</del> a b ", "a b ") FOLD("2 equal words")
                    ROW("changed", "e f <del>Y</del>", "e f"));
    expect_rows("X a b c d e Y", "a b c d e", 2,
                ROW("changed", "<del>X</del> a b c d e <del>Y</del>", "a b c d e"));
    expect_rows("a b c d e f g h", "A B C D E F G H", 2,
                ROW("same", "a b ", "A B ") FOLD("4 equal words") ROW("same", "g h", "G H"));
    expect_rows("a b c d e f g h X", "a b c d e f g h Y", ND_SIDE_WHOLE,
                ROW("changed", "a b c d e f g h <del>X</del>", "a b c d e f g h <ins>Y</ins>"));
}

/* So many tokens that the shortest script is not looked for. */
static void long_texts_that_have_little_in_common_are_marked_too(void **state)
{
    enum { WORDS = 20000 };
    char *a = malloc(8 * WORDS + 64), *b = malloc(8 * WORDS + 64);
    size_t len[2];
    struct nd_json page = {.failed = false};
    struct nd_error err;
    const char *html;
    (void)state;

    assert_true(a && b);
    len[0] = (size_t)sprintf(a, "both begin so ");
    len[1] = (size_t)sprintf(b, "both begin so ");
    for (size_t i = 0; i < WORDS; i++) {
        len[0] += (size_t)sprintf(a + len[0], "a%zu ", i);
        len[1] += (size_t)sprintf(b + len[1], "b%zu ", i);
    }
    {
        const struct nd_side side[2] = {{{a, len[0]}, view_of("A")}, {{b, len[1]}, view_of("B")}};

        assert_int_equal(nd_html_side_by_side(&page, side, 5, &err), ND_OK);
    }
    html = text_of(&page);
    assert_non_null(strstr(html, "both begin so <del>a0 a1 "));
    assert_non_null(strstr(html, "both begin so <ins>b0 b1 "));
    nd_json_release(&page);
    free(a);
    free(b);
}

static void a_text_that_is_not_utf8_is_refused(void **state)
{
    const struct nd_side side[2] = {{view_of("a\xFF"), view_of("")}, {view_of("a"), view_of("")}};
    struct nd_json page = {.failed = false};
    struct nd_error err;
    (void)state;

    assert_int_equal(nd_html_side_by_side(&page, side, 5, &err), ND_EINVAL);
    nd_json_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_from_outside_means_nothing_but_itself),
        cmocka_unit_test(numbers_have_commas_and_shares_one_digit),
        cmocka_unit_test(the_longest_bar_is_that_of_the_greatest_value),
        cmocka_unit_test(a_page_loads_nothing),
        cmocka_unit_test(words_that_differ_are_marked),
        cmocka_unit_test(long_runs_of_equal_words_are_left_out),
        cmocka_unit_test(long_texts_that_have_little_in_common_are_marked_too),
        cmocka_unit_test(a_text_that_is_not_utf8_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
