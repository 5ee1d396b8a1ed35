/* complete.c - clusters of which every two documents match
 *
 * A document joins a cluster if it matches all its members.  Most of these need not be compared with
 * it.  Let k be the kept document of the cluster, m a member, x the new document, J the resemblance.
 * The distance 1 - J obeys the triangle inequality (Lipkus 1999):
 *
 *     1 - J(x, m) <= (1 - J(x, k)) + (1 - J(k, m)),   so   J(x, m) >= J(x, k) + J(k, m) - 1.
 *
 * So x surely matches m, at the threshold t, if J(x, k) + J(k, m) >= 1 + t.  J(k, m) was measured
 * when m joined, and J(x, k) is measured once for all members.  Only members with a smaller J(k, m)
 * are in question: these are found from the top of a heap without a look at the others.
 *
 * The result of three documents or more depends on the keep order, as that of every clustering of
 * this kind does; it does not depend on threads, as documents join one after the other.
 */
#include <stdlib.h>

#include "engine/batch.h"
#include "engine/overflow.h"

#define NONE UINT32_MAX

/*
 * Columns by number in the index; copies have no number.  The members of a cluster, without the kept
 * one, are a skew heap (Sleator 1986) with the member on top that resembles the kept one least.  A
 * skew heap needs no balance in its nodes: on the way of an insertion each node swaps its children,
 * which makes a path of logarithmic length on average.
 */
struct nd_complete {
    struct nd_column leader; /* uint32_t: the number of the kept one of its cluster */
    struct nd_column shared; /* uint32_t: shingles in common with that */
    struct nd_column left;   /* uint32_t: in the heap; of a kept one: the top */
    struct nd_column right;
    size_t n_leaders; /* of the batch at hand that are listed */
    uint32_t *stack;  /* of a walk through a heap */
    size_t capacity;
};

static uint32_t *leader_of(const struct nd_dedup *d)
{
    return d->complete->leader.data;
}

static uint32_t *left_of(const struct nd_dedup *d)
{
    return d->complete->left.data;
}

static uint32_t *right_of(const struct nd_dedup *d)
{
    return d->complete->right.data;
}

void nd_complete_free(struct nd_complete *c)
{
    if (!c)
        return;
    nd_column_release(&c->leader);
    nd_column_release(&c->shared);
    nd_column_release(&c->left);
    nd_column_release(&c->right);
    free(c->stack);
    free(c);
}

static enum nd_status make_room(struct nd_dedup *d, size_t n, struct nd_error *err)
{
    size_t total = d->kept.n + n;
    struct nd_complete *c = d->complete;

    if (!c)
        c = d->complete = calloc(1, sizeof *c);
    if (!c || !nd_column_reserve(&c->leader, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->shared, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->left, total, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->right, total, sizeof(uint32_t)))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", total);
    return ND_OK;
}

/* Measure the resemblance of a member to the kept document of its cluster. */
static struct nd_fraction resemblance_of(const struct nd_dedup *d, uint32_t member)
{
    struct nd_overlap overlap = {.a = nd_index_shingles(d->kept.finder.index, member),
                                 .b = nd_index_shingles(d->kept.finder.index, leader_of(d)[member]),
                                 .shared = ((uint32_t *)d->complete->shared.data)[member]};

    return nd_measure(ND_VERIFY_JACCARD, &overlap);
}

static void add_member(struct nd_dedup *d, uint32_t leader, uint32_t member, uint64_t shared)
{
    uint32_t *left = left_of(d), *right = right_of(d), *link = &left[leader];
    struct nd_fraction own;

    leader_of(d)[member] = leader;
    ((uint32_t *)d->complete->shared.data)[member] = (uint32_t)shared;
    own = resemblance_of(d, member);
    while (*link != NONE && nd_fraction_compare(resemblance_of(d, *link), own) <= 0) {
        uint32_t at = *link, old = right[at];

        right[at] = left[at];
        left[at] = old;
        link = &left[at];
    }
    left[member] = *link;
    right[member] = NONE;
    *link = member;
}

/* Whether two documents match for certain that resemble the kept one by x and y: x + y >= 1 + t, as
 * derived above, cross-multiplied.  Counts are below 2^33 and the threshold's terms below 2^32, so
 * that the products are below 2^99. */
static bool must_match(const struct nd_dedup *d, struct nd_fraction x, struct nd_fraction y)
{
    typedef unsigned __int128 wide;

    if (d->plan.params.verify != ND_VERIFY_JACCARD || d->plan.matching)
        return false;
    return ((wide)x.num * y.den + (wide)y.num * x.den) * d->plan.threshold.den >=
           (wide)x.den * y.den * (d->plan.threshold.num + d->plan.threshold.den);
}

