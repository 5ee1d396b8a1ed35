/* test_recipe_table.c - the df table of a recipe: named, missing, of other features, stale */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/df.h>
#include <neardup/recipe.h>

#include "recipe/recipe_struct.h"

static char path[2][64];
static struct nd_df *table[2], *shingles;

static int make_table_of_shingles(void)
{
    struct nd_feature_params counted = nd_feature_params_default();
    const struct nd_df_builder_params params = {.features = &counted};
    const char name[] = "/tmp/neardup-test-recipe-XXXXXX";
    char at[sizeof name];
    struct nd_df_builder *b;
    const uint64_t hash = 7;
    int fd;

    memcpy(at, name, sizeof name);
    fd = mkstemp(at);
    counted.unit = ND_FEATURE_SHINGLES;
    b = nd_df_builder_new(&params, NULL);
    if (fd < 0 || !b || nd_df_builder_add(b, &hash, 1, NULL, NULL) != ND_OK ||
        nd_df_builder_write(&b, 1, at, NULL) != ND_OK)
        return 1;
    nd_df_builder_free(b);
    shingles = nd_df_open(at, NULL);
    close(fd);
    unlink(at);
    return shingles == NULL;
}

/* Tables of the recipe's features with one and with two documents. */
static int make_tables(void **state)
{
    struct nd_feature_params counted = nd_feature_params_default();
    const uint64_t hash = 7;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct nd_df_builder_params params = {.features = &counted};
        struct nd_df_builder *b = nd_df_builder_new(&params, NULL);

        snprintf(path[i], sizeof path[i], "/tmp/neardup-test-recipe-%d-%d", (int)getpid(), i);
        for (int k = 0; b && k <= i; k++)
            if (nd_df_builder_add(b, &hash, 1, NULL, NULL) != ND_OK)
                return 1;
        if (!b || nd_df_builder_write(&b, 1, path[i], NULL) != ND_OK)
            return 1;
        nd_df_builder_free(b);
        table[i] = nd_df_open(path[i], NULL);
        if (!table[i])
            return 1;
    }
    return make_table_of_shingles();
}

static int remove_tables(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        nd_df_close(table[i]);
        unlink(path[i]);
    }
    nd_df_close(shingles);
    return 0;
}

static struct nd_recipe named(const char *name)
{
    struct nd_recipe recipe = nd_recipe_default();

    assert_int_equal(nd_recipe_by_name(&recipe, name, NULL), ND_OK);
    return recipe;
}

static uint64_t fingerprint_of(const struct nd_recipe *recipe)
{
    uint64_t fingerprint;
    char *text;
    size_t len;

    assert_int_equal(nd_recipe_canonical(recipe, &text, &len, &fingerprint, NULL), ND_OK);
    free(text);
    return fingerprint;
}

static void the_version_is_part_of_the_fingerprint(void **state)
{
    struct nd_recipe first = named("seshasai-2009"), second = first;
    uint64_t without = fingerprint_of(&first);

    (void)state;
    assert_int_equal(nd_signature_use_df(&first.method.signature[0], table[0], NULL), ND_OK);
    assert_ptr_equal(first.method.signature[0].table, table[0]);
    assert_true(first.method.signature[0].df_version == nd_df_fingerprint(table[0]));
    assert_int_equal(nd_signature_use_df(&second.method.signature[0], table[1], NULL), ND_OK);
    assert_true(fingerprint_of(&first) != without);
    assert_true(fingerprint_of(&first) != fingerprint_of(&second));
    assert_int_equal(nd_recipe_set_df(&first, "elsewhere", NULL), ND_OK);
    second = named("seshasai-2009");
    assert_int_equal(nd_signature_use_df(&second.method.signature[0], table[0], NULL), ND_OK);
    assert_true(fingerprint_of(&first) == fingerprint_of(&second)); /* the path is not */
}

