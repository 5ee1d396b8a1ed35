/* sort.h - sorting of 64-bit values, such as hashes */
#ifndef ND_BASE_SORT_H
#define ND_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sort in ascending order; scratch holds n values too. n is below 2^32. */
void nd_sort_values(uint64_t *value, size_t n, uint64_t *scratch);

/* A value and its owner. */
struct nd_numbered_value {
    uint64_t value;
    uint32_t number, unused;
};

/*
 * Sort by value, ascending and stable. The two arrays of n are exchanged as often as needed: *entry
 * is the sorted one.
 */
void nd_sort_numbered(struct nd_numbered_value **entry, struct nd_numbered_value **other, size_t n);

/* Sort in ascending order and remove duplicates; returns how many are left. */
size_t nd_sort_distinct(uint64_t *value, size_t n, uint64_t *scratch);

#endif
