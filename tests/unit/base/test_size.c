/* test_size.c - sizes are read with any unit that people write, or refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/size.h>

static void a_size_is_read_with_its_unit(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"300000000", 300000000},
        {"7B", 7},
        {"1k", 1 << 10},
        {"1KB", 1 << 10},
        {"500M", UINT64_C(500) << 20},
        {"500mib", UINT64_C(500) << 20},
        {"2G", UINT64_C(2) << 30},
        {"2GB", UINT64_C(2) << 30},
        {"2GiB", UINT64_C(2) << 30},
        {"2g", UINT64_C(2) << 30},
        {"1.5G", UINT64_C(3) << 29},
        {"1T", UINT64_C(1) << 40},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 99;

        assert_int_equal(nd_size_parse(cases[i].text, &bytes, NULL), ND_OK);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void what_is_no_size_is_refused(void **state)
{
    static const char *const cases[] = {
        "",  "G",   "-1",  "+1",   "2GX", "2Gi", "2 G",  "2GBs", "0x10",
        "M", "inf", "nan", "1e19", "2Bi", "2iB", "1,5G", " 2G",  "2000000T",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 99;
        struct nd_error err;

        assert_int_equal(nd_size_parse(cases[i], &bytes, &err), ND_EINVAL);
        assert_int_equal(bytes, 99);
        assert_non_null(strstr(err.message, "is not a number of bytes such as 500M or 2G"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_is_read_with_its_unit),
        cmocka_unit_test(what_is_no_size_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
