/* test_recipe_signatures.c - sections [signature NAME] of a recipe */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "feature/feature_params.h"
#include "recipe/recipe_keys.h"

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

static char *canonical(const struct nd_recipe *recipe, uint64_t *fingerprint)
{
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;

    if (nd_recipe_canonical(recipe, &text, &len, fingerprint, &err) != ND_OK)
        fail_msg("%s", err.message);
    return text;
}

/* A key, what else must be said for it to be read, and what it changes. */
#define AT(field) offsetof(struct nd_recipe_signature, field)
enum what { WORD, WHOLE, REAL, TEXT, YES, BIG };
static const struct {
    const char *context, *assignment;
    enum what what;
    size_t offset;
    double number;
    const char *text;
} keys[] = {
    {"", "unit = terms", WORD, AT(feature.unit), ND_FEATURE_TERMS, NULL},
    {"", "unit = shingles", WORD, AT(feature.unit), ND_FEATURE_SHINGLES, NULL},
    {"", "unit = characters", WORD, AT(feature.unit), ND_FEATURE_CHARACTERS, NULL},
    {"", "unit = sentences", WORD, AT(feature.unit), ND_FEATURE_SENTENCES, NULL},
    {"stop_words = english\n", "unit = spots", WORD, AT(feature.unit), ND_FEATURE_SPOTS, NULL},
    {"", "unit = paths", WORD, AT(feature.unit), ND_FEATURE_PATHS, NULL},
    {"links = yes\n", "unit = none", WORD, AT(feature.unit), ND_FEATURE_NONE, NULL},
    {"unit = shingles\n", "width = 7", WHOLE, AT(feature.width), 7, NULL},
    {"stop_words = english\nunit = spots\n", "distance = 9", WHOLE, AT(feature.distance), 9, NULL},
    {"", "count = distinct", WORD, AT(feature.count), ND_FEATURE_DISTINCT, NULL},
    {"", "count = occurrences", WORD, AT(feature.count), ND_FEATURE_OCCURRENCES, NULL},
    {"", "select = all", WORD, AT(feature.select), ND_SELECT_ALL, NULL},
    {"", "select = first", WORD, AT(feature.select), ND_SELECT_FIRST, NULL},
    {"", "select = rarest", WORD, AT(feature.select), ND_SELECT_RAREST, NULL},
    {"", "select = kth", WORD, AT(feature.select), ND_SELECT_KTH, NULL},
    {"", "select = sentence", WORD, AT(feature.select), ND_SELECT_SENTENCE, NULL},
    {"anchors = the\n", "select = anchored", WORD, AT(feature.select), ND_SELECT_ANCHORED, NULL},
    {"", "select = uncommon", WORD, AT(feature.select), ND_SELECT_UNCOMMON, NULL},
    {"select = kth\n", "select_count = 5", WHOLE, AT(feature.select_count), 5, NULL},
    {"select = anchored\n", "anchors = the a", TEXT, AT(feature.anchors), 0, "the a"},
    {"", "phrases = 2.5", REAL, AT(feature.phrases), 2.5, NULL},
    {"", "join_apostrophes = yes", YES, AT(feature.join_apostrophes), 1, NULL},
    {"", "stop_words = english", TEXT, AT(feature.stop_words), 0, "english"},
    {"", "stop_words = df:0.1", TEXT, AT(feature.stop_words), 0, "df:0.1"},
    {"", "stop_words = words.txt", TEXT, AT(feature.stop_words), 0, "dir/words.txt"},
    {"", "stop_words = /a/b", TEXT, AT(feature.stop_words), 0, "/a/b"},
    {"", "stem = english", TEXT, AT(feature.stem), 0, "english"},
    {"", "strip = none", WORD, AT(feature.strip), ND_STRIP_NONE, NULL},
    {"", "strip = numbers", WORD, AT(feature.strip), ND_STRIP_NUMBERS, NULL},
    {"", "strip = dates", WORD, AT(feature.strip), ND_STRIP_DATES, NULL},
    {"", "least_length = 4", WHOLE, AT(feature.least_length), 4, NULL},
    {"", "most_digits = 1", WHOLE, AT(feature.most_digits), 1, NULL},
    {"", "template_count = 20", WHOLE, AT(feature.template_count), 20, NULL},
    {"template_count = 2\n", "template_weight = 0.25", REAL, AT(weight.template_weight), 0.25,
     NULL},
    {"template_count = 2\n", "template_df = t.df", TEXT, AT(template_df), 0, "dir/t.df"},
    {"template_count = 2\n", "template_df_version = 0x1B", BIG, AT(template_df_version), 0, "1b"},
    {"", "fields = title:5 date:0.5", TEXT, AT(feature.fields), 0, "title:5 date:0.5"},
    {"", "force = date:2", TEXT, AT(feature.force), 0, "date:2"},
    {"", "links = yes", YES, AT(feature.links), 1, NULL},
    {"markup = add\n", "anchor_window = 6", WHOLE, AT(feature.anchor_window), 6, NULL},

    {"", "tf = count", WORD, AT(weight.tf), ND_TF_COUNT, NULL},
    {"", "tf = log", WORD, AT(weight.tf), ND_TF_LOG, NULL},
    {"", "tf = binary", WORD, AT(weight.tf), ND_TF_BINARY, NULL},
    {"", "idf = none", WORD, AT(weight.idf), ND_IDF_NONE, NULL},
    {"", "idf = inverse", WORD, AT(weight.idf), ND_IDF_INVERSE, NULL},
    {"", "idf = log", WORD, AT(weight.idf), ND_IDF_LOG, NULL},
    {"", "idf = nidf", WORD, AT(weight.idf), ND_IDF_NIDF, NULL},
    {"", "markup = ignore", WORD, AT(weight.markup), ND_MARKUP_IGNORE, NULL},
    {"", "markup = multiply", WORD, AT(weight.markup), ND_MARKUP_MULTIPLY, NULL},
    {"", "markup = add", WORD, AT(weight.markup), ND_MARKUP_ADD, NULL},
    {"markup = add\n", "markup_boost = 2.25", REAL, AT(weight.markup_boost), 2.25, NULL},
    {"", "position = none", WORD, AT(weight.position), ND_POSITION_NONE, NULL},
    {"", "position = log", WORD, AT(weight.position), ND_POSITION_LOG, NULL},
    {"", "position = inverse", WORD, AT(weight.position), ND_POSITION_INVERSE, NULL},
    {"", "position = inverse-log", WORD, AT(weight.position), ND_POSITION_INVERSE_LOG, NULL},
    {"", "position = cosine", WORD, AT(weight.position), ND_POSITION_COSINE, NULL},
    {"position_table = 0:1\n", "position = table", WORD, AT(weight.position), ND_POSITION_TABLE,
     NULL},
    {"position = table\n", "position_table = 0:1 1:0.5", TEXT, AT(weight.position_table), 0,
     "0:1 1:0.5"},
    {"", "clip_quantile = 0.9", REAL, AT(weight.clip_quantile), 0.9, NULL},
    {"", "clip_rank = 5", WHOLE, AT(weight.clip_rank), 5, NULL},
    {"", "low = 0.01", REAL, AT(weight.low), 0.01, NULL},
    {"", "high = 0.5", REAL, AT(weight.high), 0.5, NULL},
    {"", "band_low = 0.2", REAL, AT(weight.band_low), 0.2, NULL},
    {"", "band_high = 0.7", REAL, AT(weight.band_high), 0.7, NULL},
    {"", "top = 20", WHOLE, AT(weight.top), 20, NULL},
    {"", "top_share = 0.3", REAL, AT(weight.top_share), 0.3, NULL},
    {"", "normalise_length = yes", YES, AT(weight.normalise_length), 1, NULL},

    {"", "kind = simhash", WORD, AT(signature.kind), ND_SIGNATURE_SIMHASH, NULL},
    {"", "kind = minhash", WORD, AT(signature.kind), ND_SIGNATURE_MINHASH, NULL},
    {"", "kind = bottom-k", WORD, AT(signature.kind), ND_SIGNATURE_BOTTOM_K, NULL},
    {"", "kind = mod-p", WORD, AT(signature.kind), ND_SIGNATURE_MOD_P, NULL},
    {"count = occurrences\n", "kind = winnowing", WORD, AT(signature.kind), ND_SIGNATURE_WINNOWING,
     NULL},
    {"", "kind = supershingles", WORD, AT(signature.kind), ND_SIGNATURE_SUPERSHINGLES, NULL},
    {"", "kind = sorted-shingles", WORD, AT(signature.kind), ND_SIGNATURE_SORTED_SHINGLES, NULL},
    {"", "kind = megashingles", WORD, AT(signature.kind), ND_SIGNATURE_MEGASHINGLES, NULL},
    {"", "kind = imatch", WORD, AT(signature.kind), ND_SIGNATURE_IMATCH, NULL},
    {"", "kind = checksums", WORD, AT(signature.kind), ND_SIGNATURE_CHECKSUMS, NULL},
    {"count = occurrences\n", "kind = profile", WORD, AT(signature.kind), ND_SIGNATURE_PROFILE,
     NULL},
    {"", "kind = features", WORD, AT(signature.kind), ND_SIGNATURE_FEATURES, NULL},
    {"", "hash = token", WORD, AT(signature.hash), ND_HASH_TOKEN, NULL},
    {"", "hash = lookup8", WORD, AT(signature.hash), ND_HASH_LOOKUP8, NULL},
    {"", "hash = rabin", WORD, AT(signature.hash), ND_HASH_RABIN, NULL},
    {"", "hash = sha1", WORD, AT(signature.hash), ND_HASH_SHA1, NULL},
    {"hash = rabin\n", "rabin_polynomial = 0x1B", BIG, AT(signature.rabin_polynomial), 0, "1b"},
    {"", "bits = 128", WHOLE, AT(signature.bits), 128, NULL},
    {"reserved_bits = 8\n", "reserved_field = lang", TEXT, AT(feature.reserved_field), 0, "lang"},
    {"", "reserved_bits = 8", WHOLE, AT(signature.reserved_bits), 8, NULL},
    {"kind = minhash\n", "minima = 42", WHOLE, AT(signature.minima), 42, NULL},
    {"kind = supershingles\n", "groups = 14", WHOLE, AT(signature.groups), 14, NULL},
    {"kind = sorted-shingles\n", "sketch_width = 4", WHOLE, AT(signature.width), 4, NULL},
    {"kind = mod-p\n", "modulus = 31", WHOLE, AT(signature.modulus), 31, NULL},
    {"kind = winnowing\ncount = occurrences\n", "window = 50", WHOLE, AT(signature.window), 50,
     NULL},
    {"kind = imatch\n", "lexicon_low = 0.1", REAL, AT(signature.lexicon_low), 0.1, NULL},
    {"kind = imatch\n", "lexicon_high = 0.3", REAL, AT(signature.lexicon_high), 0.3, NULL},
    {"kind = imatch\n", "secondary = 8", WHOLE, AT(signature.secondary), 8, NULL},
    {"kind = imatch\n", "least_terms = 7", WHOLE, AT(signature.least_terms), 7, NULL},
    {"kind = imatch\n", "lexicons = 10", WHOLE, AT(signature.lexicons), 10, NULL},
    {"kind = imatch\nlexicons = 2\n", "drop = 0.25", REAL, AT(signature.drop), 0.25, NULL},
    {"kind = imatch\nlexicons = 2\n", "bootstrap = yes", YES, AT(signature.bootstrap), 1, NULL},
    {"kind = minhash\n", "seed = 18446744073709551615", BIG, AT(signature.seed), 0,
     "ffffffffffffffff"},
    {"kind = profile\ncount = occurrences\n", "quantum = 0.05", REAL, AT(signature.quantum), 0.05,
     NULL},
    {"idf = log\n", "df = news.df", TEXT, AT(df), 0, "dir/news.df"},
    {"idf = log\n", "df_version = 0x1b", BIG, AT(df_version), 0, "1b"},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static void assert_field(size_t i, const struct nd_recipe_signature *section)
{
    const char *field = (const char *)section + keys[i].offset;
    unsigned whole;
    double real;
    uint64_t big;

    switch (keys[i].what) {
    case WORD:
    case WHOLE:
        memcpy(&whole, field, sizeof whole);
        if (whole != (unsigned)keys[i].number)
            fail_msg("%s: %u", keys[i].assignment, whole);
        break;
    case REAL:
        memcpy(&real, field, sizeof real);
        if (real != keys[i].number)
            fail_msg("%s: %g", keys[i].assignment, real);
        break;
    case TEXT: assert_string_equal(field, keys[i].text); break;
    case YES: assert_int_equal(*(const unsigned char *)field, 1); break;
    case BIG:
        memcpy(&big, field, sizeof big);
        assert_true(big == strtoull(keys[i].text, NULL, 16));
        break;
    }
}

static void every_key_reaches_its_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KEYS; i++) {
        struct nd_recipe recipe;
        char text[512];

        snprintf(text, sizeof text, "[signature s]\n%s%s\n", keys[i].context, keys[i].assignment);
        recipe = parsed(text);
        assert_int_equal(recipe.method.n_signatures, 1);
        assert_string_equal(recipe.method.signature[0].name, "s");
        assert_field(i, &recipe.method.signature[0]);
    }
}

