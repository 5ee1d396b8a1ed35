/* look.c - one document against the kept documents of earlier batches */
#include <stdlib.h>
#include <string.h>

#include "engine/state.h"

static void remove_as(struct nd_item *item, uint32_t number, enum nd_identical identical)
{
    item->state = ND_ITEM_REMOVED;
    item->identical = identical;
    item->kept = (struct nd_kept_ref){number, false};
}

/* The same bytes as a kept document.  True: decided (or failed). */
static bool look_by_bytes(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    uint32_t number;
    int found = nd_kept_find_bytes(d, w, item, &number);

    if (found <= 0)
        return found < 0;
    item->is_short = nd_index_is_short(d->index, number);
    item->n_shingles = nd_index_shingles(d->index, number);
    item->row.simhash = nd_index_simhash(d->index, number);
    remove_as(item, number, ND_IDENTICAL_BYTES);
    return true;
}

static bool look_by_tokens(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    uint32_t number;
    int found = nd_kept_find_tokens(d, w, item, &number);

    if (found <= 0)
        return found < 0;
    item->row.simhash = nd_index_simhash(d->index, number);
    remove_as(item, number, ND_IDENTICAL_TOKENS);
    return true;
}

/* Take over the first max_checks of the candidates met. */
static bool take_candidates(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    size_t n = w->met.count < d->params.max_checks ? w->met.count : d->params.max_checks;

    item->n_near = w->met.count;
    if (n == 0)
        return true;
    item->near.at = nd_alloc_array(n, sizeof *item->near.at);
    if (!item->near.at) {
        nd_worker_fail(w, ND_ENOMEM, "listing candidates");
        return false;
    }
    memcpy(item->near.at, w->met.at, n * sizeof *item->near.at);
    item->near.count = item->near.capacity = n;
    return true;
}

/* The comparisons, while the shingles of those to come are on their way from memory. */
static bool check_all(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                      const struct nd_shingle_set *set)
{
    enum { FIND = 6, BRING = 3 }; /* so many comparisons before */
    const struct nd_candidate *near = item->near.at;
    size_t n = item->near.count;

    for (size_t i = 0; i < n && i < FIND; i++)
        nd_shingle_cache_expect(d->cache, near[i].number);
    for (size_t i = 0; i < n && i < BRING; i++)
        nd_shingle_cache_bring(d->cache, near[i].number);
    for (size_t i = 0; i < n; i++) {
        if (i + FIND < n)
            nd_shingle_cache_expect(d->cache, near[i + FIND].number);
        if (i + BRING < n)
            nd_shingle_cache_bring(d->cache, near[i + BRING].number);
        if (!nd_item_compare_stored(d, w, item, set, near[i]))
            return false;
    }
    return true;
}

bool nd_look_query(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item)
{
    enum nd_status status = nd_finder_candidates(d, w, nd_finder_kept(d), item, &w->met);

    if (status)
        nd_worker_fail(w, status, "looking for candidates");
    return status == ND_OK;
}

/* The set of a prepared item's shingles; NULL: worker->error. */
static const struct nd_shingle_set *set_of(struct nd_worker *w, const struct nd_item *item)
{
    if (w->in_sketcher == item)
        return nd_sketcher_shingles(w->sketcher);
    if (w->in_set == item)
        return &w->set;
    w->in_set = NULL;
    if (nd_shingle_set_build(&w->set, item->shingle, (size_t)item->n_shingles))
        return &w->set;
    nd_worker_fail(w, ND_ENOMEM, "comparing documents");
    return NULL;
}

/* One that was prepared: its sketcher may have moved on, and its shingles are held. */
static void look_prepared(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    const struct nd_shingle_set *set;

    if (!item->is_listed || look_by_tokens(d, w, item) || !nd_look_query(d, w, item) ||
        !take_candidates(d, w, item) || item->near.count == 0)
        return;
    item->may_prune = item->n_near <= d->params.max_checks;
    set = set_of(w, item);
    if (set)
        (void)check_all(d, w, item, set);
}

void nd_item_expect(const struct nd_dedup *d, const struct nd_item *item)
{
    nd_kept_expect(d, item);
    if (!item->is_prepared || !item->is_listed)
        return;
    nd_index_expect_identity(d->index, item->row.identity, item->group);
    nd_index_expect(d->index, &item->row);
}

void nd_item_look_ahead(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    if (look_by_bytes(d, w, item))
        return;
    nd_sketcher_swap_shingles(w->sketcher, &w->set);
    w->in_set = w->in_sketcher;
    nd_item_prepare(d, w, &w->held, item);
    w->in_sketcher = item->is_prepared ? item : NULL;
    nd_item_expect(d, item);
}

void nd_item_look(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    if (item->state != ND_ITEM_OPEN || look_by_bytes(d, w, item))
        return;
    if (item->is_prepared) {
        look_prepared(d, w, item);
        return;
    }
    w->in_sketcher = NULL;
    if (!nd_item_read(d, w, item))
        return;
    if (!item->is_listed) {
        if (item->n_tokens)
            nd_item_sketch(d, w, item);
        (void)nd_item_hold_shingles(w, item);
        return;
    }
    nd_index_expect_identity(d->index, item->row.identity, item->group);
    if (!nd_item_hold_shingles(w, item) || look_by_tokens(d, w, item))
        return;
    nd_item_sketch(d, w, item);
    if (!nd_item_sign(d, w, item) || !nd_look_query(d, w, item) || !take_candidates(d, w, item))
        return;
    item->may_prune = item->n_near <= d->params.max_checks;
    (void)check_all(d, w, item, nd_sketcher_shingles(w->sketcher));
}

bool nd_item_look_again(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    return check_all(d, w, item, &w->set);
}
