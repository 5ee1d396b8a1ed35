/* rarity.h - which of a set's table keys are the rarest, by an order that all sets share */
#ifndef ND_INDEX_RARITY_H
#define ND_INDEX_RARITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Keys are counted as they come, but ordered by the counts of the moment when the order was last
 * fixed: so that a set listed then and one looked up now agree on it.  Starts from zeroes.
 */
struct nd_rarity {
    uint16_t *seen;         /* how often a key was counted, at most, by its hash */
    uint16_t *fixed;        /* the same when the order was fixed; NULL: not yet, all are alike */
    size_t n_seen, n_fixed; /* powers of two */
};

void nd_rarity_release(struct nd_rarity *r);
size_t nd_rarity_bytes(const struct nd_rarity *r);

/* Forget all counts and the order; the memory is kept. */
void nd_rarity_clear(struct nd_rarity *r);

/* Count n keys; at least half as many places as `all` keys there are, which occur more than once as
 * a rule.  False: out of memory. */
bool nd_rarity_count(struct nd_rarity *r, const uint64_t *key, size_t n, size_t all);

/* Copy the order that the counts give; nd_rarity_fix adopts it: sets must be listed anew.  NULL:
 * out of memory. */
uint16_t *nd_rarity_copy(const struct nd_rarity *r);
void nd_rarity_fix(struct nd_rarity *r, uint16_t *copy);

/* Put the `take` rarest of n keys to `out`, and those that are as rare as the last of them, up to
 * chance none; `out` has room for n.  How many these are: -1, out of memory. */
int64_t nd_rarity_choose(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                         uint64_t *out);

#endif
