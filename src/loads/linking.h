/* linking.h - which documents could influence each other's decisions, found in bounded memory */
#ifndef ND_LOADS_LINKING_H
#define ND_LOADS_LINKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/recipe.h>

#include "base/thread/pool.h"

/*
 * The connected components of the documents, where two are connected if they share a key and could
 * match (<neardup/candidates.h>).  A component may be too large, never too small.
 *
 *     add      a row of each document goes to a file, and its keys to a filter (shared_keys.h)
 *     join     the keys that several documents may have come back in order; the rows of these
 *              documents are read again, and those that could match are joined in a union-find
 *
 * In memory are what the options bound: at first the sort and the filter, then the sort, the rows,
 * and four bytes a record and a bit.
 */
struct nd_linking;

struct nd_linking_options {
    const struct nd_recipe *recipe;
    struct nd_pool *pool;
    const char *tmp;
    /* For the keys that are sorted, for the filter of keys, and for the rows that are compared. */
    size_t sort_bytes, filter_bytes, rows_bytes;
    /* About how many will be added. */
    uint64_t records;
};

/* Everything is borrowed.  NULL: ND_EUNSUPPORTED (the recipe's candidates are not found by keys),
 * ND_ENOMEM, ND_EIO. */
struct nd_linking *nd_linking_new(const struct nd_linking_options *options, struct nd_error *err);
/* NULL is allowed. */
void nd_linking_free(struct nd_linking *l);

/* Add the next n records; an item without `document` is of a bad one.  flags: room for n sets
 * of nd_candidate_flags.  ND_ENOMEM, ND_EIO, ND_EUNSUPPORTED. */
enum nd_status nd_linking_add(struct nd_linking *l, const struct nd_dedup_item *items, size_t n,
                              unsigned char *flags, struct nd_error *err);
/* All have been added. */
enum nd_status nd_linking_join(struct nd_linking *l, struct nd_error *err);

/* After nd_linking_join: the first record of the component; and whether it has others. */
uint32_t nd_linking_component(struct nd_linking *l, uint32_t record);
bool nd_linking_is_alone(const struct nd_linking *l, uint32_t record);

/* Bytes written to files so far. */
uint64_t nd_linking_spilled(const struct nd_linking *l);

#endif
