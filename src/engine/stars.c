/* stars.c - a batch pushed: every document joins a kept one, or is kept itself
 *
 * A push goes through three steps:
 *
 *   1. nd_item_match_kept: each document is compared with the kept ones of earlier batches, in
 *      parallel, since nobody changes the index meanwhile.  Most of this may be done before the push
 *      (ahead.c): then only what came since is left.
 *   2. resolve_batch.c: the documents that are left are compared with one another, in order.
 *   3. Those that are kept get numbers, in order, and rows in the index, a table a task.
 *
 * A document's hash, tokens and sketch depend on it alone, so nd_dedup_prepare may make them before the
 * push: then the push of one worker's batch runs while the others prepare theirs.
 *
 * The result does not depend on the number of threads.  Step 1 only reads what earlier batches
 * left, so the order of its tasks does not matter.  The steps that change something are serial or,
 * like the tables of the index, filled by one task each in the order of the documents.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/ahead.h"
#include "engine/batch.h"
#include "engine/engine.h"

static void remove_as(struct nd_item *item, uint32_t number, enum nd_identical identical)
{
    item->state = ND_ITEM_REMOVED;
    item->identical = identical;
    item->kept = (struct nd_kept_ref){number, false};
}

/* Remove an item that has the bytes of a kept document.  True: the item is decided, or the
 * worker has an error. */
static bool match_by_bytes(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    const struct nd_index *index = kept->finder.index;
    uint32_t number;
    int found = nd_kept_find_bytes(kept, w, item, &number);

    if (found <= 0)
        return found < 0;
    item->read.is_short = nd_index_is_short(index, number);
    item->read.n_shingles = nd_index_shingles(index, number);
    item->read.row.simhash = nd_index_simhash(index, number);
    remove_as(item, number, ND_IDENTICAL_BYTES);
    return true;
}

static bool match_by_tokens(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    uint32_t number;
    int found = nd_kept_find_tokens(kept, w, item, &number);

    if (found <= 0)
        return found < 0;
    item->read.row.simhash = nd_index_simhash(kept->finder.index, number);
    remove_as(item, number, ND_IDENTICAL_TOKENS);
    return true;
}

bool nd_item_match_equal(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    return match_by_bytes(kept, w, item) ||
           (item->read.is_listed && match_by_tokens(kept, w, item));
}

bool nd_item_take_candidates(struct nd_worker *w, struct nd_item *item)
{
    struct nd_item_search *search = &item->search;
    size_t n, max = w->plan->params.max_checks;

    n = w->found.count < max ? w->found.count : max;
    search->crowd = w->crowd;
    search->n_near = w->found.count;
    search->may_prune = search->n_near <= max;
    if (n == 0)
        return true;
    search->near.items = nd_alloc_array(n, sizeof *search->near.items);
    if (!search->near.items) {
        nd_worker_fail(w, ND_ENOMEM, "listing candidates");
        return false;
    }
    memcpy(search->near.items, w->found.items, n * sizeof *search->near.items);
    search->near.count = search->near.capacity = n;
    return true;
}

/*
 * A candidate's shingles cost two waits for memory: for the entry of the cache's hash table, and for
 * the array to which that leads.  So the entry is requested six comparisons ahead and the array
 * three: by then the entry has come.
 */
bool nd_item_compare_kept(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                          const struct nd_shingle_set *set)
{
    enum { ENTRY_AHEAD = 6, SHINGLES_AHEAD = 3 };
    const struct nd_candidate *near = item->search.near.items;
    size_t n = item->search.near.count;

    for (size_t i = 0; i < n && i < ENTRY_AHEAD; i++)
        nd_shingle_cache_prefetch_entry(kept->cache, near[i].number);
    for (size_t i = 0; i < n && i < SHINGLES_AHEAD; i++)
        nd_shingle_cache_prefetch_shingles(kept->cache, near[i].number);
    for (size_t i = 0; i < n; i++) {
        if (i + ENTRY_AHEAD < n)
            nd_shingle_cache_prefetch_entry(kept->cache, near[i + ENTRY_AHEAD].number);
        if (i + SHINGLES_AHEAD < n)
            nd_shingle_cache_prefetch_shingles(kept->cache, near[i + SHINGLES_AHEAD].number);
        if (!nd_item_compare(kept, w, item, set, near[i], NULL))
            return false;
    }
    return true;
}

