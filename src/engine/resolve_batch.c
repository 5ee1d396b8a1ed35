/* resolve_batch.c - the documents of a batch among themselves, with the result of one by one
 *
 * Every document has been compared with the kept ones of earlier batches, in parallel.  What is
 * left is to find which documents of the batch are kept, and to compare the later ones with these.
 * The result is defined by going through the documents in order: each is compared with the kept
 * ones of the batch that come before it and share a table key with it; it joins one, or is kept.
 * resolve_in_order does just that.  It is serial, as whether a document is kept decides with whom
 * all later ones are compared.
 *
 * With several threads the same result is found in rounds.  A round has two steps:
 *
 *   1. Serial: go through the undecided documents in order.  Each meets the documents before it
 *      that are known to be kept (`leaders`).  One that meets none, that has no hit, and that
 *      shares no key with an earlier undecided document (`pending`) is kept: whatever becomes of
 *      the others, nothing can remove it any more.  It becomes a leader.
 *   2. Parallel: all the comparisons that step 1 has listed.  A document with a hit is marked as
 *      ND_ITEM_FOLLOWS: it will be removed, and never be a leader.
 *
 * Each round decides at least the first undecided document, so rounds end.  A round never decides
 * differently than going in order would: a document is kept only when all that could remove it are
 * decided, and follows only for a hit with a document that is kept for certain, and that no
 * undecided document can push out of its first max_checks candidates.
 *
 * For example, let B be near A, and C near B but not near A.  In order: A is kept, B joins A, C is
 * kept.  Round 1: A is kept; B meets A; C shares a key with B, which is undecided, and waits.  The
 * comparison shows that B follows A.  Round 2: C meets nobody who is undecided, and is kept.
 *
 * The first round decides nearly all documents of ordinary input: pairs, and near copies of one
 * page.  A chain of documents of which each shares a key with the one before and is near none takes
 * a round for each, which is slower than going in order.  So rounds go on only while each leaves at
 * most half of what it found; what is left is resolved in order.
 *
 * Documents that can meet none that came since they were matched, nor any of the batch that can, are
 * resolved before the turn of the batch, in order, by its own worker (nd_resolve_ahead): what the
 * turn would find is known.  It is left to the turn to resolve the others, which share no key with
 * them.  Which keys are full depends on the index as it is in the turn, so batches with that many
 * candidates are not resolved ahead.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/batch.h"
#include "engine/overflow.h"

/* The state of a batch that is resolved.  Arrays "by place" have an entry for each item. */
struct resolving {
    struct nd_engine_batch *batch;
    struct nd_dedup *d;
    struct nd_item *item;
    struct nd_error *err;
    struct nd_worker *w;       /* of this thread */
    struct nd_finder *leaders; /* kept ones of the batch */
    bool is_ahead;             /* before the turn: the kept documents are not to be read */
    bool may_fill;             /* nd_overflow_may_fill: all are resolved in order */
    bool has_labels; /* likewise: of several kept ones with its tokens, one is the first */
    /* The documents concerned: copies, and those that share a table key with another. */
    size_t *linked; /* their places, in order */
    size_t n_linked;
    unsigned char *link; /* by place: ND_LINKED_EARLIER, ND_LINKED_LATER */
    /* Undecided documents: their numbers in d->pending grow with their places, as all are added in
     * the first round.  A number less than below[place] is of an earlier document. */
    uint32_t *below;
    uint32_t *pending; /* by place: its number in d->pending, or NONE */
    size_t n_open;     /* how many of them this round has passed */
    /* By number in `leaders`, the place. */
    size_t *leader;
    /* In the turn: of the kept ones that share a key with a later one. */
    struct nd_listed_keys listed;
    /* The items with comparisons to make in this round. */
    size_t *task;
    size_t n_tasks;
};

#define NONE UINT32_MAX

static enum nd_status status_of(const struct resolving *s)
{
    if (!s->is_ahead)
        return nd_crew_status(&s->d->crew, s->err);
    if (s->w->status && s->err)
        *s->err = s->w->error;
    return s->w->status;
}

