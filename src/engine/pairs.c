/* pairs.c - every document indexed: pushed ones paired with all candidates before, others queried
 *
 * Each of many equal documents is a pair with all others, so they are not compared one by one.
 * Equality is an equivalence (equal.c): a document is compared with the first of a class of equal
 * ones, and equals its other members without a look at their texts.
 *
 * A document that is withdrawn stays where it is, in the index and in its class, which it may be the
 * first of; nothing is paired with it any more.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/batch.h"
#include "engine/overflow.h"

/*
 * Classes of equal documents.  class_of[number] is the lowest number of a document that equals it,
 * perhaps its own.  No path has to be followed, as in a forest of components: a class is looked up
 * by its first document, so every member gets that number at once.
 */
static uint32_t class_of(const struct nd_dedup *d, uint32_t number)
{
    return ((const uint32_t *)d->class_of.data)[number];
}

static bool is_withdrawn(const struct nd_dedup *d, uint32_t number)
{
    return number < d->withdrawn_below && ((const bool *)d->withdrawn.data)[number];
}

enum nd_status nd_withdraw_document(struct nd_dedup *d, uint64_t document, struct nd_error *err)
{
    uint32_t n = d->kept.n;

    if (document >= d->stats.documents || is_withdrawn(d, (uint32_t)document))
        return nd_fail(err, ND_EINVAL, "the engine has no document %llu",
                       (unsigned long long)document);
    if (!nd_column_reserve(&d->withdrawn, n, sizeof(bool)))
        return nd_fail(err, ND_ENOMEM, "out of memory for %u documents", n);
    memset((bool *)d->withdrawn.data + d->withdrawn_below, 0, n - d->withdrawn_below);
    d->withdrawn_below = n;
    ((bool *)d->withdrawn.data)[document] = true;
    return ND_OK;
}

/*
 * The class of the documents with numbers below `below` that equal an item, whose text is compared
 * with the first of each class that is proposed.  1: *found is it; 0: none; < 0: the worker has the
 * error.
 */
static int find_class(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item,
                      uint32_t below, uint32_t *found)
{
    struct nd_equal_scan scan = nd_equal_scan_begin(&d->kept, item);
    uint32_t number;

    while (nd_equal_scan_next(&d->kept, &scan, &number)) {
        int equal;

        if (number >= below || class_of(d, number) != number)
            continue;
        equal = nd_kept_equals(&d->kept, w, item, scan.by, number);
        if (equal == 0)
            continue;
        *found = number;
        return equal;
    }
    return 0;
}

/* Note hits with the first `max` members of a class that have numbers below `below`. */
static bool add_class_hits(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                           uint32_t class_number, uint32_t below, size_t max)
{
    struct nd_equal_scan scan = nd_equal_scan_begin(&d->kept, item);
    uint32_t number;

    while (max > 0 && nd_equal_scan_next(&d->kept, &scan, &number)) {
        if (number >= below || class_of(d, number) != class_number || is_withdrawn(d, number) ||
            !nd_finder_allows(&d->kept.finder, number, item))
            continue;
        if (!nd_item_note_equal(w, item, number))
            return false;
        max--;
    }
    return true;
}

/*
 * The candidates that w->found lists, the nearest first, `max` at most, but only those below
 * `below` that are not of the item's own class.  `n_below`: how many are below, of any class.
 */
static bool compare_candidates(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                               const struct nd_shingle_set *set, uint32_t own_class, uint32_t below,
                               size_t max, size_t *n_below)
{
    for (size_t i = 0; i < w->found.count && max > 0; i++) {
        struct nd_candidate candidate = w->found.items[i];

        if (candidate.number >= below || is_withdrawn(d, candidate.number))
            continue;
        ++*n_below;
        if (class_of(d, candidate.number) == own_class)
            continue;
        max--;
        if (!nd_item_compare(&d->kept, w, item, set, candidate, NULL))
            return false;
    }
    return true;
}

