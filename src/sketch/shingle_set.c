/* shingle_set.c - distinct hashes by open addressing in a table that fits the document */
#include "sketch/shingle_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simd/sketch_kernels.h"

enum { LEAST_LOG2 = 6, FIRST_LEVEL_LOG2 = 12, SECOND_LEVEL_LOG2 = 17, BATCH = 256 };

/*
 * Slots for n values: six a value and more while that is no more than 32 KB, four up to 1 MB, two
 * beyond.  A search that ends at its first slot is worth more than the clearing, which is
 * sequential (measured: 150 values 2.2 ns each with six, 3.4 with three), until the table leaves
 * the cache.
 */
static unsigned slots_log2_for(size_t n)
{
    unsigned log2 = LEAST_LOG2;

    while (log2 < FIRST_LEVEL_LOG2 && (size_t)1 << log2 < 6 * n)
        log2++;
    while (log2 < SECOND_LEVEL_LOG2 && (size_t)1 << log2 < 4 * n)
        log2++;
    while ((size_t)1 << log2 < 2 * n)
        log2++;
    return log2;
}

void nd_shingle_set_release(struct nd_shingle_set *set)
{
    free(set->distinct);
    nd_table_free(set->slot, set->slots_bytes);
    *set = (struct nd_shingle_set){0};
}

void nd_shingle_set_clear(struct nd_shingle_set *set)
{
    set->count = 0;
    set->n_slots = 0;
    set->has_zero = false;
}

/* The slot where the value is, or where it belongs. */
static inline size_t find(const uint64_t *slot, unsigned shift, size_t mask, uint64_t value)
{
    size_t at = value >> shift;

    while (slot[at] && slot[at] != value)
        at = (at + 1) & mask;
    return at;
}

/* An empty table of 2^log2 slots with everything in `distinct` put in again. */
static bool rebuild(struct nd_shingle_set *set, unsigned log2)
{
    size_t bytes = sizeof *set->slot << log2;

    if (bytes > set->slots_bytes) {
        void *slot = nd_table_alloc(bytes);

        if (!slot)
            return false;
        nd_table_free(set->slot, set->slots_bytes);
        set->slot = slot;
        set->slots_bytes = bytes;
    } else {
        memset(set->slot, 0, bytes);
    }
    set->n_slots = (size_t)1 << log2;
    set->shift = 64 - log2;
    for (size_t i = 0; i < set->count; i++)
        if (set->distinct[i])
            set->slot[find(set->slot, set->shift, set->n_slots - 1, set->distinct[i])] =
                set->distinct[i];
    return true;
}

bool nd_shingle_set_reserve(struct nd_shingle_set *set, size_t n)
{
    void *distinct = set->distinct;
    unsigned log2;

    if (n > SIZE_MAX / 64 || !nd_array_reserve(&distinct, &set->capacity, n + 1, sizeof(uint64_t)))
        return false;
    set->distinct = distinct;
    log2 = slots_log2_for(n);
    return (size_t)1 << log2 <= set->n_slots || rebuild(set, log2);
}

static bool holds_zero(const uint64_t *value, size_t n)
{
    uint64_t zeroes = 0;

    for (size_t i = 0; i < n; i++)
        zeroes += !value[i];
    return zeroes != 0;
}

/* Values with a 0 among them, which cannot stand in a slot. */
static void add_slowly(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = find(set->slot, set->shift, set->n_slots - 1, value[i]);
        bool is_new = value[i] ? !set->slot[at] : !set->has_zero;

        if (is_new)
            set->distinct[set->count++] = value[i];
        if (value[i])
            set->slot[at] = value[i];
        else
            set->has_zero = true;
    }
}

/*
 * The only branch that depends on the values is the one that ends a search; what is written is
 * written always.  In a sparse table the processor foresees that branch.  In a fuller one it does
 * not, and the step to the second slot is made without one (`step`); but then the place of a store
 * is known late, and the loads behind it wait, which costs more in small tables (measured: 50
 * values 2.1 ns each without and 3.1 with, 1000 values 2.6 and 1.8).
 */
static inline __attribute__((always_inline)) void add_all(struct nd_shingle_set *set,
                                                          const uint64_t *value, size_t n, int step)
{
    const size_t mask = set->n_slots - 1;
    const unsigned shift = set->shift;
    uint64_t *slot = set->slot, *distinct = set->distinct;
    size_t count = set->count;

    for (size_t i = 0; i < n; i++) {
        uint64_t v = value[i];
        size_t at = v >> shift;

        if (step)
            at = (at + (size_t)((slot[at] != 0) & (slot[at] != v))) & mask;
        while (slot[at] && slot[at] != v)
            at = (at + 1) & mask;
        distinct[count] = v;
        count += !slot[at];
        slot[at] = v;
    }
    set->count = count;
}

bool nd_shingle_set_add(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    if (!nd_shingle_set_reserve(set, set->count + n))
        return false;
    if (holds_zero(value, n))
        add_slowly(set, value, n);
    else if (set->n_slots >> FIRST_LEVEL_LOG2)
        add_all(set, value, n, 1);
    else
        add_all(set, value, n, 0);
    return true;
}

bool nd_shingle_set_build(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    nd_shingle_set_clear(set);
    return nd_shingle_set_add(set, value, n);
}

uint64_t nd_shingle_set_shared(const struct nd_shingle_set *set, const uint64_t *value, size_t n,
                               uint64_t need)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    const struct nd_slots in = {set->slot, set->shift};
    uint64_t shared = set->has_zero && holds_zero(value, n);

    if (set->count == 0)
        return need > 0 ? ND_SHARED_TOO_FEW : 0;
    for (size_t i = 0; i < n; i += BATCH) {
        if (shared + (n - i) < need)
            return ND_SHARED_TOO_FEW;
        shared += kernels->count_found(&in, value + i, n - i < BATCH ? n - i : BATCH);
    }
    return shared < need ? ND_SHARED_TOO_FEW : shared;
}
