/* components.c - the transitive closure of the verified pairs
 *
 * Components are kept as a forest of trees (union-find: Tarjan 1975).  parent[x] is another
 * document of x's component, or x itself if x is the root.  Two invariants:
 *
 *   - parent[x] <= x, so the root is the first document of its component, which is the kept one.
 *     Joining two components hangs the later root below the earlier one.  We do not balance by
 *     rank, since the root is part of the answer; path halving alone keeps paths logarithmic.
 *   - While several threads read the forest, nobody changes it: root_of only follows parents.
 *     find() also halves the path, and is for the one thread that pushes.
 *
 * The components do not depend on the order in which pairs are verified, since the transitive
 * closure of a set of pairs does not; but `via`, the neighbour that justifies a document, is that
 * of the first pair that joined it.  So joins are made in the order of the documents.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/batch.h"
#include "engine/overflow.h"

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
/* `shared` of documents that match and were not compared. */
#define NOT_COMPARED UINT32_MAX

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
 * first, and is compared with those that are not of its component yet, with max_checks at most (if
 * there are more, the summary counts it as cut); a match joins the two.  Then
 * it is listed, but under no key that is full (overflow.c): of near copies a few of a component stand
 * under a key, and that joins the others, a forest and not a clique.
 *
 *   - In parallel, while forest and index stand still: each document against those of earlier
 *     batches.  Candidates of one component with an earlier hit are left out, as they would be.
 *   - Then in order: all once more, those of the batch among them, with what is known of earlier
 *     ones.
 */
/* Whether the item has a hit in the component of a document of an earlier batch. */
static bool is_met(const struct nd_dedup *d, const struct nd_item *item, uint32_t number)
{
    uint32_t root = root_of(d->components, nd_kept_document(&d->kept, number));

    for (size_t i = 0; i < item->search.n_hits; i++)
        if (root_of(d->components, nd_kept_document(&d->kept, item->search.hits[i].kept.number)) ==
            root)
            return true;
    return false;
}

static void meet_earlier(void *context, size_t place, unsigned worker)
{
    const struct nd_engine_batch *batch = context;
    const struct nd_dedup *d = batch->d;
    struct nd_worker *w = &d->crew.worker[worker];
    struct nd_item *item = &batch->item[place];

    if (w->status || item->state != ND_ITEM_OPEN ||
        (nd_item_find_equal(d, w, item, batch->number[place]) && !d->plan.matching) ||
        !item->read.is_listed || !nd_finder_candidates(&d->kept.finder, w, item))
        return;
    for (size_t i = 0, n = 0; i < w->found.count && n < d->plan.params.max_checks; i++) {
        if (is_met(d, item, w->found.items[i].number))
            continue;
        n++;
        item->search.last_checked = w->found.items[i].number;
        if (!nd_item_begin_compare(w, item) ||
            !nd_item_compare(&d->kept, w, item, &w->set, w->found.items[i], NULL))
            return;
    }
}

/* Return how many shingles the two documents of a hit share, or NOT_COMPARED. */
static uint32_t shared_by(const struct nd_dedup *d, const struct nd_hit *hit)
{
    return d->plan.params.verify == ND_VERIFY_NONE ? NOT_COMPARED : (uint32_t)hit->overlap.shared;
}

static void join_hit(struct nd_dedup *d, uint32_t document, const struct nd_hit *hit)
{
    join(
        d->components, document, nd_kept_document(&d->kept, hit->kept.number),
        (struct via_counts){(uint32_t)hit->overlap.a, (uint32_t)hit->overlap.b, shared_by(d, hit)});
}

static void join_equal(struct nd_dedup *d, const struct nd_item *item, uint32_t document,
                       uint32_t number)
{
    uint32_t n = (uint32_t)item->read.n_shingles;

    join(d->components, document, nd_kept_document(&d->kept, number), (struct via_counts){n, n, n});
}

static const struct nd_hit *hit_with(const struct nd_item *item, uint32_t number)
{
    for (size_t i = 0; i < item->search.n_hits; i++)
        if (item->search.hits[i].kept.number == number)
            return &item->search.hits[i];
    return NULL;
}

