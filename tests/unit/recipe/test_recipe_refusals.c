/* test_recipe_refusals.c - what a recipe with signatures is refused for, and where */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "recipe/recipe_struct.h"

static enum nd_status parse(struct nd_recipe *recipe, const char *text, struct nd_error *err)
{
    return nd_recipe_parse(recipe, "dir/my.ini", text, strlen(text), err);
}

static struct nd_recipe parsed(const char *text)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_error err;

    if (parse(&recipe, text, &err) != ND_OK)
        fail_msg("%s", err.message);
    return recipe;
}

struct refusal {
    const char *text, *message;
};

static void assert_messages(const struct refusal *refusal, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct nd_recipe recipe = nd_recipe_default(), before = recipe;
        struct nd_error err = {0};

        assert_int_equal(parse(&recipe, refusal[i].text, &err), ND_EINVAL);
        assert_string_equal(err.message, refusal[i].message);
        assert_memory_equal(&recipe, &before, sizeof recipe);
    }
}

static void an_error_names_place_key_and_nearest(void **state)
{
    static const struct refusal cases[] = {
        {"[signature s]\nbitz = 64", "dir/my.ini:2: no key 'bitz'; did you mean 'bits'?"},
        {"[signature s]\nkind = simhsh",
         "dir/my.ini:2: kind = simhsh: not one of simhash, minhash, bottom-k, mod-p, winnowing, "
         "supershingles, sorted-shingles, megashingles, imatch, checksums, profile, features; did "
         "you mean 'simhash'?"},
        {"[signature s]\nshingle = 3", "dir/my.ini:2: 'shingle' belongs in the section [sketch]"},
        {"[decide]\nbits = 3", "dir/my.ini:2: 'bits' belongs in a section [signature NAME]"},
        {"[signature s]\nbits = 3\nbits = 3",
         "dir/my.ini:3: 'bits' is given twice, first on line 2"},
        {"[signature s]\n[signature t]\n[signature s]",
         "dir/my.ini:3: the section [signature s] is given twice, first on line 1"},
        {"[signature a b]", "dir/my.ini:1: 'a b' cannot name a signature: 1 to 15 letters, "
                            "digits, - and _"},
        {"[signature ]",
         "dir/my.ini:1: unknown section; expected [sketch], [decide] or [signature NAME]"},
        {"[signature abcdefghijklmnop]",
         "dir/my.ini:1: 'abcdefghijklmnop' cannot name a signature: 1 to 15 letters, digits, - "
         "and _"},
        {"[signature a]\n[signature b]\n[signature c]\n[signature d]\n[signature e]",
         "dir/my.ini:5: a recipe has at most 4 signatures"},
        {"[signature s]\nminima = 84\n\nkind = winnowing",
         "dir/my.ini:2: 'minima' is used only where kind is minhash, bottom-k, supershingles, "
         "sorted-shingles or megashingles"},
        {"[signature s]\n\nbits = 65", "dir/my.ini:3: bits is out of range: a simhash has 32, "
                                       "64, 128, 256, 384 or 512"},
        {"#\n[signature s]\nkind = supershingles\nminima = 84\ngroups = 9\n[decide]",
         "dir/my.ini:5: groups is out of range: a divisor of the number of minima"},
        {"[signature s]\nkind = imatch\nlexicon_low = 0.9",
         "dir/my.ini:3: lexicon_low is out of range: 0 to 1, and at most lexicon_high"},
        {"[signature s]\nkind = winnowing",
         "dir/my.ini:1: count = distinct, but kind = winnowing needs occurrences"},
        {"[signature s]\nunit = spots",
         "dir/my.ini:2: unit = spots needs stop_words: spots begin with them"},
        {"[signature s]\nposition = table\nposition_table = 1:1 0:1\n[signature t]",
         "dir/my.ini:3: position_table: \"0:1\": fractions must increase"},
        {"[signature s]\nband_high = 0.2\nband_low = 0.3",
         "dir/my.ini:3: band_low: 0.3 is above band_high, 0.2"},
        {"[signature s]\nfields = title:x",
         "dir/my.ini:2: fields: \"title:x\": expected NAME or NAME:SHARE, such as title:0.5"},
        {"[signature s]\nhash = rabin\nrabin_polynomial = 3",
         "dir/my.ini:3: rabin_polynomial: t^64 + 0x0000000000000003 is not irreducible"},
        {"[decide]\ncandidates = match",
         "dir/my.ini:2: candidates = match needs the key 'match', which gives the rule"},
        {"[decide]\ncandidates = match\nmatch = distance(s) <= 3",
         "dir/my.ini:3: match: at character 10: no section [signature …] has the name 's'"},
        {"[decide]\nmatch = distence(s) <= 3\ncandidates = match\n[signature s]",
         "dir/my.ini:2: match: at character 1: no such value; did you mean 'distance'"},
        {"[signature s]\n[decide]\nmatch = equal(s) >= 3\ncandidates = match",
         "dir/my.ini:3: match: at character 7: this kind of signature has no such value: 'equal'"},
        {"[signature s]\nposition_table = 0:1\n[decide]",
         "dir/my.ini:2: 'position_table' is used only where position is table"},
        {"[decide]\nmatch = distance(s) <= 3",
         "dir/my.ini:2: 'match' is used only where candidates is match"},
        {"[decide]\nmatch = distance(s) = 3", "dir/my.ini:2: match: '= 3' is not part of a rule"},
        {"[signature s]\nstem = englsh",
         "dir/my.ini:2: stem = englsh: not one of none, arabic, armenian, basque, catalan, danish, "
         "dutch, english, finnish, french, german, greek, hindi, hungarian, indonesian, irish, "
         "italian, lithuanian, nepali, norwegian, porter, portuguese, romanian, russian, serbian, "
         "spanish, swedish, tamil, turkish, yiddish; did you mean 'english'?"},
        {"[signature s]\nlinks = true", "dir/my.ini:2: links = true: neither yes nor no"},
        {"[signature s]\nkind = minhash\nseed = 18446744073709551616",
         "dir/my.ini:3: seed = 18446744073709551616: not a whole number of at most 64 bits"},
        {"[signature s]\nkind = minhash\nseed = 0x",
         "dir/my.ini:3: seed = 0x: not a whole number of at most 64 bits"},
        {"[signature s]\nstop_words =", "dir/my.ini:2: stop_words: needs 1 to 1023 bytes"},
    };

    (void)state;
    assert_messages(cases, sizeof cases / sizeof *cases);
}

