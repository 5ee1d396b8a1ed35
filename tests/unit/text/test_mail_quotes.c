/* test_mail_quotes.c - what a mail quotes is left out, by sketches and by signatures alike */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <neardup/feature.h>
#include <neardup/recipe.h>
#include <neardup/sketch.h>

#include "text/mail_quotes.h"

#define OWN "Re: Monday\nMonday is fine, but I cannot be there before eleven in the morning.\n"
#define QUOTE "On Tue, 2 Jan 2024, Ada wrote:\n> Shall we meet on Monday?\n"

/* Assert that `own` is left of `text`. */
static void left(const char *text, const char *own)
{
    struct nd_mail_quotes quotes = {0};
    struct nd_view view = {text, strlen(text)};

    assert_true(nd_mail_quotes_drop(&quotes, &view));
    assert_int_equal(view.len, strlen(own));
    assert_memory_equal(view.data, own, view.len);
    view = (struct nd_view){text, strlen(text)};
    assert_true(nd_mail_quotes_blank(&quotes, &view));
    assert_int_equal(view.len, strlen(text));
    nd_mail_quotes_release(&quotes);
}

static void quoted_lines_and_their_attribution_go(void **state)
{
    (void)state;
    left(OWN QUOTE, OWN);
    left(OWN "\n" QUOTE "\nYes.\n" QUOTE, OWN "\n\nYes.\n");
    left(OWN "On Tue, Ada\n<ada@example.net> wrote:\n> x\n", OWN);
    left(OWN "HH> x\n", OWN);
    left(OWN "ABCDE> x\n", OWN "ABCDE> x\n");
    left(OWN ">From here it is his\n", OWN ">From here it is his\n");
}

static void an_earlier_message_goes_with_all_below_it(void **state)
{
    (void)state;
    left(OWN "\n -----Original Message-----\nFrom: a\n\nx\n", OWN "\n");
    left(OWN "\n---------------------- Forwarded by Ada on 1/2/2001\n10 AM ---\n\nx\n", OWN "\n");
    left(OWN "\nClem\n12/28/2000\nTo: a\ncc: b\nSubject: c\n\nx\n", OWN "\n");
    left(OWN "\nOn Tue, 2 Jan 2024, Ada wrote:\n\nShall we meet?\n", OWN "\n");
    left(OWN "\nTo: be or not\n\nx\n", OWN "\nTo: be or not\n\nx\n");
}

static void signatures_and_footers_go(void **state)
{
    (void)state;
    left(OWN "-- \nAda\n", OWN);
    left(OWN "Ada\n\n_______________________________________________\nx mailing list\nhttp://x\n",
         OWN "Ada\n\n");
    left(OWN "http://x/mailman/listinfo/y\n", OWN);
    left("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\n" OWN
         "-----BEGIN PGP SIGNATURE-----\niD8\n-----END PGP SIGNATURE-----\nend\n",
         "\n" OWN "end\n");
}

static void a_mail_that_says_next_to_nothing_is_what_it_quotes(void **state)
{
    (void)state;
    left("Re: Monday\nYes.\n" QUOTE, "Re: Monday\nYes.\n" QUOTE);
    left(QUOTE, QUOTE);
    left("", "");
    left("\n", "\n");
    left(">", ">");
}

/* The sketch of a text, with these parameters. */
static struct nd_sketch sketch_of(const char *text, enum nd_shingle_unit unit,
                                  enum nd_quoted_mail quotes)
{
    const struct nd_sketch_params params = {.unit = unit, .w = 3, .mail_quotes = quotes};
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
    struct nd_sketch sketch;

    assert_non_null(sketcher);
    assert_int_equal(nd_sketcher_run(sketcher, text, strlen(text), ND_SKETCH_ALL, &sketch), ND_OK);
    nd_sketcher_free(sketcher);
    sketch.shingle = NULL;
    return sketch;
}

static void a_sketch_is_that_of_what_is_left(void **state)
{
    const enum nd_shingle_unit unit[] = {ND_SHINGLE_WORDS, ND_SHINGLE_CHARACTERS};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct nd_sketch own = sketch_of(OWN, unit[i], ND_QUOTES_KEEP);
        struct nd_sketch dropped = sketch_of(OWN QUOTE, unit[i], ND_QUOTES_DROP);
        struct nd_sketch kept = sketch_of(OWN QUOTE, unit[i], ND_QUOTES_KEEP);

        assert_true(own.identity == dropped.identity && own.simhash == dropped.simhash);
        assert_memory_equal(own.minhash, dropped.minhash, sizeof own.minhash);
        assert_true(own.n_tokens < kept.n_tokens);
    }
}

/* The simhash of a text by a recipe with one section. */
static uint64_t signature_of(const char *text, const char *recipe_text)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_document document = {.text = {text, strlen(text)}};
    struct nd_document_signer *signer;
    struct nd_signature signature = {0};
    uint64_t n, word;

    assert_int_equal(nd_recipe_parse(recipe, "r", recipe_text, strlen(recipe_text), NULL), ND_OK);
    signer = nd_document_signer_new(recipe, 0, NULL);
    assert_non_null(signer);
    assert_int_equal(nd_document_signer_run(signer, &document, &signature, &n), ND_OK);
    assert_int_equal(signature.count, 1);
    word = *signature.word;
    nd_document_signer_free(signer);
    nd_recipe_free(recipe);
    return word;
}

#define SECTION "[signature s]\nkind = simhash\njoin_apostrophes = yes\n"
#define RULE "[decide]\ncandidates = match\nverify = none\nmatch = distance(s) <= 3\n"

static void a_signature_is_that_of_what_is_left(void **state)
{
    static const char own[] = OWN "It's Ada's tea.\n", all[] = OWN QUOTE "It's Ada's tea.\n";

    (void)state;
    assert_true(signature_of(own, SECTION RULE) ==
                signature_of(all, SECTION "mail_quotes = drop\n" RULE));
    assert_true(signature_of(own, SECTION RULE) != signature_of(all, SECTION RULE));
}

/* The places of features are those in the whole text. */
static void features_stand_where_they_stood(void **state)
{
    static const char text[] = QUOTE "\n" OWN "It's tea.\n";
    struct nd_feature_params params = nd_feature_params_default();
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_document document = {.text = {text, sizeof text - 1}};
    struct nd_feature_place *place;
    struct nd_featurer *featurer;
    size_t n;

    (void)state;
    params.mail_quotes = ND_QUOTES_DROP;
    params.join_apostrophes = 1;
    featurer = nd_featurer_new(&params, &weights, NULL, NULL);
    assert_non_null(featurer);
    assert_int_equal(nd_featurer_locate(featurer, &document, &place, &n), ND_OK);
    assert_int_equal(n, 17);
    assert_memory_equal(text + place[0].offset, "Re", 2);
    assert_memory_equal(text + place[15].offset, "It's", 4);
    assert_int_equal(place[15].len, 4);
    free(place);
    nd_featurer_free(featurer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoted_lines_and_their_attribution_go),
        cmocka_unit_test(an_earlier_message_goes_with_all_below_it),
        cmocka_unit_test(signatures_and_footers_go),
        cmocka_unit_test(a_mail_that_says_next_to_nothing_is_what_it_quotes),
        cmocka_unit_test(a_sketch_is_that_of_what_is_left),
        cmocka_unit_test(a_signature_is_that_of_what_is_left),
        cmocka_unit_test(features_stand_where_they_stood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
