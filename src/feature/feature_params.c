/* feature_params.c - the parameters of features: the units, defaults, and what fits together */
#include "feature/feature_params.h"

#include <neardup/ratio.h>
#include <neardup/sketch.h>

#include <stdio.h>
#include <string.h>

enum { DISTANCE_MAX = 32 };

static const struct nd_unit_row units[ND_FEATURE_UNITS] = {
    [ND_FEATURE_TERMS] = {.word = "terms", .source = ND_FROM_TERMS},
    [ND_FEATURE_SHINGLES] = {"shingles", ND_FROM_TERMS, .has_width = true},
    [ND_FEATURE_CHARACTERS] = {"characters", ND_FROM_CHARACTERS, .has_width = true},
    [ND_FEATURE_SENTENCES] = {"sentences", ND_FROM_TERMS, .has_sentences = true},
    [ND_FEATURE_SPOTS] = {"spots", ND_FROM_TERMS, .has_width = true, .has_distance = true,
                          .has_antecedents = true},
    [ND_FEATURE_PATHS] = {.word = "paths", .source = ND_FROM_ELEMENTS},
    [ND_FEATURE_NONE] = {.word = "none", .source = ND_FROM_NOTHING},
};

const struct nd_unit_row *nd_unit_of(enum nd_feature_unit unit)
{
    static const struct nd_unit_row no_unit = {.word = "?"};

    return (unsigned)unit < ND_FEATURE_UNITS ? &units[unit] : &no_unit;
}

const char *nd_unit_word(size_t i)
{
    return i < ND_FEATURE_UNITS ? units[i].word : NULL;
}

void nd_units_list(bool (*has)(enum nd_feature_unit unit), char *out, size_t size)
{
    size_t n = 0, used = 0;

    for (unsigned unit = 0; unit < ND_FEATURE_UNITS; unit++)
        n += has((enum nd_feature_unit)unit);
    *out = '\0';
    for (unsigned unit = 0; unit < ND_FEATURE_UNITS && used < size; unit++)
        if (has((enum nd_feature_unit)unit))
            used += (size_t)snprintf(out + used, size - used, "%s%s", units[unit].word,
                                     --n > 1  ? ", "
                                     : n == 1 ? " or "
                                              : "");
}

struct nd_feature_params nd_feature_params_default(void)
{
    struct nd_feature_params params;

    memset(&params, 0, sizeof params); /* padding too, so that equal parameters are equal bytes */
    params.unit = ND_FEATURE_TERMS;
    params.width = 3;
    params.distance = 1;
    params.count = ND_FEATURE_DISTINCT;
    params.select = ND_SELECT_ALL;
    params.select_count = 1;
    params.strip = ND_STRIP_NONE;
    params.most_digits = 32;
    memcpy(params.stop_words, "none", sizeof "none");
    memcpy(params.stem, "none", sizeof "none");
    return params;
}

struct nd_weight_params nd_weight_params_default(void)
{
    struct nd_weight_params params;

    memset(&params, 0, sizeof params);
    params.tf = ND_TF_COUNT;
    params.idf = ND_IDF_NONE;
    params.markup = ND_MARKUP_IGNORE;
    params.markup_boost = 1.5; /* Seshasai 2009, §5.4 */
    params.position = ND_POSITION_NONE;
    return params;
}

bool nd_stop_words_are_by_df(const char *spec)
{
    return strncmp(spec, "df:", 3) == 0;
}

enum nd_status nd_stop_words_fraction(const char *spec, struct nd_ratio *fraction,
                                      struct nd_error *err)
{
    struct nd_ratio ratio;

    if (nd_ratio_parse(spec + 3, strlen(spec + 3), &ratio, NULL) != ND_OK || ratio.p >= ratio.q)
        return nd_fail(
            err, ND_EINVAL,
            "stop_words = %s: the fraction of the documents must be at least 0 and below "
            "1, as in df:0.1",
            spec);
    *fraction = ratio;
    return ND_OK;
}

static bool has_stop_words(const struct nd_feature_params *p)
{
    return p->stop_words[0] && strcmp(p->stop_words, "none") != 0;
}

bool nd_feature_params_stem(const struct nd_feature_params *p)
{
    return p->stem[0] && strcmp(p->stem, "none") != 0;
}

int nd_feature_reads_markup(const struct nd_feature_params *features,
                            const struct nd_weight_params *weights)
{
    return weights->markup != ND_MARKUP_IGNORE || features->links;
}

int nd_feature_reads_elements(const struct nd_feature_params *features)
{
    return nd_unit_of(features->unit)->source == ND_FROM_ELEMENTS;
}

int nd_feature_ignores_text(const struct nd_feature_params *features)
{
    return nd_unit_ignores_text(features->unit);
}

/* The key of an option that is about single words, where one is set; else NULL. */
static const char *key_of_words(const struct nd_feature_params *p)
{
    return has_stop_words(p)                  ? "stop_words"
           : nd_feature_params_stem(p)        ? "stem"
           : p->strip != ND_STRIP_NONE        ? "strip"
           : p->mail_quotes != ND_QUOTES_KEEP ? "mail_quotes"
           : p->least_length > 0              ? "least_length"
           : p->most_digits < ND_DIGITS_ANY   ? "most_digits"
           : p->join_apostrophes              ? "join_apostrophes"
           : p->phrases != 0                  ? "phrases"
           : p->anchor_window > 0             ? "anchor_window"
           : p->template_count > 0            ? "template_count"
           : p->select == ND_SELECT_SENTENCE  ? "select = sentence"
                                              : NULL;
}

