/* test_recipe.c - a recipe is read, refused with a reason, and written in one spelling */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "recipe/recipe_struct.h"

static struct nd_recipe sample(void)
{
    struct nd_recipe recipe;

    memset(&recipe, 0, sizeof recipe);
    recipe.dedup.sketch.unit = ND_SHINGLE_WORDS;
    recipe.dedup.sketch.w = 3;
    recipe.dedup.threshold = (struct nd_ratio){4, 5};
    recipe.dedup.recall = 0.995;
    recipe.dedup.simhash_bits = 3;
    recipe.dedup.max_checks = 256;
    strcpy(recipe.keep, "first");
    return recipe;
}

static enum nd_status parse(struct nd_recipe *recipe, const char *text, struct nd_error *err)
{
    return nd_recipe_parse(recipe, "my.ini", text, strlen(text), err);
}

static char *canonical(const struct nd_recipe *recipe, uint64_t *fingerprint)
{
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;

    if (nd_recipe_canonical(recipe, &text, &len, fingerprint, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(text), len);
    return text;
}

static void every_key_reaches_its_field(void **state)
{
    static const char text[] = "\xEF\xBB\xBF# mine\r\n"
                               "[sketch]\r\n"
                               "unicode = 15.0\n unit=characters \n\tshingle =7\nminima = 128\n"
                               "; other\n\n[ decide ]\n"
                               "candidates = simhash\nverify = cosine\ncluster = components\n"
                               "short = tokens\nthreshold = .85\nrecall = 0.9\nbands = 9\n"
                               "rows = 13\nsimhash_bits = 5\nmax_checks = 17\n"
                               "keep = newest:date of issue";
    struct nd_recipe recipe = sample();
    struct nd_error err;

    (void)state;
    if (parse(&recipe, text, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_int_equal(recipe.dedup.sketch.unit, ND_SHINGLE_CHARACTERS);
    assert_int_equal(recipe.dedup.sketch.w, 7);
    assert_int_equal(recipe.dedup.candidates, ND_CANDIDATES_SIMHASH);
    assert_int_equal(recipe.dedup.verify, ND_VERIFY_COSINE);
    assert_int_equal(recipe.dedup.cluster, ND_CLUSTER_COMPONENTS);
    assert_int_equal(recipe.dedup.short_policy, ND_SHORT_TOKENS);
    assert_int_equal(recipe.dedup.threshold.p, 17);
    assert_int_equal(recipe.dedup.threshold.q, 20);
    assert_true(recipe.dedup.recall == 0.9);
    assert_int_equal(recipe.dedup.bands, 9);
    assert_int_equal(recipe.dedup.rows, 13);
    assert_int_equal(recipe.dedup.simhash_bits, 5);
    assert_int_equal(recipe.dedup.max_checks, 17);
    assert_string_equal(recipe.keep, "newest:date of issue");
}

/* The words of a key and the enum's values must stay in one order. */
static void every_word_means_its_value(void **state)
{
    static const struct {
        const char *assignment;
        size_t offset;
        unsigned value;
    } cases[] = {
#define AT(field) offsetof(struct nd_recipe, dedup.field)
        {"unit=words", AT(sketch.unit), ND_SHINGLE_WORDS},
        {"unit=characters", AT(sketch.unit), ND_SHINGLE_CHARACTERS},
        {"candidates=minhash", AT(candidates), ND_CANDIDATES_MINHASH},
        {"candidates=simhash", AT(candidates), ND_CANDIDATES_SIMHASH},
        {"candidates=identity", AT(candidates), ND_CANDIDATES_IDENTITY},
        {"candidates=all", AT(candidates), ND_CANDIDATES_ALL},
        {"verify=jaccard", AT(verify), ND_VERIFY_JACCARD},
        {"verify=containment", AT(verify), ND_VERIFY_CONTAINMENT},
        {"verify=cosine", AT(verify), ND_VERIFY_COSINE},
        {"verify=none", AT(verify), ND_VERIFY_NONE},
        {"cluster=star", AT(cluster), ND_CLUSTER_STAR},
        {"cluster=components", AT(cluster), ND_CLUSTER_COMPONENTS},
        {"short=identical", AT(short_policy), ND_SHORT_IDENTICAL},
        {"short=keep", AT(short_policy), ND_SHORT_KEEP},
        {"short=tokens", AT(short_policy), ND_SHORT_TOKENS},
#undef AT
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_recipe recipe = sample();
        unsigned value;

        assert_int_equal(nd_recipe_set(&recipe, cases[i].assignment, NULL), ND_OK);
        memcpy(&value, (const char *)&recipe + cases[i].offset, sizeof value);
        assert_int_equal(value, cases[i].value);
    }
}

static void an_error_names_place_key_and_nearest(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[decide]\n\ntreshold = 0.8", "my.ini:3: no key 'treshold'; did you mean 'threshold'?"},
        {"[decide]\ncolour = 1", "my.ini:2: no key 'colour'"},
        {"[decide]\nverify = jacard",
         "my.ini:2: verify = jacard: not one of jaccard, containment, cosine, none, "
         "containment-of-kept, containment-either; did you mean 'jaccard'?"},
        {"[sketch]\nunicode = 16.0", "my.ini:2: unicode = 16.0: can only be 15.0"},
        {"[sketch]\nshingle = 33", "my.ini:2: shingle = 33: not at least 1 and at most 32"},
        {"[sketch]\nshingle = 2.5", "my.ini:2: shingle = 2.5: not a whole number"},
        {"[decide]\nthreshold = 0", "my.ini:2: threshold = 0: not above 0 and at most 1"},
        {"[sketch]\nshingle = 4294967297",
         "my.ini:2: shingle = 4294967297: not at least 1 and at most 32"},
        {"[sketch]\nshingle = 1.2.3", "my.ini:2: shingle = 1.2.3: not a whole number"},
        {"[decide]\nthreshold = x",
         "my.ini:2: threshold = x: not a ratio such as 0.8, 4/5 or 80%, of "
         "numbers up to 4294967295 in lowest terms"},
        {"[decide]\nthreshold = 1/4294967296", "my.ini:2: threshold = 1/4294967296: not a ratio "
                                               "such as 0.8, 4/5 or 80%, of numbers up to "
                                               "4294967295 in lowest terms"},
        {"[decide]\nrecall = 1", "my.ini:2: recall = 1: not at least 0 and at most 0.9999"},
        {"[decide]\nrecall = 1/2", "my.ini:2: recall = 1/2: not a number such as 0.995"},
        {"[decide]\nshingle = 3", "my.ini:2: 'shingle' belongs in the section [sketch]"},
        {"[decide]\nrows = 3\n#\nrows = 3", "my.ini:4: 'rows' is given twice, first on line 2"},
        {"rows = 3", "my.ini:1: a key before the first section, [sketch] or [decide]"},
        {"[decision]",
         "my.ini:1: unknown section; expected [sketch], [decide] or [signature NAME]"},
        {"[decide", "my.ini:1: a section needs its closing ']'"},
        {"[decide]\nkeep", "my.ini:2: neither a [section] nor a 'key = value'"},
        {"[decide]\nkeep =", "my.ini:2: keep: needs 1 to 127 bytes"},
        {"[decide]\nkeep = a\x01z", "my.ini:2: a control character"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_recipe recipe = sample(), before = recipe;
        struct nd_error err = {0};

        assert_int_equal(parse(&recipe, cases[i].text, &err), ND_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_memory_equal(&recipe, &before, sizeof recipe);
    }
}

static void a_single_assignment_is_checked_too(void **state)
{
    struct nd_recipe recipe = sample(), before = recipe;
    struct nd_error err = {0};

    (void)state;
    assert_int_equal(nd_recipe_set(&recipe, "treshold=0.9", &err), ND_EINVAL);
    assert_string_equal(err.message, "recipe: no key 'treshold'; did you mean 'threshold'?");
    assert_int_equal(nd_recipe_set(&recipe, "threshold", &err), ND_EINVAL);
    assert_int_equal(nd_recipe_set(&recipe, "", &err), ND_EINVAL);
    assert_int_equal(nd_recipe_set(&recipe, "keep=a\nb", &err), ND_EINVAL);
    assert_memory_equal(&recipe, &before, sizeof recipe);
    assert_int_equal(nd_recipe_set(&recipe, " threshold = 9/10 ", &err), ND_OK);
    assert_int_equal(recipe.dedup.threshold.p, 9);
}

static void the_canonical_form_is_sorted_and_whole(void **state)
{
    struct nd_recipe recipe = sample();
    uint64_t fingerprint;
    char *text = canonical(&recipe, &fingerprint);

    (void)state;
    assert_string_equal(text, "[decide]\n"
                              "bands = 0\n"
                              "candidates = minhash\n"
                              "cluster = star\n"
                              "keep = first\n"
                              "max_checks = 256\n"
                              "recall = 0.995\n"
                              "rows = 0\n"
                              "short = identical\n"
                              "simhash_bits = 3\n"
                              "threshold = 4/5\n"
                              "verify = jaccard\n"
                              "[sketch]\n"
                              "minima = 128\n"
                              "shingle = 3\n"
                              "unicode = 15.0\n"
                              "unit = words\n");
    assert_true(fingerprint == UINT64_C(0xe35e8ae03b9ccdfb)); /* docs/format/recipe.md */
    free(text);
}

static void the_canonical_form_reads_back_to_itself(void **state)
{
    struct nd_recipe recipe = sample(), read = sample();
    uint64_t fingerprint, again;
    char *text, *twice;

    (void)state;
    assert_int_equal(nd_recipe_set(&recipe, "threshold=0.333333333", NULL), ND_OK);
    assert_int_equal(nd_recipe_set(&recipe, "recall=0.000000007", NULL), ND_OK);
    assert_int_equal(nd_recipe_set(&recipe, "keep=max:a = b # c", NULL), ND_OK);
    text = canonical(&recipe, &fingerprint);
    assert_int_equal(parse(&read, text, NULL), ND_OK);
    assert_memory_equal(&read, &recipe, sizeof recipe);
    twice = canonical(&read, &again);
    assert_string_equal(twice, text);
    assert_true(again == fingerprint);
    free(text);
    free(twice);
}

static void the_fingerprint_is_of_the_sketch_half_only(void **state)
{
    struct nd_recipe recipe = sample();
    uint64_t first, second, third;

    (void)state;
    free(canonical(&recipe, &first));
    assert_int_equal(nd_recipe_set(&recipe, "threshold=0.5", NULL), ND_OK);
    free(canonical(&recipe, &second));
    assert_true(second == first);
    assert_int_equal(nd_recipe_set(&recipe, "shingle=4", NULL), ND_OK);
    free(canonical(&recipe, &third));
    assert_true(third != first);
}

/* Every key must stand in the file: the recipe that it changes has none of the defaults. */
static void the_default_recipe_file_says_the_defaults(void **state)
{
    struct nd_recipe recipe = nd_recipe_default(), expected = nd_recipe_default();
    struct nd_error err;
    char text[8192];
    size_t len;
    FILE *file = fopen("recipes/default.ini", "rb");

    (void)state;
    assert_non_null(file);
    len = fread(text, 1, sizeof text, file);
    assert_true(len > 0 && len < sizeof text);
    fclose(file);
    recipe.dedup.sketch = (struct nd_sketch_params){.unit = ND_SHINGLE_CHARACTERS, .w = 9};
    recipe.dedup.candidates = ND_CANDIDATES_ALL;
    recipe.dedup.verify = ND_VERIFY_NONE;
    recipe.dedup.cluster = ND_CLUSTER_COMPONENTS;
    recipe.dedup.short_policy = ND_SHORT_TOKENS;
    recipe.dedup.threshold = (struct nd_ratio){1, 3};
    recipe.dedup.recall = 0.5;
    recipe.dedup.bands = recipe.dedup.rows = recipe.dedup.simhash_bits = 7;
    recipe.dedup.max_checks = 1;
    strcpy(recipe.keep, "last");
    if (nd_recipe_parse(&recipe, "default.ini", text, len, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_string_equal(recipe.keep, expected.keep);
    memcpy(recipe.keep, expected.keep, sizeof recipe.keep); /* what follows the terminating zero */
    assert_memory_equal(&recipe, &expected, sizeof recipe);
}

static void what_no_recipe_can_say_has_no_canonical_form(void **state)
{
    struct nd_recipe recipe = sample();
    char *text = NULL;
    size_t len;

    (void)state;
    recipe.dedup.threshold.q = 0;
    assert_int_equal(nd_recipe_canonical(&recipe, &text, &len, NULL, NULL), ND_EINVAL);
    recipe = sample();
    recipe.dedup.verify = (enum nd_verify)99;
    assert_int_equal(nd_recipe_canonical(&recipe, &text, &len, NULL, NULL), ND_EINVAL);
    recipe = sample();
    recipe.dedup.recall = -1;
    assert_int_equal(nd_recipe_canonical(&recipe, &text, &len, NULL, NULL), ND_EINVAL);
    recipe = sample();
    strcpy(recipe.keep, "a\nb");
    assert_int_equal(nd_recipe_canonical(&recipe, &text, &len, NULL, NULL), ND_EINVAL);
    assert_null(text);
}

static void assert_difference(const char *a, const char *b, int sketch_half, const char *expected)
{
    struct nd_recipe recipe[2] = {sample(), sample()};
    struct nd_error err;
    char *key = NULL;

    assert_int_equal(parse(&recipe[0], a, &err), ND_OK);
    assert_int_equal(parse(&recipe[1], b, &err), ND_OK);
    assert_int_equal(nd_recipe_difference(&recipe[0], &recipe[1], sketch_half, &key, &err), ND_OK);
    if (expected)
        assert_string_equal(key, expected);
    else
        assert_null(key);
    free(key);
}

static void the_key_in_which_two_recipes_differ_is_named(void **state)
{
    static const char with[] = "[signature s]\nkind = simhash\nbits = 64\n"
                               "[decide]\ncandidates = match\nmatch = distance(s) <= 3\n";
    static const char wide[] = "[signature s]\nkind = simhash\nbits = 128\n"
                               "[decide]\ncandidates = match\nmatch = distance(s) <= 3\n";

    (void)state;
    assert_difference("", "", 0, NULL);
    assert_difference("", "[sketch]\nshingle = 5\n", 0, "shingle");
    assert_difference("", "[sketch]\nshingle = 5\n", 1, "shingle");
    assert_difference("", "[decide]\nthreshold = .9\n", 0, "threshold");
    assert_difference("", "[decide]\nthreshold = .9\n", 1, NULL);
    assert_difference(with, wide, 1, "s.bits");
    assert_difference(with, "", 1, "s.band_high");
    assert_difference("", with, 1, "s.band_high");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_reaches_its_field),
        cmocka_unit_test(every_word_means_its_value),
        cmocka_unit_test(an_error_names_place_key_and_nearest),
        cmocka_unit_test(a_single_assignment_is_checked_too),
        cmocka_unit_test(the_canonical_form_is_sorted_and_whole),
        cmocka_unit_test(the_canonical_form_reads_back_to_itself),
        cmocka_unit_test(the_fingerprint_is_of_the_sketch_half_only),
        cmocka_unit_test(the_default_recipe_file_says_the_defaults),
        cmocka_unit_test(what_no_recipe_can_say_has_no_canonical_form),
        cmocka_unit_test(the_key_in_which_two_recipes_differ_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
