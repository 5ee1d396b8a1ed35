/* ahead.c - documents compared with the kept ones before the turn of their batch
 *
 * Several batches are on their way at the same time, and each is decided in its turn.  Most of what
 * deciding takes is comparing documents with the kept ones that the index has.  That can be done
 * before the turn, while earlier batches are decided, for all kept documents that the index has by
 * then.  In the turn only those matter that came since:
 *
 *   1. match_all: each document is compared with the kept documents, as in the turn.  The read lock
 *      of the pool is held for a few documents at a time; a batch that is decided takes the write
 *      lock while the index takes its documents in.  `seen` notes how many the index had.
 *   2. publish: the keys by which a document that is still open could be found go to a set, for the
 *      batches after this one.  These are the hash of its bytes and its keys in the tables.
 *   3. link_to: the keys of this batch are looked up in the sets of all earlier batches that the
 *      index did not have at the beginning of step 1.  A document without a hit shares no key with
 *      any document that came since, whatever is decided about that: step 1 has found all that it
 *      will ever meet.  One with a hit may meet one that is kept (`may_meet`).
 *   4. nd_resolve_ahead: the documents of the batch are compared with one another, but for those with
 *      a hit, and those that share keys with these, or with others that do (resolve_batch.c).
 *   5. In the turn, those with a hit are looked up again (nd_item_match_again), and compared with
 *      the documents from number `seen` on.
 *
 * The result is that of comparing in the turn.  A document that is removed in step 1 has the bytes
 * or the tokens of a kept one, and the earliest such one is found in step 1 as in the turn, since
 * later ones have greater numbers.  The candidates of any other document are those of step 1 and
 * those that came since.
 *
 * Step 1 waits until the index has nearly all earlier batches (`distance`), and step 3 until all
 * have published (`published` is a ticket lock that nobody holds for long).  Both wait for earlier
 * batches only, so nobody waits in a circle.
 */
#include "engine/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/engine.h"

/*
 * A hash table of the lower halves of keys, whose places come from the upper bits; 0 is an empty
 * slot.  Two keys look equal if they agree in these bits, which costs a look-up and changes no
 * result.
 */
struct key_set {
    uint32_t *slot;
    size_t capacity, n_slots; /* a power of two */
    unsigned shift;           /* 64 - bits of a place */
    bool has_all;             /* the keys of some document are not known */
};

enum { DISTANCE_MAX = 16 };

struct nd_ahead {
    struct nd_ticket_lock published;
    struct nd_ticket_lock decided; /* so many batches are in the index: those before this ticket */
    /* A batch is matched once the index has all but so many of those before it: each of these is one
     * more set to look into. */
    unsigned distance;
    /*
     * After the sets there is one for each worker, for find_uncertain.
     *
     * The set of ticket t is keys[t % n_sets].  Of n threads at most n batches are on their way, all
     * among the last n tickets.  So when the batch of t + 2n takes over the set, those after t + n
     * alone are on their way, and none of them needs it.
     */
    unsigned n_sets;
    struct key_set keys[];
};

struct nd_ahead *nd_ahead_new(const struct nd_pool *pool)
{
    unsigned n_threads = nd_pool_threads(pool), distance = 2 * nd_pool_processors(pool);
    struct nd_ahead *ahead = calloc(1, sizeof *ahead + 3 * n_threads * sizeof *ahead->keys);

    if (!ahead)
        return NULL;
    ahead->n_sets = 2 * n_threads;
    ahead->distance = distance < DISTANCE_MAX ? distance : DISTANCE_MAX;
    return ahead;
}

void nd_ahead_free(struct nd_ahead *ahead)
{
    for (unsigned i = 0; ahead && i < ahead->n_sets / 2 * 3; i++)
        free(ahead->keys[i].slot);
    free(ahead);
}

void nd_ahead_note_decided(struct nd_ahead *ahead)
{
    atomic_fetch_add(&ahead->decided.serving, 1); /* nd_pool_write_unlock wakes who waits for it */
}

void nd_dedup_end_ahead(struct nd_dedup *d)
{
    if (d->ahead)
        nd_pool_pass_all(d->crew.pool, &d->ahead->decided);
}

/* ---- Sets of keys ---- */

/* Empty the set, with room for n keys at a load of a half; without memory it has all keys. */
static void begin_set(struct key_set *set, size_t n)
{
    set->n_slots = 16;
    set->shift = 60;
    for (; set->n_slots < 2 * n; set->n_slots *= 2)
        set->shift--;
    set->has_all = !ND_RESERVE(set->slot, &set->capacity, set->n_slots);
    if (!set->has_all)
        memset(set->slot, 0, set->n_slots * sizeof *set->slot);
}

/* Find the slot of a key, or the empty slot where it would stand. */
static uint32_t *slot_of(const struct key_set *set, uint64_t key)
{
    size_t at = (size_t)(key >> set->shift);
    uint32_t half = (uint32_t)key | 1;

    while (set->slot[at] && set->slot[at] != half)
        at = (at + 1) & (set->n_slots - 1);
    return &set->slot[at];
}