/* Keys that only say what a sketch is made with have one value. */
static void what_is_fixed_has_one_value(void **state)
{
    static const struct refusal cases[] = {
        {"[sketch]\nunicode = 14.0", "dir/my.ini:2: unicode = 14.0: can only be 15.0"},
        {"[signature s]\nstem = english\nstem_version = 3.1.0",
         "dir/my.ini:3: stem_version = 3.1.0: can only be 2.2.0"},
        {"[signature s]\nstem_version = 2.2.0",
         "dir/my.ini:2: 'stem_version' is used only where stem is not none, and unit is terms, "
         "shingles, sentences or spots"},
        {"[signature s]\nweights = rounded", "dir/my.ini:2: weights = rounded: can only be exact"},
        {"[signature s]\nposition = log\nweights = exact",
         "dir/my.ini:3: 'weights' is used only where kind is simhash, unit is not none, tf is "
         "count "
         "or binary, and there are no idf, position, markup, fields and template_weight between 0 "
         "and 1"},
    };

    (void)state;
    assert_messages(cases, sizeof cases / sizeof *cases);
}

static void what_does_not_fit_is_refused_when_the_text_ends(void **state)
{
    static const struct refusal cases[] = {
        {"[decide]\nbands = 30\nrows = 10",
         "dir/my.ini:2: bands = 30: with 10 rows each, more than 128 minima would be needed"},
        {"[decide]\nbands = 30\n",
         "dir/my.ini:2: bands = 30, but rows = 0: give both, or neither to have them chosen"},
        {"[decide]\n\nrows = 6",
         "dir/my.ini:3: rows = 6, but bands = 0: give both, or neither to have them chosen"},
        {"[decide]\nkeep = newest\n[sketch]",
         "dir/my.ini:2: keep: 'newest' needs a field: newest:FIELD"},
        {"[decide]\nkeep = shortest:",
         "dir/my.ini:2: keep: 'shortest:' needs a field: shortest:FIELD"},
        {"[decide]\nkeep = first:x", "dir/my.ini:2: keep: 'first' takes no field"},
        {"[decide]\nkeep = nwest:date",
         "dir/my.ini:2: keep: 'nwest:date' is not one of first, last, longest, shortest, "
         "longest:FIELD, shortest:FIELD, newest:FIELD, max:FIELD, min:FIELD, none; did you mean "
         "'newest'?"},
        {"[signature s]\nstop_words = df:1",
         "dir/my.ini:2: stop_words = df:1: the fraction of the documents must be at least 0 and "
         "below 1, as in df:0.1"},
        {"[signature s]\n\nstop_words = df:a tenth",
         "dir/my.ini:3: stop_words = df:a tenth: the fraction of the documents must be at least 0 "
         "and below 1, as in df:0.1"},
        {"[signature s]\nunit = shingles\nstop_words = df:0.1\nidf = log",
         "dir/my.ini:3: stop_words = df:0.1 needs a df table of terms, but idf needs one of "
         "shingles"},
        {"[signature s]\nkind = imatch\nunit = sentences\nstop_words = df:0.1",
         "dir/my.ini:4: stop_words = df:0.1 needs a df table of terms, but kind = imatch needs one "
         "of "
         "sentences"},
    };

    (void)state;
    assert_messages(cases, sizeof cases / sizeof *cases);
}

