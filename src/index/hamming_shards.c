/* hamming_shards.c - compare with all, or with the shards of a near number of ones
 *
 * 000, section 6.2: fingerprints within k bits differ by at most k in their number of ones, so of
 * f + 1 shards a query needs 2 k + 1.  One shard is the plain scan.  An equal fingerprint stands
 * there once for each id.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_index.h"
#include "simd/hamming_kernels.h"

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

static unsigned ones(const uint64_t *x, size_t words)
{
    unsigned bits = 0;

    for (size_t w = 0; w < words; w++)
        bits += (unsigned)__builtin_popcountll(x[w]);
    return bits;
}

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
    return (struct shard *)&s->shard[s->n == 1 ? 0 : ones(x, s->words)];
}

static bool reserve(struct shard *shard, size_t words)
{
    void *row = shard->row, *id = shard->id;
    bool fits =
        nd_array_reserve(&row, &shard->row_capacity, shard->n + 1, words * sizeof(uint64_t));

    shard->row = row;
    if (fits)
        fits = nd_array_reserve(&id, &shard->id_capacity, shard->n + 1, sizeof *shard->id);
    shard->id = id;
    return fits;
}

/* Memory comes back: there is never room for more than twice what is there, and SPARE. */
static void give_back(struct shard *shard, size_t words)
{
    size_t capacity = shard->n + shard->n / 2 + SPARE / 2, most = 2 * shard->n + SPARE;
    void *less;

    if (shard->n == 0) {
        free(shard->row);
        free(shard->id);
        *shard = (struct shard){.row = NULL};
        return;
    }
    if (shard->row_capacity > most) {
        less = realloc(shard->row, capacity * words * sizeof *shard->row);
        if (less) {
            shard->row = less;
            shard->row_capacity = capacity;
        }
    }
    if (shard->id_capacity > most) {
        less = realloc(shard->id, capacity * sizeof *shard->id);
        if (less) {
            shard->id = less;
            shard->id_capacity = capacity;
        }
    }
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

/* Call with every row near the query, a block at a time; visit returns false to stop. */
static void each_near(const struct shards *s, const struct shard *shard, const uint64_t *query,
                      unsigned distance, bool (*visit)(void *context, size_t row), void *context)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    uint32_t found[BLOCK];

    for (size_t start = 0; start < shard->n; start += BLOCK) {
        size_t left = shard->n - start < BLOCK ? shard->n - start : BLOCK;
        size_t n =
            kernels->rows(shard->row + start * s->words, left, s->words, query, distance, found);

        for (size_t i = 0; i < n; i++)
            if (!visit(context, start + found[i]))
                return;
    }
}

struct search {
    const struct shard *shard;
    uint32_t id;
    size_t row; /* SIZE_MAX: not found */
};

static bool is_it(void *context, size_t row)
{
    struct search *search = context;

    if (search->shard->id[row] == search->id)
        search->row = row;
    return search->row == SIZE_MAX;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    struct shards *s = self;
    struct shard *shard = shard_of(s, fingerprint);
    struct search search = {shard, id, SIZE_MAX};

    each_near(s, shard, fingerprint, 0, is_it, &search);
    if (search.row == SIZE_MAX)
        return false;
    shard->n--;
    memmove(shard->row + search.row * s->words, shard->row + shard->n * s->words,
            s->words * sizeof *shard->row);
    shard->id[search.row] = shard->id[shard->n];
    give_back(shard, s->words);
    return true;
}

struct answer {
    struct nd_hamming_sink *sink;
    const struct shard *shard;
    const uint64_t *query;
    size_t words;
    uint32_t number;
};

static bool emit(void *context, size_t row)
{
    const struct answer *a = context;
    const uint64_t *x = a->shard->row + row * a->words;
    unsigned distance = 0;

    for (size_t w = 0; w < a->words; w++)
        distance += (unsigned)__builtin_popcountll(x[w] ^ a->query[w]);
    nd_hamming_sink_id(a->sink, a->number, a->shard->id[row], distance);
    return true;
}

static void query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                  struct nd_hamming_sink *sink)
{
    const struct shards *s = self;

    for (size_t i = 0; i < n; i++, queries += s->words) {
        unsigned first = 0, last = 0;

        if (s->n > 1) {
            unsigned at = ones(queries, s->words);

            first = at > distance ? at - distance : 0;
            last = at + distance < s->n ? at + distance : s->n - 1;
        }
        for (unsigned j = first; j <= last; j++) {
            struct answer a = {sink, &s->shard[j], queries, s->words, (uint32_t)i};

            each_near(s, a.shard, queries, distance, emit, &a);
        }
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

const struct nd_hamming_kind nd_hamming_shards_kind = {make, destroy, add, take, query, bytes};
