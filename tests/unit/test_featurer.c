/* test_featurer.c - from text to features: known answers of the papers, each option by itself */
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

#include <neardup/feature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

/* 000 s. 6.4.2: the first sentence of its second article, and what is left of it. */
static const char *const japan =
    "Japan's trade surplus hit 791 billion yen ($6.7 billion) in December, growing 19.9 percent "
    "compared with December 2001; trade surplus with US grew 18.6 percent, to 624 billion yen.";

static struct nd_feature_params params; /* of the test in hand */
static struct nd_features made;

static int begin(void **state)
{
    (void)state;
    params = nd_feature_params_default();
    return 0;
}

static struct nd_featurer *featurer(void)
{
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_error err = {.message = ""};
    struct nd_featurer *f = nd_featurer_new(&params, &weights, NULL, &err);

    if (!f)
        fail_msg("%s", err.message);
    return f;
}

/* The features of a text with ", " between them, as explained; and what counting says. */
static char *explained(const char *text)
{
    struct nd_featurer *f = featurer();
    struct nd_document document = {.text = {text, strlen(text)}};
    char *lines, *all;
    size_t len, n = 0;

    assert_int_equal(nd_featurer_explain(f, &document, &lines, &len, &made), ND_OK);
    all = calloc(1, 2 * len + 1);
    assert_non_null(all);
    for (size_t i = 0; i < len; i++) {
        if (lines[i] == '\n')
            all[n++] = ',';
        all[n++] = lines[i] == '\n' ? ' ' : lines[i];
    }
    free(lines);
    nd_featurer_free(f);
    made.at = NULL; /* it was borrowed */
    return all;
}

#define assert_features(text, expected)                                                            \
    do {                                                                                           \
        char *found_ = explained(text);                                                            \
        assert_string_equal(found_, expected);                                                     \
        free(found_);                                                                              \
    } while (0)

