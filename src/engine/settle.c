/* settle.c - the documents of a batch among themselves, with the result of one after the other */
#include <stdlib.h>
#include <string.h>

#include "engine/state.h"
#include "index/candidates.h"

/*
 * Every document has been looked up among the kept ones of earlier batches, in parallel.  What is
 * left is to find which documents of the batch are kept, and to compare the later ones with them;
 * defined as going through them in order, done in waves:
 *
 *   - in order, each document that shares a table key with another of the batch meets those before
 *     it that this wave has found to be kept (`leaders`); one that meets none, has no hit and
 * shares no key with an earlier undecided one (`pending`) is kept;
 *   - then all comparisons at once, in parallel; who has a hit follows and is never kept.
 *
 * One wave decides nearly all of what comes: near copies of one page, pairs.  Documents of which
 * each shares a key with many before it and is near none take a wave each, which is slower than
 * going through them as defined; so one thread does that, and others do when waves have become
 * slow.
 */
struct settling {
    struct nd_dedup *d;
    struct nd_item *item;
    size_t *linked;      /* places of the documents concerned, in order */
    unsigned char *link; /* by place: ND_LINKED_EARLIER, ND_LINKED_LATER */
    size_t n_linked;
    uint32_t *below;   /* by place: pending numbers less than this are earlier documents */
    uint32_t *pending; /* by place: number there, or NONE */
    size_t *leader;    /* places of the kept ones, in the order in which `leaders` got them */
    size_t *task;      /* places of those with comparisons to make */
    size_t n_tasks;
    size_t n_open; /* undecided documents that this wave has passed */
    struct nd_error *err;
};

#define NONE UINT32_MAX

/* The item whose shingles and sketch it shares. */
static struct nd_item *original(const struct settling *s, size_t place)
{
    return &s->item[s->item[place].first_same];
}

static bool is_copy(const struct settling *s, size_t place)
{
    return s->item[place].first_same != place;
}

static void take_sketch(struct nd_item *copy, const struct nd_item *first)
{
    copy->is_short = first->is_short;
    copy->is_listed = first->is_listed;
    copy->n_tokens = first->n_tokens;
    copy->n_shingles = first->n_shingles;
    copy->row = first->row;
    copy->own_signatures = first->own_signatures;
}

/* What the first of equal ones found in earlier batches, its copy finds too. */
static enum nd_status take_candidates(struct nd_item *copy, const struct nd_item *first)
{
    copy->n_near = first->n_near;
    copy->may_prune = first->may_prune;
    for (size_t i = 0; i < first->near.count; i++)
        if (!nd_candidates_add(&copy->near, first->near.at[i]))
            return ND_ENOMEM;
    copy->hits.at = nd_alloc_array(first->hits.count, sizeof *copy->hits.at);
    if (!copy->hits.at)
        return ND_ENOMEM;
    copy->hits.capacity = first->hits.count;
    for (size_t i = 0; i < first->hits.count; i++)
        if (!first->hits.at[i].kept.in_batch)
            copy->hits.at[copy->hits.count++] = first->hits.at[i];
    return ND_OK;
}

/* The first of its bytes is decided: so is the copy. */
static void join_original(struct settling *s, struct nd_item *copy, const struct nd_item *first)
{
    take_sketch(copy, first);
    copy->n_near = copy->near_in_batch.count = copy->hits.count = 0;
    if (first->state == ND_ITEM_REMOVED) {
        copy->state = ND_ITEM_REMOVED;
        copy->kept = first->kept;
        copy->identical = first->identical;
    } else if (first->is_short && s->d->params.short_policy == ND_SHORT_KEEP) {
        copy->state = ND_ITEM_KEPT;
        copy->is_listed = false;
    } else {
        copy->state = ND_ITEM_REMOVED;
        copy->kept = (struct nd_kept_ref){(uint32_t)copy->first_same, true};
        copy->identical = ND_IDENTICAL_BYTES;
    }
}

/* Whether the copy is decided by its original; if not, it looks for a kept document like any other.
 */
static bool settle_copy(struct settling *s, size_t place)
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
 * Note the kept ones of the batch that come before it and were not met yet.  Those of earlier waves
 * were met then, as they had been decided before it was visited.
 */
static enum nd_status meet_leaders(struct settling *s, size_t place)
{
    struct nd_item *item = &s->item[place];
    struct nd_worker *w = s->d->here;
    struct nd_candidates *met = &w->met;
    enum nd_status status;

