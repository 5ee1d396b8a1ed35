/* proportions.h - a share of a population of which some members were judged, and its interval */
#ifndef ND_USES_JUDGING_PROPORTIONS_H
#define ND_USES_JUDGING_PROPORTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uses/eval/resample.h"

/* A stratum: of `size` pairs `judged` were drawn and judged, and `same` of them are the same. */
struct nd_judged_stratum {
    uint64_t size, judged, same;
    bool is_listed; /* its pairs are those of the result, not near misses */
};

/* The interval of Wilson (1927) for same / judged, at 95 percent.  judged > 0. */
void nd_wilson(double same, double judged, double *low, double *high);

/* The share in all judged pairs, without weights, as papers print it. NAN: none was judged. */
struct nd_rated nd_share_plain(const struct nd_judged_stratum *s, size_t n);
/*
 * The share in the population: the mean over strata, weighted by their sizes. The ends are as far
 * away as the root of the sum of squares of the weighted distances of each stratum's ends (Zou and
 * Donner 2008), which are those of Wilson, times the root of (size - judged) / (size - 1), since what
 * is drawn is not put back. NAN: a stratum has no judged pair.
 */
struct nd_rated nd_share_weighted(const struct nd_judged_stratum *s, size_t n);
/*
 * Recall among all strata: the share of pairs that are the same which is in listed ones. Its ends are
 * the shares r for which 0 is an end of the interval, as above, of (1 - r) times the pairs that are
 * the same in listed strata less r times those in the others. NAN: a stratum has no judged pair,
 * none is a near miss, or no pair is the same.
 */
struct nd_rated nd_share_recall(const struct nd_judged_stratum *s, size_t n);

#endif
