/* add_distinct.h - add to a table the values that it has not; compiled for each instruction set */
#ifndef ND_SIMD_SKETCH_ADD_DISTINCT_H
#define ND_SIMD_SKETCH_ADD_DISTINCT_H

#include "simd/sketch/sketch_kernels.h"

/*
 * A free slot holds 0, and the value is written to entry[0] as a sentinel: so the search has one
 * condition, whether it ends at the value or at a free slot, and is mispredicted only where a slot
 * holds another value.  Whether the value is new is unpredictable, so what follows is branchless.
 */
static inline __attribute__((always_inline)) size_t
nd_add_distinct_in(const struct nd_slots *in, bool wide, const uint64_t *value, size_t n)
{
    const unsigned shift = in->shift;
    const size_t mask = ((size_t)1 << (64 - shift)) - 1;
    uint64_t *entry = in->entry;
    uint16_t *narrow_slot = in->slot;
    uint32_t *wide_slot = in->slot;
    size_t count = in->n_entries;

    for (size_t i = 0; i < n; i++) {
        uint64_t v = value[i];
        size_t at = v >> shift, number = wide ? wide_slot[at] : narrow_slot[at], is_new;

        entry[0] = v;
        while (entry[number] != v) {
            at = (at + 1) & mask;
            number = wide ? wide_slot[at] : narrow_slot[at];
        }
        entry[count + 1] = v;
        is_new = number == 0;
        count += is_new;
        number |= count & (0 - is_new); /* compilers make a branch of ?: */
        if (wide)
            wide_slot[at] = (uint32_t)number;
        else
            narrow_slot[at] = (uint16_t)number;
    }
    return count;
}

static inline __attribute__((always_inline)) size_t nd_add_distinct(const struct nd_slots *in,
                                                                    const uint64_t *value, size_t n)
{
    return in->wide ? nd_add_distinct_in(in, true, value, n)
                    : nd_add_distinct_in(in, false, value, n);
}

#endif
