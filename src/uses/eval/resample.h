/* resample.h - figures as quotients of sums over components, and intervals for them */
#ifndef ND_USES_EVAL_RESAMPLE_H
#define ND_USES_EVAL_RESAMPLE_H

#include "uses/eval/scores.h"

enum nd_rate {
    ND_RATE_PRECISION,
    ND_RATE_RECALL,
    ND_RATE_F1,
    ND_RATE_QUERY_PRECISION, /* the means over documents, */
    ND_RATE_QUERY_RECALL,
    ND_RATE_QUERY_F1, /* and their harmonic mean */
    ND_RATE_SET_PRECISION,
    ND_RATE_SET_RECALL,
    ND_RATE_SET_F1,
    ND_RATE_BCUBED_PRECISION,
    ND_RATE_BCUBED_RECALL,
    ND_RATE_BCUBED_F1,
    ND_RATES
};

/* A figure and its interval of 95 percent.  NAN: there is none. */
struct nd_rated {
    double value, low, high;
};

/* The figure of these sums; NAN where its denominator is 0. */
double nd_rate_of(enum nd_rate measure, const struct nd_component *sum);

/* Why there are no intervals. */
enum nd_no_interval { ND_INTERVALS, ND_NOT_ASKED, ND_FEW_COMPONENTS, ND_ONE_COMPONENT };
enum { ND_COMPONENTS_MIN = 20 };

/*
 * All figures. Intervals: as many components as there are are drawn with replacement, `times`
 * times; a figure lies between what the 2.5 percent smallest and largest values leave (Efron 1979).
 * Pairs are never drawn one by one, since those of a component depend on one another. ND_ENOMEM.
 */
enum nd_status nd_resample(const struct nd_scores *t, unsigned times, uint64_t seed,
                           struct nd_rated out[ND_RATES], enum nd_no_interval *why,
                           struct nd_error *err);

#endif