/* Set each line of the text, as "a-1.key = value". */
/* A unit that is added to the table of units is added to `keys`, too. */
static void every_unit_has_its_word_among_the_keys(void **state)
{
    char assignment[64];

    (void)state;
    for (unsigned unit = 0; unit < ND_FEATURE_UNITS; unit++) {
        bool is_there = false;

        snprintf(assignment, sizeof assignment, "unit = %s", nd_unit_word(unit));
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            is_there = is_there || strcmp(keys[i].assignment, assignment) == 0;
        if (!is_there)
            fail_msg("no test of \"%s\"", assignment);
    }
}

/* Each key is read by the units that it names. */
static void every_key_is_read_where_it_says(void **state)
{
    struct nd_recipe_signature section = nd_recipe_signature_default();
    char reader[ND_READER_MAX];

    (void)state;
    for (const struct nd_recipe_key *key = nd_signature_keys; key->name; key++) {
        if (!key->reader)
            continue;
        nd_key_reader(key, reader);
        assert_null(strstr(reader, "UNITS"));
        if (strcmp(key->reader, "where unit is UNITS") != 0)
            continue;
        for (unsigned unit = 0; unit < ND_FEATURE_UNITS; unit++) {
            section.feature.unit = (enum nd_feature_unit)unit;
            assert_int_equal(key->is_read(&section), key->units(section.feature.unit));
        }
    }
}

