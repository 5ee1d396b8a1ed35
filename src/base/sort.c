/* sort.c - sorting of 64-bit values: into buckets by their place between the least and the greatest
 */
#include "base/sort.h"

#include <string.h>

enum { FEW = 24, BUCKETS = 256 };

static void sort_few(uint64_t *value, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t v = value[i];
        size_t at = i;

        for (; at > 0 && value[at - 1] > v; at--)
            value[at] = value[at - 1];
        value[at] = v;
    }
}

/* The least shift by which `range` comes below BUCKETS. */
static unsigned shift_for(uint64_t range)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(range | 1);

    return bits > 8 ? bits - 8 : 0;
}

/*
 * Hashes fill the buckets evenly, and those of a document hold a few each.  Values that crowd one
 * bucket are sorted again within its range, which is BUCKETS / 2 times narrower: 10 levels at most.
 */
void nd_sort_values(uint64_t *value, size_t n, uint64_t *scratch)
{
    uint32_t end[BUCKETS] = {0};
    uint64_t least = UINT64_MAX, greatest = 0;
    size_t sum = 0;
    unsigned shift;

    if (n <= FEW) {
        sort_few(value, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        least = value[i] < least ? value[i] : least;
        greatest = value[i] > greatest ? value[i] : greatest;
    }
    if (least == greatest)
        return;
    shift = shift_for(greatest - least);
    for (size_t i = 0; i < n; i++)
        end[(value[i] - least) >> shift]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        uint32_t count = end[b];

        end[b] = (uint32_t)sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        scratch[end[(value[i] - least) >> shift]++] = value[i];
    memcpy(value, scratch, n * sizeof *value);
    if (shift == 0)
        return;
    for (size_t b = 0, from = 0; b < BUCKETS; from = end[b++])
        nd_sort_values(value + from, end[b] - from, scratch + from);
}

size_t nd_sort_distinct(uint64_t *value, size_t n, uint64_t *scratch)
{
    size_t count = 0;

    nd_sort_values(value, n, scratch);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[count - 1])
            value[count++] = value[i];
    return count;
}