    if (!(s->link[place] & ND_LINKED_EARLIER) || nd_index_count(s->d->leaders.index) == 0)
        return ND_OK;
    status = nd_finder_candidates(s->d, w, s->d->leaders, item, met);
    for (size_t i = 0; status == ND_OK && i < met->count; i++) {
        struct nd_candidate candidate = met->at[i];
        candidate.number = (uint32_t)s->leader[candidate.number];
        if (!nd_candidates_add(&item->near_in_batch, candidate))
            status = ND_ENOMEM;
    }
    return status ? nd_fail(s->err, status, "out of memory for a batch") : ND_OK;
}

/* For later ones to find, should there be any that might. */
static enum nd_status add_leader(struct settling *s, size_t place)
{
    enum nd_status status;
    uint32_t number;

    nd_item_leave_out(s->d, s->item, &s->item[place]);
    if (!(s->link[place] & ND_LINKED_LATER))
        return ND_OK;
    status = nd_finder_add(s->d->leaders, &s->item[place], &number, s->err);
    if (status == ND_OK)
        s->leader[number] = place;
    return status;
}

/* Pending documents get their numbers in order, as all are visited in the first wave. */
static enum nd_status add_pending(struct settling *s, size_t place)
{
    if (!(s->link[place] & ND_LINKED_LATER) || s->pending[place] != NONE)
        return ND_OK;
    return nd_finder_add(s->d->pending, &s->item[place], &s->pending[place], s->err);
}

static void remove_pending(struct settling *s, size_t place)
{
    if (s->pending[place] != NONE)
        nd_finder_remove(s->d->pending, &s->item[place], s->pending[place]);
    s->pending[place] = NONE;
}

static bool meets_pending(const struct settling *s, size_t place)
{
    const struct nd_item *item = &s->item[place];

    if (!(s->link[place] & ND_LINKED_EARLIER) || nd_index_count(s->d->pending.index) == 0)
        return false;
    if (s->d->params.candidates == ND_CANDIDATES_ALL)
        return s->n_open > 0;
    return nd_finder_meets_any(s->d->here, s->d->pending, item, s->below[place]);
}

static bool compare_with(struct settling *s, struct nd_worker *w, struct nd_item *item,
                         struct nd_candidate candidate)
{
    const struct nd_item *kept = &s->item[candidate.number];

    if (s->d->matching && candidate.equal == ND_SCORE_NONE)
        return true; /* its tokens were not the same after all */
    if (s->d->params.verify == ND_VERIFY_NONE)
        return nd_item_accept(w, item, candidate, true, kept->n_shingles);
    return nd_item_compare(s->d, w, item, &w->set, candidate, true, kept->shingle,
                           (size_t)kept->n_shingles);
}

/* The same tokens as a kept one of the batch: that decides, as it does with those of earlier
 * batches. */
static bool join_same_tokens(struct settling *s, struct nd_worker *w, struct nd_item *item)
{
    if (nd_dedup_ignores_text(s->d))
        return false;
    for (size_t i = item->n_checked; i < item->near_in_batch.count; i++) {
        uint32_t place = item->near_in_batch.at[i].number;
        const struct nd_item *kept = &s->item[place];

        if (kept->row.identity != item->row.identity ||
            nd_same_text(s->d, w, item->text, kept->text) != 1)
            continue;
        item->state = ND_ITEM_REMOVED;
        item->identical = ND_IDENTICAL_TOKENS;
        item->kept = (struct nd_kept_ref){place, true};
        item->n_near = item->near_in_batch.count = item->hits.count = 0;
        return true;
    }
    return false;
}

/*
 * The comparisons of one document.  If it turns out to have more candidates than max_checks, then
 * what was left out because of a better hit may count after all, and everything is compared again.
 */
static void compare_item(struct settling *s, struct nd_worker *w, size_t place)
{
    struct nd_item *item = &s->item[place];
    const struct nd_item *first = original(s, place);

    if (w->status || join_same_tokens(s, w, item))
        return;
    if (!nd_shingle_set_build(&w->set, first->shingle, (size_t)first->n_shingles)) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return;
    }
    if (item->may_prune && item->n_near + item->near_in_batch.count > s->d->params.max_checks) {
        item->may_prune = false;
        item->hits.count = 0;
        item->n_checked = 0;
        if (!nd_item_look_again(s->d, w, item))
            return;
    }
    for (; item->n_checked < item->near_in_batch.count; item->n_checked++)
        if (!compare_with(s, w, item, item->near_in_batch.at[item->n_checked]))
            return;
}

