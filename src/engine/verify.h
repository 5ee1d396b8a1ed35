/* verify.h - the exact comparison of a document with a candidate, and which hit is the best */
#ifndef ND_ENGINE_VERIFY_H
#define ND_ENGINE_VERIFY_H

#include "engine/kept.h"

/*
 * Compare the item, whose shingles are `set`, with a candidate, and note a hit where it reaches the
 * threshold and, if the item may prune, is better than the best so far.  With `verify = none` the
 * candidate is a hit as it is.  `batch`: the items of which the candidate is one; NULL: its number
 * is that of a kept document.  False: the worker has the error.
 */
bool nd_item_compare(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                     const struct nd_shingle_set *set, struct nd_candidate candidate,
                     const struct nd_item *batch);
/* Note that a kept document equals the item. */
bool nd_item_note_equal(struct nd_worker *w, struct nd_item *item, uint32_t number);

/* Whether hit x is to be preferred: equal documents, then those of greater measure, then the
 * earlier. */
bool nd_hit_is_better(const struct nd_engine_plan *plan, const struct nd_hit *x,
                      const struct nd_hit *y);
/* Whether some hit is among the first max_checks candidates even if `more` others should come
 * before it. */
bool nd_item_has_hit(const struct nd_engine_plan *plan, const struct nd_item *item, size_t more);
/* The best of the hits that are among the first max_checks candidates, or NULL. */
const struct nd_hit *nd_item_best_hit(const struct nd_engine_plan *plan,
                                      const struct nd_item *item);

#endif