/* A batch that is pushed. */
struct engine_pairing {
    struct nd_engine_batch *batch;
    bool *is_paired;
    size_t from;   /* items before were reported */
    size_t n_held; /* hits; changed by several workers at once */
};

static void find_earlier_class(void *context, size_t place, unsigned worker)
{
    struct engine_pairing *job = context;
    struct nd_dedup *d = job->batch->d;
    struct nd_worker *w = &d->crew.worker[worker];
    uint32_t *class = d->class_of.data, number = job->batch->number[place], found = number;

    class[number] = number;
    if (!w->status && find_class(d, w, &job->batch->item[place], job->batch->number[0], &found) > 0)
        class[number] = found;
}

/* The classes of a batch: in parallel those of earlier documents; then, in order, the documents of
 * the batch among themselves. */
static enum nd_status find_classes(struct engine_pairing *job, struct nd_error *err)
{
    struct nd_dedup *d = job->batch->d;
    enum nd_status status;
    uint32_t *class;

    if (!nd_column_reserve(&d->class_of, d->kept.n, sizeof(uint32_t)))
        return nd_fail(err, ND_ENOMEM, "out of memory for %u documents", d->kept.n);
    class = d->class_of.data;
    nd_pool_run(d->crew.pool, job->batch->n, find_earlier_class, job);
    status = nd_crew_status(&d->crew, err);
    for (size_t i = 0; status == ND_OK && i < job->batch->n; i++) {
        uint32_t number = job->batch->number[i], found = 0;

        if (class[number] == number &&
            find_class(d, d->crew.pusher, &job->batch->item[i], number, &found) > 0)
            class[number] = found;
        if (d->crew.pusher->status)
            status = nd_crew_status(&d->crew, err);
    }
    return status;
}

/* With the earlier documents that match it, and those that equal it. */
static bool pair_item(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                      uint32_t number)
{
    uint32_t own_class = class_of(d, number);

    if (item->read.is_listed) {
        if (!nd_finder_candidates(&d->kept.finder, w, item))
            return false;
        w->in_set = NULL;
        if (w->found.count && !nd_item_begin_compare(w, item))
            return false;
        if (!compare_candidates(d, w, item, &w->set, own_class, number, SIZE_MAX,
                                &item->search.n_near))
            return false;
    }
    return own_class == number || add_class_hits(d, w, item, own_class, number, SIZE_MAX);
}

/*
 * Hits are held until those of all documents before are reported.  Of many equal documents each has
 * hits with all earlier ones, so a round of comparisons stops when so many hits are held; what it
 * did not come to is left for the next round.
 */
enum { HITS_HELD_MAX = 1 << 16 };

static void pair_task(void *context, size_t task, unsigned worker)
{
    struct engine_pairing *job = context;
    struct nd_worker *w = &job->batch->d->crew.worker[worker];
    size_t place = job->from + task;
    struct nd_item *item = &job->batch->item[place];

    if (w->status || job->is_paired[place] ||
        (task > 0 && __atomic_load_n(&job->n_held, __ATOMIC_RELAXED) >= HITS_HELD_MAX))
        return;
    if (!pair_item(job->batch->d, w, item, job->batch->number[place]))
        return;
    job->is_paired[place] = true;
    __atomic_fetch_add(&job->n_held, item->search.n_hits, __ATOMIC_RELAXED);
}

static int by_number(const void *left, const void *right)
{
    const struct nd_hit *a = left, *b = right;

    return a->kept.number < b->kept.number ? -1 : a->kept.number > b->kept.number;
}

/* Find what the signatures of a pair have in common.  Those of equal documents may differ, as they
 * may read more than the text. */
static void describe_agreement(const struct nd_dedup *d, const struct nd_item *item,
                               const struct nd_hit *hit, struct nd_found_pair *pair)
{
    struct nd_match match;

    (void)nd_matching_compare_stored(d->plan.matching, item->read.signatures,
                                     d->kept.finder.signatures, hit->kept.number, &match);
    memcpy(pair->agreement, match.evidence.agreement, sizeof pair->agreement);
    pair->distance = match.distance;
}

