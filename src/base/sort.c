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

/* Which of 2^bits digits a value has. */
struct digit {
    unsigned shift, bits;
};

static size_t digit_of(const struct digit *d, uint64_t value)
{
    return value >> d->shift & ((UINT64_C(1) << d->bits) - 1);
}

/* Move entries to `to` in the order of a digit, stable. */
static void move_by_digit(const struct nd_numbered_value *from, struct nd_numbered_value *to,
                          size_t n, const struct digit *d, uint32_t *at)
{
    uint32_t sum = 0;

    memset(at, 0, sizeof *at << d->bits);
    for (size_t i = 0; i < n; i++)
        at[digit_of(d, from[i].value)]++;
    for (size_t k = 0; k < (size_t)1 << d->bits; k++) {
        uint32_t count = at[k];

        at[k] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[digit_of(d, from[i].value)]++] = from[i];
}

static void insert_each_numbered(struct nd_numbered_value *entry, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct nd_numbered_value e = entry[i];
        size_t at = i;

        for (; at > 0 && entry[at - 1].value > e.value; at--)
            entry[at] = entry[at - 1];
        entry[at] = e;
    }
}

/* The bits in which values differ. */
static uint64_t differing(const struct nd_numbered_value *entry, size_t n)
{
    uint64_t bits = 0;

    for (size_t i = 1; i < n; i++)
        bits |= entry[i].value ^ entry[0].value;
    return bits;
}

/*
 * Move entries in the order of the highest of the bits that differ, at most so many that hashes which
 * agree in them are few.  Returns the lower bits, which may be out of order.  The two arrays are
 * exchanged as often as needed.
 */
static unsigned sort_high_bits(struct nd_numbered_value **entry, struct nd_numbered_value **other,
                               size_t n)
{
    uint32_t at[1 << MOST_LOG2];
    uint64_t bits = differing(*entry, n);
    unsigned width = bits ? bits_of(bits) : 0, most = bits_of(n) - 2;
    unsigned wanted = most < width ? most : width, done = 0;

    for (unsigned left = (wanted + MOST_LOG2 - 1) / MOST_LOG2; left > 0; left--) {
        const struct digit d = {width - wanted + done, (wanted - done) / left};
        struct nd_numbered_value *moved = *other;

        move_by_digit(*entry, moved, n, &d, at);
        done += d.bits;
        *other = *entry;
        *entry = moved;
    }
    return width - wanted;
}

static void sort_where_it_stands(struct nd_numbered_value *entry, struct nd_numbered_value *scratch,
                                 size_t n);

/* Sort by the lower bits what agrees in those above. */
static void sort_low_bits(struct nd_numbered_value *entry, struct nd_numbered_value *scratch,
                          size_t n, unsigned low)
{
    for (size_t i = 0, end; low && i < n; i = end) {
        for (end = i + 1; end < n && entry[end].value >> low == entry[i].value >> low; end++)
            ;
        if (end - i > 1)
            sort_where_it_stands(entry + i, scratch + i, end - i);
    }
}

static void sort_where_it_stands(struct nd_numbered_value *entry, struct nd_numbered_value *scratch,
                                 size_t n)
{
    struct nd_numbered_value *from = entry, *to = scratch;
    unsigned low;

    if (n <= FEW) {
        insert_each_numbered(entry, n);
        return;
    }
    low = sort_high_bits(&from, &to, n);
    if (from != entry)
        memcpy(entry, from, n * sizeof *entry);
    sort_low_bits(entry, scratch, n, low);
}

/* A radix sort from the highest bits on: each pass is stable, and most values differ in the bits of
 * the first two or three. */
void nd_sort_numbered(struct nd_numbered_value **entry, struct nd_numbered_value **other, size_t n)
{
    unsigned low;

    if (n <= FEW) {
        insert_each_numbered(*entry, n);
        return;
    }
    low = sort_high_bits(entry, other, n);
    sort_low_bits(*entry, *other, n, low);
}
