/* value_set.h - a set of 32-bit values, none of which is 0 */
#ifndef ND_INDEX_VALUE_SET_H
#define ND_INDEX_VALUE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing, at most three quarters full, and up to eight bits a slot that rule out most other values
 * with one look at little memory.  Starts from zeroes. */
struct nd_value_set {
    uint32_t *slot;           /* 0: free */
    uint64_t *bit;            /* of a spread value, by its upper bits */
    size_t n_slots, count;    /* slots: a power of two */
    unsigned shift, per_slot; /* from a spread value to its bit, and from there to its slot */
};
void nd_value_set_release(struct nd_value_set *s);

/* False: out of memory. */
bool nd_value_set_add(struct nd_value_set *s, uint32_t value);
/* Add all of another set.  False: out of memory. */
bool nd_value_set_add_all(struct nd_value_set *s, const struct nd_value_set *from);

/* Samples are of small values, so these are spread over all (Knuth, The Art of Computer Programming,
 * volume 3, 6.4). */
static inline uint32_t nd_value_spread(uint32_t value)
{
    return value * UINT32_C(0x9E3779B1);
}

static inline bool nd_value_set_has(const struct nd_value_set *s, uint32_t value)
{
    const uint32_t spread = nd_value_spread(value);

    if (!s->n_slots || !(s->bit[spread >> s->shift >> 6] >> (spread >> s->shift & 63) & 1))
        return false;
    for (size_t at = spread >> s->shift >> s->per_slot; s->slot[at];
         at = at + 1 < s->n_slots ? at + 1 : 0)
        if (s->slot[at] == value)
            return true;
    return false;
}

#endif