/* The number of the best hit. */
static uint32_t nearest_of(const struct nd_engine_plan *plan, const struct nd_hit *hits, size_t n)
{
    const struct nd_hit *best = hits;

    for (size_t i = 1; i < n; i++)
        if (nd_hit_is_better(plan, &hits[i], best))
            best = &hits[i];
    return best->kept.number;
}

static struct nd_found_pair pair_of(const struct nd_dedup *d, const struct nd_item *item,
                                    uint64_t document, const struct nd_hit *hit)
{
    struct nd_found_pair pair = {.a = document,
                                 .b = nd_kept_document(&d->kept, hit->kept.number),
                                 .overlap = hit->overlap,
                                 .distance = hit->distance,
                                 .is_equal = hit->is_equal};

    if (d->plan.matching && item->read.signatures)
        describe_agreement(d, item, hit, &pair);
    return pair;
}

/* Return what the item's nearest hit decides about it. */
static void decide_by(const struct nd_dedup *d, const struct nd_item *item,
                      const struct nd_found_pair *pair, struct nd_decision *decision)
{
    bool is_verified = pair->is_equal || d->plan.params.verify != ND_VERIFY_NONE;

    decision->kept = pair->b;
    decision->identical = pair->is_equal ? item->identical : ND_IDENTICAL_NO;
    decision->verified = !is_verified ? ND_VERIFIED_NO
                         : item->sketched || nd_kept_is_sketched(&d->kept, pair->b)
                             ? ND_VERIFIED_SKETCH
                             : ND_VERIFIED_TEXT;
    decision->distance = pair->is_equal ? 0 : pair->distance;
    decision->overlap = pair->overlap;
    memcpy(decision->agreement, pair->agreement, sizeof decision->agreement);
}

/* Report an item's hits, by the numbers of the documents; `document` is what the item is called.
 * decision NULL: none is asked for. */
static enum nd_status report(const struct nd_dedup *d, struct nd_item *item, uint64_t document,
                             nd_found *found, void *context, struct nd_decision *decision)
{
    struct nd_hit *hits = item->search.hits;
    size_t n = item->search.n_hits;
    uint32_t nearest;

    if (n == 0)
        return ND_OK;
    qsort(hits, n, sizeof *hits, by_number);
    nearest = nearest_of(&d->plan, hits, n);
    for (size_t i = 0; i < n; i++) {
        struct nd_found_pair pair = pair_of(d, item, document, &hits[i]);
        enum nd_status status;

        pair.is_nearest = hits[i].kept.number == nearest;
        if (decision && pair.is_nearest)
            decide_by(d, item, &pair, decision);
        status = found(context, &pair);
        if (status)
            return status;
    }
    return ND_OK;
}

/* Report the documents from job->from on that are paired, and forget their hits. */
static enum nd_status report_paired(struct engine_pairing *job, nd_found *found, void *context)
{
    struct nd_dedup *d = job->batch->d;
    enum nd_status status = ND_OK;

    for (; status == ND_OK && job->from < job->batch->n && job->is_paired[job->from]; job->from++) {
        struct nd_item *item = &job->batch->item[job->from];

        status = report(d, item, d->stats.documents + job->from, found, context, NULL);
        job->n_held -= item->search.n_hits;
        free(item->search.hits);
        item->search.hits = NULL;
        item->search.n_hits = item->search.hits_capacity = 0;
    }
    return status;
}

static enum nd_status pair_all(struct engine_pairing *job, nd_found *found, void *context,
                               struct nd_error *err)
{
    enum { ROUND = 1024 };
    enum nd_status status = ND_OK;

    while (status == ND_OK && job->from < job->batch->n) {
        size_t rest = job->batch->n - job->from;

        nd_pool_run(job->batch->d->crew.pool, rest < ROUND ? rest : ROUND, pair_task, job);
        status = nd_crew_status(&job->batch->d->crew, err);
        if (status == ND_OK)
            status = report_paired(job, found, context);
    }
    return status;
}

