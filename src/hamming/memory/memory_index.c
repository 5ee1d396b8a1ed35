/* memory_index.c - an index in memory, whatever its family: checks, the lock, batches
 *
 * One lock of readers and writers guards an index.  It is given back after every 1024 queries or 64
 * additions, so that nobody waits for a whole batch of somebody else.
 */
#include "hamming/memory/memory_index.h"

#include <stdlib.h>

#include "base/system/threads.h"
#include "hamming/memory/sink.h"
#include "hamming/plan/family.h"
#include "hamming/plan/plan_checks.h"

struct nd_hamming {
    struct nd_rwlock *lock;
    const struct nd_hamming_family_row *family;
    void *self;
    struct nd_hamming_plan plan;
    size_t count;
};

enum { QUERIES_AT_ONCE = 1024, ADDS_AT_ONCE = 64 };

void nd_hamming_matches_release(struct nd_hamming_matches *matches)
{
    free(matches->items);
    *matches = (struct nd_hamming_matches){.items = NULL};
}

static int by_query(const void *a, const void *b)
{
    const struct nd_hamming_match *x = a, *y = b;

    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

void nd_hamming_matches_sort(struct nd_hamming_matches *matches)
{
    if (matches->count)
        qsort(matches->items, matches->count, sizeof *matches->items, by_query);
}

enum nd_status nd_hamming_new(struct nd_hamming **index, const struct nd_hamming_plan *plan,
                              struct nd_error *err)
{
    enum nd_status status = nd_hamming_plan_check(plan, err);
    struct nd_hamming *made;

    if (status != ND_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (made) {
        made->lock = nd_rwlock_new();
        made->family = nd_hamming_family_row(plan->family);
        made->plan = *plan;
        made->self = made->lock ? made->family->make(plan) : NULL;
    }
    if (!made || !made->self) {
        if (made)
            nd_rwlock_free(made->lock);
        free(made);
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of %.0f bytes", plan->bytes);
    }
    *index = made;
    return ND_OK;
}

void nd_hamming_free(struct nd_hamming *index)
{
    if (!index)
        return;
    index->family->destroy(index->self);
    nd_rwlock_free(index->lock);
    free(index);
}

size_t nd_hamming_count(const struct nd_hamming *index)
{
    size_t count;

    nd_rwlock_read(index->lock);
    count = index->count;
    nd_rwlock_unlock(index->lock);
    return count;
}

size_t nd_hamming_bytes(const struct nd_hamming *index)
{
    size_t bytes;

    nd_rwlock_read(index->lock);
    bytes = sizeof *index + index->family->bytes(index->self);
    nd_rwlock_unlock(index->lock);
    return bytes;
}

enum nd_status nd_hamming_add(struct nd_hamming *index, const uint64_t *fingerprints,
                              const uint32_t *ids, uint32_t first_id, size_t n,
                              struct nd_error *err)
{
    enum nd_status status = nd_hamming_check_bits(fingerprints, n, index->plan.problem.bits, err);
    size_t added = 0, words = nd_hamming_words(index->plan.problem.bits), some, done;

    if (status == ND_OK && !ids && n > (UINT64_C(1) << 32) - first_id)
        status =
            nd_fail(err, ND_EINVAL, "%zu numbers from %u on: the last one would be above 2^32 - 1",
                    n, first_id);
    if (status != ND_OK)
        return status;
    do {
        some = n - added < ADDS_AT_ONCE ? n - added : ADDS_AT_ONCE;
        nd_rwlock_write(index->lock);
        done = index->family->add(index->self, fingerprints + added * words,
                                  ids ? ids + added : NULL, first_id + (uint32_t)added, some);
        index->count += done;
        nd_rwlock_unlock(index->lock);
        added += done;
    } while (done == some && added < n);
    if (added < n)
        return nd_fail(err, ND_ENOMEM, "out of memory after %zu of %zu fingerprints", added, n);
    return ND_OK;
}

enum nd_status nd_hamming_remove(struct nd_hamming *index, const uint64_t *fingerprint, uint32_t id,
                                 struct nd_error *err)
{
    enum nd_status status = nd_hamming_check_bits(fingerprint, 1, index->plan.problem.bits, err);
    bool removed;

    if (status != ND_OK)
        return status;
    nd_rwlock_write(index->lock);
    removed = index->family->remove(index->self, fingerprint, id);
    index->count -= removed;
    nd_rwlock_unlock(index->lock);
    return removed ? ND_OK : nd_fail(err, ND_EINVAL, "no such fingerprint has the id %u", id);
}

static enum nd_status run(const struct nd_hamming *index, const uint64_t *queries, size_t n,
                          unsigned distance, struct nd_hamming_sink *sink, struct nd_error *err)
{
    const struct nd_hamming_problem *problem = &index->plan.problem;
    enum nd_status status = nd_hamming_check_bits(queries, n, problem->bits, err);

    if (status != ND_OK)
        return status;
    if (distance > problem->distance)
        return nd_fail(err, ND_EINVAL,
                       "distance %u is too large: the index was made for at most %u", distance,
                       problem->distance);
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "%zu queries at once are too many: at most 2^32 - 1", n);
    for (size_t start = 0; start < n && !sink->out_of_memory; start += QUERIES_AT_ONCE) {
        size_t some = n - start < QUERIES_AT_ONCE ? n - start : QUERIES_AT_ONCE;

        sink->first = (uint32_t)start;
        nd_rwlock_read(index->lock);
        index->family->query(index->self, queries + start * nd_hamming_words(problem->bits), some,
                             distance, sink);
        nd_hamming_sink_flush(sink);
        nd_rwlock_unlock(index->lock);
    }
    if (sink->out_of_memory)
        return nd_fail(err, ND_ENOMEM, "out of memory for the matches");
    return ND_OK;
}

enum nd_status nd_hamming_query(const struct nd_hamming *index, const uint64_t *queries, size_t n,
                                unsigned distance, struct nd_hamming_matches *out,
                                struct nd_error *err)
{
    struct nd_hamming_list list[ND_HAMMING_LISTS];
    struct nd_hamming_sink sink = {.matches = out, .list = list};

    if (!out)
        return nd_fail(err, ND_EINVAL, "no list for the answers is given");
    return run(index, queries, n, distance, &sink, err);
}

enum nd_status nd_hamming_query_count(const struct nd_hamming *index, const uint64_t *queries,
                                      size_t n, unsigned distance, uint64_t *count,
                                      struct nd_error *err)
{
    struct nd_hamming_list list[ND_HAMMING_LISTS];
    struct nd_hamming_sink sink = {.count = count, .list = list};

    if (n && !count)
        return nd_fail(err, ND_EINVAL, "no array for the counts is given");
    for (size_t i = 0; i < n; i++)
        count[i] = 0;
    return run(index, queries, n, distance, &sink, err);
}

uint64_t nd_hamming_query_lines(const struct nd_hamming *index, const uint64_t *queries, size_t n,
                                unsigned distance)
{
    struct nd_hamming_matches out = {.items = NULL};
    struct nd_hamming_list list[ND_HAMMING_LISTS];
    struct nd_hamming_sink sink = {.matches = &out, .list = list};
    enum nd_status status = run(index, queries, n, distance, &sink, NULL);

    nd_hamming_matches_release(&out);
    return status == ND_OK ? sink.lines : 0;
}
