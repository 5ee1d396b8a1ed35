/* test_ratio.c - ratios are read exactly or refused, and the nearest name is found */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/ratio.h>

static void a_ratio_is_read_in_lowest_terms(void **state)
{
    static const struct {
        const char *text;
        uint32_t p, q;
    } cases[] = {
        {"0.8", 4, 5},
        {".85", 17, 20},
        {"4/5", 4, 5},
        {"8/10", 4, 5},
        {"80%", 4, 5},
        {"99.5%", 199, 200},
        {"100%", 1, 1},
        {".5%", 1, 200},
        {"1", 1, 1},
        {"1.", 1, 1},
        {"1.000", 1, 1},
        {"0", 0, 1},
        {"0.995", 199, 200},
        {"00.50", 1, 2},
        {"3/1", 3, 1},
        {"0/7", 0, 1},
        {"0.333333333", 333333333, 1000000000},
        {"4294967294/4294967295", 4294967294, 4294967295},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_ratio ratio = {7, 7};

        assert_int_equal(nd_ratio_parse(cases[i].text, strlen(cases[i].text), &ratio, NULL), ND_OK);
        assert_int_equal(ratio.p, cases[i].p);
        assert_int_equal(ratio.q, cases[i].q);
    }
}

static void what_is_no_ratio_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        ".",
        "/",
        "4/",
        "/5",
        "4/0",
        "-1",
        "+1",
        "1e-1",
        "%",
        "4/5%",
        "80%%",
        "80 %",
        " 0.8",
        "0.8 ",
        "0,8",
        "4/5/6",
        "0.8/1",
        "nan",
        "inf",
        "0x1",
        "1..2",
        "0.8\n",
        "0.1234567890",
        "12345678901",
        "1/12345678901",
        "4294967296",
        "1/4294967296",
        "123456789.123456789",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_ratio ratio = {7, 7};
        struct nd_error err = {0};

        assert_int_equal(nd_ratio_parse(cases[i], strlen(cases[i]), &ratio, &err), ND_EINVAL);
        assert_true(err.message[0]);
        assert_int_equal(ratio.p, 7);
        assert_int_equal(ratio.q, 7);
    }
}

static void every_decimal_of_four_digits_is_exact(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 10000; n++) {
        char text[] = {'0',
                       '.',
                       (char)('0' + n / 1000),
                       (char)('0' + n / 100 % 10),
                       (char)('0' + n / 10 % 10),
                       (char)('0' + n % 10)};
        struct nd_ratio ratio;

        assert_int_equal(nd_ratio_parse(text, sizeof text, &ratio, NULL), ND_OK);
        assert_true((uint64_t)ratio.p * 10000 == (uint64_t)ratio.q * n);
    }
}

static const char *nearest(const char *name)
{
    static const char *const names[] = {"threshold", "shingle", "keep", "short", "rows"};

    return nd_name_nearest(name, strlen(name), names, 5);
}

static void a_mistyped_name_is_recognised(void **state)
{
    (void)state;
    assert_string_equal(nearest("treshold"), "threshold");
    assert_string_equal(nearest("thresholds"), "threshold");
    assert_string_equal(nearest("hsingle"), "shingle");
    assert_string_equal(nearest("kep"), "keep");
    assert_string_equal(nearest("rows"), "rows");
    assert_string_equal(nearest("shrot"), "short");
    assert_string_equal(nearest("thr"), "threshold");
    assert_string_equal(nearest("sh"), "short");
}

static void another_word_is_not_taken_for_a_name(void **state)
{
    char longer[200];

    (void)state;
    memset(longer, 'k', sizeof longer);
    assert_null(nearest("similarity"));
    assert_null(nearest(""));
    assert_null(nearest("q"));
    assert_null(nd_name_nearest(longer, sizeof longer, NULL, 0));
    assert_null(nd_name_nearest("keep", 4, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_is_read_in_lowest_terms),
        cmocka_unit_test(what_is_no_ratio_is_refused),
        cmocka_unit_test(every_decimal_of_four_digits_is_exact),
        cmocka_unit_test(a_mistyped_name_is_recognised),
        cmocka_unit_test(another_word_is_not_taken_for_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
