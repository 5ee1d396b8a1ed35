/* overflow.h - keys under which so many near documents stand that no more of them are listed there */
#ifndef ND_ENGINE_OVERFLOW_H
#define ND_ENGINE_OVERFLOW_H

#include "engine/kept.h"

/* The keys of documents that will be listed, table by table.  Starts from zeroes. */
struct nd_listed_keys {
    uint64_t *key; /* of table t from key[t * n_max] on */
    size_t n, n_max, capacity;
};
/* Empty it, with room for n documents.  False: out of memory. */
bool nd_listed_keys_reserve(struct nd_listed_keys *listed, const struct nd_engine_plan *plan,
                            size_t n);
void nd_listed_keys_add(struct nd_listed_keys *listed, const struct nd_engine_plan *plan,
                        const struct nd_index_row *row);

/*
 * A document is not listed under a key under which max_checks of its candidates stand already, or
 * plan->key_room documents.  Before it is listed, these note in the item's row which keys that
 * concerns.  False: the worker has the error; it is that of the thread that pushes.
 *
 * The first is for an item of a batch of stars: of the kept ones of the batch that are not yet in the
 * index, those that share a key with it are `listed`, and its candidates among them are its
 * near_in_batch; all were noted before.  listed NULL: none does.
 */
bool nd_overflow_note(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *batch,
                      const struct nd_listed_keys *listed, struct nd_item *item);
/*
 * Whether lists of samples of shingles may fill up within a batch, if these are looked up, so that
 * it matters for its items which of them were listed before (nd_containers_bound).  row[i] NULL:
 * not listed; link: nd_finder_link.  1, 0; < 0: out of memory.
 */
int nd_overflow_may_fill(const struct nd_kept *kept, const struct nd_item *item,
                         const struct nd_index_row *const *row, const unsigned char *link,
                         size_t n);
/* Note the full keys of an item where every document is listed as it comes. */
bool nd_overflow_note_next(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item);
/*
 * Note the full keys of an item of components: a key is also full where ND_JOINED_A_KEY candidates
 * stand that are of the item's component.  w->found are all its candidates, is_joined[i] says which
 * are.
 */
enum { ND_JOINED_A_KEY = 8 };
bool nd_overflow_note_joined(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                             const bool *is_joined);

#endif
