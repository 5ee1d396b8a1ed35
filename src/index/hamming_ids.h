/* hamming_ids.h - the ids of a fingerprint that has several */
#ifndef ND_INDEX_HAMMING_IDS_H
#define ND_INDEX_HAMMING_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* Lists of ids, one after the other in a column; a list is the number of its first node, from 1. */
struct nd_hamming_ids {
    struct nd_column nodes;
    uint32_t n, free_node;
};

struct nd_hamming_id_node {
    uint32_t id, next;
};

void nd_hamming_ids_release(struct nd_hamming_ids *s);

/* Put an id before a list (0: empty).  0: out of memory, or 2^32 - 2 nodes are in use. */
uint32_t nd_hamming_ids_add(struct nd_hamming_ids *s, uint32_t list, uint32_t id);

/* Remove one occurrence; *list follows.  False: it is not there. */
bool nd_hamming_ids_remove(struct nd_hamming_ids *s, uint32_t *list, uint32_t id);

static inline struct nd_hamming_id_node *nd_hamming_ids_node(const struct nd_hamming_ids *s,
                                                             uint32_t number)
{
    return (struct nd_hamming_id_node *)s->nodes.data + (number - 1);
}

#endif
