/* test_keep.c - keep policies, dates, and what stands between two records */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recipe/keep.h"
#include "report/output.h"

static struct nd_view view(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

static void policies_are_read(void **state)
{
    struct nd_keep keep;
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_keep_parse("longest", &keep, NULL), ND_OK);
    assert_int_equal(keep.by, ND_KEEP_LONGEST);
    assert_int_equal(nd_keep_parse("max:a.b:c", &keep, NULL), ND_OK);
    assert_int_equal(keep.by, ND_KEEP_GREATEST);
    assert_string_equal(keep.field, "a.b:c");
    assert_int_equal(nd_keep_parse("shortest:url", &keep, NULL), ND_OK);
    assert_int_equal(keep.by, ND_KEEP_SHORTEST);
    assert_string_equal(keep.field, "url");
    assert_int_equal(nd_keep_parse("shortest", &keep, NULL), ND_OK);
    assert_null(keep.field);
    assert_int_equal(nd_keep_parse("newest", &keep, &err), ND_EINVAL);
    assert_int_equal(nd_keep_parse("newest:", &keep, &err), ND_EINVAL);
    assert_int_equal(nd_keep_parse("last:x", &keep, &err), ND_EINVAL);
    assert_int_equal(nd_keep_parse("none:x", &keep, &err), ND_EINVAL);
    assert_int_equal(nd_keep_parse("", &keep, &err), ND_EINVAL);
    assert_int_equal(nd_keep_parse("logest", &keep, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "did you mean 'longest'?"));
}

static uint64_t key(const char *policy, const char *text, const char *value)
{
    struct nd_keep keep;
    uint64_t k;

    assert_int_equal(nd_keep_parse(policy, &keep, NULL), ND_OK);
    assert_true(
        nd_keep_key(&keep, view(text), value ? view(value) : (struct nd_view){NULL, 0}, &k));
    return k;
}

static void keys_are_in_the_order_of_the_policy(void **state)
{
    static const char *const rising[] = {"-1e300", "-17",  "-0.5", "0",   "1e-9",
                                         "3",      "4.25", " 5 ",  "1e18"};

    (void)state;
    for (size_t i = 1; i < sizeof rising / sizeof *rising; i++) {
        assert_true(key("min:f", "", rising[i - 1]) < key("min:f", "", rising[i]));
        assert_true(key("max:f", "", rising[i - 1]) > key("max:f", "", rising[i]));
    }
    assert_true(key("min:f", "", "0") == key("min:f", "", "-0"));
    assert_true(key("min:f", "", "1e300") < key("min:f", "", NULL));
    assert_true(key("max:f", "", "-1e300") < key("max:f", "", NULL));
    assert_true(key("max:f", "", "nan") == key("max:f", "", NULL));
    assert_true(key("max:f", "", "0x10") == key("max:f", "", NULL));
    assert_true(key("newest:f", "", "2020-01-02") < key("newest:f", "", "2020-01-01"));
    assert_true(key("newest:f", "", "1500-01-01") < key("newest:f", "", "yesterday"));
    assert_true(key("longest", "abcd", NULL) < key("longest", "abc", NULL));
    assert_true(key("shortest:url", "", "a.org/x") < key("shortest:url", "longer", "a.org/xy"));
    assert_true(key("longest:f", "", "abc") < key("longest:f", "abcd", "ab"));
    assert_true(key("shortest:f", "", "abc") < key("shortest:f", "", NULL));
    assert_true(key("shortest:f", "", "") == key("longest:f", "abc", NULL));
    assert_true(key("shortest", "abcd", NULL) > key("shortest", "abc", NULL));
    /* In characters of the normalised text: the ligature is two of them, e-acute is one. */
    assert_true(key("longest", "\xEF\xAC\x81", NULL) == key("longest", "fi", NULL));
    assert_true(key("longest", "e\xCC\x81", NULL) == key("longest", "e", NULL));
}

static int64_t date(const char *text)
{
    int64_t microseconds = INT64_MIN;

    if (!nd_date_parse(view(text), &microseconds))
        return INT64_MIN;
    return microseconds;
}

