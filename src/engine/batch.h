/* batch.h - the engine's parts, and the batches of documents that go through it */
#ifndef ND_ENGINE_BATCH_H
#define ND_ENGINE_BATCH_H

#include <neardup/dedup.h>

#include "base/thread/handle.h"
#include "engine/verify.h"

struct nd_dedup;

/*
 * A batch at work, in memory that the next one uses again.  Each worker has one, in which a batch
 * that it has prepared waits for its push.  The first is for batches that were not prepared too.
 */
struct nd_engine_batch {
    struct nd_dedup *d;
    const struct nd_dedup_item *items; /* as given */
    size_t n;
    struct nd_decision *decision; /* where decisions go; NULL: they are not asked for */
    struct nd_item *item;
    size_t item_capacity;
    uint64_t *key; /* of the items' rows, n_keys each */
    size_t key_capacity;
    struct nd_arena held; /* shingles and signatures of prepared items */

    /* Stars: which items may meet others of the batch. */
    unsigned char *link; /* by item: ND_LINKED_EARLIER, ND_LINKED_LATER */
    size_t link_capacity;
    bool is_linked;   /* `link` holds for the prepared ones */
    bool is_matched;  /* ahead of the push: items that are not were left for the push */
    bool is_made;     /* prepared: its items are there, and those with equal bytes are found */
    bool is_resolved; /* ahead of the push, but for items that are uncertain */
    struct nd_finder leaders; /* of a batch that is resolved ahead; made when the first is */

    /* Numbers in the index, where it has every document: for pairs, components, complete link. */
    uint32_t *number; /* of each item in the index; of a copy that of what it is a copy of */
    size_t number_capacity;
    uint32_t first_number; /* those from here on are of this batch */
};

struct nd_components;
struct nd_complete;
struct nd_ahead;

struct nd_dedup {
    struct nd_engine_plan plan;
    struct nd_handle handle; /* which calls are under way */
    struct nd_crew crew;
    struct nd_kept kept;
    struct nd_engine_batch *batch;     /* one a worker */
    struct nd_finder leaders, pending; /* of the batch that is resolved (resolve_batch.c) */

    struct nd_ahead *ahead; /* NULL: documents are matched in the turn of their batch alone */

    /* Members that only one kind of batch uses. */
    struct nd_components *components;
    struct nd_complete *complete;
    struct nd_column class_of;  /* uint32_t, by number: the classes of equal documents (pairs.c) */
    struct nd_column withdrawn; /* bool, by number, of those below (pairs.c) */
    uint32_t withdrawn_below;

    struct nd_dedup_stats stats;
};

/* Check what a caller can get wrong, before anything has changed. */
enum nd_status nd_engine_batch_check(const struct nd_dedup *d, const struct nd_dedup_item *items,
                                     size_t n, struct nd_error *err);

/* Make the items of a batch; nothing is known of them yet. */
enum nd_status nd_items_make(struct nd_engine_batch *batch, const struct nd_dedup_item *items,
                             size_t n, struct nd_error *err);
/* Hash an item's bytes. */
void nd_item_hash(const struct nd_engine_plan *plan, struct nd_item *item);
/* Find the first of those with equal bytes.  False: out of memory. */
bool nd_items_group(struct nd_engine_batch *batch);
/* Find the first of the items with equal bytes, for recipes that know no copies: only among open
 * items that are not listed, which are compared by their bytes alone.  False: out of memory. */
bool nd_items_group_unlisted(struct nd_engine_batch *batch);
/* Find which items that are read may meet one another (batch->link).  False: out of memory. */
bool nd_items_link(struct nd_engine_batch *batch);
/* Give back what the items hold, and what the batch does. */
void nd_items_clear(struct nd_engine_batch *batch);
void nd_items_release(struct nd_engine_batch *batch);

/* Around every kind of batch that is pushed: items made and grouped by their bytes; counted, the
 * shingles that were made handed to the cache, freed.  The batch is the first worker's, d->batch. */
enum nd_status nd_engine_batch_begin(struct nd_dedup *d, const struct nd_dedup_item *items,
                                     size_t n, struct nd_decision *decisions, struct nd_error *err);
void nd_engine_batch_end(struct nd_engine_batch *batch, enum nd_status status);
/* Begin a batch that the worker has prepared, and which it pushes now (stars.c). */
enum nd_status nd_engine_batch_begin_prepared(struct nd_dedup *d, unsigned worker,
                                              struct nd_decision *decisions, struct nd_error *err);