static void weights_mean_nothing_to_kinds_that_compare_none(void **state)
{
    static const struct refusal cases[] = {
        {"[signature s]\ntf = log\nkind = minhash",
         "dir/my.ini:2: 'tf' is used only where unit is not none, and kind is simhash, or low, "
         "high, a band, top or top_share cuts weights off"},
        {"[signature s]\nkind = imatch\nidf = inverse\n[decide]",
         "dir/my.ini:3: 'idf' is used only where unit is not none, and kind is simhash, or low, "
         "high, a band, top or top_share cuts weights off; idf = log and nidf always"},
        {"[signature s]\nkind = features\nmarkup = multiply",
         "dir/my.ini:3: 'markup' is used only where unit is not paths or none, and kind is "
         "simhash, or low, high, a band, top or top_share cuts weights off, or it multiplies by 0"},
        {"[signature s]\nkind = checksums\nposition = inverse-log",
         "dir/my.ini:3: 'position' is used only where unit is not none, and kind is simhash, or "
         "low, high, a band, top or top_share cuts weights off; position = cosine and table "
         "always"},
        {"[signature s]\nkind = mod-p\nclip_quantile = 0.5",
         "dir/my.ini:3: 'clip_quantile' is used only where unit is not none, and kind is simhash, "
         "or low, high, a band, top or top_share cuts weights off"},
        {"[signature s]\nkind = profile\ncount = occurrences\nclip_rank = 2",
         "dir/my.ini:4: 'clip_rank' is used only where unit is not none, and kind is simhash, or "
         "low, high, a band, top or top_share cuts weights off"},
    };

    (void)state;
    assert_messages(cases, sizeof cases / sizeof *cases);
}

static void pages_have_no_words_to_ask_about(void **state)
{
    static const struct refusal cases[] = {
        {"[signature s]\nunit = paths\nstem = english",
         "dir/my.ini:3: 'stem' is used only where unit is terms, shingles, sentences or spots"},
        {"[signature s]\nunit = none\nlinks = yes\ntf = log",
         "dir/my.ini:4: 'tf' is used only where unit is not none, and kind is simhash, or low, "
         "high, a band, top or top_share cuts weights off"},
        {"[signature s]\nunit = none",
         "dir/my.ini:2: unit = none leaves only links and fields, but the recipe has neither"},
        {"[signature s]\nunit = none\nlinks = yes\nkind = imatch",
         "dir/my.ini:2: unit = none, but kind = imatch needs a lexicon of the content"},
        {"[signature s]\nunit = paths\nmarkup = add",
         "dir/my.ini:3: 'markup' is used only where unit is not paths or none, and kind is "
         "simhash, or low, high, a band, top or top_share cuts weights off, or it multiplies by 0"},
    };

    (void)state;
    assert_messages(cases, sizeof cases / sizeof *cases);
}

static void template_text_is_of_words_and_asks_a_table(void **state)
{
    static const struct refusal cases[] = {
        {"[signature s]\nunit = characters\ntemplate_count = 2",
         "dir/my.ini:3: 'template_count' is used only where it is above 0 and unit is terms, "
         "shingles, "
         "sentences or spots"},
        {"[signature s]\ntemplate_count = 0", "dir/my.ini:2: 'template_count' is used only where "
                                              "it is above 0 and unit is terms, shingles, "
                                              "sentences or spots"},
        {"[signature s]\ntemplate_weight = 0.5",
         "dir/my.ini:2: 'template_weight' is used only where template_count is given, and kind is "
         "simhash, or low, high, a band, top or top_share cuts weights off"},
        {"[signature s]\nkind = minhash\ntemplate_count = 2\ntemplate_weight = 0.5",
         "dir/my.ini:4: 'template_weight' is used only where template_count is given, and kind is "
         "simhash, or low, high, a band, top or top_share cuts weights off"},
        {"[signature s]\ntemplate_df = a.df",
         "dir/my.ini:2: 'template_df' is used only where template_count is given"},
    };

    (void)state;
    assert_messages(cases, sizeof cases / sizeof *cases);
}

