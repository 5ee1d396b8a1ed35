/* ask.c - documents compared with those that were pushed, and not kept */
#include "engine/pairs.h"

struct asking {
    struct nd_dedup *d;
    struct nd_item *item;
};

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
    for (size_t i = 0; i < w->met.count && i < d->params.max_checks; i++)
        if (!nd_item_compare_stored(d, w, item, nd_sketcher_shingles(w->sketcher), w->met.at[i]))
            return;
}

/* By one worker, or by all: what they find stands in the items. */
static enum nd_status ask_all(struct asking *job, size_t n, unsigned worker, bool has_all,
                              struct nd_error *err)
{
    struct nd_dedup *d = job->d;
    struct nd_worker *w = &d->worker[worker];

    if (has_all) {
        nd_workers_begin(d);
        nd_workers_forget(d);
        nd_pool_run(d->pool, n, ask_item, job);
        return nd_workers_status(d, err);
    }
    nd_worker_begin(w);
    nd_arena_reset(&w->held);
    for (size_t i = 0; i < n && !w->status; i++)
        ask_item(job, i, worker);
    if (w->status && err)
        *err = w->error;
    return w->status;
}

/*
 * A call has a worker of its own, and that worker's memory until the last pair is told: so as many
 * calls as there are workers go on at once.  Who asks with several documents while nobody else does
 * has them all.
 */
enum nd_status nd_ask(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                      nd_found *found, void *context, struct nd_error *err)
{
    struct asking job = {d, NULL};
    unsigned worker = 0;
    bool has_all = n > 1 && nd_lending_borrow_all(d->lending);
    enum nd_status status = ND_ENOMEM;

    if (!has_all && !nd_lending_borrow(d->lending, &worker))
        return nd_fail(err, ND_EINVAL, "nd_dedup_ask: called from inside a callback of its own");
    job.item = nd_items_begin(d, &d->room[worker], items, n, err);
    if (job.item)
        status = ask_all(&job, n, worker, has_all, err);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = nd_pairs_report(d, &job.item[i], i, found, context);
    /* The cache is read by whoever has a worker. */
    if (status == ND_OK && (has_all || nd_lending_borrow_rest(d->lending)))
        nd_workers_end(d);
    if (job.item)
        nd_items_end(job.item, n);
    nd_lending_give_back(d->lending, worker);
    return status;
}
