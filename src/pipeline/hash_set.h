/* hash_set.h - 64-bit hashes seen before, within a memory budget */
#ifndef ND_PIPELINE_HASH_SET_H
#define ND_PIPELINE_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Start from zeroes and `bytes_max`.  Once the budget is reached no more hashes are taken in, and
 * is_full says so: what is found from then on is a lower bound.
 */
struct nd_hash_set {
    uint64_t *slot; /* 0: free */
    size_t slots, count;
    size_t bytes_max;
    bool is_full;
    bool has_no_memory; /* is_full, and not by the budget: the same run may find more next time */
};
void nd_hash_set_release(struct nd_hash_set *s);

/* Have what nd_hash_set_add reads brought into the processor's caches. */
void nd_hash_set_expect(const struct nd_hash_set *s, uint64_t hash);

bool nd_hash_set_has(const struct nd_hash_set *s, uint64_t hash);

/* Whether the hash was there; it is from now on. */
bool nd_hash_set_add(struct nd_hash_set *s, uint64_t hash);

#endif