/* The tokens, sketch and signatures of an item that nobody has prepared; but where a kept document
 * has its tokens, these alone.  False: it has no candidates to look for, or the worker has an error. */
static bool make_sketch(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    w->in_sketcher = NULL;
    if (!nd_item_read(w, item))
        return false;
    if (!item->read.is_listed) {
        if (item->read.n_tokens)
            nd_item_sketch(w, item);
        (void)nd_item_hold_shingles(w, item);
        return false;
    }
    nd_index_prefetch_identity(kept->finder.index, item->read.row.identity, item->group);
    if (w->plan->params.takes_sketches) /* which may be all that there is to compare */
        nd_item_sketch(w, item);
    if (!nd_item_hold_shingles(w, item) || match_by_tokens(kept, w, item))
        return false;
    if (!w->plan->params.takes_sketches)
        nd_item_sketch(w, item);
    if (!nd_item_sign(w, item))
        return false;
    w->in_sketcher = nd_item_row(item) ? NULL : item;
    return true;
}

/* One document against the kept documents of earlier batches, by the rules of README.md in order:
 * bytes, tokens, then candidates.  One that was prepared may have lost its sketcher to others, but
 * its shingles are held. */
void nd_item_match_kept(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    if (item->state != ND_ITEM_OPEN || match_by_bytes(kept, w, item))
        return;
    if (item->is_prepared ? !item->read.is_listed || match_by_tokens(kept, w, item)
                          : !make_sketch(kept, w, item))
        return;
    if (!nd_finder_candidates(&kept->finder, w, item) || !nd_item_take_candidates(w, item) ||
        item->search.near.count == 0)
        return;
    if (w->in_sketcher == item)
        (void)nd_item_compare_kept(kept, w, item, nd_sketcher_shingles(w->sketcher));
    else if (nd_item_begin_compare(w, item))
        (void)nd_item_compare_kept(kept, w, item, &w->set);
}

void nd_item_prefetch_kept(const struct nd_kept *kept, const struct nd_item *item)
{
    nd_kept_prefetch(kept, item);
    if (!item->is_prepared || !item->read.is_listed)
        return;
    nd_index_prefetch_identity(kept->finder.index, item->read.row.identity, item->group);
    nd_index_prefetch(kept->finder.index, &item->read.row);
}

/*
 * Do for an item what can be done without the index, and prefetch its lines there: they come while
 * the worker matches the item before it.  The sketcher's set of shingles goes to w->set, so that
 * the item before can still be compared.
 */
static void prepare_ahead(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    if (match_by_bytes(kept, w, item))
        return;
    nd_sketcher_swap_shingles(w->sketcher, &w->set);
    w->in_set = w->in_sketcher;
    nd_item_prepare(w, &w->held, item);
    w->in_sketcher = item->is_prepared && !nd_item_row(item) ? item : NULL;
    nd_item_prefetch_kept(kept, item);
}

/*
 * A task is a run of neighbours, as who matches one has prepared the next (prepare_ahead).  One
 * thread alone goes on so from task to task; with several, another may have what follows.  Every
 * worker gets eight tasks at least, so that none waits long for the last.
 */
static size_t task_size(const struct nd_engine_batch *batch)
{
    enum { SIZE_LIMIT = 16, TASKS_A_WORKER = 8 };
    size_t size = batch->n / ((size_t)nd_pool_threads(batch->d->crew.pool) * TASKS_A_WORKER);

    return size < 1 ? 1 : size > SIZE_LIMIT ? SIZE_LIMIT : size;
}

