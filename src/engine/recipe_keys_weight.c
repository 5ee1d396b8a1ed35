/* recipe_keys_weight.c - the keys that say what a feature weighs */
#include "engine/recipe_keys.h"

#define WEIGHT(field, key) ND_KEY_OF_SIGNATURE(weight.field, key)
#define WORDS ND_KEY_WORDS
#define SHARE ND_KEY_REAL, .least = 0, .greatest = 1

static const struct nd_weight_params *weight_of(const void *values)
{
    return &((const struct nd_named_signature *)values)->weight;
}

/* Fields and links have their share of the greatest weight, whatever it is. */
static bool has_content(const void *values)
{
    return ((const struct nd_named_signature *)values)->feature.unit != ND_FEATURE_NONE;
}

/* Of characters the signature itself says that there is no markup. */
static bool has_words(const void *values)
{
    return !nd_feature_ignores_text(&((const struct nd_named_signature *)values)->feature);
}

static bool has_boost(const void *values)
{
    return has_words(values) && weight_of(values)->markup != ND_MARKUP_IGNORE;
}

static bool has_table(const void *values)
{
    return has_content(values) && weight_of(values)->position == ND_POSITION_TABLE;
}

/*
 * Only a simhash adds weights up.  The other kinds ask of a feature whether it has one: that is for
 * the weights to say where some of them are cut off, and else only for those that can be 0.  What
 * means nothing is read where it says nothing, at its default, so that it stands in the canonical
 * form whatever the kind.  Without content there is nothing to weigh.
 */
static bool are_compared(const void *values)
{
    const struct nd_weight_params *w = weight_of(values);

    return ((const struct nd_named_signature *)values)->signature.kind == ND_SIGNATURE_SIMHASH ||
           w->low > 0 || w->high > 0 || w->band_low > 0 || w->band_high > 0 || w->top > 0 ||
           w->top_share > 0;
}

static bool has_tf(const void *values)
{
    return has_content(values) && (weight_of(values)->tf == ND_TF_COUNT || are_compared(values));
}

/* ln(N/n) of what stands in every document is 0. */
static bool has_idf(const void *values)
{
    return has_content(values) &&
           (weight_of(values)->idf != ND_IDF_INVERSE || are_compared(values));
}

static bool has_markup(const void *values)
{
    const struct nd_weight_params *w = weight_of(values);

    return has_words(values) && (w->markup == ND_MARKUP_IGNORE || are_compared(values) ||
                                 (w->markup == ND_MARKUP_MULTIPLY && w->markup_boost <= 0));
}

static bool has_position(const void *values)
{
    enum nd_position position = weight_of(values)->position;

    return has_content(values) && (position == ND_POSITION_NONE || position == ND_POSITION_COSINE ||
                                   position == ND_POSITION_TABLE || are_compared(values));
}

static bool has_clip_quantile(const void *values)
{
    return has_content(values) && (weight_of(values)->clip_quantile <= 0 || are_compared(values));
}

static bool has_clip_rank(const void *values)
{
    return has_content(values) && (weight_of(values)->clip_rank == 0 || are_compared(values));
}

static bool has_template(const void *values)
{
    return ((const struct nd_named_signature *)values)->feature.template_count > 0 &&
           are_compared(values);
}

#define CUT "kind is simhash, or low, high, a band, top or top_share cuts weights off"
#define COMPARED "where unit is not none, and " CUT
#define CONTENT READ(has_content, "where unit is not none")
#define READ(condition, where) .is_read = (condition), .reader = (where)

static const struct nd_recipe_key keys[] = {
    {WEIGHT(tf, "tf"), ND_KEY_ENUM, WORDS("count", "log", "binary"), READ(has_tf, COMPARED)},
    {WEIGHT(idf, "idf"), ND_KEY_ENUM, WORDS("none", "inverse", "log", "nidf"),
     READ(has_idf, COMPARED "; idf = log and nidf always")},
    {WEIGHT(markup, "markup"), ND_KEY_ENUM, WORDS("ignore", "multiply", "add"),
     READ(has_markup, "where unit is not none or paths, and " CUT ", or it multiplies by 0")},
    {WEIGHT(markup_boost, "markup_boost"), ND_KEY_REAL, .least = 0, .greatest = 255,
     .is_read = has_boost, .reader = "where markup is multiply or add"},
    {WEIGHT(position, "position"), ND_KEY_ENUM,
     WORDS("none", "log", "inverse", "inverse-log", "cosine", "table"),
     READ(has_position, COMPARED "; position = cosine and table always")},
    {WEIGHT(position_table, "position_table"), ND_KEY_STRING, .greatest = ND_FEATURE_LIST_MAX,
     .is_read = has_table, .reader = "where position is table"},
    {WEIGHT(clip_quantile, "clip_quantile"), SHARE, READ(has_clip_quantile, COMPARED)},
    {WEIGHT(clip_rank, "clip_rank"), ND_KEY_INT, .least = 0, .greatest = 1000000,
     READ(has_clip_rank, COMPARED)},
    {WEIGHT(low, "low"), SHARE, CONTENT},
    {WEIGHT(high, "high"), SHARE, CONTENT},
    {WEIGHT(band_low, "band_low"), SHARE, CONTENT},
    {WEIGHT(band_high, "band_high"), SHARE, CONTENT},
    {WEIGHT(top, "top"), ND_KEY_INT, .least = 0, .greatest = 1000000, CONTENT},
    {WEIGHT(top_share, "top_share"), SHARE, CONTENT},
    {WEIGHT(template_weight, "template_weight"), ND_KEY_REAL, .least = 0, .greatest = 1,
     READ(has_template, "where template_count is given, and " CUT)},
    {WEIGHT(normalise_length, "normalise_length"), ND_KEY_YES, CONTENT},
};

const struct nd_key_table nd_weight_keys = {keys, sizeof keys / sizeof *keys};
