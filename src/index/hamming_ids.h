/* hamming_ids.h - the ids of a fingerprint that has several */
#ifndef ND_INDEX_HAMMING_IDS_H
#define ND_INDEX_HAMMING_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/*
 * Lists of ids, each once with how often it was added; a list is the number of its first node, from
 * 1, which never changes.  All nodes of a list that has once been long stand in a hash table by
 * list and id, so that one of a million ids is removed as soon as one of two.
 */
struct nd_hamming_ids {
    struct nd_column nodes;
    uint32_t n, free_node;
    struct nd_hamming_id_slot *slot; /* a power of 2 of them, or none; half are free at least */
    size_t slots, taken;
};

struct nd_hamming_id_node {
    uint32_t id, next, times;
};

/* node 0: free. */
struct nd_hamming_id_slot {
    uint32_t node, list;
};

void nd_hamming_ids_release(struct nd_hamming_ids *s);
size_t nd_hamming_ids_bytes(const struct nd_hamming_ids *s);

/* Add to a list; 0: a new one.  The list, or 0: out of memory, or 2^32 - 2 nodes are in use, or
 * the id is there as often. */
uint32_t nd_hamming_ids_add(struct nd_hamming_ids *s, uint32_t list, uint32_t id);

/*
 * Remove one occurrence from a list of two at least.  *only: whether one is left.  False: it is not
 * there.
 */
bool nd_hamming_ids_remove(struct nd_hamming_ids *s, uint32_t list, uint32_t id, bool *only);

/* Give back a list of one, and return its id. */
uint32_t nd_hamming_ids_end(struct nd_hamming_ids *s, uint32_t list);

static inline struct nd_hamming_id_node *nd_hamming_ids_node(const struct nd_hamming_ids *s,
                                                             uint32_t number)
{
    return (struct nd_hamming_id_node *)s->nodes.data + (number - 1);
}

#endif
