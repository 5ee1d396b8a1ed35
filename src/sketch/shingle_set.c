/* shingle_set.c - distinct hashes by open addressing in a table that fits the document */
#include "sketch/shingle_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simd/sketch/sketch_kernels.h"

enum {
    MIN_LOG2 = 6,
    FEW = 512,               /* values whose table stays in the first-level cache */
    NARROW_MAX = UINT16_MAX, /* entries that slots of 16 bits can number */
    SLACK = 4,               /* readable bytes behind the slots */
    FIRST = 16,              /* values of the first batch that is counted, then twice as many */
    BATCH = 256,
    OWN_PAGES = 1 << 16, /* bytes of slots from which a table has pages of its own */
};

/*
 * Slots for n values: sixteen a value and more while all stay in the first-level cache, eight while
 * they have 16 bits, four beyond.  A search that ends at its first slot is worth more than the
 * clearing, which is sequential.
 */
static unsigned slots_log2_for(size_t n)
{
    size_t need = n > NARROW_MAX ? 4 * n : n > FEW ? 8 * n : 16 * n;
    unsigned log2 = MIN_LOG2;

    while ((size_t)1 << log2 < need)
        log2++;
    return log2;
}

/* Sets of two short documents are made and released for each pair: mapping pages took most of it. */
static void *slots_alloc(size_t bytes)
{
    return bytes < OWN_PAGES ? malloc(bytes) : nd_table_alloc(bytes);
}

static void slots_free(void *slot, size_t bytes)
{
    if (bytes < OWN_PAGES)
        free(slot);
    else
        nd_table_free(slot, bytes);
}

void nd_shingle_set_release(struct nd_shingle_set *set)
{
    free(set->entry);
    slots_free(set->slot, set->slots_bytes);
    *set = (struct nd_shingle_set){0};
}

void nd_shingle_set_clear(struct nd_shingle_set *set)
{
    set->count = 0;
    set->n_slots = 0;
}

static struct nd_slots slots_of(const struct nd_shingle_set *set)
{
    return (struct nd_slots){set->entry, set->count, set->slot, set->shift, set->wide};
}

static void add_to_table(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    const struct nd_slots in = slots_of(set);

    set->count = nd_sketch_kernels()->add_distinct(&in, value, n);
}

/* Put the entries into the empty table.  They are distinct, so each takes the first free slot. */
static void number_entries(struct nd_shingle_set *set)
{
    const size_t mask = set->n_slots - 1;
    uint16_t *narrow_slot = set->slot;
    uint32_t *wide_slot = set->slot;

    for (size_t number = 1; number <= set->count; number++) {
        size_t at = set->entry[number] >> set->shift;

        while (set->wide ? wide_slot[at] : narrow_slot[at])
            at = (at + 1) & mask;
        if (set->wide)
            wide_slot[at] = (uint32_t)number;
        else
            narrow_slot[at] = (uint16_t)number;
    }
}

/* Make a table of 2^log2 slots and put the entries in again. */
static bool rebuild(struct nd_shingle_set *set, unsigned log2, bool wide)
{
    size_t width = wide ? sizeof(uint32_t) : sizeof(uint16_t), bytes = (width << log2) + SLACK;

    if (bytes > set->slots_bytes) {
        void *slot = slots_alloc(bytes);

        if (!slot)
            return false;
        slots_free(set->slot, set->slots_bytes);
        set->slot = slot;
        set->slots_bytes = bytes;
    }
    /* Fresh pages are zero already, but they are cleared too: a page that is read before it is
     * written is mapped to the common page of zeroes and copied later, and every such fault
     * interrupts all threads. */
    memset(set->slot, 0, bytes);
    set->n_slots = (size_t)1 << log2;
    set->shift = 64 - log2;
    set->wide = wide;
    number_entries(set);
    return true;
}

bool nd_shingle_set_reserve(struct nd_shingle_set *set, size_t n)
{
    enum { EXTRA = 2 }; /* entry[0], a sentinel, and the place behind the last entry */
    unsigned log2;

    if (n > UINT32_MAX - EXTRA || !ND_RESERVE(set->entry, &set->capacity, n + EXTRA))
        return false;
    set->distinct = set->entry + 1;
    log2 = slots_log2_for(n);
    if ((size_t)1 << log2 <= set->n_slots && (set->wide || n <= NARROW_MAX))
        return true;
    return rebuild(set, log2, n > NARROW_MAX);
}

bool nd_shingle_set_add(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    if (!nd_shingle_set_reserve(set, set->count + n))
        return false;
    add_to_table(set, value, n);
    return true;
}

bool nd_shingle_set_build(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    nd_shingle_set_clear(set);
    return nd_shingle_set_add(set, value, n);
}

bool nd_shingle_set_build_distinct(struct nd_shingle_set *set, const uint64_t *value, size_t n)
{
    nd_shingle_set_clear(set);
    if (!nd_shingle_set_reserve(set, n))
        return false;
    if (n)
        memcpy(set->entry + 1, value, n * sizeof *value);
    set->count = n;
    number_entries(set);
    return true;
}

static inline __attribute__((always_inline)) void count_each(const struct nd_shingle_set *set,
                                                             const uint64_t *value, size_t n,
                                                             bool wide, uint32_t *count)
{
    const uint16_t *narrow_slot = set->slot;
    const uint32_t *wide_slot = set->slot;

    for (size_t i = 0; i < n; i++) {
        size_t at = value[i] >> set->shift, number = wide ? wide_slot[at] : narrow_slot[at];

        while (set->entry[number] != value[i]) {
            at = (at + 1) & (set->n_slots - 1);
            number = wide ? wide_slot[at] : narrow_slot[at];
        }
        count[number - 1]++;
    }
}

void nd_shingle_set_count(const struct nd_shingle_set *set, const uint64_t *value, size_t n,
                          uint32_t *count)
{
    if (set->wide)
        count_each(set, value, n, true, count);
    else
        count_each(set, value, n, false, count);
}

uint64_t nd_shingle_set_shared(const struct nd_shingle_set *set, const uint64_t *value, size_t n,
                               uint64_t need)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    const struct nd_slots in = slots_of(set);
    uint64_t shared = 0;
    size_t near = 1;

    if (set->count == 0)
        return need > 0 ? ND_SHARED_TOO_FEW : 0;
    for (size_t i = 0, batch = FIRST; i < n; i += batch) {
        if (shared + (n - i) < need)
            return ND_SHARED_TOO_FEW;
        if (i > batch && batch < BATCH)
            batch *= 2;
        if (batch > n - i)
            batch = n - i;
        shared += kernels->count_found(&in, value + i, batch, &near);
    }
    return shared < need ? ND_SHARED_TOO_FEW : shared;
}
