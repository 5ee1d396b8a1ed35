/* feature_params.h - the parameters of features: the units, and which parameters fit together */
#ifndef ND_FEATURE_FEATURE_PARAMS_H
#define ND_FEATURE_FEATURE_PARAMS_H

#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/types.h>

#include <stdbool.h>

enum { ND_DIGITS_ANY = 32 }; /* of `most_digits`: from here on it lets all pass */
#define ND_PHRASES_MAX 30.0  /* of nd_feature_params.phrases */

enum { ND_FEATURE_UNITS = ND_FEATURE_NONE + 1 };

/* The source of a unit. */
enum nd_unit_source {
    ND_FROM_NOTHING,    /* the features are fields and links alone */
    ND_FROM_TERMS,      /* the words of the text, so stemming, stop words and the like apply */
    ND_FROM_CHARACTERS, /* the code points of the normalised text */
    ND_FROM_ELEMENTS,   /* the elements of a page */
};

/* A unit.  Whatever differs between units, but for how their features are made (feature_counts.c),
 * stands in its row: which keys a recipe may have with it, what is read of a document, and how a
 * feature is shown. */
struct nd_unit_row {
    const char *word; /* in recipes */
    enum nd_unit_source source;
    bool has_width;     /* the parameter `width` counts */
    bool has_distance;  /* and `distance` */
    bool has_sentences; /* it matters where sentences begin */
    /*
     * A feature begins at an antecedent (Theobald 2008, §3): a word that is an anchor or, where
     * there are no anchors, a stop word, and need not be a term.
     */
    bool has_antecedents;
};

/* The row of a unit; that of a value which is no unit has the word "?" and nothing else. */
const struct nd_unit_row *nd_unit_of(enum nd_feature_unit unit);

/* Conditions on a unit, each of which a key of a recipe may depend on. */
static inline bool nd_unit_has_words(enum nd_feature_unit unit)
{
    return nd_unit_of(unit)->source == ND_FROM_TERMS;
}

static inline bool nd_unit_has_width(enum nd_feature_unit unit)
{
    return nd_unit_of(unit)->has_width;
}

static inline bool nd_unit_has_distance(enum nd_feature_unit unit)
{
    return nd_unit_of(unit)->has_distance;
}

static inline bool nd_unit_has_antecedents(enum nd_feature_unit unit)
{
    return nd_unit_of(unit)->has_antecedents;
}

static inline bool nd_unit_ignores_text(enum nd_feature_unit unit)
{
    enum nd_unit_source source = nd_unit_of(unit)->source;

    return source == ND_FROM_NOTHING || source == ND_FROM_ELEMENTS;
}

/* The word of a recipe for unit i; NULL: there are not so many. */
const char *nd_unit_word(size_t i);

/* Write the words of the units for which `has` is true: "terms, shingles or spots". */
void nd_units_list(bool (*has)(enum nd_feature_unit unit), char *out, size_t size);

/* Check that tokens are stemmed: `stem` is a language. */
bool nd_feature_params_stem(const struct nd_feature_params *params);

/* The name of a text that does not end; NULL: all do. */
const char *nd_feature_params_unended(const struct nd_feature_params *params);

/* Whether the parameters can be read at all: each text ends, each enumerator is one.  ND_EINVAL. */
enum nd_status nd_feature_params_check_form(const struct nd_feature_params *params,
                                            struct nd_error *err);

/* Whether each value is in its range and all fit together.  ND_EINVAL: the message says what does
 * not. */
enum nd_status nd_feature_params_check(const struct nd_feature_params *params, bool has_df,
                                       struct nd_error *err);

/* Whether stop words are "df:FRACTION", and the fraction of those that are; ND_EINVAL. */
bool nd_stop_words_are_by_df(const char *spec);
enum nd_status nd_stop_words_fraction(const char *spec, struct nd_ratio *fraction,
                                      struct nd_error *err);

#endif