static void compare_task(void *context, size_t task, unsigned worker)
{
    struct settling *s = context;

    compare_item(s, &s->d->worker[worker], s->task[task]);
}

static bool is_decided(const struct nd_item *item)
{
    return item->state == ND_ITEM_KEPT || item->state == ND_ITEM_REMOVED;
}

static enum nd_status visit(struct settling *s, size_t place)
{
    struct nd_item *item = &s->item[place];
    enum nd_status status;

    if ((is_copy(s, place) && settle_copy(s, place)) || is_decided(item))
        return ND_OK;
    if (s->below[place] == NONE) /* the first wave: nothing was taken out yet */
        s->below[place] = (uint32_t)nd_index_count(s->d->pending.index);
    status = meet_leaders(s, place);
    if (status)
        return status;
    if (item->near_in_batch.count > item->n_checked) {
        s->task[s->n_tasks++] = place;
    } else if (item->state == ND_ITEM_OPEN && !is_copy(s, place) &&
               !nd_item_has_hit(s->d, item, 0) && !meets_pending(s, place)) {
        item->state = ND_ITEM_KEPT;
        remove_pending(s, place);
        return add_leader(s, place);
    }
    if (item->state != ND_ITEM_OPEN || is_copy(s, place))
        return ND_OK;
    s->n_open++;
    return add_pending(s, place);
}

/* Who has a hit that no undecided earlier document can push out of the first max_checks, follows.
 */
static void mark_followers(struct settling *s)
{
    s->n_open = 0;
    for (size_t i = 0; i < s->n_linked; i++) {
        struct nd_item *item = &s->item[s->linked[i]];

        if (is_copy(s, s->linked[i]))
            continue;
        if (item->state == ND_ITEM_OPEN && nd_item_has_hit(s->d, item, s->n_open))
            item->state = ND_ITEM_FOLLOWS;
        if (item->state == ND_ITEM_OPEN)
            s->n_open++;
        else
            remove_pending(s, s->linked[i]);
    }
}

static enum nd_status run_wave(struct settling *s)
{
    s->n_tasks = 0;
    s->n_open = 0;
    nd_finder_clear(s->d->leaders);
    for (size_t i = 0; i < s->n_linked; i++) {
        enum nd_status status = visit(s, s->linked[i]);

        if (status)
            return status;
    }
    nd_pool_run(s->d->pool, s->n_tasks, compare_task, s);
    mark_followers(s);
    return nd_workers_status(s->d, s->err);
}

/* Waves, as long as each leaves at most half as many undecided ones as it found. */
static enum nd_status run_waves(struct settling *s)
{
    enum nd_status status;
    size_t found;

    nd_finder_clear(s->d->pending);
    for (size_t i = 0; i < s->n_linked; i++)
        s->below[s->linked[i]] = s->pending[s->linked[i]] = NONE;
    s->n_open = s->n_linked;
    do {
        found = s->n_open;
        status = run_wave(s);
    } while (status == ND_OK && s->n_open > 0 && s->n_open <= found / 2);
    return status;
}

/* As defined: all before this one are decided. */
static enum nd_status settle_next(struct settling *s, size_t place)
{
    struct nd_item *item = &s->item[place];
    enum nd_status status;

    if ((is_copy(s, place) && settle_copy(s, place)) || is_decided(item))
        return ND_OK;
    status = meet_leaders(s, place);
    if (status)
        return status;
    if (item->near_in_batch.count > item->n_checked) {
        compare_item(s, s->d->here, place);
        status = nd_workers_status(s->d, s->err);
    }
    if (status || item->state != ND_ITEM_OPEN || is_copy(s, place))
        return status;
    if (nd_item_has_hit(s->d, item, 0)) {
        item->state = ND_ITEM_FOLLOWS;
        return ND_OK;
    }
    item->state = ND_ITEM_KEPT;
    return add_leader(s, place);
}

static enum nd_status settle_in_order(struct settling *s)
{
    enum nd_status status = ND_OK;

    nd_finder_clear(s->d->leaders);
    for (size_t i = 0; status == ND_OK && i < s->n_linked; i++)
        status = settle_next(s, s->linked[i]);
    return status;
}