const char *nd_feature_params_unended(const struct nd_feature_params *p)
{
    const struct {
        const char *name, *text;
        size_t capacity;
    } text[] = {{"anchors", p->anchors, sizeof p->anchors},
                {"stop_words", p->stop_words, sizeof p->stop_words},
                {"stem", p->stem, sizeof p->stem},
                {"fields", p->fields, sizeof p->fields},
                {"force", p->force, sizeof p->force},
                {"reserved_field", p->reserved_field, sizeof p->reserved_field}};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!memchr(text[i].text, '\0', text[i].capacity))
            return text[i].name;
    return NULL;
}

enum nd_status nd_feature_params_check_form(const struct nd_feature_params *p, struct nd_error *err)
{
    const char *unended = nd_feature_params_unended(p);

    if (unended)
        return nd_fail(err, ND_EINVAL, "%s: its text does not end in a NUL", unended);
    if ((unsigned)p->unit >= ND_FEATURE_UNITS)
        return nd_fail(err, ND_EINVAL, "unit: %d is not a unit", (int)p->unit);
    if ((unsigned)p->count > ND_FEATURE_OCCURRENCES)
        return nd_fail(err, ND_EINVAL, "count: %d is not a way to count", (int)p->count);
    if ((unsigned)p->select > ND_SELECT_UNCOMMON)
        return nd_fail(err, ND_EINVAL, "select: %d is not a selection", (int)p->select);
    if ((unsigned)p->strip > ND_STRIP_DATES)
        return nd_fail(err, ND_EINVAL, "strip: %d is not a kind of text to strip", (int)p->strip);
    if ((unsigned)p->mail_quotes > ND_QUOTES_DROP)
        return nd_fail(err, ND_EINVAL, "mail_quotes: %d is neither keep nor drop",
                       (int)p->mail_quotes);
    return ND_OK;
}

static enum nd_status check_ranges(const struct nd_feature_params *p, struct nd_error *err)
{
    struct nd_ratio fraction;

    if (p->width < 1 || p->width > ND_SHINGLE_MAX)
        return nd_fail(err, ND_EINVAL, "width = %u: must be from 1 to %d", p->width,
                       ND_SHINGLE_MAX);
    if (p->distance < 1 || p->distance > DISTANCE_MAX)
        return nd_fail(err, ND_EINVAL, "distance = %u: must be from 1 to %d", p->distance,
                       DISTANCE_MAX);
    if (!(p->phrases <= ND_PHRASES_MAX))
        return nd_fail(err, ND_EINVAL, "phrases = %g: must be at most %g", p->phrases,
                       ND_PHRASES_MAX);
    if (p->select != ND_SELECT_ALL && p->select != ND_SELECT_ANCHORED && p->select_count < 1)
        return nd_fail(err, ND_EINVAL, "select_count = 0: must be at least 1");
    return nd_stop_words_are_by_df(p->stop_words)
               ? nd_stop_words_fraction(p->stop_words, &fraction, err)
               : ND_OK;
}

static enum nd_status check_units(const struct nd_feature_params *p, struct nd_error *err)
{
    const char *key = key_of_words(p), *word = nd_unit_of(p->unit)->word;

    if (!nd_unit_has_words(p->unit) && key)
        return nd_fail(err, ND_EINVAL, "%s applies to words, but unit = %s", key, word);
    if (nd_feature_ignores_text(p) && p->select == ND_SELECT_ANCHORED)
        return nd_fail(err, ND_EINVAL, "select = anchored applies to words, but unit = %s", word);
    if (p->unit == ND_FEATURE_NONE && !p->links && !p->fields[0])
        return nd_fail(err, ND_EINVAL,
                       "unit = none leaves only links and fields, but the recipe has neither");
    if (p->phrases != 0 && p->unit != ND_FEATURE_TERMS)
        return nd_fail(err, ND_EINVAL, "phrases needs unit = terms");
    if (nd_unit_has_antecedents(p->unit) && !has_stop_words(p))
        return nd_fail(err, ND_EINVAL, "unit = %s needs stop_words: %s begin with them", word,
                       word);
    if (p->unit == ND_FEATURE_SENTENCES && p->select == ND_SELECT_SENTENCE)
        return nd_fail(
            err, ND_EINVAL,
            "select = sentence takes the n-th feature of each sentence, but unit = sentences; "
            "select = kth takes every n-th sentence");
    if (p->select == ND_SELECT_ANCHORED && !p->anchors[0])
        return nd_fail(err, ND_EINVAL, "select = anchored needs anchors");
    return ND_OK;
}

enum nd_status nd_feature_params_check(const struct nd_feature_params *p, bool has_df,
                                       struct nd_error *err)
{
    enum nd_status status = nd_feature_params_check_form(p, err);

    if (status == ND_OK)
        status = check_ranges(p, err);
    if (status == ND_OK)
        status = check_units(p, err);
    if (status != ND_OK || has_df)
        return status;
    if (p->select == ND_SELECT_RAREST || p->select == ND_SELECT_UNCOMMON)
        return nd_fail(err, ND_EINVAL, "select = %s needs a df table (df = FILE)",
                       p->select == ND_SELECT_RAREST ? "rarest" : "uncommon");
    if (p->phrases > 0)
        return nd_fail(err, ND_EINVAL, "phrases = %g needs a df table (df = FILE)", p->phrases);
    return ND_OK;
}