/* The documents of a task; of equal ones the first, which its copies follow. */
static void match_task(void *context, size_t task, unsigned worker)
{
    const struct nd_engine_batch *batch = context;
    const struct nd_kept *kept = &batch->d->kept;
    struct nd_worker *w = &batch->d->crew.worker[worker];
    size_t size = task_size(batch), from = task * size, to = from + size, end;

    if (to > batch->n)
        to = batch->n;
    end = nd_pool_threads(batch->d->crew.pool) == 1 ? batch->n
                                                    : to; /* those before it are this worker's */
    for (size_t place = from; place < to && !w->status; place++) {
        struct nd_item *item = &batch->item[place];

        if (place + 1 < batch->n && item[1].first_same == place + 1) {
            if (place + 1 < end && !item[1].is_prepared)
                prepare_ahead(kept, w, &item[1]);
            else
                nd_item_prefetch_kept(kept, &item[1]);
        }
        if (place + 2 < batch->n)
            nd_kept_prefetch(kept, &item[2]);
        if (!w->status && item->first_same == place)
            nd_item_match_kept(kept, w, item);
    }
}

/* The kept documents of a batch, and what is made of them while the index takes them in. */
struct keeping {
    struct nd_engine_batch *batch;
    const struct nd_item **item;
    size_t n;
    uint32_t first; /* number of the first */
    enum nd_status status;
    struct nd_error error;
};

/* Most kept documents are never met again; one that met others will be. */
static void cache_shingles(const struct keeping *keeping)
{
    const struct nd_kept *kept = &keeping->batch->d->kept;

    for (size_t i = 0; i < keeping->n; i++) {
        const struct nd_item *item = keeping->item[i];

        if (item->read.is_listed && item->shingle && nd_item_candidates(item))
            (void)nd_shingle_cache_put(kept->cache, keeping->first + (uint32_t)i, item->shingle,
                                       (size_t)item->read.n_shingles);
    }
}

/* The shingles that were made of kept documents for this batch go to the cache of all. */
static void cache_fetched(struct nd_dedup *d)
{
    struct nd_worker *matcher = &d->crew.matcher[d->crew.pusher->number];

    nd_crew_end(&d->crew, d->kept.cache);
    if (matcher->fetched)
        nd_shingle_cache_move(matcher->fetched, d->kept.cache);
}

enum { KEEP_TASKS = 2 };

static void keep_task(void *context, size_t task)
{
    struct keeping *keeping = context;
    struct nd_engine_batch *batch = keeping->batch;
    struct nd_dedup *d = batch->d;

    if (task == 0) {
        keeping->status = nd_kept_add(&d->kept, batch->item, batch->n, ND_ITEM_KEPT,
                                      d->stats.documents, &keeping->error);
        return;
    }
    cache_shingles(keeping);
    cache_fetched(d);
}

/* List the kept documents, and have their texts kept. */
static enum nd_status begin_keeping(struct keeping *keeping, struct nd_error *err)
{
    struct nd_engine_batch *batch = keeping->batch;
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < batch->n && status == ND_OK; i++) {
        if (batch->item[i].state != ND_ITEM_KEPT)
            continue;
        keeping->item[keeping->n++] = &batch->item[i];
        status = nd_document_keep_text(batch->d, &batch->item[i], i, err);
    }
    return status;
}

/* Give the kept documents numbers, and let later batches find them. */
static enum nd_status keep_all(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    struct keeping keeping = {.batch = batch, .first = d->kept.n};
    enum nd_status status;

    keeping.item = nd_alloc_array(batch->n, sizeof *keeping.item);
    if (!keeping.item)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", batch->n);
    nd_pool_write_lock(d->crew.pool);
    status = begin_keeping(&keeping, err);
    if (status == ND_OK && !keeping.n)
        keep_task(&keeping, 0); /* which also notes documents that are not kept */
    if (status == ND_OK && keeping.n) {
        const struct nd_finder_batch added = {keeping.item, keeping.n, keep_task, KEEP_TASKS,
                                              &keeping};

        status = nd_finder_add_batch(&d->kept.finder, &added, d->crew.pool, err);
    } else if (status == ND_OK) {
        keep_task(&keeping, 0); /* which came without texts, though none is kept */
    }
    if (status == ND_OK && keeping.status != ND_OK) {
        status = keeping.status;
        if (err)
            *err = keeping.error;
    }
    if (status == ND_OK && !keeping.n)
        cache_fetched(d);
    if (d->ahead)
        nd_ahead_note_decided(d->ahead);
    nd_pool_write_unlock(d->crew.pool);
    free(keeping.item);
    return status;
}