/* The rows that take part: of listed documents, and of copies, which have their original's. */
static enum nd_status list_rows(struct settling *s, size_t n, const struct nd_index_row **row)
{
    for (size_t i = 0; i < n; i++) {
        struct nd_item *item = &s->item[i];

        if (is_copy(s, i)) {
            const struct nd_item *first = original(s, i);

            take_sketch(item, first);
            if (first->state != ND_ITEM_REMOVED && take_candidates(item, first))
                return ND_ENOMEM;
        }
        if (original(s, i)->state == ND_ITEM_OPEN && item->is_listed)
            row[i] = &item->row;
    }
    return ND_OK;
}

/*
 * What was found when the batch was prepared may hold for too many, but for none too few.  A
 * document that could not be prepared then, or was left because a kept one seemed to have its
 * bytes, may have been prepared since (nd_item_look_ahead): its links are not known.
 */
static bool is_linked_already(const struct settling *s, size_t n,
                              const struct nd_index_row *const *row)
{
    if (!s->d->at_hand->is_linked)
        return false;
    for (size_t i = 0; i < n; i++)
        if (row[i] && !s->item[i].is_in_links)
            return false;
    return true;
}

static enum nd_status link_all(struct settling *s, size_t n, const struct nd_index_row *const *row,
                               struct nd_error *err)
{
    if (!is_linked_already(s, n, row))
        return nd_finder_link(s->d, s->item, row, n, s->link, s->d->pool, err);
    if (n)
        memcpy(s->link, s->d->at_hand->link, n);
    return ND_OK;
}

/* One that meets no other of the batch. */
static void settle_alone(const struct settling *s, struct nd_item *item)
{
    item->state = nd_item_has_hit(s->d, item, 0) ? ND_ITEM_FOLLOWS : ND_ITEM_KEPT;
    if (item->state == ND_ITEM_KEPT)
        nd_item_leave_out(s->d, s->item, item);
}

/* Copies, and listed documents that may meet another of the batch; all others are decided by what
 * they have. */
static enum nd_status find_linked(struct settling *s, size_t n, struct nd_error *err)
{
    const struct nd_index_row **row = calloc(n ? n : 1, sizeof *row);
    enum nd_status status = row ? list_rows(s, n, row) : ND_ENOMEM;

    if (status == ND_OK)
        status = link_all(s, n, row, err);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_item *item = &s->item[i];

        if (is_copy(s, i) || (row[i] && s->link[i]))
            s->linked[s->n_linked++] = i;
        else if (item->state == ND_ITEM_OPEN)
            settle_alone(s, item);
    }
    free(row);
    return status ? nd_fail(err, status, "out of memory for a batch of %zu documents", n) : ND_OK;
}

/* The kept documents of the followers, now that all candidates are known. */
static void resolve(struct nd_dedup *d, struct nd_item *item, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct nd_hit best;

        if (item[i].state != ND_ITEM_FOLLOWS)
            continue;
        best = *nd_item_best_hit(d, &item[i]);
        item[i].state = ND_ITEM_REMOVED;
        item[i].kept = best.kept;
        item[i].hits.at[0] = best;
        item[i].hits.count = 1;
    }
}

enum nd_status nd_items_settle(struct nd_dedup *d, struct nd_item *item, size_t n,
                               struct nd_error *err)
{
    struct settling s = {.d = d, .item = item, .err = err};
    enum nd_status status = ND_ENOMEM;

    s.linked = nd_alloc_array(n, sizeof *s.linked);
    s.below = nd_alloc_array(n, sizeof *s.below);
    s.pending = nd_alloc_array(n, sizeof *s.pending);
    s.link = calloc(n ? n : 1, 1);
    s.leader = nd_alloc_array(n, sizeof *s.leader);
    s.task = nd_alloc_array(n, sizeof *s.task);
    if (s.linked && s.link && s.below && s.pending && s.leader && s.task)
        status = find_linked(&s, n, err);
    else
        nd_fail(err, status, "out of memory for a batch of %zu documents", n);
    if (status == ND_OK && nd_pool_threads(d->pool) > 1)
        status = run_waves(&s);
    if (status == ND_OK)
        status = settle_in_order(&s);
    if (status == ND_OK)
        resolve(d, item, n);
    free(s.linked);
    free(s.link);
    free(s.below);
    free(s.pending);
    free(s.leader);
    free(s.task);
    return status;
}
