/* predict.c - chance, lengths of chains, random lines
 *
 * The cost of a design is above all how many cache lines a query looks at, and that follows from how
 * long the buckets' chains are.  For uniform fingerprints it can be computed.
 *
 * A table has n entries, 2^bits possible keys and `lines` buckets.  A key has mu = n / 2^bits
 * entries in the mean, a bucket has lambda = 2^bits / lines keys.  Both numbers follow Poisson's
 * law, so a bucket's entries are S = X_1 + ... + X_K, where K is Poisson(lambda) and each X is
 * Poisson(mu).  Entries of one key always share a bucket; that is why S varies more than a Poisson
 * variable of the same mean, and why chains grow where keys are short.
 *
 * p_i, the chance that S = i, comes from the generating functions.  With f_j the chance that X = j,
 *
 *     F(z) = sum f_j z^j,    P(z) = sum p_i z^i = exp(lambda (F(z) - 1)).
 *
 * The derivative is P'(z) = lambda F'(z) P(z).  Compare the coefficients of z^(i - 1):
 *
 *     i p_i = lambda sum over j = 1 … i of (j f_j) p_(i - j),    p_0 = exp(lambda (f_0 - 1)).
 *
 * This is Panjer's recursion for a Poisson number of summands (Panjer 1981).  Of Poisson(mu),
 * j f_j = mu e^-mu mu^(j - 1) / (j - 1)!, and f_0 - 1 = expm1(-mu).
 *
 * A query looks up a given key.  What else is in that key's bucket is distributed like S, whether
 * the key has entries or not, since keys fall independently; so the query meets S + X entries.
 */
#include "hamming/plan/predict.h"

#include <math.h>
#include <stdbool.h>

#include "hamming/plan/plan_checks.h"

double nd_hamming_ball_fraction(unsigned bits, unsigned distance)
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
    double others;

    if (nd_hamming_problem_check(problem, NULL) != ND_OK)
        return (double)NAN;
    others = problem->count ? (double)(problem->count - 1) : 0;
    return others * nd_hamming_ball_fraction(problem->bits, problem->distance);
}

double nd_hamming_chance_pairs(const struct nd_hamming_problem *problem)
{
    double degree = nd_hamming_chance_degree(problem);

    return isnan(degree) ? degree : 0.5 * (double)problem->count * degree;
}

/*
 * Between the sizes that were measured, by the logarithm of the size; beyond the last as it went on
 * to it, for three more doublings.  Never less than at the smallest size.
 */
double nd_hamming_line_seconds(const struct nd_hamming_machine *m, double bytes)
{
    static const double measured[ND_HAMMING_SIZES] = {20, 24, 27, 29};
    const double last = measured[ND_HAMMING_SIZES - 1] + 3;
    double size = log2(bytes < 1 ? 1 : bytes), fraction, ns;
    unsigned i = 1;

    size = size < measured[0] ? measured[0] : size;
    size = size > last ? last : size;
    while (i < ND_HAMMING_SIZES - 1 && size > measured[i])
        i++;
    fraction = (size - measured[i - 1]) / (measured[i] - measured[i - 1]);
    ns = m->line_ns[i - 1] + fraction * (m->line_ns[i] - m->line_ns[i - 1]);
    return 1e-9 * (ns > m->line_ns[0] ? ns : m->line_ns[0]);
}

double nd_hamming_rows_bytes(const struct nd_hamming_problem *problem)
{
    return (double)problem->count * (8.0 * (double)nd_hamming_words(problem->bits) + 8);
}

enum { ENTRIES = 512 }; /* more have no chance where chains are short */
#define SHORT 100.0     /* entries of a key and of a bucket, in the mean */

#define NEVER 1e-300 /* smaller chances change no sum, and are slow to compute with */

/* p[i]: the chance that a bucket of Poisson(lambda) keys, each of Poisson(mu) entries, has i. */
static void panjer(double lambda, double mu, double p[ENTRIES])
{
    double of_key[ENTRIES]; /* j f_j */
    unsigned n = 1;         /* of them that can be */

    of_key[0] = 0;
    for (unsigned j = 1; j < ENTRIES; j++)
        of_key[j] = j == 1 ? mu * exp(-mu) : of_key[j - 1] * mu / (j - 1);
    while (n < ENTRIES && (of_key[n] > NEVER || n < mu))
        n++;
    p[0] = exp(lambda * expm1(-mu));
    for (unsigned i = 1; i < ENTRIES; i++) {
        p[i] = 0;
        for (unsigned j = 1; j <= i && j < n; j++)
            p[i] += p[i - j] > NEVER ? of_key[j] * p[i - j] : 0;
        p[i] *= lambda / i;
    }
}

static double lines_of(double entries, unsigned slots)
{
    return entries <= slots ? 1 : ceil(entries / slots);
}

struct nd_hamming_chain nd_hamming_chain(double n, unsigned bits, double lines, unsigned slots)
{
    double mu = ldexp(n, -(int)bits), mean = n / lines, lambda = mean / mu;
    struct nd_hamming_chain chain = {0, 0};
    double p[ENTRIES], own[ENTRIES];

    if (mu + mean > SHORT) { /* on the average half a line of each chain is empty */
        double empty = exp(-lambda);

        chain.size = mean / slots + empty + 0.5 * (1 - empty);
        chain.look_up = (mu + mean) / slots + 0.5;
        return chain;
    }
    panjer(lambda, mu, p);
    own[0] = exp(-mu);
    for (unsigned i = 1; i < ENTRIES; i++)
        own[i] = own[i - 1] * mu / i;
    for (unsigned i = 0; i < ENTRIES; i++) {
        chain.size += p[i] * lines_of(i, slots);
        for (unsigned j = 0; p[i] > 1e-9 && j < ENTRIES && (own[j] > NEVER || j < mu); j++)
            chain.look_up += p[i] * own[j] * lines_of(i + j, slots);
    }
    chain.size = chain.size > 1 ? chain.size : 1; /* the chances add up to a little less than 1 */
    chain.look_up = chain.look_up > 1 ? chain.look_up : 1;
    return chain;
}

/*
 * Linear hashing (Litwin 1980): `level` is the power of 2 with level <= lines < 2 * level.  Of the
 * buckets that there were at `level`, the first lines - level have been divided in two; a key that
 * belongs to one of those meets a chain of a table of 2 * level buckets.
 */
struct nd_hamming_chain nd_hamming_linear_chain(double n, double lines, unsigned slots)
{
    double level = 1, divided; /* the fraction of keys whose bucket is */
    struct nd_hamming_chain whole, half;

    while (2 * level <= lines)
        level *= 2;
    divided = lines / level - 1;
    whole = nd_hamming_chain(n, 64, level, slots);
    half = nd_hamming_chain(n, 64, 2 * level, slots);
    return (struct nd_hamming_chain){((1 - divided) * whole.size + 2 * divided * half.size) /
                                         (1 + divided),
                                     (1 - divided) * whole.look_up + divided * half.look_up};
}
