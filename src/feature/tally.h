/* tally.h - the distinct features of a document, how often each occurs and with what gain */
#ifndef ND_FEATURE_TALLY_H
#define ND_FEATURE_TALLY_H

#include "feature/weigh.h"

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
    struct nd_term_stat *entry; /* entry[0] is scratch, and so is the one behind the last */
    size_t count;               /* of distinct features */
    size_t capacity;            /* of entry */
    uint32_t *slot;
    unsigned log2, capacity_log2; /* slots in use, and allocated */
};

void nd_tally_release(struct nd_tally *t);
void nd_tally_clear(struct nd_tally *t);

/* Room for n entries in all, to be written by whoever knows them.  False: out of memory. */
bool nd_tally_reserve(struct nd_tally *t, size_t n);

/*
 * Count n occurrences; number[i] becomes the number of the feature, from 1.  False: out of memory,
 * the tally as it was.
 */
bool nd_tally_add(struct nd_tally *t, const uint64_t *hash, size_t n, uint32_t *number);

#endif
