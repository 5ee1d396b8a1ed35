/* test_recipe_handle.c - a recipe as a program holds it: made, set and read by key, given on */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup.h>

static void assert_value(const struct nd_recipe *recipe, const char *key, const char *expected)
{
    struct nd_error err;
    char *value = NULL;

    if (nd_recipe_get(recipe, key, &value, &err) != ND_OK)
        fail_msg("%s: %s", key, err.message);
    assert_string_equal(value, expected);
    free(value);
}

static void a_new_recipe_is_the_default_one(void **state)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL), *named = nd_recipe_new(NULL);
    char *text[2];
    size_t len[2];

    (void)state;
    assert_non_null(recipe);
    assert_int_equal(nd_recipe_by_name(named, "default", NULL), ND_OK);
    assert_int_equal(nd_recipe_canonical(recipe, &text[0], &len[0], NULL, NULL), ND_OK);
    assert_int_equal(nd_recipe_canonical(named, &text[1], &len[1], NULL, NULL), ND_OK);
    assert_string_equal(text[0], text[1]);
    for (int i = 0; i < 2; i++)
        free(text[i]);
    nd_recipe_free(recipe);
    nd_recipe_free(named);
    nd_recipe_free(NULL);
}

static void a_key_that_was_set_is_read_in_its_canonical_spelling(void **state)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);

    (void)state;
    assert_int_equal(nd_recipe_parse(recipe, "mine", "[signature a]\n", 14, NULL), ND_OK);
    assert_value(recipe, "threshold", "4/5");
    assert_int_equal(nd_recipe_set(recipe, "threshold = 0.85", NULL), ND_OK);
    assert_value(recipe, " threshold ", "17/20");
    assert_int_equal(nd_recipe_set(recipe, "a.bits=128", NULL), ND_OK);
    assert_value(recipe, "a.bits", "128");
    assert_value(recipe, "a.minima", "84"); /* which nothing reads, as a.kind is simhash */
    assert_value(recipe, "a.df", "");
    assert_value(recipe, "unicode", "15.0");
    assert_value(recipe, "match", "");
    nd_recipe_free(recipe);
}

static void a_key_that_is_none_is_refused(void **state)
{
    static const struct {
        const char *key, *reason;
    } cases[] = {
        {"treshold", "recipe: no key 'treshold'; did you mean 'threshold'?"},
        {"", "recipe: no key ''"},
        {"b.bits", "recipe: the recipe has no signature 'b'"},
        {"a.bitz", "recipe: no key 'bitz'; did you mean 'bits'?"},
        {"a.threshold", "recipe: 'threshold' belongs in the section [decide]"},
    };
    struct nd_recipe *recipe = nd_recipe_new(NULL);

    (void)state;
    assert_int_equal(nd_recipe_parse(recipe, "mine", "[signature a]\n", 14, NULL), ND_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_error err;
        char *value = NULL;

        assert_int_equal(nd_recipe_get(recipe, cases[i].key, &value, &err), ND_EINVAL);
        assert_null(value);
        if (strncmp(err.message, cases[i].reason, strlen(cases[i].reason)) != 0)
            fail_msg("%s: %s", cases[i].key, err.message);
    }
    assert_int_equal(nd_recipe_get(recipe, "bits", &(char *){NULL}, NULL), ND_EINVAL);
    nd_recipe_free(recipe);
}

static void a_copy_changes_alone(void **state)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL), *copy;

    (void)state;
    assert_int_equal(nd_recipe_set(recipe, "shingle=4", NULL), ND_OK);
    copy = nd_recipe_copy(recipe, NULL);
    assert_non_null(copy);
    assert_int_equal(nd_recipe_set(copy, "shingle=5", NULL), ND_OK);
    assert_value(recipe, "shingle", "4");
    nd_recipe_free(recipe);
    assert_value(copy, "shingle", "5");
    nd_recipe_free(copy);
}

static void its_signatures_are_numbered_by_name(void **state)
{
    static const char text[] = "[signature b]\nbits = 128\n[signature a]\nkind = minhash\n";
    const struct nd_document document = {.text = {"one two three four", 18}};
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_document_signer *signer;
    struct nd_signature made;
    struct nd_error err;
    uint64_t n_tokens;

    (void)state;
    assert_int_equal(nd_recipe_signatures(recipe), 0);
    assert_null(nd_recipe_signature_name(recipe, 0));
    assert_null(nd_document_signer_new(recipe, 0, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_int_equal(nd_recipe_parse(recipe, "mine", text, strlen(text), NULL), ND_OK);
    assert_int_equal(nd_recipe_signatures(recipe), 2);
    assert_string_equal(nd_recipe_signature_name(recipe, 0), "a");
    assert_string_equal(nd_recipe_signature_name(recipe, 1), "b");
    assert_null(nd_recipe_signature_name(recipe, 2));
    assert_int_equal(nd_recipe_signature_params(recipe, 0)->kind, ND_SIGNATURE_MINHASH);
    assert_int_equal(nd_recipe_signature_params(recipe, 1)->bits, 128);
    assert_null(nd_recipe_signature_params(recipe, 2));
    signer = nd_document_signer_new(recipe, 1, NULL);
    assert_non_null(signer);
    nd_recipe_free(recipe); /* the signer needs it no longer */
    assert_int_equal(nd_document_signer_run(signer, &document, &made, &n_tokens), ND_OK);
    assert_int_equal(made.count, 2);
    assert_int_equal(n_tokens, 4);
    nd_document_signer_free(signer);
}

static void a_signature_says_whether_it_needs_a_table(void **state)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_recipe_by_name(recipe, "seshasai-2009", NULL), ND_OK);
    assert_true(nd_recipe_needs_df(recipe, 0));
    assert_false(nd_recipe_needs_template(recipe, 0));
    assert_false(nd_recipe_needs_df(recipe, 9));
    assert_int_equal(nd_recipe_use_df(recipe, 0, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_recipe_use_template(recipe, 0, NULL, NULL), ND_OK);
    assert_int_equal(nd_recipe_use_df(recipe, 9, NULL, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "there is no signature 9"));
    assert_int_equal(nd_recipe_use_template(recipe, 9, NULL, NULL), ND_EINVAL);
    nd_recipe_free(recipe);
}

static void an_engine_decides_by_it(void **state)
{
    static const char *const text[] = {"a b c d e f g h i j", "a b c d e f g h i k"};
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_dedup_item item[2] = {{.text = {text[0], 19}}, {.text = {text[1], 19}}};

    (void)state;
    options.threads = 1;
    for (int strict = 0; strict < 2; strict++) {
        struct nd_decision decision[2];
        struct nd_dedup *dedup;

        assert_int_equal(nd_recipe_set(recipe, strict ? "threshold=0.8" : "threshold=0.5", NULL),
                         ND_OK);
        dedup = nd_dedup_new(recipe, strict ? NULL : &options, NULL);
        assert_non_null(dedup);
        assert_int_equal(nd_dedup_push(dedup, item, 2, decision, NULL), ND_OK);
        assert_int_equal(decision[1].kept, strict);
        nd_dedup_free(dedup);
    }
    assert_null(nd_dedup_new(NULL, NULL, NULL));
    nd_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_recipe_is_the_default_one),
        cmocka_unit_test(a_key_that_was_set_is_read_in_its_canonical_spelling),
        cmocka_unit_test(a_key_that_is_none_is_refused),
        cmocka_unit_test(a_copy_changes_alone),
        cmocka_unit_test(its_signatures_are_numbered_by_name),
        cmocka_unit_test(a_signature_says_whether_it_needs_a_table),
        cmocka_unit_test(an_engine_decides_by_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
