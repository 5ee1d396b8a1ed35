/* estimates.c - figures of all documents, estimated from true clusters of a sample */

/*
 * Each figure is a quotient of means over the clusters that were drawn. With a cluster's documents in
 * several sets of the result, of which one has A of them and B documents in all:
 *
 *     right pairs   R = sum of A (A - 1) / 2      wrong pairs   W = sum of A (B - A), each half
 *     precision     R / (R + W / 2)               recall        R / (size (size - 1) / 2)
 */
#include "uses/eval/estimates.h"

#include <math.h>
#include <stdlib.h>

enum { CLUSTERS_MIN = 20 };

/* A document of a drawn cluster. */
struct drawn_member {
    uint32_t true_set, set; /* set 0: of its own */
    uint32_t id;
};

/* Numerator and denominator of each figure, of one cluster. */
struct drawn_quotients {
    double over[ND_ESTIMATES], under[ND_ESTIMATES];
};

static int by_sets(const void *left, const void *right)
{
    const struct drawn_member *a = left, *b = right;

    if (a->true_set != b->true_set)
        return a->true_set < b->true_set ? -1 : 1;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Count the documents of each set of the result; [0]: that are sets of their own. */
static uint32_t *count_sizes(const struct nd_relation *result, size_t n, uint64_t *sets)
{
    uint32_t *size = calloc((size_t)result->n_sets + 1, sizeof *size);

    *sets = 0;
    for (uint32_t id = 1; size && id <= n; id++)
        size[nd_relation_set(result, id)]++;
    for (uint32_t i = 1; size && i <= result->n_sets; i++)
        *sets += size[i] > 0;
    if (size)
        *sets += size[0];
    return size;
}

/* The quotients of the cluster whose `count` members begin at m. */
static struct drawn_quotients take_cluster(const struct drawn_member *m, size_t count,
                                           const uint32_t *size, double documents, double sets)
{
    const double whole = (double)count;
    double right = 0, wrong = 0, of_set = 0, of_true = 0, exact = 0;

    for (size_t from = 0, to; from < count; from = to) {
        double a, b;

        for (to = from + 1; to < count && m[from].set && m[to].set == m[from].set;)
            to++;
        a = (double)(to - from);
        b = m[from].set ? (double)size[m[from].set] : 1;
        right += a * (a - 1) / 2;
        wrong += a * (b - a);
        of_set += a * a / b;
        of_true += a * a / whole;
        exact += a >= whole && b <= whole;
    }
    return (struct drawn_quotients){.over = {right, right, 2 * right, documents * exact, exact,
                                             of_set / whole, of_true / whole},
                                    .under = {right + wrong / 2, whole * (whole - 1) / 2,
                                              whole * (whole - 1) / 2 + right + wrong / 2,
                                              sets * whole, 1, 1, 1}};
}

/* The quotient of two means, corrected for its bias, with its standard deviation. */
static struct nd_rated estimate(const struct drawn_quotients *q, const double *weight, size_t n,
                                unsigned k)
{
    const struct nd_rated none = {NAN, NAN, NAN};
    double over = 0, under = 0, bias = 0, spread = 0, value, deviation;

    for (size_t i = 0; i < n; i++) {
        over += q[i].over[k] * weight[i] / (double)n;
        under += q[i].under[k] * weight[i] / (double)n;
    }
    if (!(under > 0))
        return none;
    if (!(over > 0))
        return (struct nd_rated){0, NAN, NAN};
    for (size_t i = 0; i < n; i++) {
        const double a = q[i].under[k] * weight[i], b = q[i].over[k] * weight[i];

        bias += a * (b / over - a / under) / (double)n;
        spread += (b / over - a / under) * (b / over - a / under);
    }
    value = over / under * (n > 1 ? 1 + bias / ((double)(n - 1) * under) : 1);
    if (n < CLUSTERS_MIN)
        return (struct nd_rated){value, NAN, NAN};
    deviation = over / under * sqrt(spread / ((double)n * (double)(n - 1)));
    return (struct nd_rated){value, fmax(0, value - 1.959963984540054 * deviation),
                             fmin(1, value + 1.959963984540054 * deviation)};
}

enum nd_status nd_estimate(const struct nd_relation *truth, const struct nd_relation *result,
                           size_t n, bool by_size, struct nd_rated out[ND_ESTIMATES], size_t *drawn,
                           struct nd_error *err)
{
    uint64_t sets = 0;
    uint32_t *size = count_sizes(result, n, &sets);
    struct drawn_member *member = nd_alloc_array(truth->n_ids + 1, sizeof *member);
    struct drawn_quotients *q = calloc((size_t)truth->n_sets + 1, sizeof *q);
    double *weight = calloc((size_t)truth->n_sets + 1, sizeof *weight);
    const bool good = size && member && q && weight;
    size_t members = 0;

    *drawn = 0;
    for (uint32_t id = 1; good && id <= truth->n_ids; id++)
        if (truth->set[id - 1])
            member[members++] =
                (struct drawn_member){truth->set[id - 1], nd_relation_set(result, id), id};
    if (members)
        qsort(member, members, sizeof *member, by_sets);
    for (size_t from = 0, to; from < members; from = to) {
        for (to = from + 1; to < members && member[to].true_set == member[from].true_set;)
            to++;
        weight[*drawn] = by_size ? 1 / (double)(to - from) : 1;
        q[(*drawn)++] = take_cluster(member + from, to - from, size, (double)n, (double)sets);
    }
    for (unsigned k = 0; good && k < ND_ESTIMATES; k++)
        out[k] = estimate(q, weight, *drawn, k);
    free(size);
    free(member);
    free(q);
    free(weight);
    return good ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", n);
}