static void an_assignment_names_its_signature(void **state)
{
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"simhsh.bits=32", "recipe: the recipe has no signature 'simhsh'; did you mean 'simhash'?"},
        {"other.bits=32", "recipe: the recipe has no signature 'other'"},
        {"simhash.bitz=32", "recipe: no key 'bitz'; did you mean 'bits'?"},
        {"bits=32", "recipe: 'bits' belongs in a section [signature NAME]; say NAME.bits"},
        {"simhash.threshold=1", "recipe: 'threshold' belongs in the section [decide]"},
    };
    struct nd_recipe recipe = parsed("[signature simhash]\n"), before = recipe;
    struct nd_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(nd_recipe_set(&recipe, cases[i].assignment, &err), ND_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_memory_equal(&recipe, &before, sizeof recipe);
    }
}

/* An assignment may come before the one that makes something read it; what is left is refused. */
static void what_nothing_reads_is_refused(void **state)
{
    struct nd_recipe recipe = parsed("[signature s]\n");
    struct nd_error err = {0};
    char *text = NULL;
    size_t len;

    (void)state;
    assert_int_equal(nd_recipe_set(&recipe, "s.minima=77", &err), ND_OK);
    assert_int_equal(nd_recipe_check(&recipe, &err), ND_EINVAL);
    assert_string_equal(err.message,
                        "signature s: minima = 77 is used only where kind is minhash, bottom-k, "
                        "supershingles, sorted-shingles or megashingles (its default: 84)");
    assert_int_equal(nd_recipe_canonical(&recipe, &text, &len, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_recipe_set(&recipe, "s.kind=minhash", &err), ND_OK);
    assert_int_equal(nd_recipe_check(&recipe, &err), ND_OK);
    assert_int_equal(nd_recipe_set(&recipe, "match=equal(s) >= 2", &err), ND_OK);
    assert_int_equal(nd_recipe_check(&recipe, &err), ND_EINVAL);
    assert_string_equal(err.message, "match = equal(s) >= 2 is used only where candidates is match "
                                     "(its default: empty)");
}

#define CUT "kind is simhash, or low, high, a band, top or top_share cuts weights off"

static void weights_that_mean_nothing_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[signature s]\ntf = log\nkind = minhash",
         "dir/my.ini:2: 'tf' is used only where unit is not none, and " CUT},
        {"[signature s]\nkind = imatch\nidf = inverse\n[decide]",
         "dir/my.ini:3: 'idf' is used only where unit is not none, and " CUT
         "; idf = log and nidf always"},
        {"[signature s]\nkind = features\nmarkup = multiply",
         "dir/my.ini:3: 'markup' is used only where unit is not paths or none, and " CUT
         ", or it multiplies by 0"},
        {"[signature s]\nkind = checksums\nposition = inverse-log",
         "dir/my.ini:3: 'position' is used only where unit is not none, and " CUT
         "; position = cosine and table always"},
        {"[signature s]\nkind = mod-p\nclip_quantile = 0.5",
         "dir/my.ini:3: 'clip_quantile' is used only where unit is not none, and " CUT},
        {"[signature s]\nkind = profile\ncount = occurrences\nclip_rank = 2",
         "dir/my.ini:4: 'clip_rank' is used only where unit is not none, and " CUT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_recipe recipe = nd_recipe_default();
        struct nd_error err = {0};

        assert_int_equal(parse(&recipe, cases[i].text, &err), ND_EINVAL);
        assert_string_equal(err.message, cases[i].message);
    }
}