static uint64_t key_of_bytes(const struct nd_item *item)
{
    return nd_mix64(item->raw + (uint64_t)item->group * UINT64_C(0x9E3779B97F4A7C15));
}

/* The keys of an item in the tables, from *first on: all of them, that by its tokens alone, which is
 * the last, or none. */
static const uint64_t *keys_of(const struct nd_engine_plan *plan, const struct nd_item *item,
                               unsigned *n)
{
    *n = !item->read.is_listed ? 0 : item->read.row.identity_only ? 1 : plan->n_keys;
    return *n ? item->read.row.key + (plan->n_keys - *n) : NULL;
}

static void publish_item(struct key_set *set, const struct nd_engine_plan *plan,
                         const struct nd_item *item)
{
    unsigned n;
    const uint64_t *key = keys_of(plan, item, &n);
    uint64_t bytes = key_of_bytes(item);

    *slot_of(set, bytes) = (uint32_t)bytes | 1;
    for (unsigned i = 0; i < n; i++)
        *slot_of(set, key[i]) = (uint32_t)key[i] | 1;
}

/* An item that may be kept.  A copy has the keys of its original. */
static bool is_open(const struct nd_engine_batch *batch, size_t place)
{
    return batch->item[place].state == ND_ITEM_OPEN && batch->item[place].first_same == place;
}

static void publish(struct key_set *set, const struct nd_engine_batch *batch)
{
    const struct nd_engine_plan *plan = &batch->d->plan;
    size_t n = 0;

    if (!batch->is_made) {
        set->has_all = true;
        return;
    }
    for (size_t i = 0; i < batch->n; i++)
        n += is_open(batch, i);
    begin_set(set, n * (plan->n_keys + 1));
    for (size_t i = 0; i < batch->n && !set->has_all; i++) {
        const struct nd_item *item = &batch->item[i];

        if (!is_open(batch, i))
            continue;
        if (item->is_prepared || item->is_matched)
            publish_item(set, plan, item);
        else
            set->has_all = true;
    }
}

static bool meets(const struct key_set *set, const struct nd_engine_plan *plan,
                  const struct nd_item *item)
{
    unsigned n;
    const uint64_t *key = keys_of(plan, item, &n);

    if (set->has_all || *slot_of(set, key_of_bytes(item)))
        return true;
    for (unsigned i = 0; i < n; i++)
        if (*slot_of(set, key[i]))
            return true;
    return false;
}

static void link_to(struct nd_engine_batch *batch, const struct key_set *set)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];

        if (is_open(batch, i) && item->is_matched && !item->may_meet)
            item->may_meet = meets(set, &batch->d->plan, item);
    }
}

/* ---- What is certain before the turn ---- */

static bool has_link(const struct nd_engine_batch *batch, size_t place)
{
    return batch->link[place] && is_open(batch, place);
}

/* Mark those that share a key with one that is marked; false: there was none. */
static bool spread(struct nd_engine_batch *batch, struct key_set *set)
{
    bool has_spread = false;

    for (size_t i = 0; i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];

        if (!has_link(batch, i) || item->is_uncertain || !meets(set, &batch->d->plan, item))
            continue;
        item->is_uncertain = has_spread = true;
        if (!set->has_all)
            publish_item(set, &batch->d->plan, item);
    }
    return has_spread;
}

/*
 * Mark the documents that cannot be resolved ahead: those that may meet one that came since, those of
 * the batch that may meet one that is marked, and copies of these.
 */
static void find_uncertain(struct nd_engine_batch *batch, struct key_set *set)
{
    enum { ROUNDS_MAX = 8 }; /* a longer chain is left to the turn as a whole */
    size_t n = 0, n_marked = 0;
    unsigned rounds = 0;

    for (size_t i = 0; i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];

        item->is_uncertain = is_open(batch, i) && nd_item_is_to_match(item);
        n += has_link(batch, i);
        n_marked += has_link(batch, i) && item->is_uncertain;
    }
    if (n_marked) {
        begin_set(set, n * (batch->d->plan.n_keys + 1));
        for (size_t i = 0; i < batch->n && !set->has_all; i++)
            if (has_link(batch, i) && batch->item[i].is_uncertain)
                publish_item(set, &batch->d->plan, &batch->item[i]);
        while (spread(batch, set))
            set->has_all |= ++rounds == ROUNDS_MAX;
    }
    for (size_t i = 0; i < batch->n; i++)
        batch->item[i].is_uncertain = batch->item[batch->item[i].first_same].is_uncertain;
}

/* ---- Before the turn ---- */

/* Forget what was found: the item is to be matched from the beginning. */
static void forget_search(struct nd_item *item)
{
    nd_candidates_release(&item->search.near);
    item->search.n_near = item->search.n_hits = 0;
    item->search.may_prune = false;
}

