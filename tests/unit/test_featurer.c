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

/* Dates that stand together go together; words that only look like dates stay. */
static void dates_and_times_are_found_by_their_neighbours(void **state)
{
    (void)state;
    params.strip = ND_STRIP_DATES;
    assert_features("Wed, 21 Aug 2002 10:30 a.m. EDT", "");
    assert_features("The wed couple sat in the sun; Jan is gmt", "the, wed, couple, sat, in, sun, "
                                                                 "jan, is, gmt");
    assert_features("Sun, Mar 3; I am at 5 pm, or 5 o'clock. A mar, p m", "i, am, at, or, a, mar, "
                                                                          "p, m");
    assert_features("In May 2001 a 2nd x2 ٣ one", "in, a, one");
    params.strip = ND_STRIP_NUMBERS;
    assert_features("In May 2001 a 2nd x2 ٣ one", "in, may, a, one");
}

/* 004 s. 6.3: at least four characters, at most one digit. */
static void words_of_kolcz_are_long_and_have_few_digits(void **state)
{
    (void)state;
    params.least_length = 4;
    params.most_digits = 1;
    assert_features("The ABCD a1bc a12c élan été 1234", "abcd, a1bc, élan");
}

static void any_number_of_digits_is_any(void **state)
{
    (void)state;
    params.least_length = 2; /* so that words are looked at */
    assert_features("12345678901234567890123456789012345678901234567890 a",
                    "12345678901234567890123456789012345678901234567890");
}

static void stems_are_those_of_snowball(void **state)
{
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_error err = {.message = ""};
    struct nd_featurer *f;

    (void)state;
    strcpy(params.stem, "english");
    f = nd_featurer_new(&params, &weights, NULL, &err);
    if (!f && err.status == ND_EUNSUPPORTED)
        skip();
    nd_featurer_free(f);
    assert_features("Running runs ran generously; relational nationality",
                    "run, ran, generous, relat, nation");
    strcpy(params.stem, "german");
    assert_features("Die Häuser des Hauses", "die, haus, des");
    strcpy(params.stem, "englisch");
    assert_refused("did you mean english?");
}

static void sentences_end_where_the_format_says(void **state)
{
    (void)state;
    params.unit = ND_FEATURE_SENTENCES;
    assert_features("One two. Three four! (Five?) Six", "one two, three four, five, six");
    assert_features("Mr. J. Smith of the U.S. army, e.g. him. He is 3.5. Yes.",
                    "mr, j smith of the u s army e g him, he is 3 5, yes");
    assert_features("A title\n\nA text\nof two lines\n \nthe end",
                    "a title, a text of two lines, the end");
    assert_features("これは。「それ！」は", "これ れは, それ, は");
    assert_features("He said \"go.\" She... went", "he said go, she went");
    assert_features("Same same. Same same. Same", "same same, same");
    strcpy(params.stop_words, "english");
    assert_features("It is. The cat is. And?", "cat");
}

static void spots_are_those_of_the_paper(void **state)
{
    (void)state;
    params.unit = ND_FEATURE_SPOTS;
    params.width = 2;
    strcpy(params.stop_words, "english");
    strcpy(params.anchors, "a an the is");
    assert_features("at a rally to kick off a weeklong campaign for the South Carolina primary, "
                    "Obama tried to set the record straight from an attack circulating widely on "
                    "the Internet that is designed to play into prejudices against Muslims and "
                    "fears of terrorism",
                    "a:rally:kick, a:weeklong:campaign, the:south:carolina, the:record:straight, "
                    "an:attack:circulating, the:internet:designed, is:designed:play");
    params.distance = 2;
    assert_features("the one two red green blue", "the:red:blue"); /* one and two are stop words */
    params.anchors[0] = 0;
    assert_features("cats and dogs or mice and birds, fish here", "and:mice:fish");
}

static void selections_take_what_they_say(void **state)
{
    static const char text[] = "bb aa bb cc. Aa dd bb ee. Ff aa gg.";

    (void)state;
    params.select_count = 2;
    params.select = ND_SELECT_FIRST;
    assert_features(text, "bb, aa");
    params.select = ND_SELECT_KTH;
    assert_features(text, "aa, cc, dd, ee");
    params.select = ND_SELECT_SENTENCE;
    assert_features(text, "aa, dd");
    params.select = ND_SELECT_ANCHORED;
    params.unit = ND_FEATURE_SHINGLES;
    params.width = 2;
    strcpy(params.anchors, "AA, dd");
    assert_features(text, "aa bb, aa dd, dd bb, aa gg");
    params.unit = ND_FEATURE_CHARACTERS;
    assert_features("Aabddc", "aa, dd");
    strcpy(params.anchors, "BA");
    assert_features("ababa", "ba");
    strcpy(params.anchors, "abc");
    assert_refused("more characters than an n-gram");
}

static void occurrences_are_counted_before_the_first_are_taken(void **state)
{
    (void)state;
    params.select_count = 4;
    params.select = ND_SELECT_FIRST;
    params.count = ND_FEATURE_OCCURRENCES;
    assert_features("a b a c a d", "a, b, a, c");
}

