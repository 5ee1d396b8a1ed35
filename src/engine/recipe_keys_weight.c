/* recipe_keys_weight.c - the keys that say what a feature weighs */
#include "engine/recipe_keys.h"

#define WEIGHT(field, key) ND_KEY_OF_SIGNATURE(weight.field, key)
#define WORDS ND_KEY_WORDS
#define SHARE ND_KEY_REAL, .least = 0, .greatest = 1

static const struct nd_weight_params *weight_of(const void *values)
{
    return &((const struct nd_named_signature *)values)->weight;
}

static bool has_boost(const void *values)
{
    return weight_of(values)->markup != ND_MARKUP_IGNORE;
}

static bool has_table(const void *values)
{
    return weight_of(values)->position == ND_POSITION_TABLE;
}

static const struct nd_recipe_key keys[] = {
    {WEIGHT(tf, "tf"), ND_KEY_ENUM, WORDS("count", "log", "binary")},
    {WEIGHT(idf, "idf"), ND_KEY_ENUM, WORDS("none", "inverse", "log", "nidf")},
    {WEIGHT(markup, "markup"), ND_KEY_ENUM, WORDS("ignore", "multiply", "add")},
    {WEIGHT(markup_boost, "markup_boost"), ND_KEY_REAL, .least = 0, .greatest = 255,
     .is_read = has_boost, .reader = "where markup is multiply or add"},
    {WEIGHT(position, "position"), ND_KEY_ENUM,
     WORDS("none", "log", "inverse", "inverse-log", "cosine", "table")},
    {WEIGHT(position_table, "position_table"), ND_KEY_STRING, .greatest = ND_FEATURE_LIST_MAX,
     .is_read = has_table, .reader = "where position is table"},
    {WEIGHT(clip_quantile, "clip_quantile"), SHARE},
    {WEIGHT(clip_rank, "clip_rank"), ND_KEY_INT, .least = 0, .greatest = 1000000},
    {WEIGHT(low, "low"), SHARE},
    {WEIGHT(high, "high"), SHARE},
    {WEIGHT(band_low, "band_low"), SHARE},
    {WEIGHT(band_high, "band_high"), SHARE},
    {WEIGHT(top, "top"), ND_KEY_INT, .least = 0, .greatest = 1000000},
    {WEIGHT(top_share, "top_share"), SHARE},
    {WEIGHT(normalise_length, "normalise_length"), ND_KEY_YES},
};

const struct nd_key_table nd_weight_keys = {keys, sizeof keys / sizeof *keys};