/* Find the end of a piece of the batch, which is matched with the lock held. */
static size_t end_of_piece(const struct nd_engine_batch *batch, size_t from)
{
    enum { DOCUMENTS = 16, BYTES = 32 << 10 };
    size_t bytes = 0, to = from;

    while (to < batch->n && to < from + DOCUMENTS && bytes < BYTES)
        bytes += batch->item[to++].text.len;
    return to;
}

/* Whether the worker could do it. */
static bool match_piece(struct nd_engine_batch *batch, struct nd_worker *w, size_t from, size_t to)
{
    const struct nd_kept *kept = &batch->d->kept;

    for (size_t i = from; i < to; i++) {
        struct nd_item *item = &batch->item[i];

        if (i + 1 < to)
            nd_item_prefetch_kept(kept, &item[1]);
        if (item->first_same != i)
            continue;
        item->seen = kept->n;
        nd_item_match_kept(kept, w, item);
        item->is_matched = w->status == ND_OK;
        if (!item->is_matched) {
            forget_search(item);
            return false;
        }
    }
    return true;
}

/* Match a batch ahead of its turn.  If that fails, the rest is left to the turn, which reports the
 * error.  *decided: so many batches were in the index at the beginning. */
static void match_all(struct nd_engine_batch *batch, struct nd_worker *w, unsigned worker,
                      unsigned long *decided)
{
    struct nd_pool *pool = batch->d->crew.pool;
    bool ok = true;

    nd_worker_begin(w);
    nd_arena_reset(&w->held);
    w->in_sketcher = w->in_set = NULL;
    for (size_t from = 0, to; ok && from < batch->n; from = to) {
        to = end_of_piece(batch, from);
        nd_pool_read_lock(pool, worker);
        if (from == 0)
            *decided = atomic_load(&batch->d->ahead->decided.serving);
        ok = match_piece(batch, w, from, to);
        nd_pool_read_unlock(pool, worker);
    }
}

void nd_dedup_match_ahead(struct nd_dedup *d, unsigned worker, unsigned long ticket)
{
    struct nd_ahead *ahead = d->ahead;
    struct nd_engine_batch *batch = &d->batch[worker];
    struct nd_worker *matcher;
    unsigned long decided = ticket;

    if (!ahead)
        return;
    matcher = batch->is_made ? nd_crew_matcher(&d->crew, worker, &d->plan) : NULL;
    if (matcher && ticket > ahead->distance)
        nd_pool_await_helping(d->crew.pool, worker, &ahead->decided, ticket - ahead->distance);
    if (matcher)
        match_all(batch, matcher, worker, &decided);
    batch->is_matched = matcher != NULL;
    batch->is_linked = matcher && nd_items_link(batch);
    publish(&ahead->keys[ticket % ahead->n_sets], batch);
    nd_pool_await_helping(d->crew.pool, worker, &ahead->published, ticket);
    nd_pool_pass(d->crew.pool, &ahead->published);
    for (; batch->is_matched && decided < ticket; decided++)
        link_to(batch, &ahead->keys[decided % ahead->n_sets]);
    if (!batch->is_matched || !batch->is_linked || matcher->status)
        return;
    find_uncertain(batch, &ahead->keys[ahead->n_sets + worker]);
    if (nd_resolve_ahead(batch, matcher))
        batch->is_made = false;
}

/* ---- In the turn ---- */

/* Compare with those that came since, where the best hit so far and these are all that counts. */
static void compare_new(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    if (!nd_item_begin_compare(w, item))
        return;
    for (size_t i = 0; i < item->search.near.count; i++)
        if (item->search.near.items[i].number >= item->seen &&
            !nd_item_compare(kept, w, item, &w->set, item->search.near.items[i], NULL))
            return;
}

/* w->found are the item's candidates now. */
static void take_found(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    bool may_prune = item->search.may_prune, has_new = false;
    size_t n_hits = item->search.n_hits;

    for (size_t i = 0; i < w->found.count && !has_new; i++)
        has_new = w->found.items[i].number >= item->seen;
    if (!has_new)
        return;
    forget_search(item);
    if (!nd_item_take_candidates(w, item))
        return;
    if (may_prune && item->search.may_prune) {
        item->search.n_hits = n_hits;
        compare_new(kept, w, item);
    } else if (nd_item_begin_compare(w, item)) {
        (void)nd_item_compare_kept(kept, w, item, &w->set);
    }
}

void nd_item_match_again(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    if (!item->is_matched) {
        nd_item_match_kept(kept, w, item);
        return;
    }
    if (nd_item_match_equal(kept, w, item)) {
        forget_search(item);
        return;
    }
    if (w->status || !item->read.is_listed || !nd_finder_candidates(&kept->finder, w, item))
        return;
    item->search.crowd = w->crowd;
    take_found(kept, w, item);
}
