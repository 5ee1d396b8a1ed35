/* test_library.c - a library is opened once, by whichever thread is first; one that is not there,
 * or is another, is missing in words */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread/pool.h"
#include "input/library/library.h"

enum { THREADS = 8 };

static double (*cosine)(double);
static atomic_int ready, wrong;

static const struct nd_library_row row = {"a thing", "Debian: thing0", "wonders"};

static void count(void)
{
    atomic_fetch_add(&ready, 1);
}

static void open_and_use(void *context, size_t task, unsigned worker)
{
    (void)task;
    (void)worker;
    if (nd_library_open(context) || atomic_load(&ready) != 1 || cosine(0) != 1)
        atomic_fetch_add(&wrong, 1);
}

static void it_is_opened_once_by_many_threads(void **state)
{
    static const struct nd_symbol symbols[] = {{"cos", &cosine, NULL}};
    static struct nd_library library = {.file = "libm.so.6",
                                        .row = &row,
                                        .cannot = "",
                                        .symbols = symbols,
                                        .n_symbols = 1,
                                        .make_ready = count};
    struct nd_pool *pool = nd_pool_new(THREADS, NULL);

    (void)state;
    assert_non_null(pool);
    nd_pool_run(pool, 100, open_and_use, &library);
    nd_pool_free(pool);
    assert_int_equal(wrong, 0);
    assert_int_equal(ready, 1);
}

static void one_that_is_not_there_is_named_each_time(void **state)
{
    static struct nd_library library = {
        .file = "libno-such-thing.so.1", .row = &row, .cannot = "no wonder "};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *missing = nd_library_open(&library);

        assert_non_null(missing);
        assert_ptr_equal(
            strstr(missing, "no wonder without a thing (Debian: thing0): libno-such-thing.so.1: "),
            missing);
    }
}

static void one_without_a_function_is_missing(void **state)
{
    static double (*other)(double);
    static void (*none)(void);
    static const struct nd_symbol symbols[] = {{"sin", &other, NULL},
                                               {"nd_no_such_function", &none, NULL}};
    static struct nd_library library = {.file = "libm.so.6",
                                        .row = &row,
                                        .cannot = "no wonder ",
                                        .symbols = symbols,
                                        .n_symbols = 2};
    const char *missing = nd_library_open(&library);

    (void)state;
    assert_non_null(missing);
    assert_non_null(strstr(missing, "undefined symbol: nd_no_such_function"));
    assert_ptr_equal(nd_library_open(&library), missing);
}

static void one_that_the_build_has_not_names_no_package(void **state)
{
    static void (*none)(void);
    static const struct nd_symbol symbols[] = {{"nd_no_such_function", &none, NULL}};
    static struct nd_library library = {
        .row = &row, .cannot = "", .symbols = symbols, .n_symbols = 1};

    (void)state;
    assert_string_equal(nd_library_open(&library),
                        "without a thing, which this build of neardup has not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_opened_once_by_many_threads),
        cmocka_unit_test(one_that_is_not_there_is_named_each_time),
        cmocka_unit_test(one_without_a_function_is_missing),
        cmocka_unit_test(one_that_the_build_has_not_names_no_package),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
