/* test_recipe_shipped.c - the shipped recipes: what they are called, and the papers' figures */
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

static struct nd_recipe named(const char *name)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_error err;

    if (nd_recipe_by_name(&recipe, name, &err) != ND_OK)
        fail_msg("%s", err.message);
    if (nd_recipe_check(&recipe, &err) != ND_OK)
        fail_msg("%s: %s", name, err.message);
    return recipe;
}

static char *canonical(const struct nd_recipe *recipe, uint64_t *fingerprint)
{
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;

    if (nd_recipe_canonical(recipe, &text, &len, fingerprint, &err) != ND_OK)
        fail_msg("%s", err.message);
    return text;
}

static void names_are_sorted_and_have_a_text(void **state)
{
    struct nd_recipe recipe;
    const char *before = "";
    size_t n = 0, len;

    (void)state;
    for (; nd_recipe_name(n); n++) {
        const char *name = nd_recipe_name(n), *text = nd_recipe_text(name, &len);
        struct nd_view about = nd_recipe_about(name);

        assert_true(strcmp(before, name) < 0);
        assert_non_null(text);
        assert_int_equal(strlen(text), len);
        assert_true(about.len > 10 && about.len < 80);
        assert_true(about.data > text && about.data + about.len < text + len);
        before = name;
    }
    assert_true(n >= 30);
    assert_null(nd_recipe_name(SIZE_MAX));
    assert_null(nd_recipe_text("manku", NULL));
    assert_int_equal(nd_recipe_about("manku").len, 0);
    recipe = nd_recipe_default();
    assert_int_equal(nd_recipe_by_name(&recipe, "manku", NULL), ND_EINVAL);
}

static void a_mistyped_or_begun_name_finds_the_nearest(void **state)
{
    struct nd_recipe recipe = nd_recipe_default(), before = recipe;
    struct nd_error err;

    (void)state;
    assert_string_equal(nd_recipe_nearest("manku-2070"), "manku-2007");
    assert_string_equal(nd_recipe_nearest("henzinger"), "henzinger-2006-b");
    assert_null(nd_recipe_nearest("xyzzy"));
    assert_null(nd_recipe_nearest(""));
    assert_int_equal(nd_recipe_by_name(&recipe, "defalt", &err), ND_EINVAL);
    assert_string_equal(err.message, "there is no recipe 'defalt'; did you mean 'default'?");
    assert_memory_equal(&recipe, &before, sizeof recipe);
}

static void each_reads_back_from_its_canonical_form(void **state)
{
    (void)state;
    for (size_t i = 0; nd_recipe_name(i); i++) {
        struct nd_recipe recipe = named(nd_recipe_name(i)), again = nd_recipe_default();
        uint64_t first, second;
        char *once = canonical(&recipe, &first), *twice;

        assert_int_equal(nd_recipe_parse(&again, "canonical", once, strlen(once), NULL), ND_OK);
        twice = canonical(&again, &second);
        assert_string_equal(once, twice);
        assert_true(first == second);
        free(once);
        free(twice);
    }
}

static void no_two_are_the_same(void **state)
{
    char *text[64];
    size_t n = 0;

    (void)state;
    for (; nd_recipe_name(n); n++) {
        struct nd_recipe recipe = named(nd_recipe_name(n));

        text[n] = canonical(&recipe, NULL);
        for (size_t i = 0; i < n; i++)
            assert_string_not_equal(text[i], text[n]);
    }
    while (n)
        free(text[--n]);
}

/* Every one but these is a method: it matches by signatures, without a look at the texts. */
static int compares_texts(const char *name)
{
    return strcmp(name, "default") == 0 || strcmp(name, "short-texts") == 0 ||
           strcmp(name, "lossless") == 0 || strcmp(name, "mail") == 0;
}