/* The first item with the same bytes, whose shingles and sketch the item shares. */
static struct nd_item *original(const struct resolving *s, size_t place)
{
    return &s->item[s->item[place].first_same];
}

static bool is_copy(const struct resolving *s, size_t place)
{
    return s->item[place].first_same != place;
}

/* Give a copy what the first of equal items found in earlier batches. */
static enum nd_status take_candidates(struct nd_item *copy, const struct nd_item *first)
{
    copy->search.n_near = first->search.n_near;
    copy->search.crowd = first->search.crowd;
    copy->search.may_prune = first->search.may_prune;
    for (size_t i = 0; i < first->search.near.count; i++)
        if (!nd_candidates_add(&copy->search.near, first->search.near.items[i]))
            return ND_ENOMEM;
    copy->search.hits = nd_alloc_array(first->search.n_hits, sizeof *copy->search.hits);
    if (!copy->search.hits)
        return ND_ENOMEM;
    copy->search.hits_capacity = first->search.n_hits;
    for (size_t i = 0; i < first->search.n_hits; i++)
        if (!first->search.hits[i].kept.in_batch)
            copy->search.hits[copy->search.n_hits++] = first->search.hits[i];
    return ND_OK;
}

/* The first of its bytes is decided: so is the copy. */
static void join_original(struct resolving *s, struct nd_item *copy, const struct nd_item *first)
{
    copy->read = first->read;
    copy->search.n_near = copy->search.near_in_batch.count = copy->search.n_hits = 0;
    if (first->state == ND_ITEM_REMOVED) {
        copy->state = ND_ITEM_REMOVED;
        copy->kept = first->kept;
        copy->identical = first->identical;
    } else if (first->read.is_short && s->d->plan.params.short_policy == ND_SHORT_KEEP) {
        copy->state = ND_ITEM_KEPT;
        copy->read.is_listed = false;
    } else {
        copy->state = ND_ITEM_REMOVED;
        copy->kept = (struct nd_kept_ref){(uint32_t)copy->first_same, true};
        copy->identical = ND_IDENTICAL_BYTES;
    }
}

/* Whether the copy is decided by its original; if not, it looks for a kept document like any other.
 */
static bool resolve_copy(struct resolving *s, size_t place)
{
    struct nd_item *copy = &s->item[place];
    const struct nd_item *first = original(s, place);

    if (copy->state == ND_ITEM_OPEN && first->state == ND_ITEM_FOLLOWS)
        copy->state = ND_ITEM_FOLLOWS;
    if (copy->state == ND_ITEM_FOLLOWS || first->state == ND_ITEM_OPEN)
        return false;
    if (copy->state == ND_ITEM_OPEN)
        join_original(s, copy, first);
    return true;
}

/*
 * Note the kept documents of the batch that come before this one and were not met yet.  Those of
 * earlier rounds were met then, as they had been decided before this document was visited.
 */
static enum nd_status meet_leaders(struct resolving *s, size_t place)
{
    struct nd_item *item = &s->item[place];
    const struct nd_candidates *met = &s->w->found;

    if (!(s->link[place] & ND_LINKED_EARLIER) || nd_index_count(s->leaders->index) == 0)
        return ND_OK;
    if (!nd_finder_candidates(s->leaders, s->w, item) ||
        !nd_finder_add_same_tokens(s->leaders, s->w, item))
        return status_of(s);
    for (size_t i = 0; i < met->count; i++) {
        struct nd_candidate candidate = met->items[i];

        candidate.number = (uint32_t)s->leader[candidate.number];
        if (!nd_candidates_add(&item->search.near_in_batch, candidate))
            return nd_fail(s->err, ND_ENOMEM, "out of memory for a batch");
    }
    return ND_OK;
}

/* Let later documents find it, if any of them might. */
static enum nd_status add_leader(struct resolving *s, size_t place)
{
    enum nd_status status;
    uint32_t number;

