/* test_trade_articles.c - the thesis' two reports on Japan's trade: metadata makes near duplicates
 * of them (Seshasai 2009, §6.4.1) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <neardup.h>

#include "recipe/recipe_struct.h"

static const char *const may =
    "Japan's merchandise trade surplus expanded 12.5 percent in May from the month a year earlier "
    "as growth in exports outpaced the increase in imports. Though Japan's surplus increased to "
    "694 billion yen ($5.8 billion) in the month, exports grew 3.5 percent, which was the slowest "
    "growth in 13 months. The effect of severe acute respiratory syndrome, or SARS, in Asia was "
    "partly to blame.";
static const char *const december =
    "Japan's trade surplus hit 791 billion yen ($6.7 billion) in December, growing 19.9 percent "
    "compared with December 2001; trade surplus with US grew 18.6 percent, to 624 billion yen.";

/*
 * The fields that both articles have; those in which they differ are not asked for. An odd number:
 * an even number of equal weights would cancel out in a quarter of the bits and leave those to the
 * text.
 */
#define VIEW(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
static const struct nd_field fields[] = {
    {VIEW("headline"), VIEW("World Business Briefing | Asia: Japan: Trade Surplus Expands")},
    {VIEW("title"), VIEW("World Business Briefing | Asia: Japan: Trade Surplus Expands")},
    {VIEW("descriptors"),
     VIEW("International Trade and World Market; Economic Conditions and Trends")},
    {VIEW("byline"), VIEW("By Ken Belson (NYT)")},
    {VIEW("desk"), VIEW("Business/Financial Desk")},
    {VIEW("section"), VIEW("W")},
    {VIEW("page"), VIEW("1")},
    {VIEW("year"), VIEW("2003")},
    {VIEW("weekday"), VIEW("Tuesday")},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static unsigned distance(const char *share, enum nd_hash_function hash)
{
    struct nd_recipe recipe = nd_recipe_default();
    const struct nd_recipe_signature *s = &recipe.method.signature[0];
    const char *texts[2] = {may, december};
    uint64_t word[2];
    char ini[512], list[256] = "";
    struct nd_error err;

    for (unsigned i = 0; share && i < FIELDS; i++)
        sprintf(list + strlen(list), "%s%s:%s", i ? " " : "", fields[i].name.data, share);
    snprintf(ini, sizeof ini, "[signature s]\nkind = simhash\nfields = %s\n", list);
    if (nd_recipe_parse(&recipe, "test", ini, strlen(ini), &err))
        fail_msg("%s", err.message);
    recipe.method.signature[0].signature.hash = hash;
    for (unsigned i = 0; i < 2; i++) {
        struct nd_document document = {
            .text = {texts[i], strlen(texts[i])}, .fields = fields, .n_fields = FIELDS};
        struct nd_featurer *featurer = nd_featurer_new(&s->feature, &s->weight, NULL, &err);
        struct nd_signer *signer = nd_signer_new(&s->signature, NULL, &err);
        struct nd_features features;
        struct nd_signature signature;

        assert_non_null(featurer);
        assert_non_null(signer);
        assert_int_equal(nd_featurer_run(featurer, &document, &features), ND_OK);
        assert_int_equal(nd_signer_run(signer, &features, &signature), ND_OK);
        assert_false(signature.is_rejected);
        word[i] = signature.word[0];
        nd_featurer_free(featurer);
        nd_signer_free(signer);
    }
    return (unsigned)__builtin_popcountll(word[0] ^ word[1]);
}

static void texts_alone_are_far_apart(void **state)
{
    (void)state;
    assert_true(distance(NULL, ND_HASH_TOKEN) > 3);
    assert_true(distance(NULL, ND_HASH_LOOKUP8) > 3);
}

static void metadata_brings_them_within_three_bits(void **state)
{
    (void)state;
    assert_true(distance("5", ND_HASH_TOKEN) <= 3);
    assert_true(distance("5", ND_HASH_LOOKUP8) <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_alone_are_far_apart),
        cmocka_unit_test(metadata_brings_them_within_three_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
