/* test_duration.c - reading times that pass */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/duration.h>

static uint64_t seconds_of(const char *text)
{
    uint64_t seconds = 7;

    assert_int_equal(nd_duration_parse(text, strlen(text), &seconds, NULL), ND_OK);
    return seconds;
}

static void digits_and_a_unit_are_seconds(void **state)
{
    (void)state;
    assert_int_equal(seconds_of("1"), 1);
    assert_int_equal(seconds_of("90s"), 90);
    assert_int_equal(seconds_of("30m"), 1800);
    assert_int_equal(seconds_of("012h"), 43200);
    assert_int_equal(seconds_of("90d"), 7776000);
    assert_int_equal(seconds_of("2w"), 1209600);
    assert_int_equal(seconds_of("4294967295"), UINT32_MAX);
    assert_int_equal(seconds_of("7101w"), 7101 * UINT64_C(604800));
}

static void other_texts_are_no_times(void **state)
{
    static const char *const wrong[] = {
        "",   "0",   "0d",  "h",  "1y",  "1 h",        "1H",    "1hh",
        "1h", "+1h", "-1h", " 1", "1.5", "4294967296", "7102w", "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        /* "1h" is wrong with the byte behind it, a zero. */
        size_t len = strlen(wrong[i]) + (strcmp(wrong[i], "1h") == 0);
        struct nd_error err;
        uint64_t seconds = 7;

        assert_int_equal(nd_duration_parse(wrong[i], len, &seconds, &err), ND_EINVAL);
        assert_int_equal(seconds, 7);
        assert_non_null(strstr(err.message, "is not a time such as 90s"));
        assert_non_null(strstr(err.message, wrong[i]));
    }
}

static void only_len_bytes_are_read(void **state)
{
    uint64_t seconds = 0;

    (void)state;
    assert_int_equal(nd_duration_parse("12hours", 3, &seconds, NULL), ND_OK);
    assert_int_equal(seconds, 43200);
    assert_int_equal(nd_duration_parse(NULL, 0, &seconds, NULL), ND_EINVAL);
    assert_int_equal(seconds, 43200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_and_a_unit_are_seconds),
        cmocka_unit_test(other_texts_are_no_times),
        cmocka_unit_test(only_len_bytes_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
