/* table_keys.h - under which keys a row stands in the tables of the index */
#ifndef ND_INDEX_TABLE_KEYS_H
#define ND_INDEX_TABLE_KEYS_H

#include "index/live.h"

/*
 * Tables 0 … bands - 1 are the bands.  Where simhashes are looked up, k + 1 more tables follow, one
 * for each block of 64 / (k + 1) bits: of k wrong bits one block at least has none (002 section 3,
 * the plainest design).  The last table is by identity.
 */
unsigned nd_table_count(const struct nd_index_params *params);
unsigned nd_table_identity(const struct nd_index_params *params);

/* Tables first … end - 1 are asked for candidates: bands and blocks, or the identity where there
 * are none. */
struct nd_table_range {
    unsigned first, end;
};
struct nd_table_range nd_table_asked(const struct nd_index_params *params);

/* The key of a row in a table: the bytes of the band or the bits of the block, and the group,
 * mixed. */
uint64_t nd_table_key(const struct nd_index_params *params, unsigned table,
                      const struct nd_index_row *row);

/* The same for all tables. */
void nd_table_keys(const struct nd_index_params *params, const struct nd_index_row *row,
                   uint64_t *key);

/* The same for a band alone, from low bytes with ND_LOW_PADDING readable behind them. */
uint64_t nd_band_key(const struct nd_index_params *params, unsigned band, const uint8_t *low,
                     uint32_t group);

/* The bits of a block, in place. */
uint64_t nd_block_mask(unsigned block, unsigned n_blocks);

/* Bit i: the low bytes of the i-th minima are equal. */
struct nd_equal_bytes {
    uint64_t word[2];
};

/* The bit of the first row of each band. */
struct nd_equal_bytes nd_band_starts(const struct nd_index_params *params);

/* The first band or block in which two rows meet, or the number of them: none. */
unsigned nd_table_first_common(const struct nd_index_params *params,
                               struct nd_equal_bytes band_starts, struct nd_equal_bytes equal,
                               uint64_t simhash_difference);

/* Whether two rows of a group have this band or block in common; not for the table by identity. */
bool nd_table_is_common(const struct nd_index_params *params, unsigned table,
                        struct nd_equal_bytes equal, uint64_t simhash_difference);

/* Ones of a word: three lines of adds where the build may not count on an instruction for it. */
static inline unsigned nd_count_ones(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

#endif
