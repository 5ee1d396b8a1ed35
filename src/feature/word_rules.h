/* word_rules.h - what is known of a token by itself: stop word, anchor, part of a date, left out */
#ifndef ND_FEATURE_WORD_RULES_H
#define ND_FEATURE_WORD_RULES_H

#include "feature/word/word_table.h"

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Token hashes, ascending. */
struct nd_hash_list {
    uint64_t *items;
    size_t count;
};

/* Made once from the parameters and the df table, immutable afterwards. */
struct nd_word_rules {
    const struct nd_df *df;   /* NULL: none */
    bool stops_english;       /* the stop words of word_table.h are stop words */
    struct nd_hash_list stop; /* those of a file */
    bool stops_by_df;
    uint64_t df_limit; /* then terms in more documents than that are stop words */
    struct nd_hash_list anchors;
    unsigned min_length, max_digits;
    bool has_dates; /* dates are left out */
};

/* `rules` is zeroes.  ND_EINVAL, ND_EIO, ND_ENOMEM; release it in any case. */
enum nd_status nd_word_rules_init(struct nd_word_rules *rules,
                                  const struct nd_feature_params *params, const struct nd_df *df,
                                  struct nd_error *err);
void nd_word_rules_release(struct nd_word_rules *rules);

static inline bool nd_word_rules_have_stop_words(const struct nd_word_rules *rules)
{
    return rules->stops_english || rules->stop.count > 0 || rules->stops_by_df;
}

/* The kinds, ND_WORD_… of word_table.h, of a token with this hash and normalised form, whose term
 * has this document frequency. */
uint32_t nd_word_kinds(const struct nd_word_rules *rules, uint64_t hash, struct nd_view form,
                       uint32_t df);

#endif
