/* ahead.h - documents compared with the kept ones before the turn of their batch */
#ifndef ND_ENGINE_AHEAD_H
#define ND_ENGINE_AHEAD_H

#include "engine/batch.h"

/*
 * For the batches of one engine that are on their way at the same time, numbered by tickets in the
 * order in which they will be pushed.  NULL: out of memory.
 */
struct nd_ahead *nd_ahead_new(const struct nd_pool *pool);
void nd_ahead_free(struct nd_ahead *ahead);
/* The index has taken in a batch more.  With the write lock of the pool, which is given back next. */
void nd_ahead_note_decided(struct nd_ahead *ahead);

/* Whether an item of a batch that was matched ahead must be matched again in the turn. */
static inline bool nd_item_is_to_match(const struct nd_item *item)
{
    return item->state == ND_ITEM_OPEN && (!item->is_matched || item->may_meet);
}
/* Match such an item with the kept documents as they are now.  Errors are the worker's. */
void nd_item_match_again(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item);

#endif
