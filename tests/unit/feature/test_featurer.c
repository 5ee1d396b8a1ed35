/* test_featurer.c - from terms to features: known answers of the papers, each unit and selection */
#include "featurer_fixture.h"

static void terms_are_distinct_tokens_in_order(void **state)
{
    (void)state;
    assert_features("A rose is a rose, is a ROSE.", "a, rose, is");
    assert_int_equal(made.n_tokens, 8);
    assert_int_equal(made.n_terms, 8);
    assert_int_equal(made.count, 3);
    assert_null(made.df);
    params.count = ND_FEATURE_OCCURRENCES;
    assert_features("A rose is a rose.", "a, rose, is, a, rose");
    assert_int_equal(made.count, 5);
}

static void nothing_has_no_features(void **state)
{
    (void)state;
    for (unsigned u = 0; u < ND_FEATURE_UNITS; u++) {
        const enum nd_feature_unit unit = (enum nd_feature_unit)u;

        if (!is_text_unit(u))
            continue;
        params.unit = unit;
        strcpy(params.stop_words, stop_words_of(unit));
        assert_features("", "");
        assert_int_equal(made.count, 0);
        if (!nd_unit_has_words(unit))
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

/* Features are what a sketch calls shingles, to the bit. */
static void shingles_are_those_of_sketches(void **state)
{
    static const char text[] = "One two three two three four, two three four. One two three; two.";
    struct nd_document document = {.text = {text, sizeof text - 1}};

    (void)state;
    for (int characters = 0; characters < 2; characters++)
        for (unsigned w = 1; w <= ND_SHINGLE_MAX; w++) {
            struct nd_sketch_params sketch_params = {
                .unit = characters ? ND_SHINGLE_CHARACTERS : ND_SHINGLE_WORDS, .w = w};
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
                assert_true(made.items[i].hash == sketch.shingle[i]);
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
    assert_true(made.items[0].hash == nd_token_hash("strasse", 7));
    assert_true(made.items[1].hash == nd_token_hash("zwei", 4));
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

static void paths_lead_from_the_root(void **state)
{
    static const struct nd_element element[] = {{{"html", 4}, ND_ELEMENT_NONE},
                                                {{"body", 4}, 0},
                                                {{"p", 1}, 1},
                                                {{"a", 1}, 2},
                                                {{"p", 1}, 1}};
    const struct nd_document page = {
        .text = {"two words", 9}, .elements = element, .n_elements = 5};
    struct nd_feature_place *place;
    struct nd_featurer *f;
    char *text;
    size_t len;

    (void)state;
    params.unit = ND_FEATURE_PATHS;
    f = featurer();
    assert_int_equal(nd_featurer_explain(f, &page, &text, &len, &made), ND_OK);
    assert_int_equal(len, strlen("html\nhtml/body\nhtml/body/p\nhtml/body/p/a"));
    assert_memory_equal(text, "html\nhtml/body\nhtml/body/p\nhtml/body/p/a", len);
    assert_int_equal(made.count, 4);
    assert_int_equal(made.n_tokens, 5);
    assert_int_equal(made.items[2].weight, ND_WEIGHT_ONE); /* twice: two paragraphs */
    assert_int_equal(made.items[3].weight, ND_WEIGHT_ONE / 2);
    free(text);
    assert_int_equal(nd_featurer_locate(f, &page, &place, &len), ND_OK);
    assert_int_equal(len, 0);
    free(place);
    nd_featurer_free(f);
}

/* A link weighs as much as the heaviest term, which is a whole number of times the others. */
static void links_weigh_the_greatest_count(void **state)
{
    static const struct nd_link link = {.target = {"/a", 2}};
    struct nd_document d = {.text = {"a a a b b c", 11}, .links = &link, .n_links = 1};
    struct nd_featurer *f;

    (void)state;
    params.links = 1;
    f = featurer();
    assert_int_equal(nd_featurer_run(f, &d, &made), ND_OK);
    assert_int_equal(made.count, 4);
    for (int i = 0; i < 3; i++)
        assert_int_equal(made.items[i].weight, (3 - i) * 8192);
    assert_int_equal(made.items[3].weight, 3 * 8192);
    d.text.len = 0;
    assert_int_equal(nd_featurer_run(f, &d, &made), ND_OK);
    assert_int_equal(made.count, 1);
    assert_int_equal(made.items[0].weight, ND_WEIGHT_ONE);
    nd_featurer_free(f);
}

static void impossible_parameters_are_refused(void **state)
{
    (void)state;
    params.width = 33;
    assert_refused("width = 33: must be from 1 to 32");
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
    assert_refused("phrases needs unit = terms");
    begin(state);
    params.unit = ND_FEATURE_CHARACTERS;
    strcpy(params.stop_words, "english");
    assert_refused("stop_words applies to words, but unit = characters");
    begin(state);
    params.unit = ND_FEATURE_PATHS;
    params.join_apostrophes = 1;
    assert_refused("join_apostrophes applies to words, but unit = paths");
    begin(state);
    params.unit = ND_FEATURE_PATHS;
    params.select = ND_SELECT_ANCHORED;
    assert_refused("select = anchored applies to words, but unit = paths");
    begin(state);
    params.unit = ND_FEATURE_NONE;
    assert_refused("unit = none leaves only links and fields, but the recipe has neither");
    begin(state);
    params.unit = ND_FEATURE_SPOTS;
    assert_refused("needs stop_words");
    begin(state);
    params.select = ND_SELECT_ANCHORED;
    assert_refused("needs anchors");
    strcpy(params.anchors, "...");
    assert_refused("'...' contains no word");
    begin(state);
    strcpy(params.stop_words, "df:1.5");
    assert_refused("below 1, as in df:0.1");
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

/* Each occurrence is found where it stands: its text, made into terms again, is its own. */
static void places_hold_the_features(void **state)
{
    static const char text[] =
        "It isn't  a Cat's -cat. A dog\xE2\x80\x99s née is 5, a ﬁne cat's dog!";
    struct nd_document document = {.text = {text, sizeof text - 1}};

    (void)state;
    params.width = 2;
    for (unsigned u = 0; u < ND_FEATURE_UNITS; u++) {
        const enum nd_feature_unit unit = (enum nd_feature_unit)u;
        const bool has_words = nd_unit_has_words(unit);
        struct nd_featurer *f;
        struct nd_feature_place *place;
        size_t n;

        if (!is_text_unit(u))
            continue;
        params.unit = unit;
        params.join_apostrophes = has_words;
        strcpy(params.stop_words, has_words ? "english" : "none");
        params.count = ND_FEATURE_OCCURRENCES;
        f = featurer();
        assert_int_equal(nd_featurer_locate(f, &document, &place, &n), ND_OK);
        assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
        assert_int_equal(made.count, n);
        assert_true(n > 2 || (nd_unit_of(unit)->has_sentences && n == 2));
        for (size_t i = 0; i < n; i++)
            assert_true(place[i].hash == made.items[i].hash);
        for (size_t i = 0; i < n; i++) {
            struct nd_document part = {.text = {text + place[i].offset, place[i].len}};

            assert_true(place[i].offset + place[i].len <= sizeof text - 1);
            assert_int_equal(nd_featurer_run(f, &part, &made), ND_OK);
            if (!has_words) { /* one of "ﬁ" has all of it for its place */
                size_t k = 0;

                while (k < made.count && made.items[k].hash != place[i].hash)
                    k++;
                assert_true(k < made.count && made.count <= 2);
                continue;
            }
            assert_true(made.count >= 1 && made.items[0].hash == place[i].hash);
            assert_true(made.count == 1 || nd_unit_has_antecedents(unit));
        }
        free(place);
        nd_featurer_free(f);
    }
}

/* The cosine needs the length before the first gain: cos(2 pi i / L) + 1, of L code points. */
static void position_of_characters_counts_code_points(void **state)
{
    static const char text[] = "\xC3\xA9 abcdefg-";
    struct nd_document document = {.text = {text, sizeof text - 1}};
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_featurer *f;

    (void)state;
    params.unit = ND_FEATURE_CHARACTERS;
    params.width = 1;
    weights.position = ND_POSITION_COSINE;
    f = nd_featurer_new(&params, &weights, NULL, NULL);
    assert_non_null(f);
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_int_equal(made.count, 10);
    assert_int_equal(made.n_tokens, 10);
    assert_int_equal(made.items[4].weight, 0);
    assert_int_equal(made.items[9].weight, ND_WEIGHT_ONE);
    assert_int_equal(made.items[0].weight, made.items[8].weight);
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
        cmocka_unit_test_setup(spots_are_those_of_the_paper, begin),
        cmocka_unit_test_setup(selections_take_what_they_say, begin),
        cmocka_unit_test_setup(occurrences_are_counted_before_the_first_are_taken, begin),
        cmocka_unit_test_setup(paths_lead_from_the_root, begin),
        cmocka_unit_test_setup(links_weigh_the_greatest_count, begin),
        cmocka_unit_test_setup(impossible_parameters_are_refused, begin),
        cmocka_unit_test_setup(places_hold_the_features, begin),
        cmocka_unit_test_setup(position_of_characters_counts_code_points, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
