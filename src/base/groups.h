/* groups.h - distinct values, each with a number of its own */
#ifndef ND_BASE_GROUPS_H
#define ND_BASE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "base/memory.h"

/* Exact: the values themselves are held, each once.  Starts from zeroes. */
struct nd_groups {
    struct nd_arena text;
    struct nd_view *value; /* by number - 1 */
    uint64_t *replaced;    /* in the value: nd_document.fields_replaced */
    size_t text_bytes;     /* of all values */
    size_t count, capacity, replaced_capacity;
    uint32_t *slot; /* number, by hash; 0: free */
    size_t slots;
};
void nd_groups_release(struct nd_groups *g);

/* The number of a value; a missing one (data NULL) is 0, all others 1, 2 … in order of first
 * appearance.  False: out of memory. */
bool nd_groups_number(struct nd_groups *g, struct nd_view value, uint32_t *number);
/* Number a value that may have been repaired: values that replaced other bytes differ. */
bool nd_groups_number_repaired(struct nd_groups *g, struct nd_view value, uint64_t replaced,
                               uint32_t *number);

/* The memory that the values take, about. */
size_t nd_groups_bytes(const struct nd_groups *g);

/* The number of a value that was met; 0: it was not.  Any thread, while none is added. */
uint32_t nd_groups_find(const struct nd_groups *g, struct nd_view value);

#endif
