/* keep_order.h - in which order documents are offered to the engine: the first of a cluster is kept */
#ifndef ND_RECIPE_KEEP_ORDER_H
#define ND_RECIPE_KEEP_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "base/memory.h"
#include "recipe/keep.h"

/*
 * Numbers that their keys do not distinguish (nd_keep_is_rough): the records that have them, in
 * ascending order, and their texts.  Starts from zeroes.
 */
struct nd_rough_keys {
    uint32_t *record;
    struct nd_view *text;
    size_t n, record_capacity, text_capacity;
    struct nd_arena texts;
    size_t bytes; /* of all texts */
};
ND_API void nd_rough_keys_release(struct nd_rough_keys *r);
/* Note a record's number, where its key is rough.  False: out of memory. */
ND_API bool nd_rough_keys_note(struct nd_rough_keys *r, const struct nd_keep *keep, uint64_t key,
                               uint32_t record, struct nd_view value);

/* A document's place in the order. */
struct nd_offer {
    uint64_t key;    /* nd_keep_key */
    uint32_t prefer; /* the rank of its value among those that are preferred */
    uint32_t record;
};
/* Negative where a is offered first; 0 for the same record only. */
ND_API int nd_offer_compare(const struct nd_keep *keep, const struct nd_rough_keys *rough,
                            const struct nd_offer *a, const struct nd_offer *b);
/* Whether nothing but the numbers of the records says which is offered first. */
ND_API bool nd_offers_are_tied(const struct nd_keep *keep, const struct nd_rough_keys *rough,
                               const struct nd_offer *a, const struct nd_offer *b);

#endif
