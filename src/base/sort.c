/* sort.c - sorting of 64-bit values: into buckets by their place between the least and the greatest
 */
#include "base/sort.h"

#include <string.h>

enum { FEW = 16, MOST_LOG2 = 11 };

static void insert_each(uint64_t *value, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t v = value[i];
        size_t at = i;

        for (; at > 0 && value[at - 1] > v; at--)
            value[at] = value[at - 1];
        value[at] = v;
    }
}

static unsigned bits_of(uint64_t x)
{
    return 64 - (unsigned)__builtin_clzll(x | 1);
}

/* Buckets that divide a range of values: the bucket of a value is (value - least) >> shift. */
struct buckets {
    uint64_t least;
    unsigned shift, log2;
    uint32_t end[1 << MOST_LOG2]; /* end of each; before it is filled, its begin */
};

/*
 * Count the values in each bucket; *most is the largest count. Returns the number of buckets; 0:
 * all values are equal.
 */
static uint32_t measure(struct buckets *b, const uint64_t *value, size_t n)
{
    uint64_t least = UINT64_MAX, greatest = 0;
    uint32_t sum = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        least = value[i] < least ? value[i] : least;
        greatest = value[i] > greatest ? value[i] : greatest;
    }
    if (least == greatest)
        return 0;
    b->log2 = bits_of(n) < MOST_LOG2 ? bits_of(n) : MOST_LOG2;
    b->shift = bits_of(greatest - least) > b->log2 ? bits_of(greatest - least) - b->log2 : 0;
    b->least = least;
    memset(b->end, 0, sizeof *b->end << b->log2);
    for (size_t i = 0; i < n; i++)
        b->end[(value[i] - least) >> b->shift]++;
    for (size_t k = 0; k < (size_t)1 << b->log2; k++) {
        uint32_t count = b->end[k];

        b->end[k] = sum;
        sum += count;
        most = count > most ? count : most;
    }
    return most;
}

/*
 * Hashes fill about one bucket per value evenly, so few are out of order and none is far from its
 * place. A bucket that gets many values is sorted by itself first: its range is at least 4 bits
 * narrower, so there are at most 16 levels of a few KB each.
 */
void nd_sort_values(uint64_t *value, size_t n, uint64_t *scratch)
{
    struct buckets b;
    uint32_t most;

    if (n <= FEW) {
        insert_each(value, n);
        return;
    }
    most = measure(&b, value, n);
    if (most == 0)
        return;
    for (size_t i = 0; i < n; i++)
        scratch[b.end[(value[i] - b.least) >> b.shift]++] = value[i];
    memcpy(value, scratch, n * sizeof *value);
    if (b.shift == 0)
        return;
    for (size_t k = 0, from = 0; most > FEW && k < (size_t)1 << b.log2; from = b.end[k++])
        if (b.end[k] - from > FEW)
            nd_sort_values(value + from, b.end[k] - from, scratch + from);
    insert_each(value, n);
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

/*
 * A radix sort by bytes from the lowest, each pass stable; a byte that all values have in common
 * needs no pass.
 */
void nd_sort_numbered(struct nd_numbered_value **entry, struct nd_numbered_value **other, size_t n)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const struct nd_numbered_value *from = *entry;
        struct nd_numbered_value *to = *other;
        size_t count[256] = {0}, sum = 0;

        for (size_t i = 0; i < n; i++)
            count[from[i].value >> shift & 255]++;
        if (n == 0 || count[from[0].value >> shift & 255] == n)
            continue;
        for (int b = 0; b < 256; b++) {
            size_t here = count[b];

            count[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[from[i].value >> shift & 255]++] = from[i];
        *other = *entry;
        *entry = to;
    }
}
