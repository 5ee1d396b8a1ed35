/* recipe_keys_feature.c - the keys that say what features a signature is made of */
#include <string.h>

#include "engine/recipe_keys.h"
#include "feature/featurer.h"

#define FEATURE(field, key) ND_KEY_OF_SIGNATURE(feature.field, key)
#define WORDS ND_KEY_WORDS
#define READ(condition) .is_read = (condition)

static enum nd_feature_unit unit_of(const void *values)
{
    return ((const struct nd_named_signature *)values)->feature.unit;
}

static bool has_width(const void *values)
{
    return unit_of(values) == ND_FEATURE_SHINGLES || unit_of(values) == ND_FEATURE_CHARACTERS ||
           unit_of(values) == ND_FEATURE_SPOTS;
}

static bool has_spots(const void *values)
{
    return unit_of(values) == ND_FEATURE_SPOTS;
}

static bool has_terms(const void *values)
{
    return nd_unit_has_words(unit_of(values));
}

static bool has_content(const void *values)
{
    return unit_of(values) != ND_FEATURE_NONE;
}

static bool is_term(const void *values)
{
    return unit_of(values) == ND_FEATURE_TERMS;
}

static bool has_select_count(const void *values)
{
    enum nd_feature_select select = ((const struct nd_named_signature *)values)->feature.select;

    return has_content(values) && select != ND_SELECT_ALL && select != ND_SELECT_ANCHORED;
}

static bool has_anchors(const void *values)
{
    return has_spots(values) ||
           ((const struct nd_named_signature *)values)->feature.select == ND_SELECT_ANCHORED;
}

static enum nd_signature_kind kind_of(const void *values)
{
    return ((const struct nd_named_signature *)values)->signature.kind;
}

static bool is_simhash(const void *values)
{
    return kind_of(values) == ND_SIGNATURE_SIMHASH;
}

static bool has_reserved(const void *values)
{
    return is_simhash(values) &&
           ((const struct nd_named_signature *)values)->signature.reserved_bits > 0;
}

/* The other kinds take features as a set. */
static bool has_count(const void *values)
{
    return is_simhash(values) || kind_of(values) == ND_SIGNATURE_WINNOWING ||
           kind_of(values) == ND_SIGNATURE_PROFILE;
}

static bool has_digits(const void *values)
{
    return has_terms(values) &&
           ((const struct nd_named_signature *)values)->feature.strip == ND_STRIP_NONE;
}

static bool has_window(const void *values)
{
    return has_terms(values) &&
           ((const struct nd_named_signature *)values)->weight.markup != ND_MARKUP_IGNORE;
}

/* At 0 it is as if there were no such key. */
static bool has_template(const void *values)
{
    return has_terms(values) &&
           ((const struct nd_named_signature *)values)->feature.template_count > 0;
}

/* Words of stop_words that are no path. */
static bool is_stop_word_list(struct nd_view value)
{
    return nd_view_is(value, "none") || nd_view_is(value, "english") ||
           (value.len > 3 && memcmp(value.data, "df:", 3) == 0);
}

static const char terms[] = "where unit is terms, shingles, sentences or spots";

static const struct nd_recipe_key keys[] = {
    {FEATURE(unit, "unit"), ND_KEY_ENUM,
     WORDS("terms", "shingles", "characters", "sentences", "spots", "paths", "none")},
    {FEATURE(width, "width"), ND_KEY_INT, .least = 1, .greatest = 32, READ(has_width),
     .reader = "where unit is shingles, characters or spots"},
    {FEATURE(distance, "distance"), ND_KEY_INT, .least = 1, .greatest = 32, READ(has_spots),
     .reader = "where unit is spots"},
    {FEATURE(count, "count"), ND_KEY_ENUM, WORDS("distinct", "occurrences"), READ(has_count),
     .reader = "where kind is simhash, winnowing or profile"},
    {FEATURE(select, "select"), ND_KEY_ENUM,
     WORDS("all", "first", "rarest", "kth", "sentence", "anchored", "uncommon"), READ(has_content),
     .reader = "where unit is not none"},
    {FEATURE(select_count, "select_count"), ND_KEY_INT, .least = 1, .greatest = 1000000000,
     READ(has_select_count), .reader = "where select is first, rarest, kth, sentence or uncommon"},
    {FEATURE(anchors, "anchors"), ND_KEY_STRING, .greatest = ND_FEATURE_LIST_MAX, READ(has_anchors),
     .reader = "where select is anchored or unit is spots"},
    {FEATURE(phrases, "phrases"), ND_KEY_REAL, .least = 0, .greatest = 30, READ(is_term),
     .reader = "where unit is terms"},
    {FEATURE(join_apostrophes, "join_apostrophes"), ND_KEY_YES, READ(has_terms), .reader = terms},
    {FEATURE(stop_words, "stop_words"), ND_KEY_PATH, .least = 1, .greatest = ND_FEATURE_PATH_MAX,
     .is_word = is_stop_word_list, READ(has_terms), .reader = terms},
    {FEATURE(stem, "stem"), ND_KEY_NAME,
     WORDS("none", "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english",
           "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish",
           "italian", "lithuanian", "nepali", "norwegian", "porter", "portuguese", "romanian",
           "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish"),
     .least = 1, .greatest = 31, READ(has_terms), .reader = terms},
    {FEATURE(strip, "strip"), ND_KEY_ENUM, WORDS("none", "numbers", "dates"), READ(has_terms),
     .reader = terms},
    {FEATURE(least_length, "least_length"), ND_KEY_INT, .least = 0, .greatest = 1000,
     READ(has_terms), .reader = terms},
    {FEATURE(most_digits, "most_digits"), ND_KEY_INT, .least = 0, .greatest = 32, READ(has_digits),
     .reader = "where strip is none, and unit is terms, shingles, sentences or spots"},
    {FEATURE(template_count, "template_count"), ND_KEY_INT, .least = 0, .greatest = 1000000000,
     READ(has_template),
     .reader = "where it is above 0 and unit is terms, shingles, sentences or spots"},
    {FEATURE(fields, "fields"), ND_KEY_STRING, .greatest = ND_FEATURE_LIST_MAX},
    {FEATURE(force, "force"), ND_KEY_STRING, .greatest = ND_FEATURE_LIST_MAX, READ(is_simhash),
     .reader = "where kind is simhash"},
    {FEATURE(reserved_field, "reserved_field"), ND_KEY_STRING, .greatest = ND_FEATURE_LIST_MAX,
     READ(has_reserved), .reader = "where reserved_bits is above 0"},
    {FEATURE(links, "links"), ND_KEY_YES},
    {FEATURE(anchor_window, "anchor_window"), ND_KEY_INT, .least = 0, .greatest = 1000,
     READ(has_window),
     .reader = "where markup is multiply or add, and unit is terms, shingles, sentences or spots"},
};

const struct nd_key_table nd_feature_keys = {keys, sizeof keys / sizeof *keys};
