/* subset.h - sets of small numbers: whether one is part of another */
#ifndef ND_BASE_SUBSET_H
#define ND_BASE_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Check that every number of a is in b.  A set is how many numbers it has, then these, ascending;
 * NULL: it is empty. */
static inline bool nd_is_subset(const uint32_t *a, const uint32_t *b)
{
    uint32_t n_a = a ? a[0] : 0, n_b = b ? b[0] : 0;
    uint32_t i = 0;

    if (a == b)
        return true;
    for (uint32_t k = 0; i < n_a && n_a - i <= n_b - k; k++)
        i += a[i + 1] == b[k + 1];
    return i == n_a;
}

#endif
