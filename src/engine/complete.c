/* complete.c - clusters of which every two documents match */
#include <stdlib.h>

#include "engine/pairs.h"
#include "engine/state.h"

/* By number in the index, where copies have none. */
struct nd_complete {
    struct nd_column leader;  /* uint32_t: the number of the kept one of its cluster */
    struct nd_column members; /* uint32_t: of a kept one's cluster, itself counted */
};

struct completing {
    struct nd_batch_job batch; /* first */
    uint32_t *number;          /* of each item, or of the document that it is a copy of */
    struct nd_decision *decision;
    struct met *met; /* of the item at hand */
    size_t capacity;
};

/* A document that an item matches, and its cluster. */
struct met {
    uint32_t leader, number;
    const struct nd_hit *hit;
};

static uint32_t *leader_of(const struct nd_dedup *d)
{
    return d->complete->leader.data;
}

static uint32_t *members_of(const struct nd_dedup *d)
{
    return d->complete->members.data;
}

void nd_complete_free(struct nd_complete *c)
{
    if (!c)
        return;
    nd_column_release(&c->leader);
    nd_column_release(&c->members);
    free(c);
}

static enum nd_status make_room(struct nd_dedup *d, size_t n, struct nd_error *err)
{
    size_t total = d->kept.n + n;

    if (!d->complete)
        d->complete = calloc(1, sizeof *d->complete);
    if (!d->complete || !nd_column_reserve(&d->complete->leader, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&d->complete->members, total, sizeof(uint32_t)))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", total);
    return ND_OK;
}

static bool skip_none(void *context, const struct nd_item *item, uint32_t number)
{
    (void)context;
    (void)item;
    (void)number;
    return false;
}

static int by_cluster(const void *left, const void *right)
{
    const struct met *x = left, *y = right;

    if (x->leader != y->leader)
        return x->leader < y->leader ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * The kept one of the cluster that the item joins: of those all of whose documents it matches, the
 * one that it resembles most.  Its own number where there is none.
 */
static bool choose(struct completing *c, const struct nd_item *item, uint32_t number,
                   uint32_t *leader)
{
    const struct nd_dedup *d = c->batch.d;
    const struct nd_hit *best = NULL;
    void *met = c->met;

    *leader = number;
    if (!nd_array_reserve(&met, &c->capacity, item->hits.count, sizeof *c->met))
        return false;
    c->met = met;
    for (size_t i = 0; i < item->hits.count; i++) {
        uint32_t other = item->hits.at[i].kept.at;

        c->met[i] = (struct met){leader_of(d)[other], other, &item->hits.at[i]};
    }
    if (item->hits.count)
        qsort(c->met, item->hits.count, sizeof *c->met, by_cluster);
    for (size_t from = 0, to = 0; from < item->hits.count; from = to) {
        while (to < item->hits.count && c->met[to].leader == c->met[from].leader)
            to++;
        /* The kept one comes first in its cluster. */
        if (to - from == members_of(d)[c->met[from].leader] &&
            (!best || nd_hit_is_better(d, c->met[from].hit, best))) {
            best = c->met[from].hit;
            *leader = c->met[from].leader;
        }
    }
    return true;
}

/* In keep order; `next` is the first number that the batch's documents got. */
static enum nd_status join_all(struct completing *c, uint32_t next, struct nd_error *err)
{
    struct nd_dedup *d = c->batch.d;

    for (size_t i = 0; i < c->batch.n; i++) {
        struct nd_item *item = &c->batch.item[i];

        if (item->state == ND_ITEM_OPEN) {
            uint32_t number = next++, leader;

            if (!choose(c, item, number, &leader))
                return nd_fail(err, ND_ENOMEM, "out of memory for a batch");
            c->number[i] = number;
            leader_of(d)[number] = leader;
            members_of(d)[number] = 0;
            members_of(d)[leader]++;
            continue;
        }
        c->number[i] = item->state == ND_ITEM_FOLLOWS ? c->number[item->first_same] : item->kept.at;
        item->is_short = nd_index_is_short(d->index, c->number[i]);
        item->n_shingles = nd_index_shingles(d->index, c->number[i]);
    }
    return ND_OK;
}

static void describe(void *context, size_t place, unsigned worker)
{
    struct completing *c = context;
    struct nd_dedup *d = c->batch.d;
    struct nd_worker *w = &d->worker[worker];
    const struct nd_item *item = &c->batch.item[place];
    struct nd_decision *out = &c->decision[place];
    uint64_t document = d->stats.documents + place;
    uint32_t number = c->number[place], leader = leader_of(d)[number];
    bool is_copy = item->state != ND_ITEM_OPEN;

    *out = (struct nd_decision){.kept = document, .distance = UINT32_MAX};
    out->is_short = item->is_short;
    out->is_empty = nd_item_is_empty(item);
    if (w->status || (!is_copy && leader == number) ||
        (is_copy && item->is_short && d->params.short_policy == ND_SHORT_KEEP))
        return;
    out->kept = nd_kept_document(d, leader);
    (void)nd_numbers_compare(d, w, number, leader, out);
}

static void count(struct nd_dedup *d, const struct nd_item *item, uint64_t document,
                  const struct nd_decision *decision)
{
    bool is_removed = decision->kept != document;

    d->stats.kept += !is_removed;
    d->stats.identical_bytes += is_removed && decision->identical == ND_IDENTICAL_BYTES;
    d->stats.identical_tokens += is_removed && decision->identical == ND_IDENTICAL_TOKENS;
    d->stats.near += is_removed && decision->identical == ND_IDENTICAL_NO;
    nd_stats_count(d, item);
}

static enum nd_status complete(struct completing *c, struct nd_error *err)
{
    static const struct nd_pair_filter filter = {NULL, skip_none};
    struct nd_dedup *d = c->batch.d;
    uint32_t next = d->kept.n;
    enum nd_status status = make_room(d, c->batch.n, err);

    c->number = nd_alloc_array(c->batch.n, sizeof *c->number);
    if (status == ND_OK && !c->number)
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch");
    if (status == ND_OK)
        status = nd_items_find_copies(&c->batch, err);
    if (status == ND_OK)
        status = nd_items_pair(d, c->batch.item, c->batch.n, &filter, err);
    if (status == ND_OK)
        status = join_all(c, next, err);
    if (status == ND_OK) {
        nd_pool_run(d->pool, c->batch.n, describe, c);
        status = nd_workers_status(d, err);
    }
    return status;
}

enum nd_status nd_push_complete(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                struct nd_decision *decisions, struct nd_error *err)
{
    struct completing c = {.batch = {d, NULL, n}, .decision = decisions};
    enum nd_status status = nd_batch_begin(d, ND_PUSHED_STARS, items, n, &c.batch.item, err);

    if (status != ND_OK)
        return status;
    status = complete(&c, err);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        count(d, &c.batch.item[i], d->stats.documents + i, &decisions[i]);
    nd_batch_end(d, c.batch.item, n, status);
    free(c.number);
    free(c.met);
    return status;
}