static void each_is_a_method_or_compares_texts_without_idle_keys(void **state)
{
    (void)state;
    for (size_t i = 0; nd_recipe_name(i); i++) {
        struct nd_recipe recipe = named(nd_recipe_name(i));
        struct nd_error warning;
        int by_texts = compares_texts(nd_recipe_name(i));

        assert_false(nd_recipe_warning(&recipe, 0, &warning));
        assert_int_equal(recipe.dedup.candidates == ND_CANDIDATES_MATCH, !by_texts);
        assert_int_equal(recipe.method.n_signatures > 0, !by_texts);
        assert_int_equal(recipe.method.match[0] != 0, !by_texts);
        assert_int_equal(recipe.dedup.verify == ND_VERIFY_NONE, !by_texts);
        assert_int_equal(recipe.dedup.cluster == ND_CLUSTER_COMPONENTS,
                         strcmp(nd_recipe_name(i), "broder-1997") == 0);
    }
}

static void the_default_is_the_default(void **state)
{
    struct nd_recipe recipe = named("default"), expected = nd_recipe_default();
    char *a = canonical(&recipe, NULL), *b = canonical(&expected, NULL);

    (void)state;
    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* The values that the papers state, or measurements chose, key by key. */
static const struct {
    const char *recipe, *assignment;
} figures[] = {
    {"broder-1997", "shingles.unit=shingles"},
    {"broder-1997", "shingles.width=10"},
    {"broder-1997", "shingles.kind=mod-p"},
    {"broder-1997", "shingles.modulus=25"},
    {"broder-1997", "shingles.bits=40"},
    {"broder-1997", "shingles.hash=rabin"},
    {"broder-1997", "match=resemblance(shingles) >= 0.5"},
    {"dean-henzinger-1999", "links.unit=none"},
    {"dean-henzinger-1999", "links.links=yes"},
    {"dean-henzinger-1999", "links.kind=features"},
    {"dean-henzinger-1999", "match=overlap(links) >= 0.95 and shared(links) >= 11"},
    {"henzinger-2006-b", "b.kind=supershingles"},
    {"henzinger-2006-b", "b.unit=shingles"},
    {"henzinger-2006-b", "b.width=8"},
    {"henzinger-2006-b", "b.minima=84"},
    {"henzinger-2006-b", "b.groups=6"},
    {"henzinger-2006-b", "match=equal(b) >= 2"},
    {"henzinger-2006-c", "c.kind=simhash"},
    {"henzinger-2006-c", "c.bits=384"},
    {"henzinger-2006-c", "c.tf=count"},
    {"henzinger-2006-c", "match=agree(c) >= 372"},
    {"henzinger-2006-combined", "b.minima=84"},
    {"henzinger-2006-combined", "b.groups=6"},
    {"henzinger-2006-combined", "c.bits=384"},
    {"henzinger-2006-combined", "match=equal(b) >= 2 and agree(c) >= 355"},
    {"manku-2007", "simhash.kind=simhash"},
    {"manku-2007", "simhash.bits=64"},
    {"manku-2007", "simhash.stop_words=english"},
    {"manku-2007", "simhash.stem=english"},
    {"manku-2007", "match=distance(simhash) <= 3"},
    {"seshasai-2009", "simhash.kind=simhash"},
    {"seshasai-2009", "simhash.bits=64"},
    {"seshasai-2009", "simhash.hash=lookup8"},
    {"seshasai-2009", "simhash.tf=count"},
    {"seshasai-2009", "simhash.idf=log"},
    {"seshasai-2009", "simhash.stop_words=none"},
    {"seshasai-2009", "simhash.stem=none"},
    {"seshasai-2009", "match=distance(simhash) <= 3"},
    {"seshasai-2009-inverse-idf", "simhash.idf=inverse"},
    {"seshasai-2009-extra-metadata",
     "simhash.fields=headline:4 title:4 descriptors:4 byline:4 desk:4 section:4 page:4 year:4 "
     "weekday:4"},
    {"seshasai-2009-stripping-numbers-dates", "simhash.strip=dates"},
    {"seshasai-2009-stripping-numbers-dates", "simhash.stop_words=english"},
    {"seshasai-2009-low-threshold", "simhash.top_share=0.5"},
    {"seshasai-2009-high-threshold", "simhash.top_share=0.1"},
    {"seshasai-2009-doc-position-scaling", "simhash.position=log"},
    {"seshasai-2009-arbitrary-function", "simhash.position=cosine"},
    {"seshasai-2009-tagged-text", "simhash.markup=multiply"},
    {"seshasai-2009-tagged-text", "simhash.markup_boost=1.5"},
    {"chowdhury-2002", "imatch.kind=imatch"},
    {"chowdhury-2002", "imatch.hash=sha1"},
    {"chowdhury-2002", "imatch.lexicon_low=0.2"},
    {"chowdhury-2002", "imatch.lexicon_high=0.8"},
    {"chowdhury-2002", "imatch.lexicons=0"},
    {"chowdhury-2002", "imatch.secondary=0"},
    {"chowdhury-2002", "match=equal(imatch) >= 1"},
    {"kolcz-2004-web", "imatch.kind=imatch"},
    {"kolcz-2004-web", "imatch.least_length=4"},
    {"kolcz-2004-web", "imatch.most_digits=1"},
    {"kolcz-2004-web", "imatch.lexicon_low=0.2"},
    {"kolcz-2004-web", "imatch.lexicon_high=0.8"},
    {"kolcz-2004-web", "imatch.lexicons=10"},
    {"kolcz-2004-web", "imatch.drop=0.33"},
    {"kolcz-2004-web", "imatch.least_terms=5"},
    {"kolcz-2004-web", "imatch.secondary=0"},
    {"kolcz-2004-web", "match=equal(imatch) >= 1"},
    {"kolcz-2004-mail", "imatch.kind=imatch"},
    {"kolcz-2004-mail", "imatch.least_length=4"},
    {"kolcz-2004-mail", "imatch.most_digits=1"},
    {"kolcz-2004-mail", "imatch.lexicon_low=0.2"},
    {"kolcz-2004-mail", "imatch.lexicon_high=0.3"},
    {"kolcz-2004-mail", "imatch.lexicons=10"},
    {"kolcz-2004-mail", "imatch.drop=0.33"},
    {"kolcz-2004-mail", "imatch.least_terms=5"},
    {"kolcz-2004-mail", "imatch.secondary=7"},
    {"kolcz-2004-mail", "match=equal(imatch) >= 1"},
    {"pugh-henzinger-2003", "buckets.kind=checksums"},
    {"pugh-henzinger-2003", "buckets.groups=16"},
    {"pugh-henzinger-2003", "match=equal(buckets) >= 9"},
    {"winnowing-2003", "passages.kind=winnowing"},
    {"winnowing-2003", "passages.unit=characters"},
    {"winnowing-2003", "passages.window=100"},
    {"cops-1995", "sentences.unit=sentences"},
    {"cops-1995", "sentences.kind=features"},
    {"conrad-schriber-2004", "terms.kind=features"},
    {"conrad-schriber-2004", "terms.unit=terms"},
    {"conrad-schriber-2004", "match=overlap(terms) >= 0.8 and length >= 0.8"},
    {"spotsigs-2008", "spots.unit=spots"},
    {"spotsigs-2008", "spots.width=2"},
    {"spotsigs-2008", "spots.distance=1"},
    {"spotsigs-2008", "spots.anchors=a an the is"},
    {"spotsigs-2008", "spots.kind=features"},
    {"joshi-2003", "paths.unit=paths"},
    {"joshi-2003", "paths.kind=features"},
    {"code", "code.unit=shingles"},
    {"code", "code.width=5"},
    {"code", "code.kind=features"},
    {"code", "code.template_count=50"},
    {"code", "match=resemblance(code) >= 0.6"},
    {"framed-pages", "page.unit=shingles"},
    {"framed-pages", "page.width=3"},
    {"framed-pages", "page.kind=features"},
    {"framed-pages", "page.template_count=20"},
    {"framed-pages", "match=resemblance(page) >= 0.7"},
    {"lossless", "shingle=3"},
    {"lossless", "verify=containment"},
    {"lossless", "threshold=1"},
    {"lossless", "keep=longest"},
    {"mail", "mail_quotes=drop"},
    {"mail", "threshold=0.8"},
    {"same-address", "address.unit=none"},
    {"same-address", "address.fields=url:1:address"},
    {"same-address", "match=shared(address) >= 1"},
    {"short-texts", "unit=characters"},
    {"short-texts", "shingle=3"},
    {"short-texts", "threshold=0.7"},
    {"text-profile", "profile.kind=profile"},
    {"text-profile", "profile.quantum=0.01"},
    {"text-profile", "profile.least_length=3"},
};

static void each_says_what_its_paper_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        struct nd_recipe recipe = named(figures[i].recipe), other = recipe;
        char *before = canonical(&recipe, NULL), *after;
        struct nd_error err;

        if (nd_recipe_set(&other, figures[i].assignment, &err) != ND_OK)
            fail_msg("%s: %s", figures[i].recipe, err.message);
        after = canonical(&other, NULL);
        if (strcmp(before, after) != 0)
            fail_msg("%s: not %s", figures[i].recipe, figures[i].assignment);
        free(before);
        free(after);
    }
}

