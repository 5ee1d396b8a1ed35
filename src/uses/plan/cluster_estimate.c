/* cluster_estimate.c - how many clusters a corpus has, from those of a sample */

/*
 * A pair of duplicates is in a sample of the share p with probability p, if the two lie in one
 * block, but p^2 if they lie in two.  So the share of duplicates in the sample is far too low, and
 * the clusters of the corpus have to be estimated: the problem of distinct values (Haas, Naughton,
 * Seshadri and Stokes 1995).  No estimator is right for all corpora (Charikar, Chaudhuri, Motwani
 * and Narasayya 2000, theorem 1: an error of sqrt(1 / p) is possible), which is why there is an
 * interval.
 *
 * Blocks.  What lies together is sampled together, so the documents of a cluster in one block count
 * as one, a unit.  A cluster of k units has j of them in the sample with the binomial probability
 * B(j; k, p).  Let F(j) be how many clusters of the sample have j units.  We look for the numbers
 * n(k) of clusters of k units in the corpus that make F likely,
 *
 *     E F(j) = sum over k of n(k) B(j; k, p),     j = 1, 2, …
 *
 * as in "the unseen" of Valiant and Valiant (2017), but by maximum likelihood of Poisson counts, for
 * which the EM algorithm is one multiplication (Richardson 1972, Lucy 1974; Norris and Pollock 1998
 * for species).  Where the sample cannot tell few large clusters from many small ones, the answer
 * stays near where the iteration starts: n(k) proportional to k^-3.
 *
 * The interval is a parametric bootstrap (Efron 1979): the numbers F(j) are drawn again from Gamma
 * distributions, which is the posterior of a Poisson mean by the prior of Jeffreys, and the estimate
 * is made again.  This is done from three starts, with exponents 2, 3 and 6, and the interval holds
 * all of them, so it is wide where the sample does not decide.  What lies together, in a block, is
 * estimated as a ratio of two sums over blocks, and adds the error of that (Cochran 1977, §6.4).
 */
#include "uses/plan/cluster_estimate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { SIZES_MAX = 96, SEEN_MAX = 64, ITERATIONS = 400, DRAWS = 60, STARTS = 3 };

/* Exponents of the sizes of clusters at which the iteration starts: the estimate is made from the
 * middle one. */
static const double exponents[STARTS] = {2, 3, 6};

/* Clusters of the sample with so many units, and their expected number. */
struct seen {
    double units, clusters;
};

struct unseen {
    struct seen seen[SEEN_MAX];
    size_t n_seen;
    double size[SIZES_MAX]; /* of clusters in the corpus */
    size_t n_sizes;
    double chance[SEEN_MAX][SIZES_MAX]; /* B(j; k, p) */
    double visible[SIZES_MAX];          /* that some unit is in the sample */
    double p;
};

static double log_binomial(double j, double k, double p)
{
    return lgamma(k + 1) - lgamma(j + 1) - lgamma(k - j + 1) + j * log(p) + (k - j) * log1p(-p);
}

/* Sizes from 1 on, each larger by a quarter, up to more than the largest cluster can have. */
static void choose_sizes(struct unseen *u)
{
    double largest = u->seen[u->n_seen - 1].units / u->p * 2 + 2, size = 1;

    for (u->n_sizes = 0; u->n_sizes < SIZES_MAX && size <= largest; u->n_sizes++) {
        u->size[u->n_sizes] = size;
        size = floor(size * 1.25) + 1;
    }
}

static void tabulate(struct unseen *u)
{
    choose_sizes(u);
    for (size_t k = 0; k < u->n_sizes; k++) {
        u->visible[k] = -expm1(u->size[k] * log1p(-u->p));
        for (size_t j = 0; j < u->n_seen; j++)
            u->chance[j][k] = u->seen[j].units > u->size[k]
                                  ? 0
                                  : exp(log_binomial(u->seen[j].units, u->size[k], u->p));
    }
}

