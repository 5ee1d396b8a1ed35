/* word_counts.h - how often each word of nd_words stands in a document, and with what gain */
#ifndef ND_FEATURE_WORD_COUNTS_H
#define ND_FEATURE_WORD_COUNTS_H

#include "feature/tally.h"
#include "feature/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What nd_tally does with hashes, of words that have numbers: no search, and frequent words, whose
 * numbers are low, are near one another.  Starts from zeroes.
 *
 *     tf, gain  [ . | 2 | 0 | 1 | … ]  of each word; zeroes between documents
 *     met       [ 1 | 3 | … ]          the document's words in order of first occurrence
 */
struct nd_word_counts {
    uint32_t *tf;
    uint64_t *gain;
    size_t tf_capacity, gain_capacity; /* all zeroes but for the words met */
    uint32_t *met;
    size_t count, met_capacity;
};

void nd_word_counts_release(struct nd_word_counts *c);

/* Room for n tokens of words below `words`.  False: out of memory, nothing is counted. */
bool nd_word_counts_begin(struct nd_word_counts *c, size_t words, size_t n, bool has_gain);

/* Count n tokens; gain[i], where it is not NULL, is what token i adds to its word's. */
void nd_word_counts_add(struct nd_word_counts *c, const uint32_t *word, const uint32_t *gain,
                        size_t n);

/*
 * The words that are none of the kinds `out` to the entries of an empty tally, which has room for
 * c->count of them; nothing is counted any more.  Returns the occurrences of those that stay.
 */
uint64_t nd_word_counts_take(struct nd_word_counts *c, const struct nd_word *word, uint32_t out,
                             bool has_gain, struct nd_tally *tally);

#endif
