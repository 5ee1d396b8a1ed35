/* groups.h - the values of a field, each with a number of its own */
#ifndef ND_PIPELINE_GROUPS_H
#define ND_PIPELINE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "base/memory.h"

/* Exact: the values themselves are held, each once.  Starts from zeroes. */
struct nd_groups {
    struct nd_arena text;
    struct nd_view *value; /* by number - 1 */
    size_t count, capacity;
    uint32_t *slot; /* number, by hash; 0: free */
    size_t slots;
};
void nd_groups_release(struct nd_groups *g);

/* The number of a value; a missing one (data NULL) is 0, all others 1, 2 … in order of first
 * appearance.  False: out of memory. */
bool nd_groups_number(struct nd_groups *g, struct nd_view value, uint32_t *number);

/* The number of a value that was met; 0: it was not.  Any thread, while none is added. */
uint32_t nd_groups_find(const struct nd_groups *g, struct nd_view value);

#endif