static void impossible_parameters_are_refused(void **state)
{
    (void)state;
    params.width = 33;
    assert_refused("width = 33: 1 to 32");
    begin(state);
    params.distance = 0;
    assert_refused("distance = 0");
    begin(state);
    params.select = ND_SELECT_KTH;
    params.select_count = 0;
    assert_refused("select_count = 0");
    begin(state);
    params.select = ND_SELECT_RAREST;
    params.select_count = 1;
    assert_refused("select = rarest needs a df table");
    begin(state);
    params.phrases = 1;
    assert_refused("phrases = 1 needs a df table");
    params.unit = ND_FEATURE_SHINGLES;
    assert_refused("phrases are of terms");
    begin(state);
    params.unit = ND_FEATURE_CHARACTERS;
    strcpy(params.stop_words, "english");
    assert_refused("stop_words is about words, but unit = characters");
    begin(state);
    params.unit = ND_FEATURE_SPOTS;
    assert_refused("needs stop_words");
    begin(state);
    params.select = ND_SELECT_ANCHORED;
    assert_refused("needs anchors");
    strcpy(params.anchors, "...");
    assert_refused("there is no word in '...'");
    begin(state);
    strcpy(params.stop_words, "df:1.5");
    assert_refused("0 to 1");
    strcpy(params.stop_words, "df:0.5");
    assert_refused("needs a df table");
    strcpy(params.stop_words, "no/such/file");
    {
        struct nd_weight_params weights = nd_weight_params_default();
        struct nd_error err;

        assert_null(nd_featurer_new(&params, &weights, NULL, &err));
        assert_int_equal(err.status, ND_EIO);
        assert_non_null(strstr(err.message, "no/such/file"));
    }
}

/* So many distinct words that the memory of them is emptied between documents, and again. */
static void what_is_remembered_of_words_does_not_matter(void **state)
{
    enum { DOCUMENTS = 40, WORDS = 20000 };
    struct nd_featurer *f, *fresh;
    char *text = malloc(WORDS * 12), *at = text;

    (void)state;
    assert_non_null(text);
    params.least_length = 3;
    f = featurer();
    for (int d = 0; d < DOCUMENTS; d++, at = text) {
        struct nd_document document;
        struct nd_features again;

        for (int i = 0; i < WORDS; i++)
            at += sprintf(at, "w%d ", (d / 2 * WORDS + i) % 1000 * (d % 3 ? 1 : i));
        document = (struct nd_document){.text = {text, (size_t)(at - text)}};
        assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
        if (d % 7)
            continue;
        fresh = featurer();
        assert_int_equal(nd_featurer_run(fresh, &document, &again), ND_OK);
        assert_int_equal(made.count, again.count);
        for (size_t i = 0; i < made.count; i++)
            assert_true(made.at[i].hash == again.at[i].hash &&
                        made.at[i].weight == again.at[i].weight);
        nd_featurer_free(fresh);
    }
    nd_featurer_free(f);
    free(text);
}

/* 000 s. 5.4: what is in a heading weighs more.  Tokens are found where they stand, also behind
 * apostrophes that were taken out. */
static void marked_words_weigh_more(void **state)
{
    static const char text[] = "It isn't Japan's TITLE, it is Bob's text";
    const struct nd_markup markup = {9, 14}; /* Japan's TITLE */
    struct nd_document document = {
        .text = {text, sizeof text - 1}, .markup = &markup, .n_markup = 1};
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_featurer *f;

    (void)state;
    for (int join = 0; join < 2; join++) {
        size_t marked = 0;

        params.join_apostrophes = (unsigned char)join;
        params.count = ND_FEATURE_OCCURRENCES;
        weights.tf = ND_TF_BINARY;
        weights.markup = ND_MARKUP_MULTIPLY;
        weights.markup_boost = 2;
        f = nd_featurer_new(&params, &weights, NULL, NULL);
        assert_non_null(f);
        assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
        for (size_t i = 0; i < made.count; i++)
            if (made.at[i].weight == ND_WEIGHT_ONE) {
                assert_true(made.at[i].hash == nd_token_hash("title", 5) ||
                            made.at[i].hash ==
                                nd_token_hash(join ? "japans" : "japan", join ? 6 : 5));
                marked++;
            }
        assert_int_equal(marked, 2);
        nd_featurer_free(f);
    }
}

/* 000 s. 5.3: positions are counted before stop words go. */
static void position_counts_all_words(void **state)
{
    static const char text[] = "the cat the dog";
    struct nd_document document = {.text = {text, sizeof text - 1}};
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_featurer *f;

    (void)state;
    strcpy(params.stop_words, "english");
    weights.position = ND_POSITION_INVERSE;
    f = nd_featurer_new(&params, &weights, NULL, NULL);
    assert_non_null(f);
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_int_equal(made.count, 2);
    assert_int_equal(made.at[0].weight, ND_WEIGHT_ONE);
    assert_int_equal(made.at[1].weight, ND_WEIGHT_ONE / 2); /* 1/4 of 1/2 */
    nd_featurer_free(f);
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
        cmocka_unit_test_setup(dates_and_times_are_found_by_their_neighbours, begin),
        cmocka_unit_test_setup(words_of_kolcz_are_long_and_have_few_digits, begin),
        cmocka_unit_test_setup(any_number_of_digits_is_any, begin),
        cmocka_unit_test_setup(stems_are_those_of_snowball, begin),
        cmocka_unit_test_setup(sentences_end_where_the_format_says, begin),
        cmocka_unit_test_setup(spots_are_those_of_the_paper, begin),
        cmocka_unit_test_setup(selections_take_what_they_say, begin),
        cmocka_unit_test_setup(occurrences_are_counted_before_the_first_are_taken, begin),
        cmocka_unit_test_setup(impossible_parameters_are_refused, begin),
        cmocka_unit_test_setup(what_is_remembered_of_words_does_not_matter, begin),
        cmocka_unit_test_setup(marked_words_weigh_more, begin),
        cmocka_unit_test_setup(position_counts_all_words, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
