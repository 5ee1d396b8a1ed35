/* df_counted.c - which features a df table counts, and whether that is what is asked of it */
#include <neardup/feature.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "feature/df_layout.h"
#include "feature/featurer.h"

static void keep_stop_words(struct nd_feature_params *p)
{
    memset(p->stop_words, 0, sizeof p->stop_words);
    memcpy(p->stop_words, "none", 4);
}

struct nd_feature_params nd_df_counted(const struct nd_feature_params *features)
{
    struct nd_feature_params p = *features;

    /* Stop words by a table are terms, whatever is made of the others: it is asked of these only.
     */
    if (nd_stop_words_are_by_df(p.stop_words))
        p.unit = ND_FEATURE_TERMS;
    p.count = ND_FEATURE_DISTINCT;
    p.select = ND_SELECT_ALL;
    p.select_count = 0;
    memset(p.anchors, 0, sizeof p.anchors);
    memset(p.fields, 0, sizeof p.fields);
    memset(p.force, 0, sizeof p.force);
    memset(p.reserved_field, 0, sizeof p.reserved_field);
    p.links = 0;
    p.anchor_window = 0;
    p.template_count = 0;
    p.template_table = NULL;
    p.phrases = p.phrases != 0 && p.unit == ND_FEATURE_TERMS ? -1 : 0;
    /* How many documents a term stands in does not depend on the other terms. */
    if (p.unit == ND_FEATURE_TERMS && p.phrases == 0) {
        keep_stop_words(&p);
        p.strip = ND_STRIP_NONE;
        p.least_length = 0;
        p.most_digits = 32;
    }
    /* Stop words by a table are not known before there is one. */
    if (nd_stop_words_are_by_df(p.stop_words))
        keep_stop_words(&p);
    return p;
}

struct text {
    char *at;
    size_t len;
};

static void line(struct text *text, const char *format, ...) ND_PRINTF(2, 3);

/* Lists and paths are bounded, so that all lines fit: ND_DF_FEATURES_MAX. */
static void line(struct text *text, const char *format, ...)
{
    size_t left = ND_DF_FEATURES_MAX - text->len;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text->at + text->len, left, format, args);
    va_end(args);
    if (n > 0 && (size_t)n + 1 < left) {
        text->len += (size_t)n;
        text->at[text->len++] = '\n';
    }
    text->at[text->len] = 0;
}

void nd_df_counted_text(const struct nd_feature_params *features, char out[ND_DF_FEATURES_MAX])
{
    static const char *const strips[] = {"none", "numbers", "dates"};
    struct text text = {out, 0};
    struct nd_feature_params p;

    out[0] = 0;
    if (!features)
        return;
    p = nd_df_counted(features);
    if (p.unit == ND_FEATURE_SPOTS)
        line(&text, "distance = %u", p.distance);
    if (nd_unit_has_words(p.unit)) {
        line(&text, "join_apostrophes = %s", p.join_apostrophes ? "yes" : "no");
        line(&text, "least_length = %u", p.least_length);
        line(&text, "most_digits = %u", p.most_digits);
        if (p.phrases != 0)
            line(&text, "phrases = all");
        line(&text, "stem = %.31s", p.stem);
        line(&text, "stop_words = %.*s", ND_FEATURE_PATH_MAX, p.stop_words);
        line(&text, "strip = %s", (unsigned)p.strip < 3 ? strips[p.strip] : "?");
    }
    line(&text, "unit = %s", nd_feature_unit_name(p.unit));
    if (p.unit == ND_FEATURE_SHINGLES || p.unit == ND_FEATURE_CHARACTERS ||
        p.unit == ND_FEATURE_SPOTS)
        line(&text, "width = %u", p.width);
}

enum nd_status nd_df_same_features(const char *a, const char *b, struct nd_error *err)
{
    for (size_t line; *a || *b; a += line, b += line) {
        line = strcspn(a, "\n");
        line += a[line] == '\n';
        if (line == 0 || strncmp(a, b, line) != 0)
            return nd_fail(err, ND_EINVAL,
                           "the tables count different features: one has \"%.*s\", this one "
                           "\"%.*s\"",
                           (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    }
    return ND_OK;
}

/* The line of a text that begins with this key, or NULL. */
static const char *find_line(const char *text, const char *key, size_t len)
{
    for (; *text; text = strchr(text, '\n') + 1)
        if (strncmp(text, key, len) == 0)
            return text;
    return NULL;
}

enum nd_status nd_df_check(const struct nd_df *df, const struct nd_feature_params *features,
                           struct nd_error *err)
{
    const char *has = nd_df_features(df), *next;
    char wanted[ND_DF_FEATURES_MAX];

    if (!*has)
        return ND_OK;
    nd_df_counted_text(features, wanted);
    for (const char *want = wanted; *want; want = next + 1) {
        size_t key = strcspn(want, "=") + 1;
        const char *found = find_line(has, want, key);

        next = strchr(want, '\n');
        if (!found)
            return nd_fail(err, ND_EINVAL,
                           "the df table does not count what the recipe needs: %.*s",
                           (int)(next - want), want);
        if (strncmp(found, want, (size_t)(next - want) + 1) != 0)
            return nd_fail(
                err, ND_EINVAL,
                "the df table counts other features: it has \"%.*s\", the recipe \"%.*s\"",
                (int)strcspn(found, "\n"), found, (int)(next - want), want);
    }
    return ND_OK;
}
