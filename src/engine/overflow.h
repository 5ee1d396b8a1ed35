/* overflow.h - keys under which so many near documents stand that no more of them are listed there */
#ifndef ND_ENGINE_OVERFLOW_H
#define ND_ENGINE_OVERFLOW_H

#include "engine/kept.h"

/*
 * A document is not listed under a key under which max_checks of its candidates stand already.
 * Before it is listed, these note in the item's row which keys that concerns.  False: the worker has
 * the error; it is that of the thread that pushes.
 *
 * The first is for an item of a batch of stars: the kept ones of the batch that are not yet in the
 * index are its near_in_batch, and were all noted before.
 */
bool nd_overflow_note(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *batch,
                      struct nd_item *item);
/* The same where every document is listed as it comes. */
bool nd_overflow_note_next(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item);
/*
 * The same for components: a key is also full where ND_JOINED_A_KEY candidates stand that are of
 * the item's component.  w->found are all its candidates, is_joined[i] says which are.
 */
enum { ND_JOINED_A_KEY = 8 };
bool nd_overflow_note_joined(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                             const bool *is_joined);

#endif
