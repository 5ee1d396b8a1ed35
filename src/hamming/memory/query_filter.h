/* query_filter.h - a set of 64-bit queries that few fingerprints of a stream get past */
#ifndef ND_HAMMING_MEMORY_QUERY_FILTER_H
#define ND_HAMMING_MEMORY_QUERY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "hamming/memory/bucket_lines.h"
#include "hamming/memory/code.h"
#include "simd/filter/filter_kernels.h"

/*
 * If at most 3 bits are wrong, one half of 32 has at most 1 of them. So a fingerprint within the
 * distance of a query has a half that lies in the ball around the query's half: of radius 1, or 0
 * for a distance of 1 at most. In an index of the queries, every fingerprint of the stream would
 * read 32 or more lines, and nearly all in vain. So the work is moved to the queries, of which
 * there are fewer: the place of a half is its bucket in the perfect code with its bit 31, one of
 * 2^27, and a query is entered at all of the at most 17 places that its ball meets. For each half
 * there is
 *
 *     set    a bit for every place: whether a ball meets it.  16 MB, so it stays in a cache that
 *            cores share.  A fingerprint looks at one bit.
 *     table  for the few that pass, lines of up to 7 slots (layout ROWS): the other half of a query
 *            and its number, at each place that its ball meets.  One look at one line tells all.
 *
 * The kernels number the bits of a half so that the data are its upper bits.  A sorted stream then
 * goes through the set of one half from end to end.
 *
 * For very many queries the table would grow too large.  Then the set has a bit for every value of
 * a half (512 MB), there is no table, and a fingerprint that passes is looked up in an index of the
 * queries.  So is one whose place overflows, because very many queries share that half.
 */
struct nd_hamming_filter_half {
    uint32_t *set;
    struct nd_hamming_lines table;
};

/* next: the number + 1 of an equal query, the first of them being first; 0: there is none. */
struct nd_filter_query {
    uint64_t value;
    uint32_t next;
};

struct nd_hamming_filter {
    unsigned distance, radius;
    unsigned place_bits; /* 27 or 32; 0: not made */
    bool has_overflow;   /* an index of the queries is needed */
    struct nd_hamming_code code;
    struct nd_filter_code kernel_code;
    struct nd_hamming_filter_half half[2];
    struct nd_filter_query *query; /* NULL: no tables */
};

/* Fingerprints at a time, at most; and the word of a main line that says whether its place
 * overflows. */
enum { ND_FILTER_BLOCK = 4096, ND_FILTER_OVERFLOWS = 14 };

/* Places are hashed, so that queries alike in their upper bits do not share lines. */
static inline size_t nd_filter_bucket(const struct nd_hamming_lines *table, uint32_t place)
{
    uint32_t hash = place * UINT32_C(0x9E3779B1);

    return (size_t)(((uint64_t)hash * table->n_main) >> 32);
}

/* More than this, and tables would take a gigabyte; sets of 2^32 bits take just that. */
#define ND_FILTER_FULL_QUERIES ((size_t)1 << 21)

/* `full`: with a bit for every value and no tables.  False: out of memory.  To be released in
 * either case. */
bool nd_hamming_filter_make(struct nd_hamming_filter *f, const uint64_t *queries, size_t n,
                            unsigned distance, bool full);
void nd_hamming_filter_release(struct nd_hamming_filter *f);

/*
 * Find the matches of n <= ND_FILTER_BLOCK fingerprints. *matches is emptied first, and left out of
 * order: the `query` of a match is the fingerprint's number, its `id` that of the query. The
 * numbers of fingerprints that an index of the queries must answer go to `open`, ascending, with
 * room for n; *matches has nothing for them. False: out of memory.
 */
bool nd_hamming_filter_block(const struct nd_hamming_filter *f, const uint64_t *x, size_t n,
                             struct nd_hamming_matches *matches, uint32_t *open, size_t *n_open);

#endif
