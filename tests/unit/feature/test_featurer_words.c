/* test_featurer_words.c - from text to terms: known answers of the papers, each option by itself */
#include "featurer_fixture.h"

/* Seshasai 2009, §6.4.2: the first sentence of its second article, and what is left of it. */
static const char *const japan =
    "Japan's trade surplus hit 791 billion yen ($6.7 billion) in December, growing 19.9 percent "
    "compared with December 2001; trade surplus with US grew 18.6 percent, to 624 billion yen.";

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

/* Kolcz 2004, §6.3: at least four characters, at most one digit. */
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
    /* Snowball 3.1 has add, emergenc, evening, organiz and univers. */
    assert_features("added emergency evening organization universal",
                    "ad, emerg, even, organ, univers");
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
            assert_true(made.items[i].hash == again.items[i].hash &&
                        made.items[i].weight == again.items[i].weight);
        nd_featurer_free(fresh);
    }
    nd_featurer_free(f);
    free(text);
}

/*
 * Seshasai 2009, §5.4: what is in a heading weighs more.  Tokens are found where they stand, also
 * behind apostrophes that were taken out.
 */
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
            if (made.items[i].weight == ND_WEIGHT_ONE) {
                assert_true(made.items[i].hash == nd_token_hash("title", 5) ||
                            made.items[i].hash ==
                                nd_token_hash(join ? "japans" : "japan", join ? 6 : 5));
                marked++;
            }
        assert_int_equal(marked, 2);
        nd_featurer_free(f);
    }
}

/* A table of shingles of two words, as from so many documents of this text. */
static struct nd_df *template_of(const char *text, int documents)
{
    struct nd_feature_params of = nd_feature_params_default();
    struct nd_weight_params weights = nd_weight_params_default();
    const struct nd_df_builder_params how = {.features = &of};
    const struct nd_document document = {.text = {text, strlen(text)}};
    char path[] = "/tmp/template-XXXXXX";
    int fd = mkstemp(path);
    struct nd_df_builder *b;
    struct nd_featurer *f;
    struct nd_df *df;
    uint64_t hash[64];

    of.unit = ND_FEATURE_SHINGLES;
    of.width = 2;
    b = nd_df_builder_new(&how, NULL);
    f = nd_featurer_new(&of, &weights, NULL, NULL);
    assert_true(fd >= 0 && b && f);
    close(fd); /* Windows may refuse to replace a file that is open. */
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_true(made.count <= 64);
    for (size_t i = 0; i < made.count; i++)
        hash[i] = made.items[i].hash;
    for (int i = 0; i < documents; i++)
        assert_int_equal(nd_df_builder_add(b, hash, made.count, NULL, NULL), ND_OK);
    assert_int_equal(nd_df_builder_write(&b, 1, path, NULL), ND_OK);
    df = nd_df_open(path, NULL);
    assert_non_null(df);
    nd_df_builder_free(b);
    nd_featurer_free(f);
    unlink(path);
    return df;
}

/* Seshasai 2009, §2.1: "this template information can be removed from the page". */
static void template_text_is_left_out(void **state)
{
    struct nd_df *df = template_of("Home page - all about bees", 3);

    (void)state;
    params.template_table = df;
    params.template_count = 2;
    assert_features("Home page: a bee is about bees, the home page said.", "a, bee, is, the, said");
    assert_int_equal(made.n_tokens, 11);
    assert_int_equal(made.n_terms, 5);
    params.unit = ND_FEATURE_SHINGLES; /* what is left lies together */
    params.width = 2;
    assert_features("one home page two", "one two");
    assert_features("home page", "");
    params.unit = ND_FEATURE_SENTENCES;
    assert_features("All about bees. Home page! Some bees.", "some bees");
    params.unit = ND_FEATURE_SPOTS;
    strcpy(params.stop_words, "english");
    assert_features("all about bees all about wasps fly", "");
    strcpy(params.anchors, "all wasps");
    assert_features("all about bees all wasps fly south", "all:wasps:fly, wasps:fly:south");
    begin(state);
    params.template_table = df;
    params.template_count = 3; /* in no more than three */
    assert_features("home page two", "home, page, two");
    nd_df_close(df);
    params.template_table = NULL;
    assert_refused("template_count = 3 needs a df table of shingles (template_df = FILE)");
    params.template_table = df = template_of("home", 1);
    params.template_count = 1;
    assert_features("home", "home");
    nd_df_close(df);
    params.template_table = df = template_of("home", 2); /* a short page is all template */
    assert_features("home", "");
    assert_features("home two", "home, two");
    nd_df_close(df);
}

static void template_text_weighs_less(void **state)
{
    static const char text[] = "home page two two home";
    const struct nd_document document = {.text = {text, sizeof text - 1}};
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_df *df = template_of("home page", 2);
    struct nd_featurer *f;

    (void)state;
    params.template_table = df;
    params.template_count = 1;
    weights.template_weight = 0.25;
    f = nd_featurer_new(&params, &weights, NULL, NULL);
    assert_non_null(f);
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_int_equal(made.count, 3);
    assert_int_equal(made.items[0].weight,
                     ND_WEIGHT_ONE * 5 / 8); /* once a quarter, once whole: of 2 */
    assert_int_equal(made.items[1].weight, ND_WEIGHT_ONE / 8);
    assert_int_equal(made.items[2].weight, ND_WEIGHT_ONE);
    nd_featurer_free(f);
    weights.template_weight = 1.5;
    assert_null(nd_featurer_new(&params, &weights, NULL, NULL));
    nd_df_close(df);
}

/* Seshasai 2009, §5.3: positions are counted before stop words go. */
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
    assert_int_equal(made.items[0].weight, ND_WEIGHT_ONE);
    assert_int_equal(made.items[1].weight, ND_WEIGHT_ONE / 2); /* 1/4 of 1/2 */
    nd_featurer_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(stop_words_are_left_out, begin),
        cmocka_unit_test_setup(stop_words_come_from_a_file, begin),
        cmocka_unit_test_setup(apostrophes_join, begin),
        cmocka_unit_test_setup(the_sentence_of_the_thesis_loses_numbers_and_dates, begin),
        cmocka_unit_test_setup(dates_and_times_are_found_by_their_neighbours, begin),
        cmocka_unit_test_setup(words_of_kolcz_are_long_and_have_few_digits, begin),
        cmocka_unit_test_setup(any_number_of_digits_is_any, begin),
        cmocka_unit_test_setup(stems_are_those_of_snowball, begin),
        cmocka_unit_test_setup(sentences_end_where_the_format_says, begin),
        cmocka_unit_test_setup(what_is_remembered_of_words_does_not_matter, begin),
        cmocka_unit_test_setup(marked_words_weigh_more, begin),
        cmocka_unit_test_setup(template_text_is_left_out, begin),
        cmocka_unit_test_setup(template_text_weighs_less, begin),
        cmocka_unit_test_setup(position_counts_all_words, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
