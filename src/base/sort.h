/* sort.h - sorting of 64-bit values, such as hashes */
#ifndef ND_BASE_SORT_H
#define ND_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending; scratch holds n too.  n is below 2^32. */
void nd_sort_values(uint64_t *value, size_t n, uint64_t *scratch);

/* Ascending and each once; returns how many are left. */
size_t nd_sort_distinct(uint64_t *value, size_t n, uint64_t *scratch);

#endif
