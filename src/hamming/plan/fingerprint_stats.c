/* fingerprint_stats.c - how a set of fingerprints is distributed
 *
 * Predictions take fingerprints to be uniform; this shows how far a set is from it.
 */
#include <neardup/hamming_stats.h>

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/system/c_functions.h"
#include "hamming/plan/plan_checks.h"

struct set {
    const uint64_t *row;
    size_t words;
};

static const uint64_t *row_of(const struct set *set, const struct nd_numbered_value *entry)
{
    return set->row + entry->number * set->words;
}

/* Compare as numbers, from the highest word down. */
static int by_row(const void *a, const void *b, void *context)
{
    const struct set *set = context;
    const uint64_t *x = row_of(set, a), *y = row_of(set, b);

    for (size_t w = set->words; w-- > 0;)
        if (x[w] != y[w])
            return x[w] < y[w] ? -1 : 1;
    return 0;
}

/* The highest 64 bits, or all there are in the highest places. */
static uint64_t highest_bits(const uint64_t *row, unsigned bits)
{
    size_t last = nd_hamming_words(bits) - 1;
    unsigned over = bits % 64;

    if (over == 0)
        return row[last];
    return row[last] << (64 - over) | (last ? row[last - 1] >> over : 0);
}

/* The place of the highest bit in which two differ; -1: none. */
static int leading_place(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = words; w-- > 0;)
        if (a[w] != b[w])
            return (int)(64 * w) + 63 - __builtin_clzll(a[w] ^ b[w]);
    return -1;
}

static void count_all(struct nd_hamming_stats *s, struct set *set, struct nd_numbered_value *entry,
                      struct nd_numbered_value *other)
{
    for (size_t i = 0; i < s->count; i++) {
        uint64_t high = highest_bits(set->row + i * set->words, s->bits);

        entry[i] = (struct nd_numbered_value){high, (uint32_t)i, 0};
        s->bucket[(uint64_t)((unsigned __int128)high * s->buckets >> 64)]++;
    }
    nd_sort_numbered(&entry, &other, s->count);
    for (size_t i = 0, end; set->words > 1 && i < s->count; i = end) {
        for (end = i + 1; end < s->count && entry[end].value == entry[i].value; end++)
            ;
        if (end - i > 1)
            nd_sort_with(entry + i, end - i, sizeof *entry, by_row, set);
    }
    for (size_t i = 1; i < s->count; i++) {
        int place = leading_place(row_of(set, &entry[i - 1]), row_of(set, &entry[i]), set->words);

        if (place < 0)
            s->equal++;
        else
            s->leading[place]++;
    }
    s->distinct = s->count - s->equal;
}

enum nd_status nd_hamming_stats_make(const uint64_t *fingerprints, size_t n, unsigned bits,
                                     unsigned buckets, struct nd_hamming_stats *stats,
                                     struct nd_error *err)
{
    const struct nd_hamming_problem problem = {bits, 0, n};
    struct set set = {fingerprints, nd_hamming_words(bits)};
    enum nd_status status = nd_hamming_problem_check(&problem, err);
    struct nd_numbered_value *entry, *other;
    size_t bytes = n * sizeof *entry;

    if (status == ND_OK)
        status = nd_hamming_check_bits(fingerprints, n, bits, err);
    if (status == ND_OK && !stats)
        status = nd_fail(err, ND_EINVAL, "no place for the figures is given");
    if (status != ND_OK)
        return status;
    if (buckets < 2 || buckets > ND_HAMMING_BUCKETS_MAX)
        return nd_fail(err, ND_EINVAL, "%u buckets: there must be from 2 to %u", buckets,
                       ND_HAMMING_BUCKETS_MAX);
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "%zu fingerprints are too many: at most 2^32 - 1", n);
    entry = nd_table_alloc(bytes);
    other = nd_table_alloc(bytes);
    if (entry && other) {
        *stats = (struct nd_hamming_stats){.count = n, .bits = bits, .buckets = buckets};
        count_all(stats, &set, entry, other);
    } else {
        status = nd_fail(err, ND_ENOMEM, "out of memory for %zu fingerprints", n);
    }
    nd_table_free(entry, bytes);
    nd_table_free(other, bytes);
    return status;
}

/*
 * Two neighbours in sorted order differ first at a place exactly where fingerprints with the same
 * prefix of d bits above it have both a 0 and a 1 there.  Each of the two has the chance
 * p = 2^-(d + 1).  Of n uniform fingerprints, none goes on with a 0 with the chance (1 - p)^n, the
 * same of a 1, and neither with (1 - 2p)^n; so both occur with 1 - 2 (1 - p)^n + (1 - 2p)^n.  For
 * small p this difference would lose all its digits; it is then n (n - 1) p^2 or nearly.
 */
double nd_hamming_stats_uniform(const struct nd_hamming_stats *stats, unsigned place)
{
    double n = (double)stats->distinct, depth = (double)(stats->bits - 1 - place);
    double p = exp2(-depth - 1), both;

    if (n < 2 || place >= stats->bits)
        return 0;
    if (n * p < 1e-5)
        both = n * (n - 1) * p * p;
    else
        both = 1 - 2 * exp(n * log1p(-p)) + (2 * p < 1 ? exp(n * log1p(-2 * p)) : 0);
    return both * exp2(depth);
}