/* 1: the item and a member match, by whatever the recipe says of two documents; 0; < 0: failed. */
static int matches(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item, uint32_t member)
{
    size_t n_hits = item->search.n_hits;
    struct nd_match match;
    bool ok;

    if (d->plan.matching && !nd_matching_compare_stored(d->plan.matching, item->read.signatures,
                                                        d->kept.finder.signatures, member, &match))
        return 0;
    if (d->plan.params.verify == ND_VERIFY_NONE)
        return d->plan.matching ||
               nd_index_is_candidate(d->kept.finder.index, &item->read.row,
                                     nd_engine_plan_reach(&d->plan, item->read.n_shingles), member);
    ok = nd_item_begin_compare(w, item) &&
         nd_item_compare(&d->kept, w, item, &w->set, (struct nd_candidate){.number = member}, NULL);
    if (!ok)
        return -1;
    ok = item->search.n_hits > n_hits;
    item->search.n_hits = n_hits;
    return ok;
}

static bool push(struct nd_dedup *d, size_t *n, uint32_t node)
{
    struct nd_complete *c = d->complete;

    if (node == NONE)
        return true;
    if (!ND_RESERVE(c->stack, &c->capacity, *n + 1)) {
        nd_worker_fail(d->crew.pusher, ND_ENOMEM, "comparing documents");
        return false;
    }
    c->stack[(*n)++] = node;
    return true;
}

/*
 * 1: the item matches every member of the cluster of a kept one that it matches; 0: it does not, or
 * *checks are used up and more would have to be compared; < 0: failed.
 */
static int matches_all(struct nd_dedup *d, struct nd_item *item, const struct nd_hit *hit,
                       size_t *checks)
{
    struct nd_fraction own = nd_measure(ND_VERIFY_JACCARD, &hit->overlap);
    size_t n = 0;

    if (!push(d, &n, left_of(d)[hit->kept.number]))
        return -1;
    while (n > 0) {
        uint32_t member = d->complete->stack[--n];
        int found;

        if (must_match(d, own, resemblance_of(d, member)))
            continue; /* and so do those below it */
        if (*checks == 0) {
            item->search.was_cut = true;
            return 0;
        }
        --*checks;
        found = matches(d, d->crew.pusher, item, member);
        if (found <= 0)
            return found;
        if (!push(d, &n, left_of(d)[member]) || !push(d, &n, right_of(d)[member]))
            return -1;
    }
    return 1;
}

/* The kept ones among the candidates, those of earlier batches: max_checks are compared. */
static void meet_earlier(void *context, size_t place, unsigned worker)
{
    const struct nd_engine_batch *batch = context;
    const struct nd_dedup *d = batch->d;
    struct nd_worker *w = &d->crew.worker[worker];
    struct nd_item *item = &batch->item[place];

    if (w->status || item->state != ND_ITEM_OPEN ||
        nd_item_find_equal(d, w, item, batch->number[place]) || !item->read.is_listed ||
        !nd_finder_candidates(&d->kept.finder, w, item))
        return;
    item->search.n_near = w->found.count;
    for (size_t i = 0; i < w->found.count && i < d->plan.params.max_checks; i++)
        if (!nd_item_begin_compare(w, item) ||
            !nd_item_compare(&d->kept, w, item, &w->set, w->found.items[i], NULL))
            return;
}

static bool is_listed(const struct nd_candidate *at, size_t n, uint32_t number)
{
    for (size_t i = 0; i < n; i++)
        if (at[i].number == number)
            return true;
    return false;
}

/* Meet the candidates of this batch as well, now that they are decided. */
static bool meet_all(const struct nd_engine_batch *batch, struct nd_item *item)
{
    const struct nd_dedup *d = batch->d;
    struct nd_worker *w = d->crew.pusher;
    size_t n, left = 0;

    if (d->complete->n_leaders == 0 || !item->read.is_listed)
        return true;
    if (!nd_finder_candidates(&d->kept.finder, w, item))
        return false;
    item->search.n_near = w->found.count;
    n = w->found.count < d->plan.params.max_checks ? w->found.count : d->plan.params.max_checks;
    for (size_t i = 0; i < item->search.n_hits; i++)
        if (n == w->found.count || is_listed(w->found.items, n, item->search.hits[i].kept.number))
            item->search.hits[left++] = item->search.hits[i];
    item->search.n_hits = left;
    for (size_t i = 0; i < n; i++)
        if (w->found.items[i].number >= batch->first_number &&
            (!nd_item_begin_compare(w, item) ||
             !nd_item_compare(&d->kept, w, item, &w->set, w->found.items[i], NULL)))
            return false;
    return true;
}

/* The best of the hits from `from` on goes to its place. */
static const struct nd_hit *next_best(const struct nd_dedup *d, struct nd_item *item, size_t from)
{
    struct nd_hit *at = item->search.hits, first;
    size_t best = from;

    for (size_t i = from + 1; i < item->search.n_hits; i++)
        if (nd_hit_is_better(&d->plan, &at[i], &at[best]))
            best = i;
    first = at[from];
    at[from] = at[best];
    at[best] = first;
    return &at[from];
}

/* Let a document join the cluster of an earlier one that equals it.  False: none does. */
static bool join_equal(struct nd_dedup *d, struct nd_item *item, uint32_t number)
{
    if (!nd_item_find_equal(d, d->crew.pusher, item, number))
        return false;
    if (d->crew.pusher->status == ND_OK)
        leader_of(d)[number] = leader_of(d)[item->kept.number];
    item->search.n_near = 0;
    return true;
}

