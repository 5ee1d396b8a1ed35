/* pairs.h - batches of which every document is indexed, and compared by its number there */
#ifndef ND_ENGINE_PAIRS_H
#define ND_ENGINE_PAIRS_H

#include "engine/state.h"

/*
 * Items with the bytes of an earlier one: of this batch (ND_ITEM_FOLLOWS), or of those before
 * (ND_ITEM_REMOVED, `kept` is its number).  They need no number of their own.
 */
enum nd_status nd_items_find_copies(struct nd_batch_job *job, struct nd_error *err);

/* What the decision of a removed document says beside who is kept, of two numbers; equal ones: it
 * is a copy. */
enum nd_status nd_numbers_compare(struct nd_dedup *d, struct nd_worker *w, uint32_t a, uint32_t b,
                                  struct nd_decision *out);

/*
 * A batch of which every open item is sketched and indexed (indexing.c).  `lists_short`: short
 * documents are found as well, whatever the policy.
 */
enum nd_status nd_items_sketch(struct nd_dedup *d, struct nd_item *item, size_t n, bool lists_short,
                               struct nd_error *err);
/* number[i]: in the index; no look-up finds it yet. */
enum nd_status nd_items_number(struct nd_dedup *d, struct nd_item *item, size_t n, uint32_t *number,
                               struct nd_error *err);
/* The same, and all are found.  `fills_keys`: a key lists at most max_checks candidates of one
 * another (crowd.c). */
enum nd_status nd_items_index(struct nd_dedup *d, struct nd_item *item, size_t n, bool fills_keys,
                              uint32_t *number, struct nd_error *err);

/* Tell of an item's hits, by the numbers of the documents; `document` is what it is called. */
enum nd_status nd_pairs_report(struct nd_dedup *d, struct nd_item *item, uint64_t document,
                               enum nd_status (*found)(void *, const struct nd_found_pair *),
                               void *context);

#endif