/* Find what the signatures of a removed document and of its kept one have in common. */
static void describe_agreement(const struct nd_engine_batch *batch, const struct nd_item *item,
                               struct nd_agreement *out)
{
    const struct nd_matching *m = batch->d->plan.matching;
    struct nd_match match;

    if (item->kept.in_batch)
        (void)nd_matching_compare(m, item->read.signatures,
                                  batch->item[item->kept.number].read.signatures, &match);
    else
        (void)nd_matching_compare_stored(m, item->read.signatures, batch->d->kept.finder.signatures,
                                         item->kept.number, &match);
    memcpy(out, match.evidence.agreement, sizeof match.evidence.agreement);
}

static void describe_removed(const struct nd_engine_batch *batch, const struct nd_item *item,
                             struct nd_decision *out)
{
    const struct nd_dedup *d = batch->d;
    uint64_t n = item->read.n_shingles;

    out->kept = item->kept.in_batch ? d->stats.documents + item->kept.number
                                    : nd_kept_document(&d->kept, item->kept.number);
    out->identical = item->identical;
    out->verified = nd_kept_verified(
        &d->kept, item->identical != ND_IDENTICAL_NO || d->plan.params.verify != ND_VERIFY_NONE,
        d->stats.documents + (uint64_t)(item - batch->item), out->kept);
    if (item->search.n_hits) {
        out->overlap = item->search.hits[0].overlap;
        out->distance = item->search.hits[0].distance;
        if (d->plan.matching)
            describe_agreement(batch, item, out->agreement);
    } else {
        out->overlap = (struct nd_overlap){n, n, n};
        out->distance = 0;
    }
}

static void describe(const struct nd_engine_batch *batch, size_t place)
{
    struct nd_dedup *d = batch->d;
    const struct nd_item *item = &batch->item[place];
    struct nd_decision *out = &batch->decision[place];
    size_t candidates = nd_item_candidates(item), limit = d->plan.params.max_checks;

    *out = (struct nd_decision){.kept = d->stats.documents + place, .distance = UINT32_MAX};
    out->is_short = item->read.is_short;
    out->is_empty = nd_item_is_empty(item);
    out->was_cut = candidates > limit;
    out->checks = (uint32_t)(candidates < limit ? candidates : limit);
    if (item->state == ND_ITEM_REMOVED)
        describe_removed(batch, item, out);
    nd_stats_count_decision(&d->stats, out, item->state == ND_ITEM_REMOVED);
    nd_stats_count(&d->stats, item, out->checks, out->was_cut);
}

/* A batch that was not matched ahead. */
static void match_all(struct nd_engine_batch *batch)
{
    size_t size = task_size(batch);

    nd_pool_run(batch->d->crew.pool, (batch->n + size - 1) / size, match_task, batch);
}

/* The documents of a batch that was matched ahead which must be matched again. */
struct matching_again {
    struct nd_engine_batch *batch;
    size_t *place;
    size_t n;
};

enum { AGAIN_TASK = 8 };

static void match_again_task(void *context, size_t task, unsigned worker)
{
    const struct matching_again *again = context;
    struct nd_dedup *d = again->batch->d;
    struct nd_worker *w = &d->crew.worker[worker];
    size_t from = task * AGAIN_TASK, to = from + AGAIN_TASK;

    for (size_t i = from; i < to && i < again->n && !w->status; i++)
        nd_item_match_again(&d->kept, w, &again->batch->item[again->place[i]]);
}

static enum nd_status match_again(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct matching_again again = {batch, nd_alloc_array(batch->n, sizeof(size_t)), 0};

    if (!again.place)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", batch->n);
    for (size_t i = 0; i < batch->n; i++)
        if (batch->item[i].first_same == i && nd_item_is_to_match(&batch->item[i]))
            again.place[again.n++] = i;
    nd_pool_run(batch->d->crew.pool, (again.n + AGAIN_TASK - 1) / AGAIN_TASK, match_again_task,
                &again);
    free(again.place);
    return ND_OK;
}

