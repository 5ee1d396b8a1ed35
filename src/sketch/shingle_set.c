/* shingle_set.c - distinct hashes by open addressing in a table that fits the document */
#include "sketch/shingle_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simd/sketch_kernels.h"

enum { LEAST_SLOTS_LOG2 = 6, SMALL_SLOTS_LOG2 = 16 };

/*
 * Slots for n values.  Small sets get three a value at least: shorter probes are worth more than
 * the clearing, which is sequential.  Large ones get 3/2, as there the cache counts.
 */
static unsigned slots_log2_for(size_t n)
{
    unsigned log2 = LEAST_SLOTS_LOG2;

    while (log2 < SMALL_SLOTS_LOG2 && (size_t)1 << log2 < 3 * n)
        log2++;
    while ((size_t)1 << log2 < n + n / 2)
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

static bool reserve(struct nd_shingle_set *set, size_t n)
{
    void *distinct = set->distinct;
    unsigned log2;

    if (n > SIZE_MAX / 64 || !nd_array_reserve(&distinct, &set->capacity, n, sizeof(uint64_t)))
        return false;
    set->distinct = distinct;
    log2 = slots_log2_for(n);
    return (size_t)1 << log2 <= set->n_slots || rebuild(set, log2);
}

static void add_zero(struct nd_shingle_set *set)
{
    if (!set->has_zero)
        set->distinct[set->count++] = 0;
    set->has_zero = true;
}

bool nd_shingle_set_add(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    if (!reserve(set, set->count + n))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t at;

        if (!value[i]) {
            add_zero(set);
            continue;
        }
        at = find(set->slot, set->shift, set->n_slots - 1, value[i]);
        if (!set->slot[at]) {
            set->slot[at] = value[i];
            set->distinct[set->count++] = value[i];
        }
    }
    return true;
}

bool nd_shingle_set_build(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    nd_shingle_set_clear(set);
    return nd_shingle_set_add(set, value, n);
}

static bool holds_zero(const uint64_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!value[i])
            return true;
    return false;
}

uint64_t nd_shingle_set_shared(const struct nd_shingle_set *set, const uint64_t *value, size_t n,
                               uint64_t need)
{
    enum { BATCH = 256 };
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
