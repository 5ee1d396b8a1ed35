/* star.c - a batch pushed: every document joins a kept one, or is kept */
#include <stdlib.h>
#include <string.h>

#include "engine/state.h"

/*
 * A task is a run of neighbours, and who looks at one has read and sketched the next, so that the
 * lines of the tables which that asks for come meanwhile.  One thread alone goes on so from task to
 * task; of several, another may have what follows.  A worker's share are eight tasks at least.
 */
enum { TASK_MOST = 16, TASKS_A_WORKER = 8 };

struct looking {
    struct nd_batch_job batch;
    size_t step; /* documents a task */
};

static size_t step_for(size_t n, unsigned n_workers)
{
    size_t step = n / ((size_t)n_workers * TASKS_A_WORKER);

    return step < 1 ? 1 : step > TASK_MOST ? TASK_MOST : step;
}

/* The first of equal ones; their copies follow it.  Those before `end` are this worker's too. */
static void look_at(const struct nd_batch_job *job, struct nd_worker *w, size_t place, size_t end)
{
    struct nd_item *item = &job->item[place];

    if (place + 1 < job->n && item[1].first_same == place + 1) {
        if (place + 1 < end && !item[1].is_prepared)
            nd_item_look_ahead(job->d, w, &item[1]);
        else
            nd_item_expect(job->d, &item[1]);
    }
    if (place + 2 < job->n)
        nd_kept_expect(job->d, &item[2]);
    if (!w->status && item->first_same == place)
        nd_item_look(job->d, w, item);
}

static void look(void *context, size_t task, unsigned worker)
{
    const struct looking *looking = context;
    const struct nd_batch_job *job = &looking->batch;
    struct nd_worker *w = &job->d->worker[worker];
    size_t from = task * looking->step, to = from + looking->step;

    if (to > job->n)
        to = job->n;
    for (size_t place = from; place < to && !w->status; place++)
        look_at(job, w, place, nd_pool_threads(job->d->pool) == 1 ? job->n : to);
}

static void look_all(struct nd_dedup *d, struct nd_item *item, size_t n)
{
    struct looking looking = {{d, item, n}, step_for(n, nd_pool_threads(d->pool))};

    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++)
        d->worker[i].in_sketcher = d->worker[i].in_set = NULL;
    nd_pool_run(d->pool, (n + looking.step - 1) / looking.step, look, &looking);
}

static enum nd_status keep_all(struct nd_dedup *d, struct nd_item *item, size_t n,
                               struct nd_error *err)
{
    const struct nd_index_row **row = nd_alloc_array(n, sizeof *row);
    uint32_t *listed = nd_alloc_array(n, sizeof *listed), number;
    enum nd_status status = ND_OK;
    size_t n_listed = 0;

    if (!listed || !row)
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        if (item[i].state != ND_ITEM_KEPT)
            continue;
        status = nd_document_keep(d, &item[i], d->stats.documents + i, i, &number, err);
        if (status != ND_OK || !item[i].is_listed)
            continue;
        /* Most kept documents are never asked for; one that met others will be met again. */
        if (nd_item_candidates(&item[i]))
            (void)nd_shingle_cache_put(d->cache, number, item[i].shingle,
                                       (size_t)item[i].n_shingles);
        row[n_listed] = &item[i].row;
        listed[n_listed++] = number;
    }
    if (status == ND_OK)
        status = nd_kept_add(d, item, n, ND_ITEM_KEPT, err);
    if (status == ND_OK)
        status = nd_finder_list(d, listed, row, n_listed, err);
    free(listed);
    free(row);
    return status;
}

/* What the signatures of a removed document and of its kept one have in common. */
static void describe_agreement(const struct nd_dedup *d, const struct nd_item *item,
                               struct nd_agreement *out)
{
    struct nd_match match;

    if (item->kept.in_batch)
        (void)nd_matching_compare(d->matching, item->own_signatures,
                                  d->at_hand->item[item->kept.at].own_signatures, &match);
    else
        (void)nd_matching_compare_stored(d->matching, item->own_signatures, d->signatures,
                                         item->kept.at, &match);
    memcpy(out, match.evidence.agreement, sizeof match.evidence.agreement);
}

static void describe_removed(const struct nd_dedup *d, const struct nd_item *item,
                             struct nd_decision *out)
{
    out->kept = item->kept.in_batch ? d->stats.documents + item->kept.at
                                    : nd_kept_document(d, item->kept.at);
    out->identical = item->identical;
    out->verified = item->identical != ND_IDENTICAL_NO || d->params.verify != ND_VERIFY_NONE;
    if (item->hits.count) {
        out->overlap = item->hits.at[0].overlap;
        out->distance = item->hits.at[0].distance;
        if (d->matching)
            describe_agreement(d, item, out->agreement);
    } else {
        out->overlap = (struct nd_overlap){item->n_shingles, item->n_shingles, item->n_shingles};
        out->distance = 0;
    }
}

static void describe(struct nd_dedup *d, const struct nd_item *item, uint64_t document,
                     struct nd_decision *out)
{
    size_t candidates = nd_item_candidates(item), limit = d->params.max_checks;

    *out = (struct nd_decision){.kept = document, .distance = UINT32_MAX};
    out->is_short = item->is_short;
    out->is_empty = nd_item_is_empty(item);
    out->was_cut = candidates > limit;
    out->checks = (uint32_t)(candidates < limit ? candidates : limit);
    if (item->state == ND_ITEM_REMOVED)
        describe_removed(d, item, out);
    d->stats.kept += item->state == ND_ITEM_KEPT;
    d->stats.identical_bytes += out->identical == ND_IDENTICAL_BYTES;
    d->stats.identical_tokens += out->identical == ND_IDENTICAL_TOKENS;
    d->stats.near += item->state == ND_ITEM_REMOVED && out->identical == ND_IDENTICAL_NO;
    nd_stats_count(d, item, out->checks, out->was_cut);
}

/* The items of a batch that has begun; their number is that of the decisions. */
static enum nd_status push_stars(struct nd_dedup *d, struct nd_item *item, size_t n,
                                 struct nd_decision *decisions, struct nd_error *err)
{
    enum nd_status status;

    look_all(d, item, n);
    status = nd_workers_status(d, err);
    if (status == ND_OK)
        status = nd_items_settle(d, item, n, err);
    if (status == ND_OK)
        status = keep_all(d, item, n, err);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        describe(d, &item[i], d->stats.documents + i, &decisions[i]);
    nd_batch_end(d, item, n, status);
    return status;
}

enum nd_status nd_push_stars(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                             struct nd_decision *decisions, struct nd_error *err)
{
    struct nd_item *item;
    enum nd_status status = nd_batch_begin(d, ND_PUSHED_STARS, items, n, &item, err);

    return status == ND_OK ? push_stars(d, item, n, decisions, err) : status;
}

enum nd_status nd_push_prepared_stars(struct nd_dedup *d, unsigned worker,
                                      struct nd_decision *decisions, struct nd_error *err)
{
    struct nd_batch_room *room = &d->room[worker];
    enum nd_status status;

    if (!room->is_made)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", room->n);
    status = nd_batch_check(d, ND_PUSHED_STARS, room->items, room->n, err);
    if (status != ND_OK)
        return status;
    d->pushed = ND_PUSHED_STARS;
    d->at_hand = room;
    d->here = &d->worker[worker];
    nd_workers_begin(d);
    nd_workers_forget(d);
    if (d->texts)
        nd_texts_begin(d->texts, room->items);
    status = push_stars(d, room->item, room->n, decisions, err);
    d->at_hand = d->room;
    d->here = d->worker;
    return status;
}
