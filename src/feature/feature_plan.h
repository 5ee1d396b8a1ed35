/* feature_plan.h - what a featurer does: decided once, immutable, the same for every document */
#ifndef ND_FEATURE_FEATURE_PLAN_H
#define ND_FEATURE_FEATURE_PLAN_H

#include "feature/feature_params.h"
#include "feature/weigh.h"
#include "feature/word_rules.h"

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/feature.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the distinct features of a document are found. */
enum nd_counting {
    ND_COUNT_HASHES, /* by a hash table of features: nd_tally */
    ND_COUNT_WORDS,  /* by the numbers of words: terms that are words, nd_word_counts */
    ND_COUNT_NONE,   /* not at all: each occurrence is a feature of the same weight */
};

/* Words within shingles that stand in many documents (Seshasai 2009, §2.1, §2.5.3). */
struct nd_template_rule {
    const struct nd_df *table; /* NULL: nothing is template text */
    unsigned width;            /* words of a shingle of the table */
    uint32_t count;            /* shingles in more documents than that are template text */
    uint32_t weight;           /* of template text, in 2^-24; 0: it is left out */
};

/*
 * The plan is made from the parameters and the df table, and answers what to read (`words`,
 * `has_sentences`, `needs_marks`), which units to form (`params.unit`, `params.phrases`), which of
 * them to use (`params.select`, `anchor_strings`) and what each weighs (`weigher`).  Any number of
 * threads may use one plan, each with scratch of its own.
 */
struct nd_feature_plan {
    struct nd_feature_params params;
    const struct nd_unit_row *unit; /* the row of params.unit */
    const struct nd_df *df;         /* of the features; NULL: none, or it only tells stop words */
    struct nd_word_rules words;
    struct nd_template_rule template;
    uint64_t phrase_factor; /* e^(params.phrases) in 2^-16, where that is above 0 */
    /* The strings that selected character n-grams begin with: of each the number of its code points,
     * then these, hashed as the n-grams have them. */
    struct nd_hash_list anchor_strings;
    struct nd_weigher *weigher;

    bool is_plain;            /* tokens are terms: nothing is known of each word */
    bool has_sentences;       /* it matters where sentences begin */
    bool needs_marks;         /* it matters which words are marked up */
    bool needs_gain;          /* it matters where a word stands and how it is marked */
    bool selects_occurrences; /* before counting; else the selection is among distinct features */
    bool is_flat;             /* weights depend on frequencies alone */
    bool keeps_df;            /* features are terms, and each brings its df */
    bool counts_tokens;       /* a feature's place is a number of a token or of a code point of the
                                 text, else of a term */
    enum nd_counting counting;

    uint64_t ascii[128]; /* the hash of each ASCII code point */
};

/* `plan` is zeroes; `df` and the template table outlive it.  ND_EINVAL, ND_EIO, ND_ENOMEM; release
 * it in any case. */
enum nd_status nd_feature_plan_init(struct nd_feature_plan *plan,
                                    const struct nd_feature_params *features,
                                    const struct nd_weight_params *weights, const struct nd_df *df,
                                    struct nd_error *err);
void nd_feature_plan_release(struct nd_feature_plan *plan);

/* Whether the template table counts shingles of these parameters' tokens, and of how many tokens.
 * ND_EINVAL. */
enum nd_status nd_template_check(const struct nd_feature_params *features, unsigned *width,
                                 struct nd_error *err);

#endif