    if (!s->is_ahead && !nd_overflow_note(&s->d->kept, s->w, s->item, &s->listed, &s->item[place]))
        return status_of(s);
    if (!(s->link[place] & ND_LINKED_LATER))
        return ND_OK;
    if (!s->is_ahead)
        nd_listed_keys_add(&s->listed, &s->d->plan, &s->item[place].read.row);
    status = nd_finder_add(s->leaders, &s->item[place], &number, s->err);
    if (status == ND_OK)
        s->leader[number] = place;
    return status;
}

/* Pending documents get their numbers in order, as all are visited in the first round. */
static enum nd_status add_pending(struct resolving *s, size_t place)
{
    if (!(s->link[place] & ND_LINKED_LATER) || s->pending[place] != NONE)
        return ND_OK;
    return nd_finder_add(&s->d->pending, &s->item[place], &s->pending[place], s->err);
}

static void remove_pending(struct resolving *s, size_t place)
{
    if (s->pending[place] != NONE)
        nd_finder_remove(&s->d->pending, &s->item[place], s->pending[place]);
    s->pending[place] = NONE;
}

static bool meets_pending(const struct resolving *s, size_t place)
{
    const struct nd_item *item = &s->item[place];

    if (!(s->link[place] & ND_LINKED_EARLIER) || nd_index_count(s->d->pending.index) == 0)
        return false;
    if (s->d->plan.params.candidates == ND_CANDIDATES_ALL)
        return s->n_open > 0;
    return nd_finder_meets_any(&s->d->pending, s->w, item, s->below[place]);
}

static bool has_same_tokens(struct nd_worker *w, const struct nd_item *a, const struct nd_item *b)
{
    if (a->sketched || b->sketched)
        return nd_index_rows_same_sketch(&a->read.row, &b->read.row);
    return nd_worker_equal(w, ND_EQUAL_BY_TOKENS, a->text, b->text) == 1;
}

/* A document with the same tokens as a kept one of the batch is decided, as it would be by a kept
 * one of an earlier batch: by the first, if there are several, with other labels. */
static bool join_same_tokens(struct resolving *s, struct nd_worker *w, struct nd_item *item)
{
    uint32_t first = NONE;

    if (nd_engine_plan_ignores_text(&s->d->plan))
        return false;
    for (size_t i = item->search.n_checked; i < item->search.near_in_batch.count; i++) {
        uint32_t place = item->search.near_in_batch.items[i].number;
        const struct nd_item *kept = &s->item[place];

        if (place < first && kept->read.row.identity == item->read.row.identity &&
            has_same_tokens(w, item, kept))
            first = place;
    }
    if (first == NONE)
        return false;
    item->state = ND_ITEM_REMOVED;
    item->identical =
        nd_items_same_bytes(&s->item[first], item) ? ND_IDENTICAL_BYTES : ND_IDENTICAL_TOKENS;
    item->kept = (struct nd_kept_ref){first, true};
    item->search.n_near = item->search.near_in_batch.count = item->search.n_hits = 0;
    return true;
}

/*
 * The comparisons of one document.  If it turns out to have more candidates than max_checks, then
 * what was left out because of a better hit may count after all, and everything is compared again.
 */
static void compare_item(struct resolving *s, struct nd_worker *w, size_t place)
{
    struct nd_item *item = &s->item[place];
    const struct nd_item *first = original(s, place);
    struct nd_item_search *search = &item->search;

    if (w->status || join_same_tokens(s, w, item))
        return;
    w->in_set = NULL;
    if (!nd_item_begin_compare(w, first))
        return;
    if (search->may_prune &&
        search->n_near + search->near_in_batch.count > s->d->plan.params.max_checks) {
        search->may_prune = false;
        search->n_hits = 0;
        search->n_checked = 0;
        if (!nd_item_compare_kept(&s->d->kept, w, item, &w->set))
            return;
    }
    for (; search->n_checked < search->near_in_batch.count; search->n_checked++) {
        struct nd_candidate candidate = search->near_in_batch.items[search->n_checked];

        if (candidate.equal == ND_SCORE_NONE)
            continue; /* its tokens were not the same after all */
        if (!nd_item_compare(&s->d->kept, w, item, &w->set, candidate, s->item))
            return;
    }
}