static void set_lines(struct nd_recipe *recipe, const char *text)
{
    struct nd_error err;

    while (*text) {
        int len = (int)strcspn(text, "\n");
        char assignment[256];

        snprintf(assignment, sizeof assignment, "a-1.%.*s", len, text);
        if (nd_recipe_set(recipe, assignment, &err) != ND_OK)
            fail_msg("%s", err.message);
        text += len + (text[len] == '\n');
    }
}

static void every_key_can_be_set_by_its_signature(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KEYS; i++) {
        struct nd_recipe recipe = parsed("[signature b]\n[signature a-1]\n");
        struct nd_error err;

        set_lines(&recipe, keys[i].assignment);
        set_lines(&recipe, keys[i].context);
        if (nd_recipe_check(&recipe, &err) != ND_OK)
            fail_msg("%s", err.message);
        if (strncmp(keys[i].text ? keys[i].text : "", "dir/", 4) != 0)
            assert_field(i, &recipe.method.signature[0]);
    }
}

/* Nothing that a recipe says is lost on the way through its canonical form. */
static void what_every_key_says_is_written_and_read_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KEYS; i++) {
        struct nd_recipe recipe, again = nd_recipe_default();
        uint64_t first, second;
        char text[512], *once, *twice;

        snprintf(text, sizeof text, "[signature s]\n%s%s\n", keys[i].context, keys[i].assignment);
        recipe = parsed(text);
        once = canonical(&recipe, &first);
        assert_int_equal(nd_recipe_parse(&again, "canonical", once, strlen(once), NULL), ND_OK);
        assert_field(i, &again.method.signature[0]);
        twice = canonical(&again, &second);
        assert_string_equal(once, twice);
        assert_true(first == second);
        free(once);
        free(twice);
    }
}

