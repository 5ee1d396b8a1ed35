/* featurer_params.c - the parameters of features: defaults, and what does not fit together */
#include "feature/featurer.h"
#include "feature/stop_words.h"

#include <neardup/sketch.h>

#include <string.h>

enum { DISTANCE_MAX = 32 };

static bool has_stop_words(const struct nd_feature_params *p)
{
    return p->stop_words[0] && strcmp(p->stop_words, "none") != 0;
}

static bool has_stem(const struct nd_feature_params *p)
{
    return p->stem[0] && strcmp(p->stem, "none") != 0;
}

const char *nd_feature_unit_name(enum nd_feature_unit unit)
{
    static const char *const names[] = {"terms", "shingles", "characters", "sentences",
                                        "spots", "paths",    "none"};

    return (unsigned)unit < sizeof names / sizeof *names ? names[unit] : "?";
}

int nd_feature_reads_elements(const struct nd_feature_params *features)
{
    return features->unit == ND_FEATURE_PATHS;
}

int nd_feature_ignores_text(const struct nd_feature_params *features)
{
    return features->unit == ND_FEATURE_PATHS || features->unit == ND_FEATURE_NONE;
}

/* Whether anything is asked of words one by one. */
static const char *key_of_words(const struct nd_feature_params *p)
{
    return has_stop_words(p)                 ? "stop_words"
           : has_stem(p)                     ? "stem"
           : p->strip != ND_STRIP_NONE       ? "strip"
           : p->least_length > 0             ? "least_length"
           : p->most_digits < ND_DIGITS_ANY  ? "most_digits"
           : p->join_apostrophes             ? "join_apostrophes"
           : p->phrases != 0                 ? "phrases"
           : p->anchor_window > 0            ? "anchor_window"
           : p->template_count > 0           ? "template_count"
           : p->select == ND_SELECT_SENTENCE ? "select = sentence"
                                             : NULL;
}

enum nd_status nd_feature_words_check(const struct nd_feature_params *p, struct nd_error *err)
{
    const struct {
        const char *name, *text;
        size_t room;
    } text[] = {{"anchors", p->anchors, sizeof p->anchors},
                {"stop_words", p->stop_words, sizeof p->stop_words},
                {"stem", p->stem, sizeof p->stem},
                {"fields", p->fields, sizeof p->fields},
                {"force", p->force, sizeof p->force},
                {"reserved_field", p->reserved_field, sizeof p->reserved_field}};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!memchr(text[i].text, '\0', text[i].room))
            return nd_fail(err, ND_EINVAL, "%s: its text does not end", text[i].name);
    if ((unsigned)p->unit > ND_FEATURE_NONE)
        return nd_fail(err, ND_EINVAL, "unit: %d is no unit", (int)p->unit);
    if ((unsigned)p->count > ND_FEATURE_OCCURRENCES)
        return nd_fail(err, ND_EINVAL, "count: %d is no way to count", (int)p->count);
    if ((unsigned)p->select > ND_SELECT_UNCOMMON)
        return nd_fail(err, ND_EINVAL, "select: %d is no selection", (int)p->select);
    if ((unsigned)p->strip > ND_STRIP_DATES)
        return nd_fail(err, ND_EINVAL, "strip: %d is nothing to strip", (int)p->strip);
    return ND_OK;
}

static enum nd_status check_ranges(const struct nd_feature_params *p, struct nd_error *err)
{
    struct nd_ratio share;

    if (p->width < 1 || p->width > ND_SHINGLE_MAX)
        return nd_fail(err, ND_EINVAL, "width = %u: 1 to %d are possible", p->width,
                       ND_SHINGLE_MAX);
    if (p->distance < 1 || p->distance > DISTANCE_MAX)
        return nd_fail(err, ND_EINVAL, "distance = %u: 1 to %d are possible", p->distance,
                       DISTANCE_MAX);
    if (!(p->phrases <= ND_PHRASES_MAX))
        return nd_fail(err, ND_EINVAL, "phrases = %g: %g at most", p->phrases, ND_PHRASES_MAX);
    if (p->select != ND_SELECT_ALL && p->select != ND_SELECT_ANCHORED && p->select_count < 1)
        return nd_fail(err, ND_EINVAL, "select_count = 0: what is selected is counted from 1");
    return nd_stop_words_are_by_df(p->stop_words) ? nd_stop_words_share(p->stop_words, &share, err)
                                                  : ND_OK;
}

static enum nd_status check_units(const struct nd_feature_params *p, struct nd_error *err)
{
    const char *key = key_of_words(p);

    if (!nd_unit_has_words(p->unit) && key)
        return nd_fail(err, ND_EINVAL, "%s is about words, but unit = %s", key,
                       nd_feature_unit_name(p->unit));
    if (nd_feature_ignores_text(p) && p->select == ND_SELECT_ANCHORED)
        return nd_fail(err, ND_EINVAL, "select = anchored is about words, but unit = %s",
                       nd_feature_unit_name(p->unit));
    if (p->unit == ND_FEATURE_NONE && !p->links && !p->fields[0])
        return nd_fail(err, ND_EINVAL,
                       "unit = none leaves links and fields, and neither is asked for");
    if (p->phrases != 0 && p->unit != ND_FEATURE_TERMS)
        return nd_fail(err, ND_EINVAL, "phrases are of terms, but unit is not terms");
    if (p->unit == ND_FEATURE_SPOTS && !has_stop_words(p))
        return nd_fail(err, ND_EINVAL, "unit = spots needs stop_words: spots begin with them");
    if (p->unit == ND_FEATURE_SENTENCES && p->select == ND_SELECT_SENTENCE)
        return nd_fail(err, ND_EINVAL,
                       "select = sentence is the n-th of each sentence, but unit = sentences; "
                       "select = kth takes every n-th sentence");
    if (p->select == ND_SELECT_ANCHORED && !p->anchors[0])
        return nd_fail(err, ND_EINVAL, "select = anchored needs anchors");
    return ND_OK;
}

enum nd_status nd_feature_params_check(const struct nd_feature_params *p, bool has_df,
                                       struct nd_error *err)
{
    enum nd_status status = nd_feature_words_check(p, err);

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
