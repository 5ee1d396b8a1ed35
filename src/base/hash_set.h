/* hash_set.h - 64-bit hashes seen before, within a memory budget */
#ifndef ND_BASE_HASH_SET_H
#define ND_BASE_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hashes, or other numbers, one after the other.  Starts from zeroes. */
struct nd_hashes {
    uint64_t *item;
    size_t n, capacity;
};

/*
 * Starts from zeroes and `bytes_max`. When the budget is used up, no more hashes are added and
 * is_full is set: from then on the number of hashes found is a lower bound.
 */
struct nd_hash_set {
    uint64_t *slot; /* 0: free */
    size_t slots, count;
    size_t bytes_max;
    bool is_full;
    bool has_no_memory; /* full for lack of memory, not by the budget */
};
void nd_hash_set_release(struct nd_hash_set *s);

/* Prefetch what nd_hash_set_add reads. */
void nd_hash_set_prefetch(const struct nd_hash_set *s, uint64_t hash);

bool nd_hash_set_has(const struct nd_hash_set *s, uint64_t hash);

/* Add a hash. Returns whether it was in the set already. */
bool nd_hash_set_add(struct nd_hash_set *s, uint64_t hash);

#endif
