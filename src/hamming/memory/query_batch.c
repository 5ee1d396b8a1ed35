/* query_batch.c - a set of queries, past which fingerprints stream
 *
 * The tables hold the queries, and the stored fingerprints stream past them (Manku 2007, §3.3): the
 * set that does not fit in memory is read once from end to end.  For 64 bits within 3 a filter
 * answers for nearly all fingerprints; what it leaves open, and all of other shapes, an index of
 * the queries answers.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "hamming/memory/query_filter.h"
#include "hamming/plan/plan_checks.h"

enum { BLOCK = ND_FILTER_BLOCK };

struct nd_hamming_batch {
    struct nd_hamming *index; /* NULL: the filter needs none */
    size_t words;
    unsigned n_bits, distance;
    bool has_filter;
    struct nd_hamming_filter filter;
    /* The owner and every call that feeds it: who goes last frees it, so that a function which
     * takes pairs may do so.  Apart, since those who feed have the batch const. */
    atomic_uint *users;
};

static void release(struct nd_hamming_batch *batch)
{
    free(batch->users);
    nd_hamming_free(batch->index);
    nd_hamming_filter_release(&batch->filter);
    free(batch);
}

static void leave(struct nd_hamming_batch *batch)
{
    if (atomic_fetch_sub(batch->users, 1) == 1)
        release(batch);
}

void nd_hamming_batch_free(struct nd_hamming_batch *batch)
{
    if (batch)
        leave(batch);
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
    const struct nd_hamming_problem problem = {bits, distance, n};
    enum nd_status status = nd_hamming_problem_check(&problem, err);
    struct nd_hamming_batch *b;

    if (status == ND_OK)
        status = nd_hamming_check_bits(queries, n, bits, err);
    if (status == ND_OK && n > UINT32_MAX - 16)
        status = nd_fail(err, ND_EINVAL, "%zu queries are too many: at most 2^32 - 16", n);
    if (status != ND_OK)
        return status;
    b = calloc(1, sizeof *b);
    if (b)
        b->users = calloc(1, sizeof *b->users);
    if (!b || !b->users) {
        free(b);
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu queries", n);
    }
    atomic_init(b->users, 1);
    b->words = nd_hamming_words(bits);
    b->n_bits = bits;
    b->distance = distance;
    b->has_filter = bits == 64 && distance <= 3;
    if (b->has_filter &&
        !nd_hamming_filter_make(&b->filter, queries, n, distance, n > ND_FILTER_FULL_QUERIES))
        status = nd_fail(err, ND_ENOMEM, "out of memory for a filter of %zu queries", n);
    if (status == ND_OK && (!b->has_filter || b->filter.has_overflow))
        status = make_index(b, queries, n, err);
    if (status != ND_OK) {
        release(b);
        return status;
    }
    *batch = b;
    return ND_OK;
}

/* Report the matches of one block, in the order of the fingerprints. */
static int report_block(const struct nd_hamming_matches *m, uint64_t first,
                        nd_hamming_report *report, void *context)
{
    struct nd_hamming_pair pair[256];
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct nd_hamming_match *match = &m->items[i];

        pair[n++] = (struct nd_hamming_pair){match->id, first + match->query, match->distance};
        if (n == 256 || i + 1 == m->count) {
            if (report(context, pair, n) != 0)
                return 1;
            n = 0;
        }
    }
    return 0;
}

/* Ask the filter, and the index for what it leaves open. */
static enum nd_status meet(const struct nd_hamming_batch *batch, const uint64_t *x, size_t n,
                           struct nd_hamming_matches *m, struct nd_error *err)
{
    uint32_t number[BLOCK];
    uint64_t open[BLOCK];
    enum nd_status status;
    size_t known, n_open;

    m->count = 0;
    if (!batch->has_filter)
        return nd_hamming_query(batch->index, x, n, batch->distance, m, err);
    if (!nd_hamming_filter_block(&batch->filter, x, n, m, number, &n_open))
        return nd_fail(err, ND_ENOMEM, "out of memory for the matches");
    if (n_open == 0)
        return ND_OK;
    for (size_t i = 0; i < n_open; i++)
        open[i] = x[number[i]];
    known = m->count;
    status = nd_hamming_query(batch->index, open, n_open, batch->distance, m, err);
    for (size_t i = known; i < m->count; i++)
        m->items[i].query = number[m->items[i].query];
    return status;
}

enum nd_status nd_hamming_batch_feed(const struct nd_hamming_batch *batch,
                                     const uint64_t *fingerprints, size_t n, uint64_t first,
                                     nd_hamming_report *report, void *context, struct nd_error *err)
{
    enum nd_status status = nd_hamming_check_bits(fingerprints, n, batch->n_bits, err);
    struct nd_hamming_matches met = {.items = NULL};

    if (status == ND_OK && !report)
        status = nd_fail(err, ND_EINVAL, "no function that takes the pairs is given");
    if (status != ND_OK)
        return status;
    atomic_fetch_add(batch->users, 1);
    for (size_t start = 0; start < n && status == ND_OK; start += BLOCK) {
        size_t left = n - start < BLOCK ? n - start : BLOCK;

        status = meet(batch, fingerprints + start * batch->words, left, &met, err);
        if (status != ND_OK)
            break;
        nd_hamming_matches_sort(&met);
        if (report_block(&met, first + start, report, context))
            status = nd_fail(err, ND_ECANCELLED, "the join was stopped");
    }
    nd_hamming_matches_release(&met);
    leave((struct nd_hamming_batch *)batch);
    return status;
}
