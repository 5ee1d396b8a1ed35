/* hamming_batch.c - a set of queries, past which fingerprints stream
 *
 * The tables stand over the queries, as in 002, section 3.3.  For 64 bits within 3 most
 * fingerprints never get there: one of their halves must be within 1 of the same half of a query,
 * and a bit says so for every value that a half can have, or, of fewer queries, for its bucket in
 * the perfect code and its bit 31.  In a sorted stream the upper half's bits lie in order, so only
 * the other one is a look at a random place.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "index/hamming_code.h"
#include "index/hamming_plan.h"

enum { BLOCK = 4096, AHEAD = 32, CODE_BITS = ND_HAMMING_DATA_BITS + 1, FULL_BITS = 32 };

/* From here on the small filter, of which a query sets 17 of 2^27 bits, would let too many pass. */
enum { FULL_QUERIES = 1 << 17 };

struct filter {
    unsigned bits; /* log2 of the bits for a half; 0: no filter */
    struct nd_hamming_code code;
    uint64_t *set[2];
};

struct nd_hamming_batch {
    struct nd_hamming *index;
    size_t words;
    unsigned n_bits, distance;
    struct filter filter;
};

static inline uint32_t place_in_code(const struct nd_hamming_code *code, uint32_t half)
{
    uint32_t data = half ^ code->error[nd_hamming_syndrome(code, half)];

    return (data & ND_HAMMING_DATA_MASK) | half >> 31 << ND_HAMMING_DATA_BITS;
}

static inline uint32_t place_of(const struct filter *f, uint32_t half)
{
    return f->bits == FULL_BITS ? half : place_in_code(&f->code, half);
}

static inline uint32_t half_of(uint64_t x, unsigned h)
{
    return (uint32_t)(x >> (32 * h));
}

static inline void set_bit(uint64_t *set, uint32_t place)
{
    set[place / 64] |= UINT64_C(1) << place % 64;
}

/* The places of all halves within the radius of a query's. */
static void set_ball(const struct filter *f, uint64_t *set, uint32_t half, unsigned radius)
{
    set_bit(set, place_of(f, half));
    for (unsigned i = 0; radius && i < 32; i++)
        set_bit(set, place_of(f, half ^ UINT32_C(1) << i));
}

static size_t filter_bytes(const struct filter *f)
{
    return ((size_t)1 << f->bits) / 8;
}

static void release_filter(struct filter *f)
{
    for (unsigned h = 0; f->bits && h < 2; h++)
        nd_table_free(f->set[h], filter_bytes(f));
}

static bool make_filter(struct filter *f, const uint64_t *queries, size_t n, unsigned distance)
{
    nd_hamming_code_init(&f->code);
    f->bits = n < FULL_QUERIES ? CODE_BITS : FULL_BITS;
    for (unsigned h = 0; h < 2; h++) {
        f->set[h] = nd_table_alloc(filter_bytes(f));
        if (!f->set[h])
            return false;
        for (size_t i = 0; i < n; i++)
            set_ball(f, f->set[h], half_of(queries[i], h), distance > 1);
    }
    return true;
}

void nd_hamming_batch_free(struct nd_hamming_batch *batch)
{
    if (!batch)
        return;
    nd_hamming_free(batch->index);
    release_filter(&batch->filter);
    free(batch);
}

static enum nd_status make_index(struct nd_hamming_batch *b, const uint64_t *queries, size_t n,
                                 struct nd_error *err)
{
    const struct nd_hamming_problem problem = {b->n_bits, b->distance, n};
    struct nd_hamming_plan plan;
    enum nd_status status = nd_hamming_choose(&problem, NULL, 0, &plan, err);

    if (status == ND_OK)
        status = nd_hamming_new(&b->index, &plan, err);
    if (status == ND_OK)
        status = nd_hamming_add(b->index, queries, NULL, 0, n, err);
    return status;
}

enum nd_status nd_hamming_batch_new(struct nd_hamming_batch **batch, const uint64_t *queries,
                                    size_t n, unsigned bits, unsigned distance,
                                    struct nd_error *err)
{
    struct nd_hamming_batch *b = calloc(1, sizeof *b);
    enum nd_status status;

    if (!b)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu queries", n);
    b->words = nd_hamming_words(bits);
    b->n_bits = bits;
    b->distance = distance;
    status = make_index(b, queries, n, err);
    if (status == ND_OK && bits == 64 && distance <= 3 &&
        !make_filter(&b->filter, queries, n, distance))
        status = nd_fail(err, ND_ENOMEM, "out of memory for a filter of %zu bytes",
                         2 * filter_bytes(&b->filter));
    if (status != ND_OK) {
        nd_hamming_batch_free(b);
        return status;
    }
    *batch = b;
    return ND_OK;
}

/* Of n fingerprints, those that pass the filter, and their numbers. */
static inline size_t pass(const struct filter *f, const uint64_t *x, size_t n, uint64_t *passed,
                          uint32_t *number)
{
    uint32_t place[2][BLOCK + AHEAD];
    size_t count = 0;

    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i < n) {
            for (unsigned h = 0; h < 2; h++) {
                place[h][i] = place_of(f, half_of(x[i], h));
                __builtin_prefetch(&f->set[h][place[h][i] / 64]);
            }
        }
        if (i >= AHEAD) {
            uint32_t low = place[0][i - AHEAD], high = place[1][i - AHEAD];

            passed[count] = x[i - AHEAD];
            number[count] = (uint32_t)(i - AHEAD);
            count += (f->set[0][low / 64] >> low % 64 | f->set[1][high / 64] >> high % 64) & 1;
        }
    }
    return count;
}

/* What one block met, in the order of the fingerprints; matches->query is their number in it. */
static int report_block(const struct nd_hamming_matches *m, const uint32_t *number, uint64_t first,
                        nd_hamming_report *report, void *context)
{
    struct nd_hamming_pair pair[256];
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        uint32_t at = m->at[i].query;

        pair[n++] = (struct nd_hamming_pair){m->at[i].id, first + (number ? number[at] : at),
                                             m->at[i].distance};
        if (n == 256 || i + 1 == m->count) {
            if (report(context, pair, n) != 0)
                return 1;
            n = 0;
        }
    }
    return 0;
}

enum nd_status nd_hamming_batch_feed(const struct nd_hamming_batch *batch,
                                     const uint64_t *fingerprints, size_t n, uint64_t first,
                                     nd_hamming_report *report, void *context, struct nd_error *err)
{
    enum nd_status status = nd_hamming_check_bits(fingerprints, n, batch->n_bits, err);
    struct nd_hamming_matches m = {.at = NULL};

    for (size_t start = 0; start < n && status == ND_OK; start += BLOCK) {
        size_t left = n - start < BLOCK ? n - start : BLOCK;
        const uint64_t *x = fingerprints + start * batch->words;
        uint64_t passed[BLOCK + 1];
        uint32_t number[BLOCK + 1];
        bool filtered = batch->filter.bits != 0;

        m.count = 0;
        if (filtered)
            left = pass(&batch->filter, x, left, passed, number);
        status =
            nd_hamming_query(batch->index, filtered ? passed : x, left, batch->distance, &m, err);
        nd_hamming_matches_sort(&m);
        if (status == ND_OK &&
            report_block(&m, filtered ? number : NULL, first + start, report, context))
            status = nd_fail(err, ND_ECANCELLED, "the join was stopped");
    }
    nd_hamming_matches_release(&m);
    return status;
}