static void compare_task(void *context, size_t task, unsigned worker)
{
    struct resolving *s = context;

    compare_item(s, &s->d->crew.worker[worker], s->task[task]);
}

static bool is_decided(const struct nd_item *item)
{
    return item->state == ND_ITEM_KEPT || item->state == ND_ITEM_REMOVED;
}

static enum nd_status visit(struct resolving *s, size_t place)
{
    struct nd_item *item = &s->item[place];
    enum nd_status status;

    if ((is_copy(s, place) && resolve_copy(s, place)) || is_decided(item))
        return ND_OK;
    if (s->below[place] == NONE) /* the first round: nothing was taken out yet */
        s->below[place] = (uint32_t)nd_index_count(s->d->pending.index);
    status = meet_leaders(s, place);
    if (status)
        return status;
    if (item->search.near_in_batch.count > item->search.n_checked) {
        s->task[s->n_tasks++] = place;
    } else if (item->state == ND_ITEM_OPEN && !is_copy(s, place) &&
               !nd_item_has_hit(&s->d->plan, item, 0) && !meets_pending(s, place)) {
        item->state = ND_ITEM_KEPT;
        remove_pending(s, place);
        return add_leader(s, place);
    }
    if (item->state != ND_ITEM_OPEN || is_copy(s, place))
        return ND_OK;
    s->n_open++;
    return add_pending(s, place);
}

/* A document follows if it has a hit that no undecided earlier document can push out of its first
 * max_checks candidates. */
static void mark_followers(struct resolving *s)
{
    s->n_open = 0;
    for (size_t i = 0; i < s->n_linked; i++) {
        struct nd_item *item = &s->item[s->linked[i]];

        if (is_copy(s, s->linked[i]))
            continue;
        if (item->state == ND_ITEM_OPEN && nd_item_has_hit(&s->d->plan, item, s->n_open))
            item->state = ND_ITEM_FOLLOWS;
        if (item->state == ND_ITEM_OPEN)
            s->n_open++;
        else
            remove_pending(s, s->linked[i]);
    }
}

/* Rounds, as long as each leaves at most half as many undecided documents as it found. */
static enum nd_status run_rounds(struct resolving *s)
{
    enum nd_status status = ND_OK;
    size_t found;

    nd_finder_clear(&s->d->pending);
    for (size_t i = 0; i < s->n_linked; i++)
        s->below[s->linked[i]] = s->pending[s->linked[i]] = NONE;
    s->n_open = s->n_linked;
    do {
        found = s->n_open;
        s->n_tasks = s->n_open = 0;
        nd_finder_clear(s->leaders);
        for (size_t i = 0; status == ND_OK && i < s->n_linked; i++)
            status = visit(s, s->linked[i]);
        if (status != ND_OK)
            return status;
        nd_pool_run(s->d->crew.pool, s->n_tasks, compare_task, s);
        mark_followers(s);
        status = nd_crew_status(&s->d->crew, s->err);
    } while (status == ND_OK && s->n_open > 0 && s->n_open <= found / 2);
    return status;
}

/* As the result is defined: all documents before this one are decided. */
static enum nd_status resolve_next(struct resolving *s, size_t place)
{
    struct nd_item *item = &s->item[place];
    enum nd_status status;

    if ((is_copy(s, place) && resolve_copy(s, place)) || is_decided(item))
        return ND_OK;
    status = meet_leaders(s, place);
    if (status)
        return status;
    if (item->search.near_in_batch.count > item->search.n_checked) {
        compare_item(s, s->w, place);
        status = status_of(s);
    }
    if (status || item->state != ND_ITEM_OPEN || is_copy(s, place))
        return status;
    if (nd_item_has_hit(&s->d->plan, item, 0)) {
        item->state = ND_ITEM_FOLLOWS;
        return ND_OK;
    }
    item->state = ND_ITEM_KEPT;
    return add_leader(s, place);
}

static enum nd_status resolve_in_order(struct resolving *s)
{
    enum nd_status status = ND_OK;

