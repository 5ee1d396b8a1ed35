/* indexing.c - a batch of which every document is sketched and indexed, kept or not */
#include <stdlib.h>

#include "engine/pairs.h"

struct sketching {
    struct nd_dedup *d;
    struct nd_item *item;
    bool lists_short;
};

static void sketch_item(void *context, size_t place, unsigned worker)
{
    struct sketching *job = context;
    struct nd_worker *w = &job->d->worker[worker];
    struct nd_item *item = &job->item[place];

    if (w->status || item->state != ND_ITEM_OPEN || !nd_item_read(job->d, w, item))
        return;
    if (job->lists_short) /* a pair of short documents is a pair */
        item->is_listed = item->n_tokens > 0 || nd_dedup_ignores_text(job->d);
    nd_item_sketch(job->d, w, item);
    if (nd_item_sign(job->d, w, item))
        (void)nd_item_hold_shingles(w, item);
}

enum nd_status nd_items_sketch(struct nd_dedup *d, struct nd_item *item, size_t n, bool lists_short,
                               struct nd_error *err)
{
    struct sketching job = {d, item, lists_short};

    nd_pool_run(d->pool, n, sketch_item, &job);
    return nd_workers_status(d, err);
}

/* A number for an item, and its shingles into the cache: later ones of the batch will ask for
 * them; what has no place there is made again. */
static enum nd_status add_item(struct nd_dedup *d, struct nd_item *item, size_t place,
                               uint32_t *number, struct nd_error *err)
{
    enum nd_status status =
        nd_document_keep(d, item, d->stats.documents + place, place, number, err);

    if (item->is_listed && status == ND_OK)
        (void)nd_shingle_cache_put(d->cache, *number, item->shingle, (size_t)item->n_shingles);
    return status;
}

enum nd_status nd_items_number(struct nd_dedup *d, struct nd_item *item, size_t n, uint32_t *number,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < n && status == ND_OK; i++)
        if (item[i].state == ND_ITEM_OPEN)
            status = add_item(d, &item[i], i, &number[i], err);
    return status == ND_OK ? nd_kept_add(d, item, n, ND_ITEM_OPEN, err) : status;
}

/* One after the other, as whether a key is full depends on all before. */
static enum nd_status list_one_by_one(struct nd_dedup *d, struct nd_item *item, size_t n,
                                      const uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_index_reserve(d->index, n, err);

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        if (item[i].state != ND_ITEM_OPEN || !item[i].is_listed)
            continue;
        nd_item_leave_out_next(d, &item[i]);
        status = nd_finder_list_alone(d, number[i], &item[i].row, err);
    }
    return status;
}

static enum nd_status list_at_once(struct nd_dedup *d, const struct nd_item *item, size_t n,
                                   const uint32_t *number, struct nd_error *err)
{
    const struct nd_index_row **row = nd_alloc_array(n, sizeof *row);
    uint32_t *listed = nd_alloc_array(n, sizeof *listed);
    enum nd_status status = ND_OK;
    size_t n_listed = 0;

    if (!listed || !row)
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        if (item[i].state != ND_ITEM_OPEN || !item[i].is_listed)
            continue;
        row[n_listed] = &item[i].row;
        listed[n_listed++] = number[i];
    }
    if (status == ND_OK)
        status = nd_finder_list(d, listed, row, n_listed, err);
    free(listed);
    free(row);
    return status;
}

enum nd_status nd_items_index(struct nd_dedup *d, struct nd_item *item, size_t n, bool fills_keys,
                              uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_items_number(d, item, n, number, err);

    if (status != ND_OK)
        return status;
    return fills_keys ? list_one_by_one(d, item, n, number, err)
                      : list_at_once(d, item, n, number, err);
}
