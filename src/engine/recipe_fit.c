/* recipe_fit.c - whether the keys of a recipe fit together; a message begins with the key */
#include <string.h>

#include "engine/keep_policy.h"
#include "engine/params.h"
#include "engine/recipe_keys.h"
#include "feature/featurer.h"
#include "feature/weigh.h"
#include "match/rule.h"

/* What the weights say apart from the df table, which is not at hand. */
static enum nd_status check_weights(const struct nd_weight_params *params, struct nd_error *err)
{
    struct nd_weight_params without = *params;
    struct nd_weigher *weigher;

    without.idf = ND_IDF_NONE;
    weigher = nd_weigher_new(&without, NULL, err);
    if (!weigher)
        return err->status;
    nd_weigher_free(weigher);
    return ND_OK;
}

static enum nd_status check_fields(const struct nd_feature_params *params, struct nd_error *err)
{
    char names[ND_FEATURE_NAMES_MAX];
    size_t n;

    return nd_feature_field_names(params, names, &n, err);
}

/* A lexicon is of what a df table counts, which fields and links are not. */
static enum nd_status check_lexicon(const struct nd_named_signature *s, struct nd_error *err)
{
    if (s->signature.kind == ND_SIGNATURE_IMATCH && s->feature.unit == ND_FEATURE_NONE)
        return nd_fail(err, ND_EINVAL,
                       "unit = none, but kind = imatch has a lexicon of the content");
    return ND_OK;
}

/* Winnowing slides over the text, a profile counts: both want every occurrence. */
static enum nd_status check_count(const struct nd_named_signature *s, struct nd_error *err)
{
    bool is_counted =
        s->signature.kind == ND_SIGNATURE_WINNOWING || s->signature.kind == ND_SIGNATURE_PROFILE;

    if (is_counted && s->feature.count != ND_FEATURE_OCCURRENCES)
        return nd_fail(err, ND_EINVAL, "count = distinct, but kind = %s wants occurrences",
                       s->signature.kind == ND_SIGNATURE_PROFILE ? "profile" : "winnowing");
    return ND_OK;
}

/* There is one table, and it counts one thing. */
static enum nd_status check_stop_words(const struct nd_named_signature *s, struct nd_error *err)
{
    const char *asker = s->weight.idf != ND_IDF_NONE               ? "idf"
                        : s->signature.kind == ND_SIGNATURE_IMATCH ? "kind = imatch"
                        : s->feature.select == ND_SELECT_RAREST    ? "select = rarest"
                        : s->feature.select == ND_SELECT_UNCOMMON  ? "select = uncommon"
                                                                   : NULL;

    if (asker && s->feature.unit != ND_FEATURE_TERMS &&
        nd_stop_words_are_by_df(s->feature.stop_words))
        return nd_fail(err, ND_EINVAL,
                       "stop_words = %s wants a df table of terms, but %s one of %s",
                       s->feature.stop_words, asker, nd_feature_unit_name(s->feature.unit));
    return ND_OK;
}

enum nd_status nd_signature_fits(const void *section, struct nd_error *err)
{
    const struct nd_named_signature *s = section;
    enum nd_status status = nd_signature_params_check(&s->signature, err);

    if (status == ND_OK)
        status = nd_feature_params_check(&s->feature, true, err);
    if (status == ND_OK)
        status = check_fields(&s->feature, err);
    if (status == ND_OK)
        status = check_weights(&s->weight, err);
    if (status == ND_OK)
        status = check_lexicon(s, err);
    if (status == ND_OK)
        status = check_stop_words(s, err);
    return status == ND_OK ? check_count(s, err) : status;
}

enum nd_status nd_recipe_fits(const void *values, struct nd_error *err)
{
    const struct nd_recipe *recipe = values;
    enum nd_status status = nd_bands_check(&recipe->dedup, err);
    struct nd_keep keep;
    struct nd_rule rule;

    if (status == ND_OK)
        status = nd_keep_parse(recipe->keep, &keep, err);
    if (status != ND_OK)
        return status;
    if (recipe->dedup.candidates != ND_CANDIDATES_MATCH)
        return ND_OK;
    if (!recipe->method.match[0])
        return nd_fail(err, ND_EINVAL, "candidates = match, but no key 'match' says by what rule");
    return nd_rule_parse(&rule, &recipe->method, err);
}
