/* test_grid.c - the combinations of values that a sweep tries */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uses/eval/grid.h"

static void expect_names(const char *const *sets, size_t n, const char *const *names,
                         size_t n_names)
{
    struct nd_grid grid = {.n = 0};
    struct nd_error err;

    assert_int_equal(nd_grid_read(&grid, sets, n, &err), ND_OK);
    assert_int_equal(grid.n, n_names);
    for (size_t i = 0; i < n_names; i++) {
        char *name = nd_grid_name(&grid, i);

        assert_string_equal(name, names[i]);
        free(name);
    }
    nd_grid_release(&grid);
}

static void expect_refusal(const char *const *sets, size_t n, const char *message)
{
    struct nd_grid grid = {.n = 0};
    struct nd_error err = {.message = ""};

    assert_int_equal(nd_grid_read(&grid, sets, n, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, message));
    nd_grid_release(&grid);
}

static void the_last_key_changes_fastest(void **state)
{
    static const char *const sets[] = {"a=1,2", "b.c=x", "d=,y,z"};
    static const char *const names[] = {"a=1 b.c=x d=", "a=1 b.c=x d=y", "a=1 b.c=x d=z",
                                        "a=2 b.c=x d=", "a=2 b.c=x d=y", "a=2 b.c=x d=z"};

    (void)state;
    expect_names(sets, 3, names, 6);
}

static void only_what_is_in_braces_varies(void **state)
{
    static const char *const sets[] = {"match=f(a, b) <= {0,10} or g(c, d)", "k={1}", "l={2"};
    static const char *const names[] = {"match=f(a, b) <= 0 or g(c, d) k=1 l={2",
                                        "match=f(a, b) <= 10 or g(c, d) k=1 l={2"};

    (void)state;
    expect_names(sets, 3, names, 2);
}

static void what_is_no_list_of_values_is_refused(void **state)
{
    static const char *const none[] = {"threshold"}, *const nameless[] = {"=1,2"},
                             *const twice[] = {"a=1,2,1"}, *const keys[] = {"a=1", "a=2"},
                             *const many[] = {
                                 "1=1", "2=", "3=", "4=", "5=", "6=", "7=", "8=", "9="};

    (void)state;
    expect_refusal(none, 1, "'threshold' does not have the form KEY=VALUE,VALUE");
    expect_refusal(nameless, 1, "does not have the form");
    expect_refusal(twice, 1, "a has the value '1' twice");
    expect_refusal(keys, 2, "the key a is there twice");
    expect_refusal(many, 9, "more than 8 keys");
    expect_refusal(none, 0, "no key varies");
}

/* Write "KEY=0,1,2…" with n values. */
static void number(char *set, const char *key, unsigned n)
{
    int len = sprintf(set, "%s=0", key);

    for (unsigned i = 1; i < n; i++)
        len += sprintf(set + len, ",%u", i);
}

static void a_thousand_settings_are_the_most(void **state)
{
    static char a[8000], b[8000];
    const char *const sets[] = {a, b};
    struct nd_grid grid = {.n = 0};
    struct nd_error err;

    (void)state;
    number(a, "a", 25);
    number(b, "b", ND_SWEEP_SETTINGS / 25);
    assert_int_equal(nd_grid_read(&grid, sets, 2, &err), ND_OK);
    assert_int_equal(grid.n, ND_SWEEP_SETTINGS);
    nd_grid_release(&grid);
    number(a, "a", 26);
    expect_refusal(sets, 2, "more than 1000 settings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_key_changes_fastest),
        cmocka_unit_test(only_what_is_in_braces_varies),
        cmocka_unit_test(what_is_no_list_of_values_is_refused),
        cmocka_unit_test(a_thousand_settings_are_the_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