/* Prototypes, one after the other: whether a key is full depends on all that were listed before. */
static enum nd_status list_one_by_one(struct engine_pairing *job, struct nd_error *err)
{
    struct nd_dedup *d = job->batch->d;
    enum nd_status status = nd_index_reserve(d->kept.finder.index, job->batch->n, err);

    nd_finder_bound(&d->kept.finder, &d->plan, NULL);
    for (size_t i = 0; status == ND_OK && i < job->batch->n; i++) {
        struct nd_item *item = &job->batch->item[i];

        if (!item->read.is_listed)
            continue;
        status = nd_overflow_note_next(&d->kept, d->crew.pusher, item)
                     ? nd_finder_list_alone(&d->kept.finder, job->batch->number[i], item, err)
                     : nd_crew_status(&d->crew, err);
    }
    return status;
}

static enum nd_status list_at_once(struct engine_pairing *job, struct nd_error *err)
{
    struct nd_dedup *d = job->batch->d;
    const struct nd_item **of = nd_alloc_array(job->batch->n, sizeof *of);
    uint32_t *listed = nd_alloc_array(job->batch->n, sizeof *listed);
    enum nd_status status = ND_OK;
    size_t n = 0;

    if (!listed || !of)
        status =
            nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", job->batch->n);
    for (size_t i = 0; status == ND_OK && i < job->batch->n; i++) {
        if (!job->batch->item[i].read.is_listed)
            continue;
        of[n] = &job->batch->item[i];
        listed[n++] = job->batch->number[i];
    }
    if (status == ND_OK)
        status = nd_finder_list(&d->kept.finder, listed, of, n, d->crew.pool, err);
    free(listed);
    free(of);
    return status;
}

/* `found` NULL: the documents are indexed, and that is all. */
static enum nd_status index_and_pair(struct engine_pairing *job, nd_found *found, void *context,
                                     struct nd_error *err)
{
    enum nd_status status = nd_engine_batch_index(job->batch, err);

    job->batch->d->kept.finder.either_way = found != NULL;
    if (status == ND_OK)
        status = found ? list_at_once(job, err) : list_one_by_one(job, err);
    if (status == ND_OK)
        status = find_classes(job, err);
    if (status == ND_OK && found)
        status = pair_all(job, found, context, err);
    return status;
}

enum nd_status nd_push_pairs(struct nd_engine_batch *batch, nd_found *found, void *context,
                             struct nd_error *err)
{
    struct engine_pairing job = {.batch = batch};
    size_t n = batch->n;
    enum nd_status status;

    job.is_paired = calloc(n ? n : 1, sizeof *job.is_paired);
    status = job.is_paired
                 ? index_and_pair(&job, found, context, err)
                 : nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        nd_stats_count(&batch->d->stats, &batch->item[i], batch->item[i].search.n_near, false);
    nd_engine_batch_end(batch, status);
    free(job.is_paired);
    return status;
}

/*
 * Find out whether the first document that the item equals, its nearest, has the same bytes.
 */
static bool tell_identical(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    const struct nd_hit *first = &item->search.hits[0];
    int same;

    for (size_t i = 1; i < item->search.n_hits; i++)
        if (item->search.hits[i].kept.number < first->kept.number)
            first = &item->search.hits[i];
    same = nd_kept_equals(&d->kept, w, item, ND_EQUAL_BY_BYTES, first->kept.number);
    item->identical = same > 0 ? ND_IDENTICAL_BYTES : ND_IDENTICAL_TOKENS;
    return same >= 0;
}

/* One item of a query: the documents that equal it, then the nearest of the others, max_checks
 * altogether. */
