/* pairs.c - a batch pushed: every document indexed, and compared with all candidates before it */
#include <stdlib.h>
#include <string.h>

#include "engine/pairs.h"
#include "engine/state.h"

/*
 * Hits are held until those of all documents before are told of.  Of many equal documents each has
 * hits with all earlier ones, so a round of comparisons stops when so many hits are held; what it
 * did not come to is the next one's.
 */
enum { HITS_HELD = 1 << 19 };

struct pairing {
    struct nd_dedup *d;
    struct nd_item *item;
    const uint32_t *number; /* of each item in the index */
    bool *is_paired;
    size_t from;   /* items before were told of */
    size_t n_held; /* hits; by several workers at once */
};

static bool pair_item(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                      uint32_t number)
{
    if (item->state != ND_ITEM_OPEN || !item->is_listed)
        return true;
    if (!nd_look_query(d, w, item))
        return false;
    if (w->met.count && !nd_shingle_set_build(&w->set, item->shingle, (size_t)item->n_shingles)) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    for (size_t i = 0; i < w->met.count; i++) {
        if (w->met.at[i].number >= number)
            continue;
        item->n_near++;
        if (!nd_item_compare_stored(d, w, item, &w->set, w->met.at[i]))
            return false;
    }
    return true;
}

static void pair_task(void *context, size_t task, unsigned worker)
{
    struct pairing *job = context;
    struct nd_worker *w = &job->d->worker[worker];
    size_t place = job->from + task;

    if (w->status || job->is_paired[place] ||
        (task > 0 && __atomic_load_n(&job->n_held, __ATOMIC_RELAXED) >= HITS_HELD))
        return;
    if (!pair_item(job->d, w, &job->item[place], job->number[place]))
        return;
    job->is_paired[place] = true;
    __atomic_fetch_add(&job->n_held, job->item[place].hits.count, __ATOMIC_RELAXED);
}

/* Tell of the documents from `from` on that are compared, and forget their hits. */
static enum nd_status report_paired(struct pairing *job, size_t n, nd_found *found, void *context)
{
    struct nd_dedup *d = job->d;
    enum nd_status status = ND_OK;

    for (; status == ND_OK && job->from < n && job->is_paired[job->from]; job->from++) {
        struct nd_item *item = &job->item[job->from];

        status = nd_pairs_report(d, item, d->stats.documents + job->from, found, context);
        job->n_held -= item->hits.count;
        free(item->hits.at);
        item->hits = (struct nd_hits){0};
    }
    return status;
}

static enum nd_status pair_all(struct pairing *job, size_t n, nd_found *found, void *context,
                               struct nd_error *err)
{
    enum { ROUND = 1024 };
    enum nd_status status = ND_OK;

    while (status == ND_OK && job->from < n) {
        size_t rest = n - job->from;

        nd_pool_run(job->d->pool, rest < ROUND ? rest : ROUND, pair_task, job);
        status = nd_workers_status(job->d, err);
        if (status == ND_OK)
            status = report_paired(job, n, found, context);
    }
    return status;
}

/* `found` NULL: the documents are indexed, and that is all. */
static enum nd_status index_and_pair(struct nd_dedup *d, struct nd_item *item, size_t n,
                                     nd_found *found, void *context, struct nd_error *err)
{
    uint32_t *number = nd_alloc_array(n, sizeof *number);
    struct pairing job = {d, item, number, calloc(n ? n : 1, sizeof(bool)), 0, 0};
    enum nd_status status = ND_OK;

    if (!number || !job.is_paired)
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    if (status == ND_OK)
        status = nd_items_sketch(d, item, n, true, err);
    if (status == ND_OK)
        status = nd_items_index(d, item, n, found == NULL, number, err);
    if (status == ND_OK && found)
        status = pair_all(&job, n, found, context, err);
    free(number);
    free(job.is_paired);
    return status;
}

static int by_number(const void *left, const void *right)
{
    const struct nd_hit *a = left, *b = right;

    return a->kept.at < b->kept.at ? -1 : a->kept.at > b->kept.at;
}

enum nd_status nd_pairs_report(struct nd_dedup *d, struct nd_item *item, uint64_t document,
                               nd_found *found, void *context)
{
    if (item->hits.count)
        qsort(item->hits.at, item->hits.count, sizeof *item->hits.at, by_number);
    for (size_t i = 0; i < item->hits.count; i++) {
        const struct nd_hit *hit = &item->hits.at[i];
        struct nd_found_pair pair = {.a = document,
                                     .b = nd_kept_document(d, hit->kept.at),
                                     .overlap = hit->overlap,
                                     .distance = hit->distance};
        struct nd_match match;
        enum nd_status status;

        if (d->matching) {
            (void)nd_matching_compare_stored(d->matching, item->own_signatures, d->signatures,
                                             hit->kept.at, &match);
            memcpy(pair.agreement, match.evidence.agreement, sizeof pair.agreement);
        }
        status = found(context, &pair);

        if (status)
            return status;
    }
    return ND_OK;
}

enum nd_status nd_push_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                             nd_found *found, void *context, struct nd_error *err)
{
    struct nd_item *item;
    enum nd_status status = nd_batch_begin(d, ND_PUSHED_PAIRS, items, n, &item, err);

    if (status)
        return status;
    status = index_and_pair(d, item, n, found, context, err);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        nd_stats_count(d, &item[i], item[i].n_near, false);
    nd_batch_end(d, item, n, status);
    return status;
}
