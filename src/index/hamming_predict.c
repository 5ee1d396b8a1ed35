/* hamming_predict.c - what a design should cost: candidates, lines, bytes, seconds */
#include <math.h>

#include "index/hamming_plan.h"

double nd_hamming_ball_share(unsigned bits, unsigned distance)
{
    double ways = 1, sum = 1;

    for (unsigned i = 1; i <= distance && i <= bits; i++) {
        ways *= (double)(bits - i + 1) / i;
        sum += ways;
    }
    return ldexp(sum, -(int)bits);
}

double nd_hamming_chance_degree(const struct nd_hamming_problem *problem)
{
    double others = problem->count ? (double)(problem->count - 1) : 0;

    return others * nd_hamming_ball_share(problem->bits, problem->distance);
}

double nd_hamming_chance_pairs(const struct nd_hamming_problem *problem)
{
    return 0.5 * (double)problem->count * nd_hamming_chance_degree(problem);
}

struct nd_hamming_machine nd_hamming_machine_default(void)
{
    return (struct nd_hamming_machine){
        .line_ns = 14,
        .cached_ns = 4,
        .compare_ns = 0.5,
        .step_ns = 4,
        .insert_ns = 30,
        .cache_bytes = 32 << 20,
    };
}

static double line_seconds(const struct nd_hamming_machine *m, double bytes)
{
    double share = bytes > m->cache_bytes ? m->cache_bytes / bytes : 1;

    return 1e-9 * (share * m->cached_ns + (1 - share) * m->line_ns);
}

static double rows_bytes(const struct nd_hamming_plan *p)
{
    return (double)p->problem.count * (8.0 * (double)nd_hamming_words(p->problem.bits) + 8);
}

static void predict_shards(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                           double share)
{
    double n = (double)p->problem.count, words = (double)nd_hamming_words(p->problem.bits);

    p->candidates = n * share;
    p->lines = p->family == ND_HAMMING_POPCOUNT ? 2 * p->problem.distance + 1 : 1;
    p->bytes = rows_bytes(p) * 1.06;
    p->build_seconds = 1e-9 * n * (m->cached_ns + m->step_ns);
    p->query_seconds = 1e-9 * n * share * words * m->compare_ns + p->lines * 1e-9 * m->line_ns;
}

/* The share of uniform fingerprints whose number of ones is within k of that of another one. */
static double popcount_share(unsigned bits, unsigned distance)
{
    double share = 0, half = lgamma(bits + 1.0) - bits * log(2);

    for (unsigned i = 0; i <= bits; i++) {
        double of_i = exp(half - lgamma(i + 1.0) - lgamma(bits - i + 1.0));
        unsigned first = i > distance ? i - distance : 0;

        for (unsigned j = first; j <= bits && j <= i + distance; j++)
            share += of_i * exp(half - lgamma(j + 1.0) - lgamma(bits - j + 1.0));
    }
    return share < 1 ? share : 1;
}

static void predict_tables(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                           const uint64_t *keys)
{
    const double slots = 7;
    size_t words = nd_hamming_words(p->problem.bits);
    double n = (double)p->problem.count, each = n / ND_HAMMING_FILL_TABLES * 64;

    p->candidates = 0;
    p->lines = 0;
    for (unsigned t = 0; t < p->tables; t++) {
        unsigned bits = 0;
        double met;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)__builtin_popcountll(keys[t * words + w]);
        met = ldexp(n, -(int)bits);
        p->candidates += met;
        /* A key with many fingerprints has a chain of lines, else its line is shared with others.
         */
        p->lines += met > slots ? 1 + met / slots : 1 + 0.1;
    }
    /* A candidate that passes the filter of 32 bits costs a look at its row. */
    p->lines += p->candidates * nd_hamming_ball_share(32, p->problem.distance);
    p->bytes = rows_bytes(p) + p->tables * each * 1.07;
    p->build_seconds = 1e-9 * n * p->tables * m->insert_ns;
    p->query_seconds = p->lines * line_seconds(m, p->bytes) + 1e-9 * p->tables * m->step_ns;
}

/* Lines of a bucket: one and a tenth, or as many as its fingerprints take beyond 2^26 buckets. */
static double chain(double n, double fill, double slots)
{
    const double buckets = (double)(1 << 26);

    return n / fill <= buckets ? 1.1 : 1.1 + n / buckets / slots;
}

static void predict_halves(const struct nd_hamming_machine *m, struct nd_hamming_plan *p)
{
    const double least = 2.0 * 64 * (1 << 17), n = (double)p->problem.count;
    double look_ups = p->problem.distance < 2 ? 1 : 16;
    double first = chain(n, ND_HAMMING_FILL_IDS, 6), second = chain(n, ND_HAMMING_FILL_OTHER, 10);

    p->lines = look_ups * (first + second);
    p->candidates = look_ups * (first * ND_HAMMING_FILL_IDS + second * ND_HAMMING_FILL_OTHER);
    p->bytes = n * 64 * (1 / ND_HAMMING_FILL_IDS + 1 / ND_HAMMING_FILL_OTHER) * 1.08;
    p->bytes = p->bytes > least ? p->bytes : least;
    p->build_seconds = 1e-9 * n * 2 * m->insert_ns;
    p->query_seconds = p->lines * line_seconds(m, p->bytes) + 1e-9 * p->lines * m->step_ns;
}

void nd_hamming_predict(const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                        const uint64_t *keys)
{
    const struct nd_hamming_problem *problem = &plan->problem;

    switch (plan->family) {
    case ND_HAMMING_SCAN: predict_shards(machine, plan, 1); break;
    case ND_HAMMING_POPCOUNT:
        predict_shards(machine, plan, popcount_share(problem->bits, problem->distance));
        break;
    case ND_HAMMING_HALVES: predict_halves(machine, plan); break;
    case ND_HAMMING_BLOCKS:
    case ND_HAMMING_COVERING: predict_tables(machine, plan, keys); break;
    }
}