    nd_finder_clear(s->leaders);
    if (s->may_fill)
        nd_finder_bound(s->leaders, &s->d->plan, &s->d->kept.finder);
    for (size_t i = 0; status == ND_OK && i < s->n_linked; i++)
        status = resolve_next(s, s->linked[i]);
    return status;
}

/* A copy has the row and the candidates of its original. */
static enum nd_status take_original(struct resolving *s, size_t place)
{
    const struct nd_item *first = original(s, place);

    s->item[place].read = first->read;
    return first->state != ND_ITEM_REMOVED ? take_candidates(&s->item[place], first) : ND_OK;
}

/* The rows that take part: of listed documents, and of copies.  What was resolved ahead does not. */
static enum nd_status list_rows(struct resolving *s, size_t n, const struct nd_index_row **row)
{
    for (size_t i = 0; i < n; i++) {
        const struct nd_item *item = &s->item[i];

        if (is_copy(s, i) && item->state == ND_ITEM_OPEN && take_original(s, i))
            return ND_ENOMEM;
        if (original(s, i)->state == ND_ITEM_OPEN && item->read.is_listed)
            row[i] = &item->read.row;
    }
    return ND_OK;
}

/*
 * Whether the links that were found when the batch was prepared hold: there may be too many of
 * them, but none is missing.  A document that could not be prepared then, or was left because a
 * kept one seemed to have its bytes, may have been prepared since (prepare_ahead in stars.c): its
 * links are not known.
 */
static bool is_linked_already(const struct resolving *s, size_t n,
                              const struct nd_index_row *const *row)
{
    if (!s->batch->is_linked)
        return false;
    for (size_t i = 0; i < n; i++)
        if (row[i] && !s->item[i].is_in_links)
            return false;
    return true;
}

static enum nd_status link_all(struct resolving *s, size_t n, const struct nd_index_row *const *row)
{
    if (!is_linked_already(s, n, row))
        return nd_finder_link(&s->d->plan, s->item, row, n, s->link, s->d->crew.pool);
    if (n)
        memcpy(s->link, s->batch->link, n);
    return ND_OK;
}

/* Find the first kept one of the batch that has the bytes of an item, and labels of which it has
 * all: 1 + its place; 0: there is none. */
static size_t find_same_bytes(const struct nd_item *items, const struct nd_item *item)
{
    size_t first = 0;

    for (size_t at = item->same_before; at; at = items[at - 1].same_before)
        if (items[at - 1].state == ND_ITEM_KEPT && nd_is_subset(items[at - 1].labels, item->labels))
            first = at;
    return first;
}

static void join_by_bytes(struct nd_item *item, size_t place)
{
    item->state = ND_ITEM_REMOVED;
    item->identical = ND_IDENTICAL_BYTES;
    item->kept = (struct nd_kept_ref){(uint32_t)place, true};
}

/* A document that meets no other of the batch but in its bytes. */
static enum nd_status resolve_alone(const struct resolving *s, struct nd_item *item)
{
    size_t same = item->read.is_listed || nd_item_equal_by(&s->d->plan, item) == ND_EQUAL_NEVER
                      ? 0
                      : find_same_bytes(s->item, item);

    if (same) {
        join_by_bytes(item, same - 1);
        return ND_OK;
    }
    item->state = nd_item_has_hit(&s->d->plan, item, 0) ? ND_ITEM_FOLLOWS : ND_ITEM_KEPT;
    if (item->state == ND_ITEM_FOLLOWS || s->is_ahead ||
        nd_overflow_note(&s->d->kept, s->w, s->item, NULL, item))
        return ND_OK;
    return ND_ENOMEM;
}

/* Link all listed documents of the batch if lists may fill up within it: whether one of them is
 * listed under a value depends on all before it. */
static enum nd_status link_by_lists(struct resolving *s, size_t n,
                                    const struct nd_index_row *const *row)
{
    int may = nd_overflow_may_fill(&s->d->kept, s->item, row, s->link, n);

    s->may_fill = may > 0;
    for (size_t i = 0; may > 0 && i < n; i++)
        if (row[i])
            s->link[i] = ND_LINKED_EARLIER | ND_LINKED_LATER;
    return may < 0 ? ND_ENOMEM : ND_OK;
}

