/* shards.c - two families: compare with all, or with the shards of a near number of ones
 *
 * Fingerprints within k bits differ by at most k in their number of ones, so of f + 1 shards by
 * that number a query needs 2k + 1 (Seshasai 2009, §6.2).  Near the middle shards are the fullest,
 * so this halves a scan at best.  One shard is the plain scan.
 *
 * A shard is an array of fingerprints and one of ids beside it.  An equal fingerprint stands there
 * once for each id.  This is the shortest family: read it first to see what one has to do.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hamming/memory/sink.h"
#include "hamming/plan/family.h"
#include "hamming/plan/fingerprint.h"
#include "hamming/plan/predict.h"
#include "simd/hamming/hamming_kernels.h"

enum { BLOCK = 1024, SPARE = 16 };

struct shard {
    uint64_t *row;
    uint32_t *id;
    size_t n, row_capacity, id_capacity;
};

struct shards {
    size_t words;
    unsigned n; /* 1, or f + 1 */
    struct shard shard[];
};

static void *make(const struct nd_hamming_plan *plan)
{
    unsigned n = plan->family == ND_HAMMING_POPCOUNT ? plan->problem.bits + 1 : 1;
    struct shards *s = calloc(1, sizeof *s + n * sizeof *s->shard);

    if (s) {
        s->words = nd_hamming_words(plan->problem.bits);
        s->n = n;
    }
    return s;
}

static void destroy(void *self)
{
    struct shards *s = self;

    for (unsigned i = 0; i < s->n; i++) {
        free(s->shard[i].row);
        free(s->shard[i].id);
    }
    free(s);
}

static struct shard *shard_of(const struct shards *s, const uint64_t *x)
{
    return (struct shard *)&s->shard[s->n == 1 ? 0 : nd_hamming_ones(x, s->words)];
}

static bool reserve(struct shard *shard, size_t words)
{
    return nd_array_reserve(&shard->row, &shard->row_capacity, shard->n + 1,
                            words * sizeof *shard->row) &&
           ND_RESERVE(shard->id, &shard->id_capacity, shard->n + 1);
}

/* The array with less memory, where it has more than twice the memory of n elements and SPARE. */
static void *shrink(void *array, size_t *capacity, size_t n, size_t size)
{
    size_t enough = n + n / 2 + SPARE / 2;
    void *less = *capacity > 2 * n + SPARE ? realloc(array, enough * size) : NULL;

    if (!less)
        return array;
    *capacity = enough;
    return less;
}

static void give_back(struct shard *shard, size_t words)
{
    if (shard->n) {
        shard->row = shrink(shard->row, &shard->row_capacity, shard->n, words * sizeof *shard->row);
        shard->id = shrink(shard->id, &shard->id_capacity, shard->n, sizeof *shard->id);
        return;
    }
    free(shard->row);
    free(shard->id);
    *shard = (struct shard){.row = NULL};
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct shards *s = self;

    for (size_t i = 0; i < n; i++, fingerprints += s->words) {
        struct shard *shard = shard_of(s, fingerprints);

        if (!reserve(shard, s->words))
            return i;
        memcpy(shard->row + shard->n * s->words, fingerprints, s->words * sizeof *shard->row);
        shard->id[shard->n++] = ids ? ids[i] : first_id + (uint32_t)i;
    }
    return n;
}

/* The rows near a query among the BLOCK from `start` on: numbers from `start`; returns how many. */
static size_t find_near(const struct shard *shard, size_t words, size_t start,
                        const uint64_t *query, unsigned distance, uint32_t *found)
{
    size_t left = shard->n - start < BLOCK ? shard->n - start : BLOCK;

    return nd_hamming_kernels()->rows(shard->row + start * words, left, words, query, distance,
                                      found);
}

/* The row of a fingerprint with this id; SIZE_MAX: there is none. */
static size_t find_row(const struct shard *shard, size_t words, const uint64_t *fingerprint,
                       uint32_t id)
{
    uint32_t found[BLOCK];

    for (size_t start = 0; start < shard->n; start += BLOCK) {
        size_t n = find_near(shard, words, start, fingerprint, 0, found);

        for (size_t i = 0; i < n; i++)
            if (shard->id[start + found[i]] == id)
                return start + found[i];
    }
    return SIZE_MAX;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    struct shards *s = self;
    struct shard *shard = shard_of(s, fingerprint);
    size_t row = find_row(shard, s->words, fingerprint, id);

    if (row == SIZE_MAX)
        return false;
    shard->n--;
    memmove(shard->row + row * s->words, shard->row + shard->n * s->words,
            s->words * sizeof *shard->row);
    shard->id[row] = shard->id[shard->n];
    give_back(shard, s->words);
    return true;
}

