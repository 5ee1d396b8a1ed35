/* pairs.h - all verified pairs of a batch's documents with earlier ones, some of them left out */
#ifndef ND_ENGINE_PAIRS_H
#define ND_ENGINE_PAIRS_H

#include "engine/state.h"

/* Asked before a comparison, by several workers, each about its own items. */
struct nd_pair_filter {
    void *context;
    bool (*skip)(void *context, const struct nd_item *item, uint32_t number);
};

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
 * Sketch and index every open item, and compare each with all candidates of lesser number, the
 * nearest first; what reaches the threshold stands in its hits, in that order.  `filter` NULL:
 * short documents are compared as well, whatever the policy.
 */
enum nd_status nd_items_pair(struct nd_dedup *d, struct nd_item *item, size_t n,
                             const struct nd_pair_filter *filter, struct nd_error *err);

/* Tell of an item's hits, by the numbers of the documents; `document` is what it is called. */
enum nd_status nd_pairs_report(struct nd_dedup *d, struct nd_item *item, uint64_t document,
                               enum nd_status (*found)(void *, const struct nd_found_pair *),
                               void *context);

#endif
