/* tally.h - the distinct features of a document, how often each occurs and with what gain */
#ifndef ND_FEATURE_TALLY_H
#define ND_FEATURE_TALLY_H

#include "feature/weigh.h"
#include "feature/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts from zeroes; the memory is kept for the next document.
 *
 *     entry  [ . | f1 | f2 | … ]      distinct features in order of first occurrence, from 1
 *     slot   [ 0 | 2 | 0 | 1 | … ]    open addressing: numbers of entries; 0 is free
 */
struct nd_tally {
    struct nd_term_stat *entry; /* entry[0] is a sentinel; the one behind the last is scratch */
    size_t count;               /* of distinct features */
    size_t capacity;            /* of entry */
    uint32_t *slot;
    unsigned log2, capacity_log2; /* slots in use, and allocated */
};

void nd_tally_release(struct nd_tally *t);
void nd_tally_clear(struct nd_tally *t);

/* Reserve n entries in all, which the caller may write itself.  False: out of memory. */
bool nd_tally_reserve(struct nd_tally *t, size_t n);

/*
 * Count n occurrences; number[i] becomes the number of the feature, from 1.  False: out of memory,
 * the tally as it was.
 */
bool nd_tally_add(struct nd_tally *t, const uint64_t *hash, size_t n, uint32_t *number);

/*
 * Counts words as nd_tally does.  Words have numbers: a number is an index, so nothing is searched
 * and frequent words, whose numbers are low, share cache lines.  Starts from zeroes.
 *
 *     tf, gain  [ . | 2 | 0 | 1 | … ]  of each word; zeroes between documents
 *     met       [ 1 | 3 | … ]          the document's words in order of first occurrence
 */
struct nd_word_counts {
    uint32_t *tf;
    uint64_t *gain;
    size_t tf_capacity, gain_capacity;
    uint32_t *met;
    size_t count, met_capacity;
};

void nd_word_counts_release(struct nd_word_counts *c);

/* Begin a document of n tokens of words with numbers below `words`.  False: out of memory, nothing
 * is counted. */
bool nd_word_counts_begin(struct nd_word_counts *c, size_t words, size_t n, bool has_gain);

/* Count n tokens; gain[i], where it is not NULL, is what token i adds to its word's. */
void nd_word_counts_add(struct nd_word_counts *c, const uint32_t *word, const uint32_t *gain,
                        size_t n);

/*
 * Move the words that have none of the kinds `out` to an empty tally, which has reserved c->count
 * entries; the counts are empty afterwards.  Returns how often those words occur.
 */
uint64_t nd_word_counts_take(struct nd_word_counts *c, const struct nd_word *word, uint32_t out,
                             bool has_gain, struct nd_tally *tally);

#endif
