/* design.h - the choice of the tables that a join goes through */
#ifndef ND_HAMMING_JOIN_DESIGN_H
#define ND_HAMMING_JOIN_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The keys of the tables that a join goes through, one after the other. */
struct nd_join_design {
    unsigned tables;
    uint64_t *keys; /* `words` words each, from malloc */
};

/*
 * The cost, in nanoseconds a fingerprint, of a design for n fingerprints within a distance: so many
 * tables, whose keys have at least key_bits.  keys: theirs, of one word each; NULL: they have more
 * words, or there are many.  The first is the cost of a join, the second that of a bucket of an
 * index that is to be refined (memory/tables.c).
 */
typedef double nd_join_cost_of(size_t n, unsigned distance, unsigned key_bits, unsigned tables,
                               const uint64_t *keys);
nd_join_cost_of nd_join_cost, nd_join_inner_cost;

/*
 * Find the cheapest design for n fingerprints within the distance, of keys that use the bits of
 * `open` only.  A design of no tables means that comparing all with all is cheaper, or that no
 * design exists.  False: out of memory.
 */
bool nd_join_design(struct nd_join_design *design, const uint64_t *open, size_t words,
                    unsigned distance, size_t n, nd_join_cost_of *cost_of);

/*
 * Find the first table that is not done and, of keys of one word, those that have at least `shared`
 * bits in common with it and with one another: they may go through one partition by those bits.
 * Writes their numbers and the mask of the common bits, and returns how many they are.
 */
unsigned nd_join_group(const uint64_t *keys, unsigned tables, size_t words, unsigned shared,
                       bool *done, unsigned *group, uint64_t *mask);

#endif
