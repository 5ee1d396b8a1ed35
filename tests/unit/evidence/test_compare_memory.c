/* test_compare_memory.c - every allocation of a comparison fails once: ND_ENOMEM, nothing left */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <neardup/compare.h>

#define FAILING_COUNTS
#include "failing_wraps.h"

enum { N = 400 };
static uint64_t a[N], b[N];

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        a[i] = i % 97;
        b[i] = i % 31 == 5 ? 1000 + i : (i + 3) % 97;
    }
}

static enum nd_status distance(void)
{
    const struct nd_edit_costs costs = nd_edit_costs_default();
    uint64_t found;

    return nd_edit_distance(a, N, b, N, &costs, ND_EDIT_NO_LIMIT, &found, NULL);
}

static enum nd_status script(void)
{
    const struct nd_edit_costs costs = nd_edit_costs_default();
    struct nd_edit *edit;
    uint64_t found;
    size_t n;
    enum nd_status status =
        nd_edit_script(a, N, b, N, &costs, ND_EDIT_NO_LIMIT, &found, &edit, &n, NULL);

    if (status == ND_OK)
        free(edit);
    return status;
}

static enum nd_status terms(void)
{
    struct nd_term_overlap overlap;

    return nd_terms_compare(a, N, b, N, &overlap, NULL);
}

static enum nd_status passages(void)
{
    struct nd_passage_params params = nd_passage_params_default();
    struct nd_passage *found;
    size_t n;
    enum nd_status status = nd_passages_find(a, N, b, N, &params, &found, &n, NULL);

    if (status == ND_OK) {
        if (nd_passages_cover(found, n, 1) == UINT64_MAX)
            status = ND_ENOMEM;
        free(found);
    }
    return status;
}

static enum nd_status template_words(void)
{
    const struct nd_token_list document[] = {{a, N}, {b, N}};
    struct nd_template found;
    enum nd_status status = nd_template_find(document, 2, 3, (struct nd_ratio){1, 1}, &found, NULL);

    if (status == ND_OK)
        nd_template_release(&found);
    return status;
}

static void each_allocation_fails_once(void **state)
{
    static enum nd_status (*const run[])(void) = {distance, script, terms, passages,
                                                  template_words};

    (void)state;
    fill();
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        long n = 0;

        for (;; n++) {
            long before = blocks;
            enum nd_status status;

            has_failed = 0;
            countdown = n;
            status = run[i]();
            countdown = -1;
            assert_int_equal(blocks, before);
            if (!has_failed)
                break;
            assert_int_equal(status, ND_ENOMEM);
        }
        assert_true(n > 0);
        assert_int_equal(run[i](), ND_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