/* The expected clusters of the corpus by these of the sample: EM from n(k) ~ k^-exponent. */
static double clusters_of(const struct unseen *u, const double *clusters, double exponent)
{
    double n[SIZES_MAX], next[SIZES_MAX], sum = 0;

    for (size_t k = 0; k < u->n_sizes; k++) {
        double width = k + 1 < u->n_sizes ? u->size[k + 1] - u->size[k] : 1;

        n[k] = width * pow(u->size[k], -exponent);
    }
    for (unsigned i = 0; i < ITERATIONS; i++) {
        memset(next, 0, sizeof next);
        for (size_t j = 0; j < u->n_seen; j++) {
            double expected = 1e-300;

            for (size_t k = 0; k < u->n_sizes; k++)
                expected += n[k] * u->chance[j][k];
            for (size_t k = 0; k < u->n_sizes; k++)
                next[k] += n[k] * u->chance[j][k] * clusters[j] / expected;
        }
        for (size_t k = 0; k < u->n_sizes; k++)
            n[k] = next[k] / u->visible[k];
    }
    for (size_t k = 0; k < u->n_sizes; k++)
        sum += n[k];
    return sum;
}

/* ---- Drawing numbers ---- */

static double uniform(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return ((double)(nd_mix64(*state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));

    return radius * cos(6.283185307179586 * uniform(state));
}

/* Draw from the gamma distribution of shape a and scale 1 (Marsaglia and Tsang 2000). */
static double gamma_draw(double a, uint64_t *state)
{
    double d = (a < 1 ? a + 1 : a) - 1.0 / 3, c = 1 / sqrt(9 * d), v, x;

    do {
        x = normal(state);
        v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    } while (v <= 0 || log(uniform(state)) > x * x / 2 + d - d * v + d * log(v));
    return a < 1 ? d * v * pow(uniform(state), 1 / a) : d * v;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* ---- From the documents ---- */

static int by_cluster(const void *a, const void *b)
{
    const struct nd_sampled_document *x = a, *y = b;

    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* Count one more cluster of so many units; very many different sizes share the last places. */
static void see(struct unseen *u, double units)
{
    size_t at = 0;

    while (at < u->n_seen && u->seen[at].units < units)
        at++;
    if (at < u->n_seen && u->seen[at].units == units) {
        u->seen[at].clusters++;
    } else if (u->n_seen == SEEN_MAX) {
        u->seen[at < SEEN_MAX ? at : SEEN_MAX - 1].clusters++;
    } else {
        memmove(&u->seen[at + 1], &u->seen[at], (u->n_seen - at) * sizeof *u->seen);
        u->seen[at] = (struct seen){units, 1};
        u->n_seen++;
    }
}

/* Returns the units of all clusters. */
static size_t count_units(struct unseen *u, const struct nd_sampled_document *d, size_t n)
{
    size_t units = 0;

    for (size_t from = 0, to; from < n; from = to) {
        size_t of_this = 1;

        for (to = from + 1; to < n && d[to].cluster == d[from].cluster; to++)
            of_this += d[to].block != d[to - 1].block;
        see(u, (double)of_this);
        units += of_this;
    }
    return units;
}

/* ---- What lies in one block ---- */

struct in_block {
    uint32_t block;
    bool is_repeated; /* another document of its cluster and block came before it */
};

static int by_block(const void *a, const void *b)
{
    const struct in_block *x = a, *y = b;

    return x->block < y->block ? -1 : x->block > y->block;
}

/* The standard error of the share of repeated documents; d: sorted by block. */
static double error_of_ratio(const struct in_block *d, size_t n, double ratio, double p)
{
    double squares = 0;
    size_t blocks = 0;

    for (size_t from = 0, to; from < n; from = to, blocks++) {
        double repeated = 0;

        for (to = from; to < n && d[to].block == d[from].block; to++)
            repeated += d[to].is_repeated;
        repeated -= ratio * (double)(to - from);
        squares += repeated * repeated;
    }
    return blocks < 2 ? 1 - ratio
                      : sqrt(squares * (1 - p) * (double)blocks / (double)(blocks - 1)) / (double)n;
}

/*
 * Estimate the error within the sample, for documents sorted by their clusters. False: out of
 * memory.
 */
static bool within_error(const struct nd_sampled_document *document, size_t n, double ratio,
                         double p, double *error)
{
    struct in_block *d = nd_alloc_array(n, sizeof *d);

    if (!d)
        return false;
    for (size_t i = 0; i < n; i++)
        d[i] = (struct in_block){document[i].block,
                                 i > 0 && document[i].cluster == document[i - 1].cluster &&
                                     document[i].block == document[i - 1].block};
    qsort(d, n, sizeof *d, by_block);
    *error = error_of_ratio(d, n, ratio, p);
    free(d);
    return true;
}

/* ---- The estimate ---- */

/* A cluster of two units is always possible, even if the sample has none. */
static void make_room_for_pairs(struct unseen *u)
{
    if (u->n_seen == 1 && u->seen[0].units == 1)
        u->seen[u->n_seen++] = (struct seen){2, 0};
}

/* The share of the corpus that is not the first of its cluster; `within`: the share of the documents
 * that are no unit, since they are in one block with another of their cluster. */
static double share_of(const struct unseen *u, const double *clusters, double within,
                       double exponent)
{
    double units = 0, distinct;

    for (size_t j = 0; j < u->n_seen; j++)
        units += u->seen[j].units * clusters[j] / u->p;
    distinct = clusters_of(u, clusters, exponent) / units;
    return 1 - (1 - within) * (distinct < 1 ? distinct : 1);
}

static void draw_interval(const struct unseen *u, double within, struct nd_estimate *out)
{
    double drawn[DRAWS], clusters[SEEN_MAX];
    uint64_t state = 1;

    for (unsigned start = 0; start < STARTS; start++) {
        for (unsigned i = 0; i < DRAWS; i++) {
            for (size_t j = 0; j < u->n_seen; j++)
                clusters[j] = gamma_draw(u->seen[j].clusters + 0.5, &state);
            drawn[i] = share_of(u, clusters, within, exponents[start]);
        }
        qsort(drawn, DRAWS, sizeof *drawn, ascending);
        out->low = fmin(out->low, drawn[DRAWS / 20]);
        out->high = fmax(out->high, drawn[DRAWS - 1 - DRAWS / 20]);
    }
}

/* Both are shares, so the squares do not overflow, for which hypot() would need a newer C library. */
static double joined(double a, double b)
{
    return sqrt(a * a + b * b);
}

static void widen(double error, struct nd_estimate *out)
{
    const double ninety = 1.645 * error;

    out->low = fmax(0, out->value - joined(out->value - out->low, ninety));
    out->high = fmin(1, out->value + joined(out->high - out->value, ninety));
}

static void estimate(struct unseen *u, double within, double error, struct nd_estimate *out)
{
    double clusters[SEEN_MAX];
    bool has_pairs = u->n_seen > 1;

    make_room_for_pairs(u);
    tabulate(u);
    for (size_t j = 0; j < u->n_seen; j++)
        clusters[j] = u->seen[j].clusters;
    out->value = has_pairs ? share_of(u, clusters, within, exponents[STARTS / 2]) : within;
    out->low = out->high = out->value;
    draw_interval(u, within, out);
    widen(error, out);
}

enum nd_status nd_estimate_duplicates(struct nd_sampled_document *document, size_t n, double scale,
                                      struct nd_estimate *out, struct nd_error *err)
{
    struct unseen *u = calloc(1, sizeof *u);
    size_t units, clusters = 0;
    double within, error = 0;

    *out = (struct nd_estimate){0};
    if (!u)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    qsort(document, n, sizeof *document, by_cluster);
    units = count_units(u, document, n);
    for (size_t i = 0; i < n; i++)
        clusters += i == 0 || document[i].cluster != document[i - 1].cluster;
    u->p = 1 / scale;
    within = n ? 1 - (double)units / (double)n : 0;
    if (n && scale > 1 && !within_error(document, n, within, u->p, &error)) {
        free(u);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (n && scale <= 1)
        out->value = out->low = out->high = 1 - (double)clusters / (double)n;
    else if (n)
        estimate(u, within, error, out);
    free(u);
    return ND_OK;
}