static void query_item(void *context, size_t place, unsigned worker)
{
    struct nd_engine_batch *batch = context;
    struct nd_dedup *d = batch->d;
    struct nd_worker *w = &d->crew.worker[worker];
    struct nd_item *item = &batch->item[place];
    size_t max = d->plan.params.max_checks, n_below = 0;
    uint32_t equal = UINT32_MAX;
    int found;

    if (w->status || !nd_item_read(w, item))
        return;
    nd_item_hash(w->plan, item);
    nd_item_sketch(w, item);
    found = nd_item_sign(w, item) ? find_class(d, w, item, UINT32_MAX, &equal) : -1;
    if (found < 0 || (found && !add_class_hits(d, w, item, equal, UINT32_MAX, max)))
        return;
    if (batch->decision && item->search.n_hits && !tell_identical(d, w, item))
        return;
    if (!item->read.is_listed || !nd_finder_candidates(&d->kept.finder, w, item))
        return;
    item->search.n_near = w->found.count;
    w->in_set = NULL;
    if (nd_item_row(item) && (!nd_item_hold_shingles(w, item) || !nd_item_begin_compare(w, item)))
        return;
    (void)compare_candidates(d, w, item,
                             nd_item_row(item) ? &w->set : nd_sketcher_shingles(w->sketcher), equal,
                             UINT32_MAX, max - item->search.n_hits, &n_below);
}

/* By one worker, or by all: what they find stands in the items. */
static enum nd_status query_all(struct nd_engine_batch *batch, unsigned worker, bool has_all,
                                struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    struct nd_worker *w = &d->crew.worker[worker];

    if (has_all) {
        nd_crew_begin(&d->crew);
        nd_crew_forget(&d->crew);
        nd_pool_run(d->crew.pool, batch->n, query_item, batch);
        return nd_crew_status(&d->crew, err);
    }
    nd_worker_begin(w);
    nd_arena_reset(&w->held);
    for (size_t i = 0; i < batch->n && !w->status; i++)
        query_item(batch, i, worker);
    if (w->status && err)
        *err = w->error;
    return w->status;
}

static enum nd_status report_query(struct nd_engine_batch *batch, const struct nd_query *query)
{
    struct nd_dedup *d = batch->d;
    size_t max = d->plan.params.max_checks;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];
        struct nd_decision *out = query->decision ? &query->decision[i] : NULL;
        size_t candidates = nd_item_candidates(item);

        if (out)
            *out = (struct nd_decision){.kept = UINT64_MAX,
                                        .distance = UINT32_MAX,
                                        .is_short = item->read.is_short,
                                        .is_empty = nd_item_is_empty(item),
                                        .was_cut = candidates > max,
                                        .checks = (uint32_t)(candidates < max ? candidates : max)};
        status = report(d, item, i, query->found, query->context, out);
        if (out) {
            nd_stats_count(query->counts, item, out->checks, out->was_cut);
            nd_stats_count_decision(query->counts, out, out->kept != UINT64_MAX);
        }
    }
    return status;
}

/*
 * A call has a worker of its own, and that worker's memory until the last pair is reported: so as
 * many calls as there are workers go on at once.  A call with several documents takes all workers
 * if nobody else has one.
 */
enum nd_status nd_query_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                              const struct nd_query *query, struct nd_error *err)
{
    struct nd_engine_batch *batch;
    unsigned worker = 0;
    bool has_all = n > 1 && nd_lending_borrow_all(d->crew.lending);
    enum nd_status status;

    if (!has_all && !nd_lending_borrow(d->crew.lending, &worker))
        return nd_fail(err, ND_EINVAL, "nd_dedup_query: called from inside its own callback");
    batch = &d->batch[worker];
    status = nd_items_make(batch, items, n, err);
    batch->decision = query->decision;
    if (status == ND_OK) {
        status = query_all(batch, worker, has_all, err);
        if (status == ND_OK)
            status = report_query(batch, query);
        nd_items_clear(batch);
    }
    /* All workers read the cache of all, so it is changed only by who has them all. */
    if (status == ND_OK && (has_all || nd_lending_borrow_rest(d->crew.lending)))
        nd_crew_end(&d->crew, d->kept.cache);
    nd_lending_give_back(d->crew.lending, worker);
    return status;
}
