/* test_examples.c - which removals a page remembers: those of a full sort, whatever the threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/examples.h"

enum { REMOVALS = 5000, LONG = ND_EXAMPLE_BYTES_HELD + 1000 };

/* A removal as the test makes it: everything follows from its number. */
struct made_removal {
    double measure;
    unsigned distance;
    char at[24], text[2][64];
};

static struct made_removal removal[REMOVALS];
static char *long_text;

static void make_removals(void)
{
    static const char *const words[] = {"12", "May", "plum"};

    for (unsigned i = 0; i < REMOVALS; i++) {
        struct made_removal *r = &removal[i];
        const uint64_t chance = nd_hash_bytes((const char *)&i, sizeof i);

        /* Few values, so that there are ties. */
        r->measure = i % 7 ? (double)(chance % 40) / 40 : -1;
        r->distance = i % 3 ? (unsigned)(chance >> 32) % 10 : UINT32_MAX;
        snprintf(r->at, sizeof r->at, "in.jsonl:%u", i + 1);
        snprintf(r->text[0], sizeof r->text[0], "one two %u", i + 100000);
        snprintf(r->text[1], sizeof r->text[1], "one two %s %u", words[i % 3], i + 100000);
    }
}

static struct nd_view view_of(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

static struct nd_example example_of(unsigned i)
{
    const struct made_removal *r = &removal[i];

    return (struct nd_example){.measure = r->measure,
                               .distance = r->distance,
                               .name = {view_of("kept"), view_of("removed")},
                               .at = {view_of("in.jsonl:0"), view_of(r->at)},
                               .number = i};
}

struct adding {
    struct nd_examples *examples;
    unsigned n_tasks;
    bool gives_both;
};

/* Add every n_tasks-th removal, from `task` on. */
static void add_some(void *context, size_t task, unsigned worker)
{
    const struct adding *a = context;

    (void)worker;
    for (unsigned i = (unsigned)task; i < REMOVALS; i += a->n_tasks) {
        struct nd_example e = example_of(i);

        if (!nd_examples_wants(a->examples, &e))
            continue;
        e.text[1] = view_of(removal[i].text[1]);
        if (a->gives_both)
            e.text[0] = view_of(removal[i].text[0]);
        if (nd_examples_add(a->examples, &e, NULL) != ND_OK)
            abort();
    }
}

static enum nd_status find_text(void *context, struct nd_example *example, unsigned worker,
                                struct nd_error *err)
{
    (void)context, (void)worker, (void)err;
    example->text[0] = view_of(removal[example->number].text[0]);
    return ND_OK;
}

/* ---- The same by sorting all of them ---- */

static int by_hash(const void *left, const void *right)
{
    const struct made_removal *a = &removal[*(const unsigned *)left],
                              *b = &removal[*(const unsigned *)right];
    const uint64_t x = nd_hash_bytes(a->at, strlen(a->at)), y = nd_hash_bytes(b->at, strlen(b->at));

    return x < y ? -1 : x > y;
}

static double certainty(const struct made_removal *r)
{
    return r->measure >= 0 ? r->measure : r->distance <= 512 ? 1 - r->distance / 512.0 : .5;
}

static int by_certainty(const void *left, const void *right)
{
    const double a = certainty(&removal[*(const unsigned *)left]),
                 b = certainty(&removal[*(const unsigned *)right]);

    return a < b ? -1 : a > b ? 1 : by_hash(left, right);
}

/* Compare with numbers, which are sorted by certainty once they are chosen. */
static void assert_is(const struct nd_example *(*get)(const struct nd_examples *, size_t),
                      const struct nd_examples *e, int (*by)(const void *, const void *), size_t n)
{
    unsigned number[REMOVALS];

    for (unsigned i = 0; i < REMOVALS; i++)
        number[i] = i;
    qsort(number, REMOVALS, sizeof *number, by);
    qsort(number, n, sizeof *number, by_certainty);
    for (size_t i = 0; i < n; i++) {
        const struct nd_example *x = get(e, i);
        const struct made_removal *r = &removal[number[i]];

        assert_non_null(x);
        assert_int_equal(x->number, number[i]);
        assert_true(x->at[1].len == strlen(r->at) && !memcmp(x->at[1].data, r->at, x->at[1].len));
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(x->text[k].len, strlen(r->text[k]));
            assert_memory_equal(x->text[k].data, r->text[k], x->text[k].len);
            assert_false(x->is_cut[k]);
        }
        assert_true(x->has_class);
        assert_int_equal(x->by, number[i] % 3 == 0   ? ND_DIFFERS_NUMBERS
                                : number[i] % 3 == 1 ? ND_DIFFERS_DATES
                                                     : ND_DIFFERS_WORDS);
    }
    assert_null(get(e, n));
}

static void those_of_a_full_sort_are_remembered_for_any_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 8};

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof threads / sizeof *threads); i++) {
        struct nd_pool *pool = nd_pool_new(threads[i / 2], NULL);
        struct adding a = {nd_examples_new(), 3 * threads[i / 2], i % 2 == 1};

        assert_non_null(pool);
        assert_non_null(a.examples);
        nd_pool_run(pool, a.n_tasks, add_some, &a);
        assert_int_equal(nd_examples_end(a.examples, pool, find_text, NULL, NULL), ND_OK);
        assert_int_equal(nd_examples_near(a.examples), REMOVALS);
        assert_is(nd_examples_closest, a.examples, by_certainty, ND_EXAMPLES_CLOSEST);
        assert_is(nd_examples_sampled, a.examples, by_hash, ND_EXAMPLES_SAMPLE);
        nd_examples_free(a.examples);
        nd_pool_free(pool);
    }
}

