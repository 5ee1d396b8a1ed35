/* components.c - the transitive closure of the verified pairs */
#include <stdlib.h>
#include <string.h>

#include "engine/pairs.h"
#include "engine/state.h"

/* By document: its place in the forest, and the neighbour that justified it. */
struct nd_components {
    struct nd_column parent;  /* uint32_t; a root is the first of its component */
    struct nd_column via;     /* uint32_t; itself: none yet */
    struct nd_column overlap; /* struct via_counts */
    struct nd_column kept; /* uint32_t: number in the index of the document or of its first copy */
    uint32_t n;
};

struct via_counts {
    uint32_t a, b, shared;
};

static uint32_t *parent_of(const struct nd_components *c)
{
    return c->parent.data;
}

static uint32_t *via_of(const struct nd_components *c)
{
    return c->via.data;
}

static uint32_t *kept_of(const struct nd_components *c)
{
    return c->kept.data;
}

/* Without compression, for several threads at once. */
static uint32_t root_of(const struct nd_components *c, uint32_t document)
{
    while (parent_of(c)[document] != document)
        document = parent_of(c)[document];
    return document;
}

/* With path halving. */
static uint32_t find(struct nd_components *c, uint32_t document)
{
    uint32_t *parent = parent_of(c);

    while (parent[document] != document) {
        parent[document] = parent[parent[document]];
        document = parent[document];
    }
    return document;
}

static void justify(struct nd_components *c, uint32_t document, uint32_t neighbour,
                    struct via_counts counts)
{
    if (via_of(c)[document] != document)
        return;
    via_of(c)[document] = neighbour;
    ((struct via_counts *)c->overlap.data)[document] = counts;
}

/* Join two documents of different components; the earlier root stays one. */
static void join(struct nd_components *c, uint32_t document, uint32_t neighbour,
                 struct via_counts counts)
{
    uint32_t x = find(c, document), y = find(c, neighbour);

    if (x == y)
        return;
    justify(c, document, neighbour, counts);
    justify(c, neighbour, document, (struct via_counts){counts.b, counts.a, counts.shared});
    if (x < y)
        parent_of(c)[y] = x;
    else
        parent_of(c)[x] = y;
}

void nd_components_free(struct nd_components *c)
{
    if (!c)
        return;
    nd_column_release(&c->parent);
    nd_column_release(&c->via);
    nd_column_release(&c->overlap);
    nd_column_release(&c->kept);
    free(c);
}

static enum nd_status add_documents(struct nd_components *c, size_t n, struct nd_error *err)
{
    size_t total = c->n + n;

    if (!nd_column_reserve(&c->parent, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->via, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->kept, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->overlap, total, sizeof(struct via_counts)))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", total);
    for (uint32_t i = c->n; i < total; i++)
        parent_of(c)[i] = via_of(c)[i] = i;
    return ND_OK;
}

/*
 * While a batch is compared the forest does not change, so documents of this batch stand alone.  An
 * item's comparisons leave out a candidate whose component it has joined already: the item's hits
 * are few.
 */
static bool is_joined(void *context, const struct nd_item *item, uint32_t number)
{
    struct nd_dedup *d = context;
    uint32_t root = root_of(d->components, nd_kept_document(d, number));

    for (size_t i = 0; i < item->hits.count; i++)
        if (root_of(d->components, nd_kept_document(d, item->hits.at[i].kept.at)) == root)
            return true;
    return false;
}

static void join_item(struct nd_dedup *d, struct nd_item *item, size_t place, uint32_t first)
{
    struct nd_components *c = d->components;
    uint32_t document = first + (uint32_t)place;

    if (item[place].state == ND_ITEM_OPEN) {
        for (size_t i = 0; i < item[place].hits.count; i++) {
            const struct nd_hit *hit = &item[place].hits.at[i];

            join(c, document, nd_kept_document(d, hit->kept.at),
                 (struct via_counts){(uint32_t)hit->overlap.a, (uint32_t)hit->overlap.b,
                                     (uint32_t)hit->overlap.shared});
        }
        return;
    }
    if (item[place].state == ND_ITEM_FOLLOWS)
        kept_of(c)[document] = kept_of(c)[first + item[place].first_same];
    else
        kept_of(c)[document] = item[place].kept.at;
    item[place].is_short = nd_index_is_short(d->index, kept_of(c)[document]);
    item[place].n_shingles = nd_index_shingles(d->index, kept_of(c)[document]);
    if (!item[place].is_short || d->params.short_policy != ND_SHORT_KEEP) {
        uint32_t n = (uint32_t)item[place].n_shingles;

        join(c, document, nd_kept_document(d, kept_of(c)[document]), (struct via_counts){n, n, n});
    }
}

