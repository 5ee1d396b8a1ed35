/* complete.c - clusters of which every two documents match */
#include <stdlib.h>

#include "engine/pairs.h"

#define NONE UINT32_MAX

/*
 * By number in the index, where copies have none.  The members of a cluster but the kept one are a
 * heap, that which resembles the kept one least on top (a skew heap: Sleator and Tarjan, "Self-
 * adjusting heaps", 1986), so that those to compare with are found without a look at the others.
 */
struct nd_complete {
    struct nd_column leader; /* uint32_t: the number of the kept one of its cluster */
    struct nd_column shared; /* uint32_t: shingles in common with that */
    struct nd_column left;   /* uint32_t: in the heap; of a kept one: the top */
    struct nd_column right;
};

struct completing {
    struct nd_batch_job batch; /* first */
    uint32_t *number;          /* of each item, or of the document that it is a copy of */
    uint32_t first_number;     /* of the batch */
    size_t n_leaders;          /* of the batch that are listed */
    struct nd_decision *decision;
    uint32_t *stack; /* of a walk through a heap */
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

/* Of a member and its kept one. */
static struct nd_fraction resemblance_of(const struct nd_dedup *d, uint32_t member)
{
    struct nd_overlap overlap = {.a = nd_index_shingles(d->index, member),
                                 .b = nd_index_shingles(d->index, leader_of(d)[member]),
                                 .shared = ((uint32_t *)d->complete->shared.data)[member]};

    return nd_measure(ND_VERIFY_JACCARD, &overlap);
}

/* On its way down, each child changes its side. */
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

/*
 * 1 - resemblance is a distance, so two documents at x and y of the kept one are at most x + y
 * apart: they match where the resemblances to it, together, are 1 + threshold or more.
 */
static bool must_match(const struct nd_dedup *d, struct nd_fraction x, struct nd_fraction y)
{
    typedef unsigned __int128 wide;

    if (d->params.verify != ND_VERIFY_JACCARD || d->matching)
        return false;
    return ((wide)x.num * y.den + (wide)y.num * x.den) * d->threshold.den >=
           (wide)x.den * y.den * (d->threshold.num + d->threshold.den);
}

/* 1: the item and a member match, by whatever the recipe says of two documents; 0; < 0: failed. */
static int matches(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item, uint32_t member)
{
    size_t n_hits = item->hits.count;
    struct nd_match match;
    bool ok;

    if (d->matching && !nd_matching_compare_stored(d->matching, item->own_signatures, d->signatures,
                                                   member, &match))
        return 0;
    if (d->params.verify == ND_VERIFY_NONE)
        return d->matching ||
               nd_index_is_candidate(d->index, &item->row,
                                     nd_candidates_allowed(d, item->n_shingles), member);
    ok = nd_item_begin_compare(w, item) &&
         nd_item_compare_stored(d, w, item, &w->set, (struct nd_candidate){.number = member});
    if (!ok)
        return -1;
    ok = item->hits.count > n_hits;
    item->hits.count = n_hits;
    return ok;
}

static bool push(struct completing *c, size_t *n, uint32_t node)
{
    void *stack = c->stack;
    bool ok = node == NONE || nd_array_reserve(&stack, &c->capacity, *n + 1, sizeof *c->stack);

    c->stack = stack;
    if (!ok)
        nd_worker_fail(c->batch.d->here, ND_ENOMEM, "comparing documents");
    if (ok && node != NONE)
        c->stack[(*n)++] = node;
    return ok;
}

/*
 * 1: the item matches every member of the cluster of a kept one that it matches; 0: it does not, or
 * *checks are used up and more would have to be compared; < 0: failed.
 */
static int matches_all(struct completing *c, struct nd_item *item, const struct nd_hit *hit,
                       size_t *checks)
{
    struct nd_dedup *d = c->batch.d;
    struct nd_fraction own = nd_measure(ND_VERIFY_JACCARD, &hit->overlap);
    size_t n = 0;

    if (!push(c, &n, left_of(d)[hit->kept.at]))
        return -1;
    while (n > 0) {
        uint32_t member = c->stack[--n];
        int found;

        if (must_match(d, own, resemblance_of(d, member)))
            continue; /* and so do those below it */
        if (*checks == 0) {
            item->was_cut = true;
            return 0;
        }
        --*checks;
        found = matches(d, d->here, item, member);
        if (found <= 0)
            return found;
        if (!push(c, &n, left_of(d)[member]) || !push(c, &n, right_of(d)[member]))
            return -1;
    }
    return 1;
}

/* The kept ones among the candidates, those of earlier batches: max_checks are compared. */
static void meet_earlier(void *context, size_t place, unsigned worker)
{
    struct completing *c = context;
    struct nd_dedup *d = c->batch.d;
    struct nd_worker *w = &d->worker[worker];
    struct nd_item *item = &c->batch.item[place];

    if (w->status || item->state != ND_ITEM_OPEN || !item->is_listed || !nd_look_query(d, w, item))
        return;
    item->n_near = w->met.count;
    for (size_t i = 0; i < w->met.count && i < d->params.max_checks; i++)
        if (!nd_item_begin_compare(w, item) ||
            !nd_item_compare_stored(d, w, item, &w->set, w->met.at[i]))
            return;
}

static bool is_listed(const struct nd_candidate *at, size_t n, uint32_t number)
{
    for (size_t i = 0; i < n; i++)
        if (at[i].number == number)
            return true;
    return false;
}

/* Those of this batch as well, now that they are decided. */
static bool meet_all(struct completing *c, struct nd_item *item)
{
    struct nd_dedup *d = c->batch.d;
    struct nd_worker *w = d->here;
    size_t n, left = 0;

    if (c->n_leaders == 0 || !item->is_listed)
        return true;
    if (!nd_look_query(d, w, item))
        return false;
    item->n_near = w->met.count;
    n = w->met.count < d->params.max_checks ? w->met.count : d->params.max_checks;
    for (size_t i = 0; i < item->hits.count; i++)
        if (n == w->met.count || is_listed(w->met.at, n, item->hits.at[i].kept.at))
            item->hits.at[left++] = item->hits.at[i];
    item->hits.count = left;
    for (size_t i = 0; i < n; i++)
        if (w->met.at[i].number >= c->first_number &&
            (!nd_item_begin_compare(w, item) ||
             !nd_item_compare_stored(d, w, item, &w->set, w->met.at[i])))
            return false;
    return true;
}

/* The best of the hits from `from` on goes to its place. */
static const struct nd_hit *next_best(const struct nd_dedup *d, struct nd_item *item, size_t from)
{
    struct nd_hit *at = item->hits.at, first;
    size_t best = from;

    for (size_t i = from + 1; i < item->hits.count; i++)
        if (nd_hit_is_better(d, &at[i], &at[best]))
            best = i;
    first = at[from];
    at[from] = at[best];
    at[best] = first;
    return &at[from];
}

/*
 * The item joins, of the clusters all of whose documents it matches, that whose kept one it
 * resembles most; or it leads one.  False: worker->error.
 */
static bool join_item(struct completing *c, struct nd_item *item, uint32_t number)
{
    struct nd_dedup *d = c->batch.d;
    size_t checks = d->params.max_checks, n_hits;

    leader_of(d)[number] = number;
    left_of(d)[number] = NONE;
    if (!meet_all(c, item))
        return false;
    n_hits = item->hits.count;
    for (size_t i = 0; i < n_hits; i++) {
        struct nd_hit hit = *next_best(d, item, i);
        int found = matches_all(c, item, &hit, &checks);

        if (found < 0)
            return false;
        if (found) {
            add_member(d, hit.kept.at, number, hit.overlap.shared);
            break;
        }
    }
    item->n_member_checks = d->params.max_checks - checks;
    return true;
}

static enum nd_status list_leader(struct completing *c, struct nd_item *item, uint32_t number,
                                  struct nd_error *err)
{
    struct nd_dedup *d = c->batch.d;

