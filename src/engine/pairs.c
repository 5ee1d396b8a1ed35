/* pairs.c - a batch pushed: every document indexed, and compared with all candidates before it */
#include <stdlib.h>
#include <string.h>

#include "engine/pairs.h"
#include "engine/state.h"

struct pairing {
    struct nd_dedup *d;
    struct nd_item *item;
    uint32_t *number; /* of each item in the index */
    const struct nd_pair_filter *filter;
};

static void sketch_item(void *context, size_t place, unsigned worker)
{
    struct pairing *job = context;
    struct nd_worker *w = &job->d->worker[worker];
    struct nd_item *item = &job->item[place];

    if (w->status || item->state != ND_ITEM_OPEN || !nd_item_read(job->d, w, item))
        return;
    if (!job->filter) /* a pair of short documents is a pair */
        item->is_listed = item->n_tokens > 0 || nd_dedup_ignores_text(job->d);
    nd_item_sketch(job->d, w, item);
    if (nd_item_sign(job->d, w, item))
        (void)nd_item_hold_shingles(w, item);
}

/* Numbers in order; the tables are filled afterwards, all documents of the batch at once. */
static enum nd_status add_all(struct pairing *job, size_t n, struct nd_error *err)
{
    struct nd_dedup *d = job->d;
    const struct nd_index_row **row = nd_alloc_array(n, sizeof *row);
    uint32_t *listed = nd_alloc_array(n, sizeof *listed);
    enum nd_status status = ND_OK;
    size_t n_listed = 0;

    if (!listed || !row)
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        if (job->item[i].state != ND_ITEM_OPEN)
            continue;
        status =
            nd_document_keep(d, &job->item[i], d->stats.documents + i, i, &job->number[i], err);
        if (!job->item[i].is_listed || status)
            continue;
        /* Later ones of the batch will ask for them; what has no place there is made again. */
        (void)nd_shingle_cache_put(d->cache, job->number[i], job->item[i].shingle,
                                   (size_t)job->item[i].n_shingles);
        row[n_listed] = &job->item[i].row;
        listed[n_listed++] = job->number[i];
    }
    if (status == ND_OK)
        status = nd_kept_add(d, job->item, n, ND_ITEM_OPEN, err);
    if (status == ND_OK)
        status = nd_finder_list(d, listed, row, n_listed, err);
    free(listed);
    free(row);
    return status;
}

static bool compare_with(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                         struct nd_candidate candidate)
{
    const uint64_t *shingle;
    size_t n;

    if (d->params.verify == ND_VERIFY_NONE)
        return nd_item_accept(w, item, candidate, false,
                              nd_index_shingles(d->index, candidate.number));
    if (nd_fetch_shingles(d, w, candidate.number, &shingle, &n))
        return false;
    return nd_item_compare(d, w, item, &w->set, candidate, false, shingle, n);
}

static void pair_item(void *context, size_t place, unsigned worker)
{
    struct pairing *job = context;
    struct nd_dedup *d = job->d;
    struct nd_worker *w = &d->worker[worker];
    struct nd_item *item = &job->item[place];
    bool is_set = false;

    if (w->status || item->state != ND_ITEM_OPEN || !item->is_listed || !nd_look_query(d, w, item))
        return;
    for (size_t i = 0; i < w->met.count; i++) {
        struct nd_candidate candidate = w->met.at[i];

        if (candidate.number >= job->number[place] ||
            (job->filter && job->filter->skip(job->filter->context, item, candidate.number)))
            continue;
        if (!is_set && !nd_shingle_set_build(&w->set, item->shingle, (size_t)item->n_shingles)) {
            nd_worker_fail(w, ND_ENOMEM, "comparing documents");
            return;
        }
        is_set = true;
        item->n_near++;
        if (!compare_with(d, w, item, candidate))
            return;
    }
}

enum nd_status nd_items_pair(struct nd_dedup *d, struct nd_item *item, size_t n,
                             const struct nd_pair_filter *filter, struct nd_error *err)
{
    struct pairing job = {d, item, nd_alloc_array(n, sizeof(uint32_t)), filter};
    enum nd_status status;

    if (!job.number)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    nd_pool_run(d->pool, n, sketch_item, &job);
    status = nd_workers_status(d, err);
    if (status == ND_OK)
        status = add_all(&job, n, err);
    if (status == ND_OK) {
        nd_pool_run(d->pool, n, pair_item, &job);
        status = nd_workers_status(d, err);
    }
    free(job.number);
    return status;
}

static int by_number(const void *left, const void *right)
{
    const struct nd_hit *a = left, *b = right;

    return a->kept.at < b->kept.at ? -1 : a->kept.at > b->kept.at;
}

enum nd_status nd_pairs_report(struct nd_dedup *d, struct nd_item *item, uint64_t document,
                               enum nd_status (*found)(void *, const struct nd_found_pair *),
                               void *context)
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
    status = nd_items_pair(d, item, n, NULL, err);
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        status = nd_pairs_report(d, &item[i], d->stats.documents + i, found, context);
        nd_stats_count(d, &item[i]);
    }
    nd_batch_end(d, item, n, status);
    return status;
}