static void a_table_of_another_version_is_refused(void **state)
{
    struct nd_recipe recipe = named("kolcz-2004-web");
    struct nd_recipe_signature *s = &recipe.method.signature[0];
    char expected[512];
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_recipe_set_df(&recipe, "words.df", NULL), ND_OK);
    s->df_version = nd_df_fingerprint(table[0]);
    assert_int_equal(nd_signature_use_df(s, table[0], &err), ND_OK);
    assert_int_equal(nd_signature_use_df(s, table[1], &err), ND_EINVAL);
    snprintf(expected, sizeof expected,
             "signature imatch: the df table words.df has version 0x%llx, but the recipe needs "
             "0x%llx: sketches made with different tables cannot be compared",
             (unsigned long long)nd_df_fingerprint(table[1]),
             (unsigned long long)nd_df_fingerprint(table[0]));
    assert_string_equal(err.message, expected);
    assert_ptr_equal(s->table, table[0]);
}

static void a_missing_table_is_asked_for(void **state)
{
    struct nd_recipe recipe = named("chowdhury-2002");
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_signature_use_df(&recipe.method.signature[0], NULL, &err), ND_EINVAL);
    assert_string_equal(err.message,
                        "signature imatch: kind = imatch needs a df table: make one of the input "
                        "with --df auto=FILE or of other documents with neardup df build, or name "
                        "an existing one with --df FILE");
    recipe = named("cops-1995");
    assert_int_equal(nd_signature_use_df(&recipe.method.signature[0], NULL, &err), ND_OK);
}

static void a_table_of_template_text_counts_shingles(void **state)
{
    struct nd_recipe recipe = named("manku-2007");
    struct nd_recipe_signature *s = &recipe.method.signature[0];
    struct nd_error err;
    uint64_t before = fingerprint_of(&recipe);

    (void)state;
    assert_int_equal(nd_signature_use_template(s, NULL, NULL), ND_OK); /* nobody asks */
    assert_true(fingerprint_of(&recipe) == before);
    assert_int_equal(nd_recipe_set(&recipe, "simhash.template_count=3", NULL), ND_OK);
    assert_int_equal(nd_recipe_set(&recipe, "simhash.template_df=site.df", NULL), ND_OK);
    assert_int_equal(nd_signature_use_template(s, NULL, &err), ND_EINVAL);
    assert_string_equal(err.message,
                        "signature simhash: template_count needs a df table of shingles: make one "
                        "with neardup df build --features sketch, and name it in template_df");
    assert_int_equal(nd_signature_use_template(s, table[0], &err), ND_EINVAL);
    assert_string_equal(err.message, "signature simhash: site.df: the df table of the template "
                                     "does not count shingles");
    assert_int_equal(nd_signature_use_template(s, shingles, &err), ND_OK);
    assert_ptr_equal(s->feature.template_table, shingles);
    assert_true(s->template_df_version == nd_df_fingerprint(shingles));
    before = fingerprint_of(&recipe);
    assert_int_equal(nd_recipe_set(&recipe, "simhash.template_df=elsewhere.df", NULL), ND_OK);
    assert_true(fingerprint_of(&recipe) == before); /* the path is not part of it */
    s->template_df_version++;
    assert_true(fingerprint_of(&recipe) != before);
    assert_int_equal(nd_signature_use_template(s, shingles, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "sketches made with different tables cannot be compared"));
    s->template_df_version = 0;
    s->feature.join_apostrophes = 1;
    assert_int_equal(nd_signature_use_template(s, shingles, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "it has \"join_apostrophes = no\""));
}

static void a_table_of_other_features_is_refused(void **state)
{
    struct nd_recipe recipe = named("seshasai-2009");
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_recipe_set(&recipe, "simhash.stem=english", NULL), ND_OK);
    assert_int_equal(nd_signature_use_df(&recipe.method.signature[0], table[0], &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "signature simhash: "));
    assert_non_null(strstr(err.message, "stem"));
    assert_null(recipe.method.signature[0].table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_part_of_the_fingerprint),
        cmocka_unit_test(a_table_of_another_version_is_refused),
        cmocka_unit_test(a_missing_table_is_asked_for),
        cmocka_unit_test(a_table_of_template_text_counts_shingles),
        cmocka_unit_test(a_table_of_other_features_is_refused),
    };

    return cmocka_run_group_tests(tests, make_tables, remove_tables);
}