    if (!item->is_listed || leader_of(d)[number] != number)
        return ND_OK;
    c->n_leaders++;
    nd_item_leave_out_next(d, item);
    return nd_finder_list_alone(d, number, &item->row, err);
}

/* In keep order. */
static enum nd_status join_all(struct completing *c, struct nd_error *err)
{
    struct nd_dedup *d = c->batch.d;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < c->batch.n; i++) {
        struct nd_item *item = &c->batch.item[i];

        if (item->state == ND_ITEM_OPEN) {
            if (!join_item(c, item, c->number[i]))
                return nd_workers_status(d, err);
            status = list_leader(c, item, c->number[i], err);
            continue;
        }
        c->number[i] = item->state == ND_ITEM_FOLLOWS ? c->number[item->first_same] : item->kept.at;
        item->is_short = nd_index_is_short(d->index, c->number[i]);
        item->n_shingles = nd_index_shingles(d->index, c->number[i]);
    }
    return status;
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
    size_t limit = d->params.max_checks;

    *out = (struct nd_decision){.kept = document, .distance = UINT32_MAX};
    out->is_short = item->is_short;
    out->is_empty = nd_item_is_empty(item);
    out->was_cut = item->was_cut || item->n_near > limit;
    out->checks = (uint32_t)((item->n_near < limit ? item->n_near : limit) + item->n_member_checks);
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
    nd_stats_count(d, item, decision->checks, decision->was_cut);
}

static enum nd_status complete(struct completing *c, struct nd_error *err)
{
    struct nd_dedup *d = c->batch.d;
    enum nd_status status = make_room(d, c->batch.n, err);

    c->first_number = d->kept.n;
    c->number = nd_alloc_array(c->batch.n, sizeof *c->number);
    if (status == ND_OK && !c->number)
        status = nd_fail(err, ND_ENOMEM, "out of memory for a batch");
    if (status == ND_OK)
        status = nd_items_find_copies(&c->batch, err);
    if (status == ND_OK)
        status = nd_items_sketch(d, c->batch.item, c->batch.n, false, err);
    if (status == ND_OK)
        status = nd_items_number(d, c->batch.item, c->batch.n, c->number, err);
    if (status != ND_OK)
        return status;
    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++)
        d->worker[i].in_set = NULL;
    nd_pool_run(d->pool, c->batch.n, meet_earlier, c);
    status = nd_workers_status(d, err);
    if (status == ND_OK)
        status = join_all(c, err);
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
    free(c.stack);
    return status;
}