/* Recipes that leave out what many documents share say how that is counted, and where it is named. */
static int asks_template(const struct nd_recipe *recipe)
{
    for (unsigned k = 0; k < recipe->method.n_signatures; k++)
        if (recipe->method.signature[k].feature.template_count > 0)
            return 1;
    return 0;
}

static void those_that_need_a_df_table_say_so(void **state)
{
    static const char *const expected[] = {
        "chowdhury-2002",
        "kolcz-2004-mail",
        "kolcz-2004-web",
        "seshasai-2009",
        "seshasai-2009-arbitrary-function",
        "seshasai-2009-doc-position-scaling",
        "seshasai-2009-extra-metadata",
        "seshasai-2009-high-threshold",
        "seshasai-2009-inverse-idf",
        "seshasai-2009-low-threshold",
        "seshasai-2009-stripping-numbers-dates",
        "seshasai-2009-tagged-text",
    };
    size_t n = 0;

    (void)state;
    for (size_t i = 0; nd_recipe_name(i); i++) {
        const char *name = nd_recipe_name(i);
        struct nd_recipe recipe = named(name);
        int asks = 0;

        for (unsigned k = 0; k < recipe.method.n_signatures; k++)
            asks |= nd_signature_needs_df(&recipe.method.signature[k]);
        assert_int_equal(nd_recipe_set_df(&recipe, "some/table", NULL), asks ? ND_OK : ND_EINVAL);
        assert_int_equal(!!strstr(nd_recipe_text(name, NULL), "neardup df build"),
                         asks || asks_template(&recipe));
        if (!asks)
            continue;
        assert_true(n < sizeof expected / sizeof *expected);
        assert_string_equal(name, expected[n++]);
        assert_string_equal(recipe.method.signature[0].df, "some/table");
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_and_have_a_text),
        cmocka_unit_test(a_mistyped_or_begun_name_finds_the_nearest),
        cmocka_unit_test(each_reads_back_from_its_canonical_form),
        cmocka_unit_test(no_two_are_the_same),
        cmocka_unit_test(each_is_a_method_or_compares_texts_without_idle_keys),
        cmocka_unit_test(the_default_is_the_default),
        cmocka_unit_test(each_says_what_its_paper_states),
        cmocka_unit_test(those_that_need_a_df_table_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
