/* test_params.c - what is out of range is refused where it comes in, and named */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup.h>
#include <neardup/input.h>
#include <neardup/run_df.h>

#include "engine/engine.h"
#include "failing_wraps.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"

static void refuse(const struct nd_dedup_params *p, const char *named)
{
    struct nd_run_options options = nd_run_options_default();
    struct nd_recipe recipe = nd_recipe_default();
    static const char *const paths[] = {"/dev/null"};
    struct nd_run_summary summary;
    struct nd_error err = {0};

    assert_null(nd_dedup_new_with(p, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_non_null(strstr(err.message, named));
    /* And by every run, whether it needs an engine or not. */
    recipe.dedup = *p;
    if (p->method)
        recipe.method = *p->method;
    options.recipe = &recipe;
    options.paths = paths;
    options.n_paths = 1;
    options.output = "/dev/null";
    assert_int_equal(nd_run_dedup(&options, NULL, &summary, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, named));
    assert_int_equal(nd_run_pairs(&options, &(struct nd_pairs_params){0}, NULL, &summary, &err),
                     ND_EINVAL);
    assert_int_equal(nd_run_sketch(&options, NULL, &summary, &err), ND_EINVAL);
    assert_int_equal(
        nd_run_df_build(&options, &(struct nd_run_df_options){0}, NULL, &summary, &err), ND_EINVAL);
}

#define REFUSE(named, ...)                                                                         \
    do {                                                                                           \
        struct nd_dedup_params p = nd_dedup_params_default();                                      \
        __VA_ARGS__;                                                                               \
        refuse(&p, named);                                                                         \
    } while (0)

static void numbers_of_the_engine_are_checked(void **state)
{
    (void)state;
    REFUSE("unit", p.sketch.unit = (enum nd_shingle_unit)99);
    REFUSE("shingles", p.sketch.w = 0);
    REFUSE("shingles", p.sketch.w = 33);
    REFUSE("threshold", p.threshold = (struct nd_ratio){0, 1});
    REFUSE("threshold", p.threshold = (struct nd_ratio){2, 1});
    REFUSE("threshold", p.threshold = (struct nd_ratio){0, 0});
    REFUSE("recall", p.recall = 1);
    REFUSE("recall", p.recall = -0.1);
    REFUSE("recall", p.recall = 0.0 / 0.0);
    REFUSE("bands", p.bands = 65536; p.rows = 65536);
    REFUSE("bands", p.bands = 3);
    REFUSE("rows", p.rows = 3);
    REFUSE("simhash_bits", p.candidates = ND_CANDIDATES_SIMHASH; p.simhash_bits = 16);
    REFUSE("simhash_bits", p.candidates = ND_CANDIDATES_SIMHASH; p.simhash_bits = 65);
    REFUSE("max_checks", p.max_checks = 0);
    REFUSE("threads", p.threads = 1025);
    REFUSE("values is unknown", p.candidates = (enum nd_candidates_by)5);
    REFUSE("values is unknown", p.verify = (enum nd_verify) - 1);
    REFUSE("values is unknown", p.cluster = (enum nd_cluster)4);
    REFUSE("values is unknown", p.short_policy = (enum nd_short)3);
}

static void recall_has_the_limits_that_the_recipe_states(void **state)
{
    struct nd_ratio threshold = {4, 5};
    unsigned bands, rows;

    (void)state;
    assert_int_equal(nd_bands_choose(threshold, 0, &bands, &rows, NULL), ND_OK);
    assert_int_equal(nd_bands_choose(threshold, ND_RECALL_MAX, &bands, &rows, NULL), ND_OK);
    assert_int_equal(nd_bands_choose(threshold, 0.99995, &bands, &rows, NULL), ND_EINVAL);
    assert_int_equal(nd_bands_choose(threshold, -1, &bands, &rows, NULL), ND_EINVAL);
    assert_int_equal(nd_bands_choose((struct nd_ratio){0, 0}, 0.5, &bands, &rows, NULL), ND_EINVAL);
}

/* On the heap, so that what is read beyond it is found. */
static void a_method_is_checked_before_it_is_read(void **state)
{
    struct nd_recipe *recipe = malloc(sizeof *recipe);
    char *text;
    size_t len;

    (void)state;
    assert_non_null(recipe);
    for (int what = 0; what < 4; what++) {
        struct nd_error err = {0};

        *recipe = nd_recipe_default();
        assert_int_equal(nd_recipe_by_name(recipe, "broder-1997", NULL), ND_OK);
        if (what == 0)
            recipe->method.n_signatures = ND_RECIPE_SIGNATURES + 1;
        if (what == 1)
            memset(recipe->method.match, 'x', sizeof recipe->method.match);
        if (what == 2)
            memset(recipe->method.signature[0].feature.fields, 'x', ND_FEATURE_LIST_MAX + 1);
        if (what == 3)
            memset(recipe->keep, 'x', sizeof recipe->keep);
        recipe->dedup.method = &recipe->method;
        if (what < 3)
            refuse(&recipe->dedup, what == 0 ? "n_signatures" : what == 1 ? "match" : "signature");
        assert_int_equal(nd_recipe_check(recipe, &err), ND_EINVAL);
        assert_int_equal(nd_recipe_canonical(recipe, &text, &len, NULL, &err), ND_EINVAL);
        assert_int_equal(nd_recipe_set(recipe, "threshold=0.5", &err), ND_EINVAL);
        assert_int_equal(nd_recipe_parse(recipe, "x", "", 0, &err), ND_EINVAL);
        assert_int_equal(nd_recipe_set_df(recipe, "x", &err), ND_EINVAL);
        assert_int_equal(nd_recipe_warning(recipe, 0, &err), 0);
    }
    free(recipe);
}

static void features_are_checked(void **state)
{
    struct nd_weight_params weights = nd_weight_params_default();

    (void)state;
    for (int what = 0; what < 7; what++) {
        struct nd_feature_params p = nd_feature_params_default();
        struct nd_error err = {0};

        if (what == 0)
            p.unit = (enum nd_feature_unit)99;
        if (what == 1)
            p.count = (enum nd_feature_count)2;
        if (what == 2)
            p.select = (enum nd_feature_select)7;
        if (what == 3)
            p.strip = (enum nd_strip)3;
        if (what == 4)
            memset(p.anchors, 'x', sizeof p.anchors);
        if (what == 5)
            memset(p.stop_words, 'x', sizeof p.stop_words);
        if (what == 6)
            memset(p.stem, 'x', sizeof p.stem);
        assert_null(nd_featurer_new(&p, &weights, NULL, &err));
        assert_int_equal(err.status, ND_EINVAL);
    }
}

static void options_of_reading_are_checked(void **state)
{
    static const char *const paths[] = {"/dev/null"};

    (void)state;
    for (int what = 0; what < 8; what++) {
        struct nd_input_options o = nd_input_options_default();
        struct nd_error err = {0};

        if (what == 0)
            o.unit = (enum nd_unit)99;
        if (what == 1)
            o.format = (enum nd_format)99;
        if (what == 2)
            o.missing_text = (enum nd_missing_text)99;
        if (what == 3)
            o.text_format = (enum nd_text_format)99;
        if (what == 4)
            o.text_fields = NULL;
        if (what == 5)
            o.id_field = NULL;
        if (what == 6)
            o.n_fields = 1;
        if (what == 7)
            o.n_globs = 1;
        assert_null(nd_input_open(paths, 1, &o, NULL, NULL, &err));
        assert_int_equal(err.status, ND_EINVAL);
        err.status = ND_OK;
        assert_null(nd_parser_new(&o, &err));
        assert_int_equal(err.status, ND_EINVAL);
    }
}

static void the_index_has_defaults(void **state)
{
    struct nd_index_params p = nd_index_params_default();
    struct nd_dedup_params dedup = nd_dedup_params_default();
    unsigned bands, rows;

    (void)state;
    assert_int_equal(nd_bands_choose(dedup.threshold, dedup.recall, &bands, &rows, NULL), ND_OK);
    assert_int_equal(p.bands, bands);
    assert_int_equal(p.rows, rows);
    assert_int_equal(p.simhash_bits, ND_NO_SIMHASH);
}

/* A recipe with all that takes memory: sections, a rule, lists, a second recipe to compare with. */
static void a_recipe_that_memory_did_not_suffice_for_says_so(void **state)
{
    struct nd_recipe *recipe = malloc(sizeof *recipe);
    long n = 0;

    (void)state;
    assert_non_null(recipe);
    for (size_t i = 0; nd_recipe_name(i); i++) {
        char path[300];

        snprintf(path, sizeof path, "recipes/%s.ini", nd_recipe_name(i));
        for (n = 0, has_failed = 1; has_failed; n++) {
            struct nd_error err = {0};
            enum nd_status status;

            *recipe = nd_recipe_default();
            has_failed = 0;
            countdown = n;
            status = nd_recipe_load(recipe, path, &err);
            countdown = -1;
            assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
            assert_int_equal(err.status, status);
        }
        assert_true(n > 2);
    }
    free(recipe);
}

/* Make, copy, read and use a recipe; the first failure ends it. */
static enum nd_status use_a_handle(struct nd_error *err)
{
    struct nd_recipe *recipe = nd_recipe_new(err), *copy = NULL;
    struct nd_document_signer *signer = NULL;
    char *value = NULL, *text = NULL;
    enum nd_status status = recipe ? nd_recipe_by_name(recipe, "manku-2007", err) : err->status;
    size_t len;

    if (status == ND_OK && !(copy = nd_recipe_copy(recipe, err)))
        status = err->status;
    if (status == ND_OK)
        status = nd_recipe_get(copy, "simhash.bits", &value, err);
    if (status == ND_OK)
        status = nd_recipe_canonical(copy, &text, &len, NULL, err);
    if (status == ND_OK && !(signer = nd_document_signer_new(copy, 0, err)))
        status = err->status;
    nd_document_signer_free(signer);
    free(value);
    free(text);
    nd_recipe_free(copy);
    nd_recipe_free(recipe);
    return status;
}

static void a_handle_that_memory_did_not_suffice_for_says_so(void **state)
{
    long n = 0;

    (void)state;
    for (has_failed = 1; has_failed; n++) {
        struct nd_error err = {0};
        enum nd_status status;

        has_failed = 0;
        countdown = n;
        status = use_a_handle(&err);
        countdown = -1;
        assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
        assert_int_equal(err.status, status);
    }
    assert_true(n > 10);
}

static void clusters_need_a_measure_without_direction(void **state)
{
    static const enum nd_verify measures[] = {ND_VERIFY_CONTAINMENT, ND_VERIFY_CONTAINMENT_OF_KEPT,
                                              ND_VERIFY_CONTAINMENT_EITHER, ND_VERIFY_COSINE};

    (void)state;
    for (enum nd_cluster c = ND_CLUSTER_COMPONENTS; c <= ND_CLUSTER_COMPLETE; c++)
        for (unsigned v = 0; v < 4; v++) {
            struct nd_dedup_params p = nd_dedup_params_default();
            struct nd_error err = {ND_OK, ""};
            struct nd_dedup *d;

            p.cluster = c;
            p.verify = measures[v];
            d = nd_dedup_new_with(&p, NULL, &err);
            assert_int_equal(d != NULL, v >= 2);
            if (!d)
                assert_non_null(strstr(err.message, "'containment-either'"));
            nd_dedup_free(d);
        }
}

static void bands_that_are_given_are_taken(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct nd_dedup_stats stats;
    struct nd_dedup *d;

    (void)state;
    p.verify = ND_VERIFY_COSINE;
    p.bands = 32;
    p.rows = 4;
    d = nd_dedup_new_with(&p, NULL, NULL);
    assert_non_null(d);
    nd_dedup_get_stats(d, &stats);
    assert_int_equal(stats.bands, 32);
    assert_int_equal(stats.sample, 0);
    nd_dedup_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_the_engine_are_checked),
        cmocka_unit_test(recall_has_the_limits_that_the_recipe_states),
        cmocka_unit_test(a_method_is_checked_before_it_is_read),
        cmocka_unit_test(features_are_checked),
        cmocka_unit_test(options_of_reading_are_checked),
        cmocka_unit_test(the_index_has_defaults),
        cmocka_unit_test(a_recipe_that_memory_did_not_suffice_for_says_so),
        cmocka_unit_test(a_handle_that_memory_did_not_suffice_for_says_so),
        cmocka_unit_test(clusters_need_a_measure_without_direction),
        cmocka_unit_test(bands_that_are_given_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