static enum nd_status find_nothing(void *context, struct nd_example *example, unsigned worker,
                                   struct nd_error *err)
{
    (void)context, (void)example, (void)worker, (void)err;
    return ND_OK;
}

static enum nd_status fail_to_find(void *context, struct nd_example *example, unsigned worker,
                                   struct nd_error *err)
{
    (void)context, (void)worker;
    err->status = ND_ECHANGED;
    snprintf(err->message, sizeof err->message, "number %u", (unsigned)example->number);
    return err->status;
}

static void an_example_without_a_text_remains_without_and_a_failure_is_told(void **state)
{
    struct nd_pool *pool = nd_pool_new(2, NULL);
    struct nd_examples *e = nd_examples_new();
    struct nd_error err = {.status = ND_OK};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct nd_example x = example_of(i);

        x.has_class = i == 1;
        x.by = ND_DIFFERS_DATES;
        assert_true(nd_examples_wants(e, &x));
        assert_int_equal(nd_examples_add(e, &x, NULL), ND_OK);
    }
    assert_int_equal(nd_examples_end(e, pool, find_nothing, NULL, NULL), ND_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct nd_example *x = nd_examples_sampled(e, i);

        assert_null(x->text[0].data);
        assert_null(x->text[1].data);
        assert_int_equal(x->has_class, x->number == 1);
        assert_true(x->number != 1 || x->by == ND_DIFFERS_DATES);
    }
    assert_int_equal(nd_examples_end(e, pool, fail_to_find, NULL, &err), ND_ECHANGED);
    /* The first that failed, whichever thread met it: the least certain one. */
    assert_non_null(strstr(err.message, "number "));
    assert_int_equal(strtoul(err.message + 7, NULL, 10), nd_examples_closest(e, 0)->number);
    nd_examples_free(e);
    nd_pool_free(pool);
}

static void texts_are_held_up_to_a_bound(void **state)
{
    struct nd_examples *e = nd_examples_new();
    char *text = calloc(1, ND_EXAMPLE_BYTES_HELD);
    struct nd_example x = {.text = {{text, 0}, {text, ND_EXAMPLE_BYTES_HELD}}};
    unsigned n = 0, most = ND_EXAMPLES_BYTES_HELD / ND_EXAMPLE_BYTES_HELD / 2;
    (void)state;

    assert_true(e && text);
    memset(text, 'x', ND_EXAMPLE_BYTES_HELD);
    for (; !nd_examples_needs_both(e, &x); n++) {
        const struct made_removal *r = &removal[n];

        x.at[1] = view_of(r->at);
        assert_int_equal(nd_examples_add(e, &x, NULL), ND_OK);
        assert_true(n < 2 * most + 20);
    }
    /* An example that is among the least certain and in the sample is held twice. */
    assert_in_range(n, most, 2 * most);
    nd_examples_free(e);
    free(text);
}

static void a_long_text_is_compared_at_once_and_cut_before_its_difference(void **state)
{
    struct nd_pool *pool = nd_pool_new(1, NULL);
    struct nd_examples *e = nd_examples_new();
    struct nd_example x = example_of(1);
    char *other = malloc(LONG);

    (void)state;
    long_text = malloc(LONG);
    assert_true(other && long_text);
    for (size_t i = 0; i < LONG; i++)
        long_text[i] = "word "[i % 5];
    memcpy(other, long_text, LONG);
    memcpy(other + LONG / 2, " 12 ", 4);
    assert_true(nd_examples_wants(e, &x));
    x.text[0] = (struct nd_view){long_text, LONG};
    x.text[1] = (struct nd_view){other, LONG};
    assert_true(nd_examples_needs_both(e, &x));
    assert_int_equal(nd_examples_add(e, &x, NULL), ND_OK);
    memset(other, 'x', LONG); /* all that is needed has been copied */
    assert_int_equal(nd_examples_end(e, pool, fail_to_find, NULL, NULL), ND_OK);
    for (unsigned k = 0; k < 2; k++) {
        const struct nd_example *shown = k ? nd_examples_sampled(e, 0) : nd_examples_closest(e, 0);

        assert_true(shown->is_cut[0] && shown->is_cut[1]);
        assert_true(shown->has_class);
        assert_int_equal(shown->text[1].len, k ? ND_EXAMPLE_BYTES_SAMPLE : ND_EXAMPLE_BYTES);
        assert_memory_equal(shown->text[1].data + 400, " 12 ", 4);
    }
    free(other);
    free(long_text);
    nd_examples_free(e);
    nd_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_a_full_sort_are_remembered_for_any_threads),
        cmocka_unit_test(an_example_without_a_text_remains_without_and_a_failure_is_told),
        cmocka_unit_test(texts_are_held_up_to_a_bound),
        cmocka_unit_test(a_long_text_is_compared_at_once_and_cut_before_its_difference),
    };

    make_removals();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
