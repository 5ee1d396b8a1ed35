/* hamming_filter.h - a set of 64-bit queries that few fingerprints of a stream get past */
#ifndef ND_INDEX_HAMMING_FILTER_H
#define ND_INDEX_HAMMING_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "index/hamming_code.h"
#include "index/hamming_lines.h"
#include "simd/filter_kernels.h"

/*
 * Of at most 3 wrong bits one half of 32 has at most 1.  So a fingerprint within the distance of a
 * query has a half that lies in the ball around the query's: of radius 1, or 0 for a distance of 1
 * at most.  A half's place is its bucket in the perfect code and its bit 31; a ball meets at most
 * 17 of the 2^27 places.  For each half there is
 *
 *     set    a bit for every place: whether a ball meets it.  16 MB, so it stays in a cache that
 *            cores share
 *     table  for the few that pass, lines of up to 7 slots: the other half of a query and its
 *            number, at each place that its ball meets.  One look at one line tells all.
 *
 * For very many queries the table would grow too large: then the set has a bit for every value of a
 * half (512 MB), there is no table, and who passes is looked for in an index of the queries.  So
 * are those whose line is crowded, by queries of which very many share a half.
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
    bool has_crowds;     /* an index of the queries is needed */
    struct nd_hamming_code code;
    struct nd_filter_code kernel_code;
    struct nd_hamming_filter_half half[2];
    struct nd_filter_query *query; /* NULL: no tables */
};

/* The most at a time; and in a main line the word that says whether its place is crowded. */
enum { ND_FILTER_BLOCK = 4096, ND_FILTER_CROWDED = 14 };

/* Places are spread, so that queries alike in their upper bits do not share lines. */
static inline size_t nd_filter_bucket(const struct nd_hamming_lines *table, uint32_t place)
{
    uint32_t hash = place * UINT32_C(0x9E3779B1);

    return (size_t)(((uint64_t)hash * table->n_main) >> 32);
}

/* Of one block: what was met, and the numbers of those that must ask the index, ascending. */
struct nd_hamming_filtered {
    struct nd_hamming_matches matches; /* query: the fingerprint's number; id: the query's */
    uint32_t ask[ND_FILTER_BLOCK];
    size_t n_ask;
};

/* More than this, and tables would take a gigabyte; sets of 2^32 bits take just that. */
#define ND_FILTER_FULL_QUERIES ((size_t)1 << 21)

/* `full`: with a bit for every value and no tables.  False: out of memory.  To be released in
 * either case. */
bool nd_hamming_filter_make(struct nd_hamming_filter *f, const uint64_t *queries, size_t n,
                            unsigned distance, bool full);
void nd_hamming_filter_release(struct nd_hamming_filter *f);

/*
 * What n <= ND_FILTER_BLOCK fingerprints meet; out->matches is emptied first, and left out of
 * order. Nothing is in it for those in out->ask.  False: out of memory.
 */
bool nd_hamming_filter_block(const struct nd_hamming_filter *f, const uint64_t *x, size_t n,
                             struct nd_hamming_filtered *out);

#endif
