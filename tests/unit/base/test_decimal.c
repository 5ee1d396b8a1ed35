/* test_decimal.c - decimal numbers are compared exactly, whatever their length */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number/decimal.h"

static struct nd_decimal number(const char *text)
{
    struct nd_decimal d;

    assert_true(nd_decimal_read(text, strlen(text), &d));
    return d;
}

static int compare(const char *a, const char *b)
{
    struct nd_decimal x = number(a), y = number(b);

    return nd_decimal_compare(&x, &y);
}

static const char *const rising[] = {
    "-1e99999999999999999",
    "-1e2000",
    "-1e1999",
    "-12345678901234567890",
    "-12345678901234567889.99",
    "-9007199254740993",
    "-9007199254740992",
    "-17",
    "-.5",
    "-1e-5000",
    "-1e-99999999999999999",
    "0",
    "1e-99999999999999999",
    "1e-5000",
    "1.1e-5000",
    "0.000000000000000000000000001",
    "0.1",
    "0.1000000000000000000000000000000000000000000000000001",
    "3",
    "3.0000000000000001",
    "10",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0000000001",
    "9007199254740994",
    "123456789012345678901234567890123456789012345678901234567890",
    "123456789012345678901234567890123456789012345678901234567891",
    "1e999",
    "1e1000",
    "1e1001",
    "1.5e1001",
    "1e99999999999999999",
};

static void numbers_are_in_their_order(void **state)
{
    const size_t n = sizeof rising / sizeof *rising;

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            struct nd_decimal x = number(rising[i]), y = number(rising[j]);
            uint64_t a = nd_decimal_key(&x), b = nd_decimal_key(&y);

            assert_int_equal(compare(rising[i], rising[j]), i < j ? -1 : i > j);
            if (i < j)
                assert_true(a <= b);
            if (i != j && a == b)
                assert_true(a % 2 == 1);
            assert_true(a > 0 && a < UINT64_C(1) << 63);
        }
}

static void one_number_has_many_forms(void **state)
{
    static const char *const same[][2] = {
        {"0", "-0.000e12"},
        {"1", "1.000"},
        {"1", "+1."},
        {"100", "1e2"},
        {"100", "1E+02"},
        {"0.001", "1e-3"},
        {".5", " 0.50\t"},
        {"12.5e1", "125"},
        {"1e0000000000000000000000003", "1000"},
        {"10e-1", "1"},
        {"-5", "-5.0e0"},
        {"0e123", "0"},
        {"000123.4500", "0.00012345e6"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct nd_decimal x = number(same[i][0]), y = number(same[i][1]);

        assert_int_equal(nd_decimal_compare(&x, &y), 0);
        assert_true(nd_decimal_key(&x) == nd_decimal_key(&y));
    }
}

static void what_is_no_number_is_refused(void **state)
{
    static const char *const not [] = {
        "",      " ",    "-",   "+",   ".",   "e5",  "1e",    "1e+", "1e5.",
        "1.2.3", "0x10", "nan", "inf", "1 2", "--1", "1e1e1", "1,5", "1e100000000000000000"};
    struct nd_decimal d;

    (void)state;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        assert_false(nd_decimal_read(not [i], strlen(not [i]), &d));
}

/* Against the machine's own integers. */
static void integers_agree_with_integers(void **state)
{
    (void)state;
    srand(7);
    for (unsigned i = 0; i < 200000; i++) {
        int64_t a = ((int64_t)rand() << 32 ^ (int64_t)rand() << 8) >> (rand() % 60);
        int64_t b = rand() % 2 ? a + rand() % 3 - 1 : -a;
        char x[32], y[32];
        struct nd_decimal p, q;
        int order = a < b ? -1 : a > b;
        int64_t whole;

        snprintf(x, sizeof x, "%lld", (long long)a);
        snprintf(y, sizeof y, "%lld", (long long)b);
        p = number(x);
        q = number(y);
        assert_int_equal(nd_decimal_compare(&p, &q), order);
        if (nd_decimal_key(&p) != nd_decimal_key(&q))
            assert_int_equal(nd_decimal_key(&p) < nd_decimal_key(&q) ? -1 : 1, order);
        else
            assert_true(order == 0 || nd_decimal_key(&p) % 2);
        assert_true(nd_decimal_floor(&p, 0, &whole));
        assert_true(whole == a);
    }
}

static void the_floor_is_exact(void **state)
{
    static const struct {
        const char *text;
        int64_t floor;
    } cases[] = {
        {"0", 0},
        {"1577923200.123457", 1577923200123457},
        {"-0.0000001", -1},
        {"-1.5", -1500000},
        {"1.9999999", 1999999},
        {"1e-7", 0},
        {"1e6", 1000000000000},
        {"9007199254.740993", 9007199254740993},
    };
    struct nd_decimal d = number("1e14");
    int64_t whole;

    (void)state;
    assert_false(nd_decimal_floor(&d, 6, &whole));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        d = number(cases[i].text);
        assert_true(nd_decimal_floor(&d, 6, &whole));
        assert_true(whole == cases[i].floor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_in_their_order),
        cmocka_unit_test(one_number_has_many_forms),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(integers_agree_with_integers),
        cmocka_unit_test(the_floor_is_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
