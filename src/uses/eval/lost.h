/* lost.h - word runs of removed documents that no kept one has, in bounded memory */
#ifndef ND_USES_EVAL_LOST_H
#define ND_USES_EVAL_LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Distinct hashes of runs, each with who has it. Of so many that the table would be too large, a
 * sample is kept: hashes whose first `shift` bits are 0, and the numbers are estimates. Which they
 * are does not depend on the order. Starts from zeroes and `most`, the greatest number to keep.
 */
struct nd_lost {
    uint64_t
        *slot; /* a hash, its last two bits replaced: 1 a kept document has it, 2 a removed one */
    size_t slots, count, most;
    unsigned shift;
    uint64_t *sieve; /* once it is sealed: bits, of which that of every hash is set */
};
void nd_lost_release(struct nd_lost *l);

/* A document has the run.  False: out of memory. */
bool nd_lost_add(struct nd_lost *l, uint64_t hash, bool is_kept);
/* Add what another one has, which has the same `most`.  False: out of memory. */
bool nd_lost_join(struct nd_lost *l, const struct nd_lost *other);

/*
 * If all removed documents come before the kept ones, only their runs need be in the table, so that
 * many more of them are: add those; seal it; then give the runs of kept documents, by any thread.
 */
bool nd_lost_add_removed(struct nd_lost *l, const uint64_t *hash, size_t n);
bool nd_lost_seal(struct nd_lost *l);
void nd_lost_meet_kept(struct nd_lost *l, const uint64_t *hash, size_t n);
/* Runs of removed documents, and those of them that no kept one has. */
void nd_lost_count(const struct nd_lost *l, uint64_t *removed, uint64_t *lost);

#endif