/* Compare a candidate that meet_earlier did not; true where there is nothing to compare. */
static bool compare_now(const struct nd_engine_batch *batch, struct nd_item *item,
                        struct nd_candidate candidate)
{
    struct nd_worker *w = batch->d->crew.pusher;

    return nd_item_begin_compare(w, item) &&
           nd_item_compare(&batch->d->kept, w, item, &w->set, candidate, NULL);
}

/*
 * The candidates in order, those of the batch among them, until max_checks that are not of the item's
 * component were compared; false: worker->error.  What meet_earlier did not come to, as it was
 * stopped by that number, is compared now, where others are of the component by now.
 */
static bool meet_all(const struct nd_engine_batch *batch, size_t place)
{
    struct nd_dedup *d = batch->d;
    struct nd_components *c = d->components;
    struct nd_worker *w = d->crew.pusher;
    struct nd_item *item = &batch->item[place];
    uint32_t document = c->n + (uint32_t)place;
    bool is_beyond = false; /* what meet_earlier compared last */

    if (!nd_finder_candidates(&d->kept.finder, w, item))
        return false;
    for (size_t i = 0; i < w->found.count && !item->search.was_cut; i++) {
        struct nd_candidate candidate = w->found.items[i];
        bool was_beyond = is_beyond;
        const struct nd_hit *hit;

        is_beyond = is_beyond || candidate.number == item->search.last_checked;
        if (find(c, nd_kept_document(&d->kept, candidate.number)) == find(c, document))
            continue;
        item->search.was_cut = item->search.n_near == d->plan.params.max_checks;
        if (item->search.was_cut)
            break;
        item->search.n_near++;
        if ((was_beyond || candidate.number >= batch->first_number) &&
            !compare_now(batch, item, candidate))
            return false;
        hit = hit_with(item, candidate.number);
        if (hit)
            join_hit(d, document, hit);
    }
    return true;
}

/* Let later ones find it, by those of its keys that are not full. */
static bool list_item(const struct nd_engine_batch *batch, size_t place)
{
    struct nd_dedup *d = batch->d;
    struct nd_components *c = d->components;
    struct nd_worker *w = d->crew.pusher;
    struct nd_item *item = &batch->item[place];
    uint32_t root = find(c, c->n + (uint32_t)place);
    bool *is_joined = nd_alloc_array(w->found.count, sizeof *is_joined), ok = is_joined != NULL;

    for (size_t i = 0; ok && i < w->found.count; i++)
        is_joined[i] = find(c, nd_kept_document(&d->kept, w->found.items[i].number)) == root;
    ok = ok && nd_overflow_note_joined(&d->kept, w, item, is_joined) &&
         nd_finder_list_alone(&d->kept.finder, batch->number[place], item, NULL) == ND_OK;
    if (!ok)
        nd_worker_fail(w, ND_ENOMEM, "listing a document");
    free(is_joined);
    return ok;
}

/* A copy of a document that has a number. */
static void join_copy(struct nd_dedup *d, struct nd_item *item, uint32_t document, uint32_t number)
{
    item->read.is_short = nd_index_is_short(d->kept.finder.index, number);
    item->read.n_shingles = nd_index_shingles(d->kept.finder.index, number);
    if (!item->read.is_short || d->plan.params.short_policy != ND_SHORT_KEEP)
        join_equal(d, item, document, number);
}

/* One that equals an earlier document is found by that; but its signatures may differ, as some read
 * more than tokens.  False: worker->error. */
static bool join_next(const struct nd_engine_batch *batch, size_t place)
{
    struct nd_dedup *d = batch->d;
    struct nd_item *item = &batch->item[place];

    if (nd_item_find_equal(d, d->crew.pusher, item, batch->number[place])) {
        if (d->crew.pusher->status)
            return false;
        join_equal(d, item, d->components->n + (uint32_t)place, item->kept.number);
        if (!d->plan.matching)
            return true;
    }
    return !item->read.is_listed || (meet_all(batch, place) && list_item(batch, place));
}

