/* live_state.h - the live index: its columns, by number, and its tables */
#ifndef ND_INDEX_LIVE_STATE_H
#define ND_INDEX_LIVE_STATE_H

#include "base/memory.h"
#include "index/live.h"
#include "index/multimap_block.h"
#include "index/table_keys.h"
#include "simd/sketch_kernels.h"

enum { ND_LISTED = 1, ND_DELETED = 2, ND_SHORT = 4, ND_LEFT_OUT = 8 };
enum { ND_INDEX_TABLES_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };

/* What decides, without a look at the bytes, that two documents cannot meet: one word. */
struct nd_gate {
    uint32_t group, n_shingles;
};

_Static_assert(ND_INDEX_TABLES_MAX <= 64 * ND_TABLE_SET_WORDS, "a table has its bit in a set");

/* Columns by number, and a table of numbers for every band and block. */
struct nd_index {
    struct nd_index_params params;
    const struct nd_sketch_kernels *kernels;
    unsigned n_tables;
    struct nd_equal_bytes band_starts; /* the bit of each band's first row */
    uint32_t n;                        /* numbers given */
    uint32_t n_deleted;                /* of them */
    struct nd_column low, simhash, identity, gate, flags;
    struct nd_column left_out;    /* struct nd_table_set, of those with that flag, in order */
    struct nd_column left_out_at; /* uint32_t, by number: where; empty as long as there are none */
    size_t n_left_out;
    uint64_t n_keys_left_out;
    struct nd_multimap table[ND_INDEX_TABLES_MAX]; /* of one size: every number is in each */
    struct nd_multimap_block block;
};

static inline const uint8_t *nd_low_of(const struct nd_index *index, uint32_t number)
{
    return (const uint8_t *)index->low.data + (size_t)number * ND_MINHASH_COUNT;
}

static inline unsigned char *nd_flags_of(const struct nd_index *index, uint32_t number)
{
    return (unsigned char *)index->flags.data + number;
}

static inline struct nd_gate nd_gate_of(const struct nd_index *index, uint32_t number)
{
    return ((const struct nd_gate *)index->gate.data)[number];
}

static inline bool nd_table_set_has(const struct nd_table_set *set, unsigned table)
{
    return set->word[table / 64] >> table % 64 & 1;
}

static inline uint64_t nd_identity_of(const struct nd_index *index, uint32_t number)
{
    return ((const uint64_t *)index->identity.data)[number];
}

/* Add all numbers that are listed to an empty table, in order. */
void nd_index_fill(struct nd_index *index, unsigned table);

#endif