/* Find the copies, and the listed documents that may meet another of the batch.  All others are
 * decided by what they have. */
static enum nd_status find_linked(struct resolving *s, size_t n, struct nd_error *err)
{
    const struct nd_index_row **row = calloc(n ? n : 1, sizeof *row);
    enum nd_status status = row ? list_rows(s, n, row) : ND_ENOMEM;

    if (status == ND_OK)
        status = link_all(s, n, row);
    if (status == ND_OK)
        status = link_by_lists(s, n, row);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_item *item = &s->item[i];

        if (item->state == ND_ITEM_OPEN && (is_copy(s, i) || (row[i] && s->link[i])))
            s->linked[s->n_linked++] = i;
        else if (item->state == ND_ITEM_OPEN)
            status = resolve_alone(s, item);
    }
    free(row);
    return status ? nd_fail(err, status, "out of memory for a batch of %zu documents", n) : ND_OK;
}

/* Which kept document each follower joins, now that all candidates are known. */
static void choose_kept(struct nd_engine_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];
        struct nd_hit best;

        if (item->state != ND_ITEM_FOLLOWS)
            continue;
        best = *nd_item_best_hit(&batch->d->plan, item);
        item->state = ND_ITEM_REMOVED;
        item->kept = best.kept;
        item->search.hits[0] = best;
        item->search.n_hits = 1;
    }
}

static bool has_labels(const struct nd_engine_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->item[i].labels)
            return true;
    return false;
}

/*
 * Kept documents with the same tokens may have other labels, so that a document has the tokens of
 * one and the bytes of a later one.  It joins the first that has its bytes, and there may be one of
 * the batch, or one that came since it was matched.
 */
static enum nd_status prefer_same_bytes(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;

    for (size_t i = 0; i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];
        uint32_t number;
        int found;

        if (item->state != ND_ITEM_REMOVED || item->identical != ND_IDENTICAL_TOKENS)
            continue;
        found = nd_kept_find_bytes(&d->kept, d->crew.pusher, item, &number);
        if (found < 0)
            return nd_crew_status(&d->crew, err);
        if (found) {
            item->identical = ND_IDENTICAL_BYTES;
            item->kept = (struct nd_kept_ref){number, false};
        } else if (find_same_bytes(batch->item, item)) {
            join_by_bytes(item, find_same_bytes(batch->item, item) - 1);
        }
    }
    return ND_OK;
}

static enum nd_status resolve_all(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    struct resolving s = {.batch = batch,
                          .d = d,
                          .item = batch->item,
                          .err = err,
                          .w = d->crew.pusher,
                          .has_labels = has_labels(batch),
                          .leaders = &d->leaders};
    size_t n = batch->n;
    enum nd_status status = ND_ENOMEM;

    s.linked = nd_alloc_array(n, sizeof *s.linked);
    s.below = nd_alloc_array(n, sizeof *s.below);
    s.pending = nd_alloc_array(n, sizeof *s.pending);
    s.link = calloc(n ? n : 1, 1);
    s.leader = nd_alloc_array(n, sizeof *s.leader);
    s.task = nd_alloc_array(n, sizeof *s.task);
    if (s.linked && s.link && s.below && s.pending && s.leader && s.task &&
        (nd_engine_plan_has_copies(&d->plan) || nd_engine_plan_ignores_text(&d->plan) ||
         nd_items_group_unlisted(batch)))
        status = find_linked(&s, n, err);
    else
        nd_fail(err, status, "out of memory for a batch of %zu documents", n);
    if (status == ND_OK && !nd_listed_keys_reserve(&s.listed, &d->plan, s.n_linked))
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    if (status == ND_OK && nd_pool_threads(d->crew.pool) > 1 && !s.may_fill && !s.has_labels)
        status = run_rounds(&s);
    if (status == ND_OK)
        status = resolve_in_order(&s);
    free(s.linked);
    free(s.link);
    free(s.below);
    free(s.pending);
    free(s.leader);
    free(s.listed.key);
    free(s.task);
    return status;
}