/* Have the text source keep a document; place: in the batch. */
enum nd_status nd_document_keep_text(struct nd_dedup *d, const struct nd_item *item, size_t place,
                                     struct nd_error *err);
/* Have the text source keep a document, and give that the next number without listing it. */
enum nd_status nd_document_keep(struct nd_dedup *d, struct nd_item *item, size_t place,
                                uint32_t *number, struct nd_error *err);
/* Add what is known of an item to the statistics; and, of its decision, what became of it. */
void nd_stats_count(struct nd_dedup_stats *stats, const struct nd_item *item, size_t checks,
                    bool was_cut);
void nd_stats_count_decision(struct nd_dedup_stats *stats, const struct nd_decision *decision,
                             bool is_removed);

/*
 * Batches of which every open item is indexed, kept or not: pairs, components, complete link.
 *
 * Read, sketch and sign the open items; then give them numbers, by which no look-up finds them yet.
 */
enum nd_status nd_engine_batch_index(struct nd_engine_batch *batch, struct nd_error *err);
/* Index a batch of which copies need no number of their own: items with the bytes of an earlier
 * item of the batch (ND_ITEM_FOLLOWS), or of a document of an earlier batch (ND_ITEM_REMOVED,
 * `kept` is its number). */
enum nd_status nd_engine_batch_index_originals(struct nd_engine_batch *batch, struct nd_error *err);

/*
 * Whether an item that is no copy, and has the number `own`, equals an earlier document that is
 * listed: then item->kept is that.  Also true where the worker has an error.
 */
bool nd_item_find_equal(const struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                        uint32_t own);
/* Compare the documents of two numbers, for what the decision of a removed document says beside
 * who is kept; equal numbers: it is a copy. */
enum nd_status nd_numbers_compare(const struct nd_dedup *d, struct nd_worker *w, uint32_t a,
                                  uint32_t b, struct nd_decision *out);

/*
 * The calls of dedup.h, once they are let in and their arguments are checked.  Those that push
 * take a batch that has begun, end it, and leave the engine half changed where they fail.
 */
typedef enum nd_status nd_found(void *context, const struct nd_found_pair *pair);
enum nd_status nd_push_stars(struct nd_engine_batch *batch, struct nd_error *err);
enum nd_status nd_push_complete(struct nd_engine_batch *batch, struct nd_error *err);
enum nd_status nd_push_components(struct nd_engine_batch *batch, struct nd_error *err);
enum nd_status nd_decide_components(struct nd_dedup *d, uint64_t first, size_t n,
                                    struct nd_decision *decisions, struct nd_component_via *via,
                                    struct nd_error *err);
enum nd_status nd_push_pairs(struct nd_engine_batch *batch, nd_found *found, void *context,
                             struct nd_error *err);
/* A query; what is found goes to `found`, and where `decision` is not NULL, what is decided about
 * each item goes there, counted in *counts. */
struct nd_query {
    nd_found *found;
    void *context;
    struct nd_decision *decision;
    struct nd_dedup_stats *counts;
};
enum nd_status nd_query_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                              const struct nd_query *query, struct nd_error *err);
enum nd_status nd_withdraw_document(struct nd_dedup *d, uint64_t document, struct nd_error *err);
void nd_components_free(struct nd_components *components);
void nd_complete_free(struct nd_complete *complete);

/* Decide the items of a batch of stars among themselves (resolve_batch.c). */
enum nd_status nd_resolve_batch(struct nd_engine_batch *batch, struct nd_error *err);
/* Decide the items of a batch that was matched ahead before it is pushed, as far as that is
 * certain by then.  ND_ENOMEM: the batch is of no use any more. */
enum nd_status nd_resolve_ahead(struct nd_engine_batch *batch, struct nd_worker *w);
/*
 * The steps by which an item of a batch of stars is compared with the kept documents that the index
 * has (stars.c); errors are the worker's.  match_kept: all of them.  match_equal: by bytes and tokens;
 * true: it is removed, or the worker has an error.  take_candidates: keep the first max_checks of
 * w->found as the item's.  prefetch_kept: have what match_kept reads first brought into the caches.
 */
void nd_item_match_kept(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item);
bool nd_item_match_equal(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item);
bool nd_item_take_candidates(struct nd_worker *w, struct nd_item *item);
void nd_item_prefetch_kept(const struct nd_kept *kept, const struct nd_item *item);
/* Compare an item with its candidates of earlier batches; its shingles are `set`. */
bool nd_item_compare_kept(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                          const struct nd_shingle_set *set);

#endif
