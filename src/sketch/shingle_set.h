/* shingle_set.h - a set of distinct 64-bit hashes: collected once, then asked many times */
#ifndef ND_SKETCH_SHINGLE_SET_H
#define ND_SKETCH_SHINGLE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/*
 * Starts from zeroes.  The table is sized to what is in it, so that a small document costs little
 * to begin and stays in the first-level cache; the memory is kept for the next.
 *
 *     entry  [ . | h1 | h2 | h3 | … ]        distinct values in order of first occurrence, from 1
 *     slot   [ 0 | 2 | 0 | 0 | 1 | 3 | … ]   open addressing: numbers of entries; 0 is free
 *
 * A slot has 16 bits while the entries' numbers fit in them, then 32.  entry[0] is scratch.
 */
struct nd_shingle_set {
    uint64_t *entry;
    const uint64_t *distinct; /* entry + 1: the values alone; NULL before the first */
    size_t count;             /* of distinct values */
    size_t capacity;          /* of entry */
    void *slot;
    size_t n_slots;     /* in use now: a power of two; 0 before the first value */
    size_t slots_bytes; /* allocated */
    unsigned shift;     /* n_slots = 2^(64 - shift) */
    bool wide;
};

void nd_shingle_set_release(struct nd_shingle_set *set);

/* Empty it; the memory stays. */
void nd_shingle_set_clear(struct nd_shingle_set *set);

/* Room for n values in all, so that adding them does not build the table anew. */
bool nd_shingle_set_reserve(struct nd_shingle_set *set, size_t n);

/* Add values that may be in it already.  False: out of memory, the set as it was. */
bool nd_shingle_set_add(struct nd_shingle_set *set, const uint64_t *value, size_t n);

/* Make it hold exactly these.  False: out of memory, the set is empty. */
bool nd_shingle_set_build(struct nd_shingle_set *set, const uint64_t *value, size_t n);

/* nd_shingle_set_build of values that are known to be distinct, which need no search. */
bool nd_shingle_set_build_distinct(struct nd_shingle_set *set, const uint64_t *value, size_t n);

/* count[i] += 1 for each of n values that is distinct[i]; all of them are in the set. */
void nd_shingle_set_count(const struct nd_shingle_set *set, const uint64_t *value, size_t n,
                          uint32_t *count);

#define ND_SHARED_TOO_FEW UINT64_MAX

/*
 * How many of n distinct values are in the set, or ND_SHARED_TOO_FEW as soon as fewer than `need`
 * are certain.  May run in several threads at once.
 */
ND_API uint64_t nd_shingle_set_shared(const struct nd_shingle_set *set, const uint64_t *value,
                                      size_t n, uint64_t need);

#endif