/* Report what one shard has near query number `number`. */
static void query_shard(const struct shard *shard, size_t words, const uint64_t *query,
                        uint32_t number, unsigned distance, struct nd_hamming_sink *sink)
{
    uint32_t found[BLOCK];

    for (size_t start = 0; start < shard->n; start += BLOCK) {
        size_t n = find_near(shard, words, start, query, distance, found);

        for (size_t i = 0; i < n; i++) {
            size_t row = start + found[i];

            nd_hamming_sink_id(sink, number, shard->id[row],
                               nd_hamming_distance(shard->row + row * words, query, words));
        }
    }
}

static void query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                  struct nd_hamming_sink *sink)
{
    const struct shards *s = self;

    for (size_t i = 0; i < n; i++, queries += s->words) {
        unsigned first = 0, last = 0;

        if (s->n > 1) {
            unsigned ones = nd_hamming_ones(queries, s->words);

            first = ones > distance ? ones - distance : 0;
            last = ones + distance < s->n ? ones + distance : s->n - 1;
        }
        for (unsigned j = first; j <= last; j++)
            query_shard(&s->shard[j], s->words, queries, (uint32_t)i, distance, sink);
    }
}

static size_t bytes(const void *self)
{
    const struct shards *s = self;
    size_t sum = sizeof *s;

    for (unsigned i = 0; i < s->n; i++)
        sum += sizeof *s->shard + s->shard[i].row_capacity * s->words * sizeof(uint64_t) +
               s->shard[i].id_capacity * sizeof(uint32_t);
    return sum;
}

/* The fraction of uniform fingerprints whose number of ones is within k of that of another one. */
static double near_fraction(unsigned bits, unsigned distance)
{
    double fraction = 0, half = lgamma(bits + 1.0) - bits * log(2);

    for (unsigned i = 0; i <= bits; i++) {
        double of_i = exp(half - lgamma(i + 1.0) - lgamma(bits - i + 1.0));
        unsigned first = i > distance ? i - distance : 0;

        for (unsigned j = first; j <= bits && j <= i + distance; j++)
            fraction += of_i * exp(half - lgamma(j + 1.0) - lgamma(bits - j + 1.0));
    }
    return fraction < 1 ? fraction : 1;
}

static void predict(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                    const uint64_t *keys)
{
    const struct nd_hamming_problem *problem = &p->problem;
    bool is_scan = p->family == ND_HAMMING_SCAN;
    double n = (double)problem->count, words = (double)nd_hamming_words(problem->bits);
    double fraction = is_scan ? 1 : near_fraction(problem->bits, problem->distance);

    (void)keys;
    p->candidates = n * fraction;
    p->lines = is_scan ? 1 : 2 * problem->distance + 1;
    p->bytes = nd_hamming_rows_bytes(problem) * 1.06;
    p->build_seconds = 1e-9 * (n * (words + 1) * m->compare_ns + p->bytes / 64 * m->fresh_ns);
    p->query_seconds = 1e-9 * n * fraction * words * m->compare_ns +
                       p->lines * nd_hamming_line_seconds(m, p->bytes);
}

static enum nd_status design(const struct nd_hamming_machine *machine, unsigned key_bits,
                             unsigned tables, struct nd_hamming_plan *plan, struct nd_error *err)
{
    (void)key_bits;
    (void)tables;
    (void)err;
    plan->tables = plan->family == ND_HAMMING_SCAN ? 0 : plan->problem.bits + 1;
    predict(machine, plan, NULL);
    return ND_OK;
}

static enum nd_status list(const struct nd_hamming_machine *machine,
                           const struct nd_hamming_plan *blank, struct nd_hamming_plan *plans,
                           size_t *n, struct nd_error *err)
{
    plans[*n] = *blank;
    return design(machine, 0, 0, &plans[(*n)++], err);
}

#define SHARDS(family_name)                                                                        \
    {                                                                                              \
        .name = (family_name), .design = design, .list = list, .predict = predict, .make = make,   \
        .destroy = destroy, .add = add, .remove = take, .query = query, .bytes = bytes             \
    }
const struct nd_hamming_family_row nd_hamming_scan_family = SHARDS("scan");
const struct nd_hamming_family_row nd_hamming_popcount_family = SHARDS("popcount");
