/* postings.h - from 32-bit values to the numbers of the documents that have them */
#ifndef ND_INDEX_POSTINGS_H
#define ND_INDEX_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/*
 * A value is found by open addressing; its slot holds the only number that has it, or the place of
 * a list:
 *
 *     slot   [ value | number ]  [ value | place of a list ]  …      8 bytes each
 *     list   [ count | number | number | … ]                         4, 8, 16 … words
 *
 * Most shingles of a collection stand in one document, so most values take a slot and nothing else.
 * The table is 16 tables by the upper bits of the value: one grows at a time, so that the two sizes
 * of a table which stand in memory while it grows are a sixteenth of the whole.  Values are hashes,
 * and never 0.
 */
struct nd_posting_slot {
    uint32_t value; /* 0: free */
    uint32_t
        entry; /* a number below 2^31; with the upper bit the place of a list; UINT32_MAX: none */
};

struct nd_posting_table {
    struct nd_posting_slot *slot;
    size_t n_slots, n_taken;
};

enum { ND_POSTING_TABLES = 16, ND_POSTING_CLASSES = 32 };
#define ND_POSTING_NUMBERS_MAX (UINT32_MAX / 2) /* numbers are less than that */

/* Starts from zeroes. */
struct nd_postings {
    struct nd_posting_table table[ND_POSTING_TABLES];
    struct nd_column word; /* uint32_t: the lists */
    size_t n_words;
    uint32_t unused[ND_POSTING_CLASSES]; /* by size: place + 1 of the first list given back */
    size_t count;                        /* numbers in all */
};

void nd_postings_release(struct nd_postings *p);
size_t nd_postings_bytes(const struct nd_postings *p);
/* Forget everything and keep the memory. */
void nd_postings_clear(struct nd_postings *p);

/* Add a number under a value, once, unless `room` numbers stand there; *n: how many did.  False: out
 * of memory, nothing changed. */
bool nd_postings_add(struct nd_postings *p, uint32_t value, uint32_t number, uint32_t room,
                     uint32_t *n);
/* Nothing where it does not stand there. */
void nd_postings_remove(struct nd_postings *p, uint32_t value, uint32_t number);

/* The numbers under a value, valid until the next change. */
struct nd_posting {
    const uint32_t *number;
    uint32_t n;
};
struct nd_posting nd_postings_find(const struct nd_postings *p, uint32_t value);
/* Have what that reads first brought into the processor's caches. */
void nd_postings_prefetch(const struct nd_postings *p, uint32_t value);

#endif