static void assert_refused(const char *message)
{
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_error err = {.message = ""};

    assert_null(nd_featurer_new(&params, &weights, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_non_null(strstr(err.message, message));
    assert_null(nd_featurer_new(&params, &weights, NULL, NULL));
}

static void terms_are_distinct_tokens_in_order(void **state)
{
    (void)state;
    assert_features("A rose is a rose, is a ROSE.", "a, rose, is");
    assert_int_equal(made.n_tokens, 8);
    assert_int_equal(made.n_terms, 8);
    assert_int_equal(made.length, 28);
    assert_int_equal(made.count, 3);
    assert_null(made.df);
    params.count = ND_FEATURE_OCCURRENCES;
    assert_features("A rose is a rose.", "a, rose, is, a, rose");
    assert_int_equal(made.count, 5);
}

static void nothing_has_no_features(void **state)
{
    (void)state;
    for (int unit = ND_FEATURE_TERMS; unit <= ND_FEATURE_SPOTS; unit++) {
        params.unit = (enum nd_feature_unit)unit;
        strcpy(params.stop_words, unit == ND_FEATURE_SPOTS ? "english" : "none");
        assert_features("", "");
        assert_int_equal(made.count, 0);
        if (unit == ND_FEATURE_CHARACTERS)
            continue;
        assert_features(" ... !", "");
        assert_int_equal(made.count, 0);
    }
}

/* The slides' example: S(D, 4) of "a rose is a rose is a rose" has three shingles. */
static void shingles_are_runs_of_terms(void **state)
{
    (void)state;
    params.unit = ND_FEATURE_SHINGLES;
    params.width = 4;
    assert_features("a rose is a rose is a rose", "a rose is a, rose is a rose, is a rose is");
    params.count = ND_FEATURE_OCCURRENCES;
    assert_features("a rose is a rose is a rose",
                    "a rose is a, rose is a rose, is a rose is, a rose is a, rose is a rose");
    params.width = 10;
    assert_features("a rose is a rose is a rose", "a rose is a rose is a rose");
}

/* What a sketch calls shingles, to the bit. */
static void shingles_are_those_of_sketches(void **state)
{
    static const char text[] = "One two three two three four, two three four. One two three; two.";
    struct nd_document document = {.text = {text, sizeof text - 1}};

    (void)state;
    for (int characters = 0; characters < 2; characters++)
        for (unsigned w = 1; w <= ND_SHINGLE_MAX; w++) {
            struct nd_sketch_params sketch_params = {
                characters ? ND_SHINGLE_CHARACTERS : ND_SHINGLE_WORDS, w};
            struct nd_sketcher *s = nd_sketcher_new(&sketch_params, NULL);
            struct nd_sketch sketch;
            struct nd_featurer *f;

            params.unit = characters ? ND_FEATURE_CHARACTERS : ND_FEATURE_SHINGLES;
            params.width = w;
            f = featurer();
            assert_int_equal(nd_sketcher_run(s, text, sizeof text - 1, 0, &sketch), ND_OK);
            assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
            assert_int_equal(made.count, sketch.n_shingles);
            assert_int_equal(made.n_tokens, sketch.n_tokens);
            for (size_t i = 0; i < made.count; i++)
                assert_true(made.at[i].hash == sketch.shingle[i]);
            nd_featurer_free(f);
            nd_sketcher_free(s);
        }
}

static void terms_have_the_token_hash(void **state)
{
    static const char text[] = "Straße zwei";
    struct nd_document document = {.text = {text, sizeof text - 1}};
    struct nd_featurer *f = featurer();

    (void)state;
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_int_equal(made.count, 2);
    assert_true(made.at[0].hash == nd_token_hash("strasse", 7));
    assert_true(made.at[1].hash == nd_token_hash("zwei", 4));
    nd_featurer_free(f);
}

static void characters_are_of_the_normalised_text(void **state)
{
    (void)state;
    params.unit = ND_FEATURE_CHARACTERS;
    params.width = 3;
    assert_features("ABAB\nÉ", "aba, bab, ab\\n, b\\né");
    assert_int_equal(made.n_terms, 6);
    assert_features("a\\", "a\\\\");
}

static void stop_words_are_left_out(void **state)
{
    (void)state;
    strcpy(params.stop_words, "english");
    assert_features("The cat sat on the mat, and it wasn't glad.", "cat, sat, mat, glad");
    assert_int_equal(made.n_tokens, 11);
    assert_int_equal(made.n_terms, 4);
    params.unit = ND_FEATURE_SHINGLES;
    params.width = 2;
    assert_features("The cat sat on the mat", "cat sat, sat mat");
}

static void stop_words_come_from_a_file(void **state)
{
    char path[] = "/tmp/stop-words-XXXXXX";
    int fd = mkstemp(path);
    static const char words[] = "# no word of this\nCAT mat\n  sat # but these: of\n";

    (void)state;
    assert_true(fd >= 0 && write(fd, words, sizeof words - 1) == (ssize_t)sizeof words - 1);
    strcpy(params.stop_words, path);
    assert_features("A cat sat on a mat: of no word", "a, on, no, word");
    close(fd);
    unlink(path);
}

static void apostrophes_join(void **state)
{
    (void)state;
    assert_features("Japan's rock'n'roll", "japan, s, rock, n, roll");
    params.join_apostrophes = 1;
    assert_features("Japan's rock’n＇roll 'quoted' o' clock ''",
                    "japans, rocknroll, quoted, o, clock");
}

static void the_sentence_of_the_thesis_loses_numbers_and_dates(void **state)
{
    (void)state;
    params.join_apostrophes = 1;
    params.count = ND_FEATURE_OCCURRENCES;
    params.strip = ND_STRIP_DATES;
    assert_features(japan, "japans, trade, surplus, hit, billion, yen, billion, in, growing, "
                           "percent, compared, with, trade, surplus, with, us, grew, percent, to, "
                           "billion, yen");
    strcpy(params.stop_words, "english");
    assert_features(japan, "japans, trade, surplus, hit, billion, yen, billion, growing, percent, "
                           "compared, trade, surplus, grew, percent, billion, yen");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(terms_are_distinct_tokens_in_order, begin),
        cmocka_unit_test_setup(nothing_has_no_features, begin),
        cmocka_unit_test_setup(shingles_are_runs_of_terms, begin),
        cmocka_unit_test_setup(shingles_are_those_of_sketches, begin),
        cmocka_unit_test_setup(terms_have_the_token_hash, begin),
        cmocka_unit_test_setup(characters_are_of_the_normalised_text, begin),
        cmocka_unit_test_setup(stop_words_are_left_out, begin),
        cmocka_unit_test_setup(stop_words_come_from_a_file, begin),
        cmocka_unit_test_setup(apostrophes_join, begin),
        cmocka_unit_test_setup(the_sentence_of_the_thesis_loses_numbers_and_dates, begin),
    };

    (void)assert_refused;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