static bool join_item(const struct nd_engine_batch *batch, size_t place)
{
    struct nd_dedup *d = batch->d;
    struct nd_item *item = &batch->item[place];
    uint32_t *kept = kept_of(d->components) + d->components->n,
             document = d->components->n + (uint32_t)place;

    if (item->state != ND_ITEM_OPEN) {
        kept[place] = item->state == ND_ITEM_FOLLOWS ? kept[item->first_same] : item->kept.number;
        join_copy(d, item, document, kept[place]);
        return true;
    }
    kept[place] = batch->number[place];
    return join_next(batch, place);
}

static enum nd_status join_batch(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    enum nd_status status;

    if (!d->components)
        d->components = calloc(1, sizeof *d->components);
    if (!d->components)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = add_documents(d->components, batch->n, err);
    if (status == ND_OK)
        status = nd_engine_batch_index_originals(batch, err);
    if (status == ND_OK)
        status = nd_index_reserve(d->kept.finder.index, batch->n, err);
    if (status != ND_OK)
        return status;
    nd_crew_forget_sets(&d->crew);
    nd_pool_run(d->crew.pool, batch->n, meet_earlier, batch);
    status = nd_crew_status(&d->crew, err);
    for (size_t i = 0; status == ND_OK && i < batch->n; i++) {
        if (!join_item(batch, i))
            status = nd_crew_status(&d->crew, err);
        nd_stats_count(&d->stats, &batch->item[i], batch->item[i].search.n_near,
                       batch->item[i].search.was_cut);
    }
    return status;
}

enum nd_status nd_push_components(struct nd_engine_batch *batch, struct nd_error *err)
{
    enum nd_status status = join_batch(batch, err);

    if (status == ND_OK)
        batch->d->components->n += (uint32_t)batch->n;
    nd_engine_batch_end(batch, status);
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
    struct nd_worker *w = &job->d->crew.worker[worker];
    uint32_t document = job->first + (uint32_t)place, kept = root_of(c, document);
    struct nd_decision *out = &job->decision[place];
    struct via_counts counts = ((struct via_counts *)c->overlap.data)[document];

    *out = (struct nd_decision){.kept = kept, .distance = UINT32_MAX};
    out->is_short = nd_index_is_short(job->d->kept.finder.index, kept_of(c)[document]);
    out->is_empty =
        out->is_short && nd_index_shingles(job->d->kept.finder.index, kept_of(c)[document]) == 0;
    job->via[place] = (struct nd_component_via){.document = document};
    if (kept == document || w->status)
        return;
    job->via[place] = (struct nd_component_via){
        .document = via_of(c)[document],
        .overlap = {counts.a, counts.b, counts.shared == NOT_COMPARED ? 0 : counts.shared},
        .verified = nd_kept_verified(&job->d->kept, counts.shared != NOT_COMPARED, document,
                                     via_of(c)[document])};
    (void)nd_numbers_compare(job->d, w, kept_of(c)[document], kept_of(c)[kept], out);
    out->verified = nd_kept_verified(&job->d->kept, out->verified, document, kept);
}

enum nd_status nd_decide_components(struct nd_dedup *d, uint64_t first, size_t n,
                                    struct nd_decision *decisions, struct nd_component_via *via,
                                    struct nd_error *err)
{
    struct deciding job = {d, (uint32_t)first, decisions, via};
    uint64_t pushed = d->stats.documents;
    enum nd_status status;

    if (first > pushed || n > pushed - first)
        return nd_fail(err, ND_EINVAL, "there are only %llu documents", (unsigned long long)pushed);
    nd_crew_begin(&d->crew);
    nd_pool_run(d->crew.pool, n, decide, &job);
    status = nd_crew_status(&d->crew, err);
    if (status == ND_OK)
        nd_crew_end(&d->crew, d->kept.cache);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        nd_stats_count_decision(&d->stats, &decisions[i], decisions[i].kept != first + i);
    return status;
}
