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
 * A batch, as if its documents came one by one.  Each goes through its candidates, the nearest
 * first, and is compared with those that are not of its component yet; a match joins the two.  Then
 * it is listed, but under no key that is full (crowd.c): of near copies a few of a component stand
 * under a key, and that joins the others, a forest and not a clique.
 *
 *   - In parallel, while forest and index stand still: each document against those of earlier
 *     batches.  Candidates of one component with an earlier hit are left out, as they would be.
 *   - Then in order: all once more, those of the batch among them, with what is known of earlier
 *     ones.
 */
struct joining {
    struct nd_batch_job batch; /* first */
    uint32_t *number;          /* of each item in the index */
    uint32_t first_number;     /* of the batch */
    bool *is_joined;           /* by candidate of the item at hand */
    size_t capacity;
    struct nd_error *err;
};

/* Whether the item has a hit in the component of a document of an earlier batch. */
static bool is_met(const struct nd_dedup *d, const struct nd_item *item, uint32_t number)
{
    uint32_t root = root_of(d->components, nd_kept_document(d, number));

    for (size_t i = 0; i < item->hits.count; i++)
        if (root_of(d->components, nd_kept_document(d, item->hits.at[i].kept.at)) == root)
            return true;
    return false;
}

static void meet_earlier(void *context, size_t place, unsigned worker)
{
    struct joining *job = context;
    struct nd_dedup *d = job->batch.d;
    struct nd_worker *w = &d->worker[worker];
    struct nd_item *item = &job->batch.item[place];

    if (w->status || item->state != ND_ITEM_OPEN || !item->is_listed || !nd_look_query(d, w, item))
        return;
    for (size_t i = 0; i < w->met.count; i++) {
        if (is_met(d, item, w->met.at[i].number))
            continue;
        if (!nd_item_begin_compare(w, item) ||
            !nd_item_compare_stored(d, w, item, &w->set, w->met.at[i]))
            return;
    }
}

static void join_hit(struct nd_dedup *d, uint32_t document, const struct nd_hit *hit)
{
    join(d->components, document, nd_kept_document(d, hit->kept.at),
         (struct via_counts){(uint32_t)hit->overlap.a, (uint32_t)hit->overlap.b,
                             (uint32_t)hit->overlap.shared});
}

static const struct nd_hit *hit_with(const struct nd_item *item, uint32_t number)
{
    for (size_t i = 0; i < item->hits.count; i++)
        if (item->hits.at[i].kept.at == number)
            return &item->hits.at[i];
    return NULL;
}

/* All candidates in order, those of the batch among them; false: worker->error. */
static bool meet_all(struct joining *job, size_t place)
{
    struct nd_dedup *d = job->batch.d;
    struct nd_components *c = d->components;
    struct nd_worker *w = d->here;
    struct nd_item *item = &job->batch.item[place];
    uint32_t document = c->n + (uint32_t)place;

    if (!nd_look_query(d, w, item))
        return false;
    for (size_t i = 0; i < w->met.count; i++) {
        struct nd_candidate candidate = w->met.at[i];
        const struct nd_hit *hit;

        if (find(c, nd_kept_document(d, candidate.number)) == find(c, document))
            continue;
        item->n_near++;
        if (candidate.number >= job->first_number &&
            (!nd_item_begin_compare(w, item) ||
             !nd_item_compare_stored(d, w, item, &w->set, candidate)))
            return false;
        hit = hit_with(item, candidate.number);
        if (hit)
            join_hit(d, document, hit);
    }
    return true;
}

/* Let later ones find it, by those of its keys that are not full. */
static bool list_item(struct joining *job, size_t place)
{
    struct nd_dedup *d = job->batch.d;
    struct nd_components *c = d->components;
    struct nd_worker *w = d->here;
    struct nd_item *item = &job->batch.item[place];
    uint32_t root = find(c, c->n + (uint32_t)place);
    void *is_joined = job->is_joined;
    bool ok = nd_array_reserve(&is_joined, &job->capacity, w->met.count + 1, 1);

    job->is_joined = is_joined;
    if (!ok) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    for (size_t i = 0; i < w->met.count; i++)
        job->is_joined[i] = find(c, nd_kept_document(d, w->met.at[i].number)) == root;
    nd_item_leave_out_joined(d, item, &w->met, job->is_joined);
    if (nd_finder_list_alone(d, job->number[place], &item->row, job->err) == ND_OK)
        return true;
    nd_worker_fail(w, ND_ENOMEM, "listing a document");
    return false;
}

static void join_copy(struct nd_dedup *d, struct nd_item *item, uint32_t document, uint32_t number)
{
    item->is_short = nd_index_is_short(d->index, number);
    item->n_shingles = nd_index_shingles(d->index, number);
    if (!item->is_short || d->params.short_policy != ND_SHORT_KEEP) {
        uint32_t n = (uint32_t)item->n_shingles;

        join(d->components, document, nd_kept_document(d, number), (struct via_counts){n, n, n});
    }
}

static bool join_item(struct joining *job, size_t place)
{
    struct nd_dedup *d = job->batch.d;
    struct nd_item *item = &job->batch.item[place];
    uint32_t *kept = kept_of(d->components) + d->components->n,
             document = d->components->n + (uint32_t)place;

    if (item->state != ND_ITEM_OPEN) {
        kept[place] = item->state == ND_ITEM_FOLLOWS ? kept[item->first_same] : item->kept.at;
        join_copy(d, item, document, kept[place]);
        return true;
    }
    kept[place] = job->number[place];
    return !item->is_listed || (meet_all(job, place) && list_item(job, place));
}

static enum nd_status join_batch(struct joining *job, struct nd_error *err)
{
    struct nd_dedup *d = job->batch.d;
    size_t n = job->batch.n;
    enum nd_status status = add_documents(d->components, n, err);

    job->first_number = d->kept.n;
    if (status == ND_OK)
        status = nd_items_find_copies(&job->batch, err);
    if (status == ND_OK)
        status = nd_items_sketch(d, job->batch.item, n, false, err);
    if (status == ND_OK)
        status = nd_items_number(d, job->batch.item, n, job->number, err);
    if (status == ND_OK)
        status = nd_index_reserve(d->index, n, err);
    if (status != ND_OK)
        return status;
    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++)
        d->worker[i].in_set = NULL;
    nd_pool_run(d->pool, n, meet_earlier, job);
    status = nd_workers_status(d, err);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        if (!join_item(job, i))
            status = nd_workers_status(d, err);
        nd_stats_count(d, &job->batch.item[i], job->batch.item[i].n_near, false);
    }
    return status;
}

enum nd_status nd_push_components(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                  struct nd_error *err)
{
    struct joining job = {.batch = {d, NULL, n}, .err = err};
    enum nd_status status;

    if (!d->components)
        d->components = calloc(1, sizeof *d->components);
    if (!d->components)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_batch_begin(d, ND_PUSHED_COMPONENTS, items, n, &job.batch.item, err);
    if (status)
        return status;
    job.number = nd_alloc_array(n, sizeof *job.number);
    if (job.number)
        status = join_batch(&job, err);
    else
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    if (status == ND_OK)
        d->components->n += (uint32_t)n;
    nd_batch_end(d, job.batch.item, n, status);
    free(job.number);
    free(job.is_joined);
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
