/* ahead.c - the documents of the next batch, prepared while this one is decided */
#include "engine/engine.h"
#include "engine/state.h"

/*
 * Prepared is what depends on a document alone: the hash of its bytes, who has the same in its
 * batch, tokens, sketch, signatures.  None of it touches what the batch at hand uses: each has its
 * turn of the rooms, and a worker is one thread.  What was not prepared in time, or failed, is made
 * when the document is looked at, to the same result.
 */
size_t nd_dedup_ahead(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n)
{
    unsigned turn = !d->turn;

    nd_workers_forget(d, turn);
    d->ahead = nd_items_begin(d, turn, items, n, NULL) ? items : NULL;
    d->n_ahead = n;
    return d->ahead ? nd_items_hash_tasks(n) : 0;
}

void nd_dedup_ahead_hash(void *context, size_t task, unsigned worker)
{
    struct nd_dedup *d = context;

    (void)worker;
    nd_items_hash(d->room[!d->turn].item, d->n_ahead, task);
}

size_t nd_dedup_ahead_group(void *context)
{
    struct nd_dedup *d = context;

    if (d->ahead && !nd_dedup_ignores_text(d) &&
        !nd_items_group(d->room[!d->turn].item, d->n_ahead))
        d->ahead = NULL;
    return d->ahead && d->params.cluster == ND_CLUSTER_STAR ? d->n_ahead : 0;
}

void nd_dedup_ahead_prepare(void *context, size_t task, unsigned worker)
{
    struct nd_dedup *d = context;
    struct nd_item *item = &d->room[!d->turn].item[task];

    if (item->first_same == task)
        nd_item_prepare(d, &d->worker[worker], item);
}

struct nd_item *nd_ahead_take(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n)
{
    bool is_it = d->ahead == items && d->n_ahead == n && items;

    d->ahead = NULL;
    if (!is_it)
        return NULL;
    d->turn = !d->turn;
    return d->room[d->turn].item;
}