enum nd_status nd_push_stars(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_crew *crew = &batch->d->crew;
    enum nd_status status = ND_OK;

    nd_crew_forget_sets(crew);
    if (batch->is_matched)
        status = match_again(batch, err);
    else
        match_all(batch);
    if (status == ND_OK)
        status = nd_crew_status(crew, err);
    if (status == ND_OK)
        status = nd_resolve_batch(batch, err);
    if (status == ND_OK)
        status = keep_all(batch, err);
    for (size_t i = 0; i < batch->n && status == ND_OK; i++)
        describe(batch, i);
    nd_engine_batch_end(batch, status);
    return status;
}

enum nd_status nd_engine_batch_begin_prepared(struct nd_dedup *d, unsigned worker,
                                              struct nd_decision *decisions, struct nd_error *err)
{
    struct nd_engine_batch *batch = &d->batch[worker];
    enum nd_status status;

    if (!batch->is_made)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of documents");
    status = nd_engine_batch_check(d, batch->items, batch->n, err);
    if (status != ND_OK)
        return status;
    batch->decision = decisions;
    d->crew.pusher = &d->crew.worker[worker];
    nd_crew_begin(&d->crew);
    nd_crew_forget(&d->crew);
    if (d->kept.texts)
        nd_texts_begin(d->kept.texts, batch->items);
    return ND_OK;
}

/*
 * Prepared is what depends on a document alone: the hash of its bytes, which other of its batch has
 * the same, tokens, sketch, signatures.  A document whose bytes a kept one seems to have is left
 * out: it will be removed without being read.  With one thread nothing but the hashes is prepared,
 * as that thread reads a document while it waits for the lines of the index (prepare_ahead).
 */
static bool make_items(struct nd_engine_batch *batch, const struct nd_dedup_item *items, size_t n)
{
    if (nd_items_make(batch, items, n, NULL) != ND_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        nd_item_hash(&batch->d->plan, &batch->item[i]);
    return !nd_engine_plan_has_copies(&batch->d->plan) || nd_items_group(batch);
}

/* Copies are linked like the first of their bytes; documents that are removed already are not. */
bool nd_items_link(struct nd_engine_batch *batch)
{
    const struct nd_index_row **row = nd_alloc_array(batch->n, sizeof *row);
    bool ok = row && ND_RESERVE(batch->link, &batch->link_capacity, batch->n + 1);

    for (size_t i = 0; ok && i < batch->n; i++) {
        const struct nd_item *first = &batch->item[batch->item[i].first_same];

        row[i] = first->state == ND_ITEM_OPEN && (first->is_prepared || first->is_matched) &&
                         first->read.is_listed
                     ? &first->read.row
                     : NULL;
        batch->item[i].is_in_links = row[i] != NULL;
    }
    if (ok)
        memset(batch->link, 0, batch->n);
    ok = ok &&
         nd_finder_link(&batch->d->plan, batch->item, row, batch->n, batch->link, NULL) == ND_OK;
    free(row);
    return ok;
}

void nd_dedup_prepare(struct nd_dedup *d, unsigned worker, const struct nd_dedup_item *items,
                      size_t n)
{
    struct nd_engine_batch *batch = &d->batch[worker];

    nd_items_clear(batch); /* of one that was not pushed */
    nd_arena_reset(&batch->held);
    batch->n = 0;
    batch->is_made = make_items(batch, items, n);
    if (!batch->is_made || nd_pool_threads(d->crew.pool) == 1)
        return;
    if (!nd_engine_plan_ignores_text(&d->plan))
        nd_kept_mark_known(&d->kept, worker, batch->item, n);
    for (size_t i = 0; i < n; i++)
        if (batch->item[i].first_same == i && !batch->item[i].is_known)
            nd_item_prepare(&d->crew.worker[worker], &batch->held, &batch->item[i]);
    batch->is_linked = !d->plan.matching && !d->ahead && nd_items_link(batch);
}
