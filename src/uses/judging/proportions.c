/* proportions.c - a share of a population of which some members were judged, and its interval */
#include "uses/judging/proportions.h"

#include <math.h>

/* The 97.5 percent point of the normal distribution. */
#define WILSON_Z 1.959963984540054

void nd_wilson(double same, double judged, double *low, double *high)
{
    const double p = same / judged, square = WILSON_Z * WILSON_Z / judged,
                 middle = (p + square / 2) / (1 + square),
                 half = WILSON_Z * sqrt(p * (1 - p) / judged + square / judged / 4) / (1 + square);

    *low = fmax(0, middle - half);
    *high = fmin(1, middle + half);
}

struct nd_rated nd_share_plain(const struct nd_judged_stratum *s, size_t n)
{
    struct nd_rated out = {NAN, NAN, NAN};
    double same = 0, judged = 0;

    for (size_t i = 0; i < n; i++) {
        same += (double)s[i].same;
        judged += (double)s[i].judged;
    }
    if (judged > 0) {
        out.value = same / judged;
        nd_wilson(same, judged, &out.low, &out.high);
    }
    return out;
}

/* The sum over strata of a weight times the share that is the same, and its interval. */
struct sum {
    double value, below, above; /* squares of the distances to the ends */
};

static void add(struct sum *sum, double weight, const struct nd_judged_stratum *s)
{
    const double p = (double)s->same / (double)s->judged,
                 rest = s->size > 1 && s->judged < s->size
                            ? (double)(s->size - s->judged) / (double)(s->size - 1)
                            : 0;
    double low, high, below, above;

    nd_wilson((double)s->same, (double)s->judged, &low, &high);
    below = weight * weight * (p - low) * (p - low) * rest;
    above = weight * weight * (high - p) * (high - p) * rest;
    sum->value += weight * p;
    sum->below += weight < 0 ? above : below;
    sum->above += weight < 0 ? below : above;
}

/* False: a stratum has no judged pair. */
static bool all_judged(const struct nd_judged_stratum *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].size && !s[i].judged)
            return false;
    return n > 0;
}

struct nd_rated nd_share_weighted(const struct nd_judged_stratum *s, size_t n)
{
    struct sum sum = {0, 0, 0};
    double size = 0;

    for (size_t i = 0; i < n; i++)
        size += (double)s[i].size;
    if (!all_judged(s, n) || !(size > 0))
        return (struct nd_rated){NAN, NAN, NAN};
    for (size_t i = 0; i < n; i++)
        if (s[i].size)
            add(&sum, (double)s[i].size / size, &s[i]);
    return (struct nd_rated){sum.value, fmax(0, sum.value - sqrt(sum.below)),
                             fmin(1, sum.value + sqrt(sum.above))};
}

static struct sum balance(const struct nd_judged_stratum *s, size_t n, double recall)
{
    struct sum sum = {0, 0, 0};

    for (size_t i = 0; i < n; i++)
        if (s[i].size)
            add(&sum, (double)s[i].size * (s[i].is_listed ? 1 - recall : -recall), &s[i]);
    return sum;
}

/* Find by bisection where an end of the balance crosses 0 as recall goes from 0 to 1. */
static double cross(const struct nd_judged_stratum *s, size_t n, bool is_low)
{
    double from = 0, to = 1;

    for (unsigned i = 0; i < 60; i++) {
        const double middle = (from + to) / 2;
        const struct sum sum = balance(s, n, middle);
        const double end = is_low ? sum.value - sqrt(sum.below) : sum.value + sqrt(sum.above);

        if (end > 0)
            from = middle;
        else
            to = middle;
    }
    return (from + to) / 2;
}

struct nd_rated nd_share_recall(const struct nd_judged_stratum *s, size_t n)
{
    double listed = 0, missed = 0;
    bool has_misses = false;

    for (size_t i = 0; i < n && all_judged(s, n); i++) {
        const double same =
            s[i].size ? (double)s[i].size * (double)s[i].same / (double)s[i].judged : 0;

        has_misses |= !s[i].is_listed;
        if (s[i].is_listed)
            listed += same;
        else
            missed += same;
    }
    if (!has_misses || !(listed + missed > 0))
        return (struct nd_rated){NAN, NAN, NAN};
    return (struct nd_rated){listed / (listed + missed), cross(s, n, true), cross(s, n, false)};
}