static void signatures_stand_in_the_order_of_their_names(void **state)
{
    static const char one[] =
        "[signature b]\nbits = 32\n[signature a]\n[decide]\n[signature B-2]\n",
                      other[] = "[signature B-2]\n[signature a]\n[signature b]\nbits = 32\n";
    struct nd_recipe a = parsed(one), b = parsed(other);
    char *text_a = canonical(&a, NULL), *text_b = canonical(&b, NULL);

    (void)state;
    assert_int_equal(a.method.n_signatures, 3);
    assert_string_equal(a.method.signature[0].name, "B-2");
    assert_string_equal(a.method.signature[1].name, "a");
    assert_string_equal(a.method.signature[2].name, "b");
    assert_int_equal(a.method.signature[2].signature.bits, 32);
    assert_string_equal(text_a, text_b);
    assert_memory_equal(&a, &b, sizeof a);
    free(text_a);
    free(text_b);
}

static void a_second_text_changes_the_same_signature(void **state)
{
    struct nd_recipe recipe = parsed("[signature s]\nbits = 128\nreserved_bits = 4\n");

    (void)state;
    assert_int_equal(parse(&recipe, "[signature s]\nbits = 256\n", NULL), ND_OK);
    assert_int_equal(recipe.method.n_signatures, 1);
    assert_int_equal(recipe.method.signature[0].signature.bits, 256);
    assert_int_equal(recipe.method.signature[0].signature.reserved_bits, 4);
}

