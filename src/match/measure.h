/* measure.h - resemblance, containment and cosine of two sets, compared exactly in integers */
#ifndef ND_MATCH_MEASURE_H
#define ND_MATCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/dedup.h>
#include <neardup/types.h>

/* The words of a measure. */
struct nd_measure_row {
    const char *word; /* in recipes and options: "jaccard" */
    const char *name; /* in summaries and annotations; NULL: nothing is measured */
};

/* Return the row of a measure; NULL: the value is unknown. */
const struct nd_measure_row *nd_measure_row(enum nd_verify verify);

/* Return the word of measure i; NULL beyond the last. */
const char *nd_measure_word(size_t i);

/*
 * A measure as a fraction num / den; the cosine as its square.  Counts are below 2^32, so that
 * cross products fit 128 bits.
 */
struct nd_fraction {
    uint64_t num, den;
};

/* The measure of an overlap, of a document and an earlier one; two empty sets measure 0. */
struct nd_fraction nd_measure(enum nd_verify verify, const struct nd_overlap *overlap);

/* The threshold p/q in the terms of the measure: squared for the cosine. */
struct nd_fraction nd_measure_threshold(enum nd_verify verify, struct nd_ratio threshold);

/* Negative, zero, positive as x is less than, equal to, greater than y. */
static inline int nd_fraction_compare(struct nd_fraction x, struct nd_fraction y)
{
    unsigned __int128 left = (unsigned __int128)x.num * y.den;
    unsigned __int128 right = (unsigned __int128)y.num * x.den;

    return left < right ? -1 : left > right;
}

/*
 * The fewest shared elements with which sets of a and b elements measure at least `bound` (more
 * than it, if `strictly`).  Where even min(a, b) is too few, the result is greater than that.
 */
uint64_t nd_measure_need(enum nd_verify verify, uint64_t a, uint64_t b, struct nd_fraction bound,
                         bool strictly);

/* The counts b with which sets of a and b elements can measure at least `bound`, as far as 32 bits
 * go. */
void nd_measure_range(enum nd_verify verify, uint64_t a, struct nd_fraction bound, uint32_t *least,
                      uint32_t *most);

#endif
