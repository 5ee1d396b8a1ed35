/* value_set.c - a set of 32-bit values, none of which is 0 */
#include "index/value_set.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024, BITS = 3 }; /* 2^3 bits a slot, as long as a value has so many */

void nd_value_set_release(struct nd_value_set *s)
{
    free(s->slot);
    free(s->bit);
    *s = (struct nd_value_set){.n_slots = 0};
}

/* There is a free slot. */
static void put(struct nd_value_set *s, uint32_t value)
{
    const uint32_t bit = nd_value_spread(value) >> s->shift;
    size_t at = bit >> s->per_slot;

    for (; s->slot[at]; at = at + 1 < s->n_slots ? at + 1 : 0)
        if (s->slot[at] == value)
            return;
    s->slot[at] = value;
    s->bit[bit >> 6] |= UINT64_C(1) << (bit & 63);
    s->count++;
}

static bool grow(struct nd_value_set *s, size_t n_slots)
{
    struct nd_value_set larger = {.n_slots = n_slots}, old = *s;
    unsigned width = 0; /* bits of the number of a slot */

    while (width < 32 && (size_t)1 << width < n_slots)
        width++;
    larger.per_slot = width + BITS <= 32 ? BITS : 32 - width;
    larger.shift = 32 - width - larger.per_slot;
    larger.slot = calloc(n_slots, sizeof *larger.slot);
    larger.bit = calloc((n_slots << larger.per_slot) / 64 + 1, sizeof *larger.bit);
    if (!larger.slot || !larger.bit) {
        nd_value_set_release(&larger);
        return false;
    }
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slot[i])
            put(&larger, s->slot[i]);
    *s = larger;
    nd_value_set_release(&old);
    return true;
}

bool nd_value_set_add(struct nd_value_set *s, uint32_t value)
{
    if (s->count >= s->n_slots / 4 * 3 && !grow(s, s->n_slots ? s->n_slots * 2 : FIRST_SLOTS))
        return false;
    put(s, value);
    return true;
}

/* The slots are in the order of the spread values: in a smaller table, those of the first half would
 * all stand in one row. */
bool nd_value_set_add_all(struct nd_value_set *s, const struct nd_value_set *from)
{
    if (s->n_slots < from->n_slots && !grow(s, from->n_slots))
        return false;
    for (size_t i = 0; i < from->n_slots; i++)
        if (from->slot[i] && !nd_value_set_add(s, from->slot[i]))
            return false;
    return true;
}
