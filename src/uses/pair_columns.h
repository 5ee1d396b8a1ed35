/* pair_columns.h - further columns of a pair: its terms, lengths and edit distance */
#ifndef ND_USES_PAIR_COLUMNS_H
#define ND_USES_PAIR_COLUMNS_H

#include <stdbool.h>

#include <neardup/compare.h>
#include <neardup/text.h>
#include <neardup/uses.h>

/* The numbers of two texts for all columns; those that were not asked for are 0.  `a` is the earlier
 * document. */
struct nd_pair_numbers {
    uint64_t terms, shared_terms; /* distinct terms that only one has, and that both have */
    uint64_t tokens_a, tokens_b;
    uint64_t edit; /* ND_EDIT_BEYOND: too far to be computed */
};

/* The tokens of two texts: of the earlier document of a pair, and of the later one.  Starts from
 * zeroes. */
struct nd_pair_texts {
    unsigned columns; /* a set of enum nd_pair_column */
    struct nd_tokeniser *tokeniser;
    uint64_t *token[2];
    size_t n[2], capacity[2];
    uint64_t later; /* number of the document whose tokens are in token[1], if has_later is set */
    bool has_later;
};
void nd_pair_texts_release(struct nd_pair_texts *t);

/* Take the tokens of a text: 0 of the earlier document, 1 of the later one.  ND_ENOMEM, and
 * ND_EINVAL for text that is not UTF-8. */
enum nd_status nd_pair_texts_take(struct nd_pair_texts *t, unsigned which, struct nd_view text,
                                  struct nd_error *err);

/* Measure the two texts.  ND_ENOMEM; ND_EUNSUPPORTED: they are too long. */
enum nd_status nd_pair_texts_measure(const struct nd_pair_texts *t, struct nd_pair_numbers *out,
                                     struct nd_error *err);

#endif