static void dates_of_three_notations_agree(void **state)
{
    static const char *const same[] = {
        "1997-11-21T15:55:06Z",
        "1997-11-21 15:55:06",
        "1997-11-21t09:55:06-06:00",
        "1997-11-21T15:55:06.000+00:00",
        "1997-11-21T21:25:06+0530",
        "Fri, 21 Nov 1997 09:55:06 -0600",
        "21 Nov 97 15:55:06 GMT",
        "Fri, 21 Nov 1997 10:55:06 EST",
        "Fri, 21 Nov 1997 15:55:06 +0000 (a comment)",
        "880127706",
        "880127706.0",
        "8.80127706e8",
    };

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (date(same[i]) != INT64_C(880127706000000))
            fail_msg("%s", same[i]);
    assert_true(date("1970-01-01") == 0);
    assert_true(date("1969-12-31T23:59:59.25Z") == -750000);
    assert_true(date("2020-02-29T12:00Z") == INT64_C(1582977600000000));
    assert_true(date("2016-12-31T23:59:60Z") == date("2017-01-01"));
}

static void what_is_no_date_is_refused(void **state)
{
    static const char *const no[] = {"",
                                     "yesterday",
                                     "2020-13-01",
                                     "2019-02-29",
                                     "2020-01-01T",
                                     "20-01-01",
                                     "2020-01-01T25:00Z",
                                     "1e30",
                                     "Fri, 32 Jan 2020 00:00:00 GMT",
                                     "2020-01-01T00:00:00+",
                                     "-",
                                     "1 Foo 2020 00:00:00 GMT"};

    (void)state;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (date(no[i]) != INT64_MIN)
            fail_msg("%s", no[i]);
}

/* Oracle: the C library's calendar. */
static void days_agree_with_the_calendar(void **state)
{
    (void)state;
    for (int64_t day = -200000; day < 200000; day += 17) {
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        char text[64];

        assert_non_null(gmtime_r(&seconds, &tm));
        if (tm.tm_year + 1900 < 1000 || tm.tm_year + 1900 > 9999)
            continue;
        strftime(text, sizeof text, "%Y-%m-%d", &tm);
        assert_true(date(text) == day * INT64_C(86400000000));
    }
}

static void a_line_end_is_added_between_records_only(void **state)
{
    struct nd_separator separator = {0};

    (void)state;
#define BEFORE(text, unit, format) nd_separator_before(&separator, view(text), unit, format)
    assert_int_equal(BEFORE("a\n", ND_UNIT_FILE, ND_FORMAT_JSONL).len, 0);
    assert_int_equal(BEFORE("b", ND_UNIT_FILE, ND_FORMAT_JSONL).len, 0);
    assert_int_equal(BEFORE("c", ND_UNIT_FILE, ND_FORMAT_JSONL).len, 1);
    assert_int_equal(BEFORE("d", ND_UNIT_PARAGRAPH, ND_FORMAT_TEXT).len, 2);
    assert_int_equal(BEFORE("e\r\n", ND_UNIT_PARAGRAPH, ND_FORMAT_TEXT).len, 2);
    assert_int_equal(BEFORE("f\r\n\r\n", ND_UNIT_PARAGRAPH, ND_FORMAT_TEXT).len, 2);
    assert_int_equal(BEFORE("g", ND_UNIT_PARAGRAPH, ND_FORMAT_TEXT).len, 0);
#undef BEFORE
}

/* A host program may have set a locale in which 1.5 is 1,5. */
static void numbers_and_dates_have_a_point_in_any_locale(void **state)
{
    char folder[] = "/tmp/test_keep-XXXXXX", command[200];
    int64_t seconds = 0;
    bool is_set;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
             folder);
    is_set = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
             setlocale(LC_ALL, "de_DE.UTF-8") && atof("1,5") > 1.4;
    if (is_set) {
        assert_true(key("min:f", "", "0.5") < key("min:f", "", "1.5"));
        assert_true(key("max:f", "", "1.5") < key("max:f", "", NULL));
        assert_true(nd_date_parse(view("1577923200.5"), &seconds));
        assert_true(seconds == INT64_C(1577923200500000));
        setlocale(LC_ALL, "C");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!is_set)
        skip(); /* Debian's package locales is not there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_are_read),
        cmocka_unit_test(keys_are_in_the_order_of_the_policy),
        cmocka_unit_test(dates_of_three_notations_agree),
        cmocka_unit_test(what_is_no_date_is_refused),
        cmocka_unit_test(days_agree_with_the_calendar),
        cmocka_unit_test(a_line_end_is_added_between_records_only),
        cmocka_unit_test(numbers_and_dates_have_a_point_in_any_locale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