enum nd_status nd_push_components(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                  struct nd_error *err)
{
    const struct nd_pair_filter filter = {d, is_joined};
    struct nd_batch_job job;
    struct nd_item *item;
    enum nd_status status;
    uint32_t number = d->kept.n;

    if (!d->components)
        d->components = calloc(1, sizeof *d->components);
    if (!d->components)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_batch_begin(d, ND_PUSHED_COMPONENTS, items, n, &item, err);
    if (status)
        return status;
    job = (struct nd_batch_job){d, item, n};
    status = add_documents(d->components, n, err);
    if (status == ND_OK)
        status = nd_items_find_copies(&job, err);
    if (status == ND_OK)
        status = nd_items_pair(d, item, n, &filter, err);
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        if (item[i].state == ND_ITEM_OPEN)
            kept_of(d->components)[d->components->n + i] = number++;
        join_item(d, item, i, d->components->n);
        nd_stats_count(d, &item[i]);
    }
    d->components->n += (uint32_t)n;
    nd_batch_end(d, item, n, status);
    return status;
}

struct deciding {
    struct nd_dedup *d;
    uint32_t first;
    struct nd_decision *decision;
    struct nd_component_via *via;
};

static void decide(void *context, size_t place, unsigned worker)
{
    struct deciding *job = context;
    struct nd_components *c = job->d->components;
    struct nd_worker *w = &job->d->worker[worker];
    uint32_t document = job->first + (uint32_t)place, kept = root_of(c, document);
    struct nd_decision *out = &job->decision[place];
    struct via_counts counts = ((struct via_counts *)c->overlap.data)[document];

    *out = (struct nd_decision){.kept = kept, .distance = UINT32_MAX};
    out->is_short = nd_index_is_short(job->d->index, kept_of(c)[document]);
    out->is_empty = out->is_short && nd_index_shingles(job->d->index, kept_of(c)[document]) == 0;
    job->via[place] = (struct nd_component_via){document, {0, 0, 0}};
    if (kept == document || w->status)
        return;
    job->via[place] =
        (struct nd_component_via){via_of(c)[document], {counts.a, counts.b, counts.shared}};
    (void)nd_numbers_compare(job->d, w, kept_of(c)[document], kept_of(c)[kept], out);
}

enum nd_status nd_decide_components(struct nd_dedup *d, uint64_t first, size_t n,
                                    struct nd_decision *decisions, struct nd_component_via *via,
                                    struct nd_error *err)
{
    struct deciding job = {d, (uint32_t)first, decisions, via};
    uint64_t pushed = d->pushed == ND_PUSHED_COMPONENTS ? d->stats.documents : 0;
    enum nd_status status;

    if (first > pushed || n > pushed - first)
        return nd_fail(err, ND_EINVAL, "there are only %llu documents", (unsigned long long)pushed);
    nd_workers_begin(d);
    nd_pool_run(d->pool, n, decide, &job);
    status = nd_workers_status(d, err);
    if (status == ND_OK)
        nd_workers_end(d);
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        bool removed = decisions[i].kept != first + i;

        d->stats.kept += !removed;
        d->stats.identical_bytes += removed && decisions[i].identical == ND_IDENTICAL_BYTES;
        d->stats.identical_tokens += removed && decisions[i].identical == ND_IDENTICAL_TOKENS;
        d->stats.near += removed && decisions[i].identical == ND_IDENTICAL_NO;
    }
    return status;
}