static void the_canonical_form_names_what_is_read(void **state)
{
    struct nd_recipe recipe =
        parsed("[signature b]\nkind = supershingles\nunit = shingles\nwidth = 8\nminima = 84\n"
               "[decide]\ncandidates = match\nmatch = all  of(equal( b )>=2,length>=1/2)   or "
               "equal(b)>=4\n");
    char *text = canonical(&recipe, NULL);

    (void)state;
    assert_string_equal(text, "[decide]\n"
                              "bands = 0\n"
                              "candidates = match\n"
                              "cluster = star\n"
                              "keep = first\n"
                              "match = all of (equal(b) >= 2, length >= 1/2) or equal(b) >= 4\n"
                              "max_checks = 256\n"
                              "recall = 0.995\n"
                              "rows = 0\n"
                              "short = identical\n"
                              "simhash_bits = 3\n"
                              "threshold = 4/5\n"
                              "verify = jaccard\n"
                              "[signature b]\n"
                              "band_high = 0\n"
                              "band_low = 0\n"
                              "clip_quantile = 0\n"
                              "clip_rank = 0\n"
                              "fields =\n"
                              "groups = 6\n"
                              "hash = token\n"
                              "high = 0\n"
                              "idf = none\n"
                              "join_apostrophes = no\n"
                              "kind = supershingles\n"
                              "least_length = 0\n"
                              "links = no\n"
                              "low = 0\n"
                              "markup = ignore\n"
                              "minima = 84\n"
                              "most_digits = 32\n"
                              "normalise_length = no\n"
                              "position = none\n"
                              "seed = 0\n"
                              "select = all\n"
                              "stem = none\n"
                              "stop_words = none\n"
                              "strip = none\n"
                              "tf = count\n"
                              "top = 0\n"
                              "top_share = 0\n"
                              "unit = shingles\n"
                              "width = 8\n"
                              "[sketch]\n"
                              "minima = 128\n"
                              "shingle = 3\n"
                              "unicode = 15.0\n"
                              "unit = words\n");
    free(text);
}