/*
 * The item joins the cluster of a document that equals it; else, of the clusters all of whose
 * documents it matches, that whose kept one it resembles most; or it leads one.  False:
 * worker->error.
 */
static bool join_item(const struct nd_engine_batch *batch, struct nd_item *item, uint32_t number)
{
    struct nd_dedup *d = batch->d;
    size_t checks = d->plan.params.max_checks, n_hits;

    leader_of(d)[number] = number;
    left_of(d)[number] = NONE;
    if (join_equal(d, item, number))
        return d->crew.pusher->status == ND_OK;
    if (!meet_all(batch, item))
        return false;
    n_hits = item->search.n_hits;
    for (size_t i = 0; i < n_hits; i++) {
        struct nd_hit hit = *next_best(d, item, i);
        int found = matches_all(d, item, &hit, &checks);

        if (found < 0)
            return false;
        if (found) {
            add_member(d, hit.kept.number, number, hit.overlap.shared);
            break;
        }
    }
    item->search.n_member_checks = d->plan.params.max_checks - checks;
    return true;
}

/* A kept one is looked up as a candidate; a member only as what a later one may equal. */
static enum nd_status list_item(struct nd_dedup *d, struct nd_item *item, uint32_t number,
                                struct nd_error *err)
{
    if (!item->read.is_listed || item->identical != ND_IDENTICAL_NO)
        return ND_OK;
    if (leader_of(d)[number] == number) {
        d->complete->n_leaders++;
        if (!nd_overflow_note_next(&d->kept, d->crew.pusher, item))
            return nd_crew_status(&d->crew, err);
    } else {
        item->read.row.identity_only = true;
    }
    return nd_finder_list_alone(&d->kept.finder, number, item, err);
}

/* In keep order. */
static enum nd_status join_all(const struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    uint32_t *number = batch->number;
    enum nd_status status = ND_OK;

    d->complete->n_leaders = 0;
    for (size_t i = 0; status == ND_OK && i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];

        if (item->state == ND_ITEM_OPEN) {
            if (!join_item(batch, item, number[i]))
                return nd_crew_status(&d->crew, err);
            status = list_item(d, item, number[i], err);
            continue;
        }
        number[i] = item->state == ND_ITEM_FOLLOWS ? number[item->first_same] : item->kept.number;
        item->read.is_short = nd_index_is_short(d->kept.finder.index, number[i]);
        item->read.n_shingles = nd_index_shingles(d->kept.finder.index, number[i]);
    }
    return status;
}

static void describe(void *context, size_t place, unsigned worker)
{
    const struct nd_engine_batch *batch = context;
    const struct nd_dedup *d = batch->d;
    struct nd_worker *w = &d->crew.worker[worker];
    const struct nd_item *item = &batch->item[place];
    struct nd_decision *out = &batch->decision[place];
    uint64_t document = d->stats.documents + place;
    uint32_t number = batch->number[place], leader = leader_of(d)[number];
    bool is_copy = item->state != ND_ITEM_OPEN;
    size_t limit = d->plan.params.max_checks;

    *out = (struct nd_decision){.kept = document, .distance = UINT32_MAX};
    out->is_short = item->read.is_short;
    out->is_empty = nd_item_is_empty(item);
    out->was_cut = item->search.was_cut || item->search.n_near > limit;
    out->checks = (uint32_t)((item->search.n_near < limit ? item->search.n_near : limit) +
                             item->search.n_member_checks);
    if (w->status || (!is_copy && leader == number) ||
        (is_copy && item->read.is_short && d->plan.params.short_policy == ND_SHORT_KEEP))
        return;
    out->kept = nd_kept_document(&d->kept, leader);
    (void)nd_numbers_compare(d, w, number, leader, out);
    out->verified = nd_kept_verified(&d->kept, out->verified, document, out->kept);
}

static enum nd_status complete(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    enum nd_status status = make_room(d, batch->n, err);

    if (status == ND_OK)
        status = nd_engine_batch_index_originals(batch, err);
    if (status != ND_OK)
        return status;
    nd_crew_forget_sets(&d->crew);
    nd_pool_run(d->crew.pool, batch->n, meet_earlier, batch);
    status = nd_crew_status(&d->crew, err);
    if (status == ND_OK)
        status = join_all(batch, err);
    if (status == ND_OK) {
        nd_pool_run(d->crew.pool, batch->n, describe, batch);
        status = nd_crew_status(&d->crew, err);
    }
    return status;
}

enum nd_status nd_push_complete(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;
    enum nd_status status = complete(batch, err);

    for (size_t i = 0; i < batch->n && status == ND_OK; i++) {
        const struct nd_decision *decision = &batch->decision[i];

        nd_stats_count_decision(&d->stats, decision, decision->kept != d->stats.documents + i);
        nd_stats_count(&d->stats, &batch->item[i], decision->checks, decision->was_cut);
    }
    nd_engine_batch_end(batch, status);
    return status;
}