/* ---- Before the turn ---- */

static bool is_linked(const struct resolving *s, size_t place)
{
    return is_copy(s, place) || (s->item[place].state == ND_ITEM_OPEN &&
                                 s->item[place].read.is_listed && s->link[place]);
}

/* Whether the links of all are known, and those to resolve are so few that no key is full. */
static bool can_resolve_ahead(struct resolving *s)
{
    const struct nd_engine_batch *batch = s->batch;
    size_t max_near = 0;
    uint64_t max_crowd = 0;

    if (!nd_engine_plan_has_copies(&s->d->plan) && !nd_engine_plan_ignores_text(&s->d->plan))
        return false;
    for (size_t i = 0; i < batch->n; i++) {
        const struct nd_item *item = &s->item[i];

        if (item->state == ND_ITEM_OPEN && item->read.is_listed && !item->is_in_links)
            return false;
        s->n_linked += is_linked(s, i) && !item->is_uncertain;
        if (item->search.n_near > max_near)
            max_near = item->search.n_near;
        if (item->search.crowd > max_crowd)
            max_crowd = item->search.crowd;
    }
    return s->n_linked + max_near < s->d->plan.params.max_checks &&
           s->n_linked + max_crowd < s->d->plan.key_room;
}

static enum nd_status resolve_certain(struct resolving *s)
{
    enum nd_status status = ND_OK;

    s->n_linked = 0;
    for (size_t i = 0; status == ND_OK && i < s->batch->n; i++) {
        struct nd_item *item = &s->item[i];

        if (item->is_uncertain)
            continue;
        if (is_copy(s, i))
            status = take_original(s, i);
        if (is_linked(s, i))
            s->linked[s->n_linked++] = i;
        else if (item->state == ND_ITEM_OPEN)
            status = resolve_alone(s, item);
    }
    return status == ND_OK ? resolve_in_order(s) : status;
}

enum nd_status nd_resolve_ahead(struct nd_engine_batch *batch, struct nd_worker *w)
{
    struct resolving s = {.batch = batch,
                          .d = batch->d,
                          .item = batch->item,
                          .w = w,
                          .leaders = &batch->leaders,
                          .is_ahead = true,
                          .link = batch->link};
    enum nd_status status = ND_ENOMEM;

    if (!can_resolve_ahead(&s))
        return ND_OK;
    if (!batch->leaders.index && !nd_finder_init(&batch->leaders, &batch->d->plan, NULL))
        return ND_ENOMEM;
    s.linked = nd_alloc_array(s.n_linked, sizeof *s.linked);
    s.leader = nd_alloc_array(s.n_linked, sizeof *s.leader);
    if (s.linked && s.leader)
        status = resolve_certain(&s);
    batch->is_resolved = status == ND_OK;
    free(s.linked);
    free(s.leader);
    return status;
}

/* Resolve the items that are left, if none of them meets another of the batch.  False: one does. */
static bool resolve_rest(struct nd_engine_batch *batch, enum nd_status *status,
                         struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    const struct resolving s = {
        .batch = batch, .d = d, .item = batch->item, .w = d->crew.pusher, .link = batch->link};

    for (size_t i = 0; i < batch->n; i++)
        if (batch->item[i].state == ND_ITEM_OPEN && is_linked(&s, i))
            return false;
    for (size_t i = 0; i < batch->n && *status == ND_OK; i++)
        if (batch->item[i].state == ND_ITEM_OPEN && resolve_alone(&s, &batch->item[i]))
            *status =
                nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", batch->n);
    return true;
}

enum nd_status nd_resolve_batch(struct nd_engine_batch *batch, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!batch->is_resolved || !resolve_rest(batch, &status, err))
        status = resolve_all(batch, err);
    if (status == ND_OK)
        choose_kept(batch);
    return status == ND_OK && has_labels(batch) ? prefer_same_bytes(batch, err) : status;
}