/* Weights that some of the kinds read, and that others read only at their defaults. */
static void weights_are_read_where_they_can_count(void **state)
{
    static const char at_defaults[] =
        "kind = minhash\ntf = count\nidf = none\nmarkup = ignore\nposition = none\n"
        "clip_quantile = 0\nclip_rank = 0";
    static const char *const good[] = {
        at_defaults,
        "kind = minhash\ntf = log\ntop = 20",
        "kind = minhash\nidf = inverse\nlow = 0.1",
        "kind = minhash\nposition = inverse\nhigh = 0.1",
        "kind = minhash\nclip_rank = 2\nband_low = 0.1",
        "kind = minhash\nclip_quantile = 0.5\nband_high = 0.9",
        "kind = minhash\nmarkup = add\ntop_share = 0.5",
        "kind = minhash\nmarkup = multiply\nmarkup_boost = 0",
        "kind = minhash\nidf = log",
        "kind = minhash\nidf = nidf",
        "kind = minhash\nposition = cosine",
        "kind = minhash\nposition = table\nposition_table = 0:0 1:1",
        "tf = log\nidf = inverse\nmarkup = add\nposition = inverse\nclip_rank = 2",
    };
    struct nd_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct nd_recipe recipe;
        uint64_t fingerprint[2];
        char text[400], *canonical;
        size_t len;

        (void)snprintf(text, sizeof text, "[signature s]\n%s\n", good[i]);
        recipe = parsed(text);
        assert_int_equal(nd_recipe_canonical(&recipe, &canonical, &len, &fingerprint[0], &err),
                         ND_OK);
        assert_non_null(strstr(canonical, "\ntf = "));
        assert_non_null(strstr(canonical, "\nclip_rank = "));
        recipe = parsed(canonical); /* what it writes of what means nothing can be read */
        free(canonical);
        assert_int_equal(nd_recipe_canonical(&recipe, &canonical, &len, &fingerprint[1], &err),
                         ND_OK);
        assert_true(fingerprint[0] == fingerprint[1]);
        free(canonical);
    }
}

/* The words of a document's signature, for a section filled past the checks of a recipe. */
static size_t sign(const struct nd_recipe_signature *s, uint64_t *word, size_t room)
{
    static const char text[] = "One two two three three three four. One five? Six six six, seven "
                               "eight nine ten ten one two three eleven twelve thirteen.";
    const struct nd_markup markup = {4, 7};
    const struct nd_document document = {
        .text = {text, sizeof text - 1}, .markup = &markup, .n_markup = 1};
    struct nd_error err = {0};
    struct nd_document_signer *signer = nd_document_signer_of(s, &err);
    struct nd_signature made;

    if (!signer)
        fail_msg("%s", err.message);
    assert_int_equal(nd_document_signer_run(signer, &document, &made, NULL), ND_OK);
    assert_true(made.count <= room && !made.is_rejected);
    memcpy(word, made.word, made.count * sizeof *word);
    nd_document_signer_free(signer);
    return made.count;
}

/* Every kind but the simhash, and all that is refused: the same words. */
static void what_is_refused_means_nothing(void **state)
{
    static const char *const change[] = {
        "s.tf=log",           "s.tf=binary",        "s.markup=add",           "s.markup=multiply",
        "s.position=log",     "s.position=inverse", "s.position=inverse-log", "s.clip_rank=1",
        "s.clip_quantile=0.4"};
    static const char *const kind[] = {"minhash",         "bottom-k",    "mod-p",     "winnowing",
                                       "supershingles",   "profile",     "checksums", "features",
                                       "sorted-shingles", "megashingles"};
    enum { ROOM = 4096 };
    static uint64_t expected[ROOM], got[ROOM];

    (void)state;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (size_t c = 0; c < sizeof change / sizeof *change; c++) {
            bool by_occurrence =
                strcmp(kind[k], "winnowing") == 0 || strcmp(kind[k], "profile") == 0;
            struct nd_recipe recipe = nd_recipe_default();
            struct nd_error err;
            char text[200];
            size_t n;

            (void)snprintf(text, sizeof text, "[signature s]\nkind = %s\n%s%s", kind[k],
                           by_occurrence ? "count = occurrences\n" : "",
                           strcmp(kind[k], "mod-p") == 0 ? "modulus = 2\n" : "");
            recipe = parsed(text);
            n = sign(&recipe.method.signature[0], expected, ROOM);
            assert_int_equal(nd_recipe_set(&recipe, change[c], &err), ND_OK);
            assert_int_equal(nd_recipe_check(&recipe, &err), ND_EINVAL);
            assert_int_equal(sign(&recipe.method.signature[0], got, ROOM), n);
            assert_memory_equal(got, expected, n * sizeof *got);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_names_place_key_and_nearest),
        cmocka_unit_test(what_is_fixed_has_one_value),
        cmocka_unit_test(what_does_not_fit_is_refused_when_the_text_ends),
        cmocka_unit_test(weights_mean_nothing_to_kinds_that_compare_none),
        cmocka_unit_test(pages_have_no_words_to_ask_about),
        cmocka_unit_test(template_text_is_of_words_and_asks_a_table),
        cmocka_unit_test(an_assignment_names_its_signature),
        cmocka_unit_test(weights_that_mean_nothing_are_refused),
        cmocka_unit_test(weights_are_read_where_they_can_count),
        cmocka_unit_test(what_is_refused_means_nothing),
        cmocka_unit_test(what_nothing_reads_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
