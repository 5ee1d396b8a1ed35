/* resample.c - figures as quotients of sums over components, and intervals for them */
#include "uses/eval/resample.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"

static double quotient(double over, double under)
{
    return under > 0 ? over / under : NAN;
}

/* The harmonic mean of two rates; 0 if both are. */
static double harmonic(double a, double b)
{
    return a + b > 0 ? 2 * a * b / (a + b) : a + b;
}

static double of_pairs(enum nd_rate m, const struct nd_pair_counts *x)
{
    return m == ND_RATE_PRECISION ? quotient((double)x->right, (double)x->listed)
           : m == ND_RATE_RECALL
               ? quotient((double)x->right, (double)x->same)
               : quotient(2 * (double)x->right, (double)x->listed + (double)x->same);
}

double nd_rate_of(enum nd_rate m, const struct nd_component *sum)
{
    const double n = (double)sum->documents;

    switch (m) {
    case ND_RATE_PRECISION:
    case ND_RATE_RECALL:
    case ND_RATE_F1: return of_pairs(m, &sum->pairs);
    case ND_RATE_QUERY_PRECISION: return quotient(sum->shares_right, (double)sum->answered);
    case ND_RATE_QUERY_RECALL: return quotient(sum->shares_found, (double)sum->queries);
    case ND_RATE_QUERY_F1:
        return harmonic(quotient(sum->shares_right, (double)sum->answered),
                        quotient(sum->shares_found, (double)sum->queries));
    case ND_RATE_SET_PRECISION: return of_pairs(ND_RATE_PRECISION, &sum->in_sets);
    case ND_RATE_SET_RECALL: return of_pairs(ND_RATE_RECALL, &sum->in_sets);
    case ND_RATE_SET_F1: return of_pairs(ND_RATE_F1, &sum->in_sets);
    case ND_RATE_BCUBED_PRECISION: return quotient(sum->shares_of_set, n);
    case ND_RATE_BCUBED_RECALL: return quotient(sum->shares_of_true, n);
    default:
        return n > 0 ? quotient(2 * sum->shares_of_set * sum->shares_of_true / n,
                                sum->shares_of_set + sum->shares_of_true)
                     : NAN;
    }
}

static bool is_known(const struct nd_scores *t, enum nd_rate m)
{
    if (m >= ND_RATE_BCUBED_PRECISION)
        return t->has_true_sets;
    if (m >= ND_RATE_SET_PRECISION && !t->has_sets)
        return false;
    return t->has_negatives || m == ND_RATE_RECALL || m == ND_RATE_QUERY_RECALL ||
           m == ND_RATE_SET_RECALL;
}

/* The pairs that a component has in the truth, the result, or both. */
static uint64_t pairs_in(const struct nd_component *x)
{
    const uint64_t a = x->pairs.listed + x->pairs.same - x->pairs.right,
                   b = x->in_sets.listed + x->in_sets.same - x->in_sets.right;

    return a > b ? a : b;
}

static enum nd_no_interval find_hindrance(const struct nd_scores *t, unsigned times)
{
    uint64_t sum = 0, most = 0;

    if (!times)
        return ND_NOT_ASKED;
    if (t->n_paired < ND_COMPONENTS_MIN)
        return ND_FEW_COMPONENTS;
    for (size_t i = 0; i < t->n_paired; i++) {
        const uint64_t pairs = pairs_in(&t->component[i]);

        sum += pairs;
        most = pairs > most ? pairs : most;
    }
    return most >= sum - most ? ND_ONE_COMPONENT : ND_INTERVALS;
}

/* Draw as many components as there are.  Those without pairs are a document each, and all alike. */
static struct nd_component draw(const struct nd_scores *t, uint64_t seed, uint64_t time)
{
    const uint64_t stream = nd_mix64(nd_mix64(seed) + time);
    struct nd_component sum = {.documents = 0};
    uint64_t alone = 0;

    for (uint64_t i = 0; i < t->n_components; i++) {
        const uint64_t random = nd_mix64(stream + (i + 1) * UINT64_C(0x9E3779B97F4A7C15));
        const size_t at = (size_t)((unsigned __int128)random * (uint64_t)t->n_components >> 64);

        if (at < t->n_paired)
            nd_component_add(&sum, &t->component[at]);
        else
            alone++;
    }
    sum.documents += alone;
    sum.shares_of_set += (double)alone;
    sum.shares_of_true += (double)alone;
    return sum;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Values without a denominator are left out. */
static void set_interval(double *value, unsigned n, struct nd_rated *out)
{
    unsigned known = 0, beyond;

    for (unsigned i = 0; i < n; i++)
        if (!isnan(value[i]))
            value[known++] = value[i];
    if (!known || isnan(out->value))
        return;
    qsort(value, known, sizeof *value, by_value);
    beyond = (unsigned)((uint64_t)known * 25 / 1000);
    out->low = value[beyond];
    out->high = value[known - 1 - beyond];
}

enum nd_status nd_resample(const struct nd_scores *t, unsigned times, uint64_t seed,
                           struct nd_rated out[ND_RATES], enum nd_no_interval *why,
                           struct nd_error *err)
{
    double *value = NULL;

    *why = find_hindrance(t, times);
    if (*why == ND_INTERVALS) {
        value = calloc((size_t)times * ND_RATES, sizeof *value);
        if (!value)
            return nd_fail(err, ND_ENOMEM, "out of memory for %u resamplings", times);
    }
    for (unsigned i = 0; value && i < times; i++) {
        const struct nd_component sum = draw(t, seed, i);

        for (unsigned m = 0; m < ND_RATES; m++)
            value[(size_t)m * times + i] = nd_rate_of((enum nd_rate)m, &sum);
    }
    for (unsigned m = 0; m < ND_RATES; m++) {
        const bool known = is_known(t, (enum nd_rate)m);

        out[m] = (struct nd_rated){known ? nd_rate_of((enum nd_rate)m, &t->sum) : NAN, NAN, NAN};
        if (known && value)
            set_interval(value + (size_t)m * times, times, &out[m]);
    }
    free(value);
    return ND_OK;
}