static uint64_t fingerprint_of(const char *text)
{
    struct nd_recipe recipe = parsed(text);
    uint64_t fingerprint;

    free(canonical(&recipe, &fingerprint));
    return fingerprint;
}

static void the_fingerprint_is_of_the_signatures_and_of_the_tables_version(void **state)
{
    uint64_t plain = fingerprint_of("[signature s]\nidf = log\n");

    (void)state;
    assert_true(plain != fingerprint_of(""));
    assert_true(plain != fingerprint_of("[signature t]\nidf = log\n"));
    assert_true(plain != fingerprint_of("[signature s]\nidf = nidf\n"));
    assert_true(plain == fingerprint_of("[signature s]\nidf = log\ndf = elsewhere.df\n"));
    assert_true(plain != fingerprint_of("[signature s]\nidf = log\ndf_version = 7\n"));
    assert_true(plain == fingerprint_of("[signature s]\nidf = log\n[decide]\ncandidates = match\n"
                                        "match = distance(s) <= 3\n"));
}

/* "weights = exact" stands where every weight is a whole number, so rounded ones are others. */
static void the_canonical_form_says_where_weights_are_exact(void **state)
{
    static const struct {
        const char *keys;
        bool exact;
    } cases[] = {
        {"", true},
        {"tf = binary", true},
        {"links = yes", true},
        {"count = occurrences", true},
        {"force = date", true},
        {"top = 20\nlow = 0.1\nclip_rank = 3\nnormalise_length = yes", true},
        {"unit = shingles\nwidth = 3", true},
        {"tf = log", false},
        {"idf = inverse", false},
        {"position = log", false},
        {"markup = multiply", false},
        {"template_count = 5\ntemplate_weight = 0.5", false},
        {"fields = title", false},
        {"template_count = 5\ntemplate_weight = 1", true},
        {"unit = none\nfields = title", false},
        {"kind = minhash", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_recipe recipe;
        char text[200], *form;

        snprintf(text, sizeof text, "[signature s]\n%s\n", cases[i].keys);
        recipe = parsed(text);
        form = canonical(&recipe, NULL);
        if ((strstr(form, "\nweights = exact\n") != NULL) != cases[i].exact)
            fail_msg("%s", form);
        free(form);
    }
}

/* Other versions of Snowball have other stems, so the version is a part of the fingerprint. */
static void the_canonical_form_has_the_version_of_the_stems(void **state)
{
    static const char *const texts[] = {"[signature s]\nstem = english\n", "[signature s]\n",
                                        "[signature s]\nunit = characters\n"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct nd_recipe recipe = parsed(texts[i]);
        char *form = canonical(&recipe, NULL);

        assert_int_equal(strstr(form, "\nstem = english\nstem_version = 2.2.0\n") != NULL, i == 0);
        assert_int_equal(strstr(form, "stem_version") != NULL, i == 0);
        free(form);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_has_its_word_among_the_keys),
        cmocka_unit_test(every_key_is_read_where_it_says),
        cmocka_unit_test(every_key_reaches_its_field),
        cmocka_unit_test(every_key_can_be_set_by_its_signature),
        cmocka_unit_test(what_every_key_says_is_written_and_read_again),
        cmocka_unit_test(signatures_stand_in_the_order_of_their_names),
        cmocka_unit_test(a_second_text_changes_the_same_signature),
        cmocka_unit_test(the_canonical_form_names_what_is_read),
        cmocka_unit_test(the_canonical_form_says_where_weights_are_exact),
        cmocka_unit_test(the_canonical_form_has_the_version_of_the_stems),
        cmocka_unit_test(the_fingerprint_is_of_the_signatures_and_of_the_tables_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
