/* test_duration.c - reading times that pass */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number/duration.h"

static uint64_t seconds_of(const char *text)
{
    uint64_t seconds = 7;

    return nd_duration_read((struct nd_view){text, strlen(text)}, &seconds) ? seconds : 0;
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
    static const char *const wrong[] = {"",    "0",          "0d",    "h",
                                        "1y",  "1 h",        "1H",    "1hh",
                                        "-1h", "4294967296", "7102w", "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(seconds_of(wrong[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_and_a_unit_are_seconds),
        cmocka_unit_test(other_texts_are_no_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
