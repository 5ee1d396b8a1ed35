/* ask.c - documents compared with those that were pushed, and not kept */
#include "engine/pairs.h"

struct asking {
    struct nd_dedup *d;
    struct nd_item *item;
};

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
    return nd_item_compare(d, w, item, nd_sketcher_shingles(w->sketcher), candidate, false, shingle,
                           n);
}

static void ask_item(void *context, size_t place, unsigned worker)
{
    struct asking *job = context;
    struct nd_dedup *d = job->d;
    struct nd_worker *w = &d->worker[worker];
    struct nd_item *item = &job->item[place];

    if (w->status || !nd_item_read(d, w, item) ||
        (item->n_tokens == 0 && !nd_dedup_ignores_text(d)))
        return;
    nd_item_sketch(d, w, item);
    if (!nd_item_sign(d, w, item) || !nd_look_query(d, w, item))
        return;
    for (size_t i = 0; i < w->met.count; i++)
        if (!compare_with(d, w, item, w->met.at[i]))
            return;
}

enum nd_status nd_dedup_ask(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                            enum nd_status (*found)(void *context,
                                                    const struct nd_found_pair *pair),
                            void *context, struct nd_error *err)
{
    struct asking job = {d, NULL};
    enum nd_status status = nd_batch_check(d, ND_PUSHED_PAIRS, items, n, err);

    if (status != ND_OK)
        return status;
    job.item = nd_items_begin(d, d->room, items, n, err);
    if (!job.item)
        return ND_ENOMEM;
    nd_workers_begin(d);
    nd_workers_forget(d);
    nd_pool_run(d->pool, n, ask_item, &job);
    status = nd_workers_status(d, err);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = nd_pairs_report(d, &job.item[i], i, found, context);
    if (status == ND_OK)
        nd_workers_end(d);
    nd_items_end(job.item, n);
    return status;
}
