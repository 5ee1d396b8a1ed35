/* test_pair_columns.c - terms, lengths and edits of two texts, and what takes too long */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uses/pair_columns.h"

enum { ALL = ND_PAIR_TERMS | ND_PAIR_LENGTHS | ND_PAIR_EDIT };

static struct nd_pair_numbers measure(struct nd_pair_texts *t, const char *a, const char *b)
{
    struct nd_pair_numbers x;

    assert_int_equal(nd_pair_texts_take(t, 0, (struct nd_view){a, strlen(a)}, NULL), ND_OK);
    assert_int_equal(nd_pair_texts_take(t, 1, (struct nd_view){b, strlen(b)}, NULL), ND_OK);
    assert_int_equal(nd_pair_texts_measure(t, &x, NULL), ND_OK);
    return x;
}

static void known_texts_have_known_numbers(void **state)
{
    struct nd_pair_texts t = {.columns = ALL};
    struct nd_pair_numbers x = measure(&t, "A rose is a rose", "a rose was red");

    (void)state;
    assert_int_equal(x.terms, 3); /* is, was, red */
    assert_int_equal(x.shared_terms, 2);
    assert_int_equal(x.tokens_a, 5);
    assert_int_equal(x.tokens_b, 4);
    assert_int_equal(x.edit, 3);
    x = measure(&t, "", "one two two");
    assert_int_equal(x.terms, 2);
    assert_int_equal(x.shared_terms, 0);
    assert_int_equal(x.tokens_a, 0);
    assert_int_equal(x.edit, 3);
    x = measure(&t, "", "");
    assert_int_equal(x.terms + x.tokens_b + x.edit, 0);
    nd_pair_texts_release(&t);
}

static void columns_that_were_not_asked_for_are_not_measured(void **state)
{
    struct nd_pair_texts t = {.columns = ND_PAIR_LENGTHS};
    const struct nd_pair_numbers x = measure(&t, "one two", "three");

    (void)state;
    assert_int_equal(x.terms, 0);
    assert_int_equal(x.edit, 0);
    assert_int_equal(x.tokens_a, 2);
    nd_pair_texts_release(&t);
}

/* Make a text of n different words, the first ones replaced. */
static char *text_of(unsigned n, unsigned replaced)
{
    char *text = malloc(16 * (size_t)n + 1);
    size_t len = 0;

    assert_non_null(text);
    for (unsigned i = 0; i < n; i++)
        len += (size_t)sprintf(text + len, i < replaced ? "x%u " : "w%u ", i);
    return text;
}

static void a_distance_is_found_up_to_the_bound(void **state)
{
    struct nd_pair_texts t = {.columns = ND_PAIR_EDIT};
    char *a = text_of(32000, 0), *b = text_of(32000, 32000), *c = text_of(40000, 0),
         *d = text_of(40000, 40000), *e = text_of(40000, 9);

    (void)state;
    assert_int_equal(measure(&t, a, b).edit, 32000);
    assert_true(measure(&t, c, d).edit == ND_EDIT_BEYOND);
    assert_int_equal(measure(&t, c, e).edit, 9);
    free(a);
    free(b);
    free(c);
    free(d);
    free(e);
    nd_pair_texts_release(&t);
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    struct nd_pair_texts t = {.columns = ALL};
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_pair_texts_take(&t, 0, (struct nd_view){"\xff", 1}, &err), ND_EINVAL);
    assert_string_equal(err.message, "a text is not valid UTF-8");
    nd_pair_texts_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_known_numbers),
        cmocka_unit_test(columns_that_were_not_asked_for_are_not_measured),
        cmocka_unit_test(a_distance_is_found_up_to_the_bound),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
