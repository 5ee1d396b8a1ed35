/* index_row.c - rows of the live index, and under which keys they stand in its tables */
#include "index/index_row.h"

#include <string.h>

#include "base/hash.h"
#include "simd/sketch/sketch_kernels.h"

void nd_index_row_from_sketch(struct nd_index_row *row, const struct nd_sketch *sketch,
                              uint32_t group)
{
    nd_sketch_kernels()->low_bytes(sketch->minhash, row->low);
    row->simhash = sketch->simhash;
    row->identity = sketch->identity;
    row->group = group;
    row->n_shingles = (uint32_t)sketch->n_shingles;
    row->is_short = row->identity_only = false;
    row->key = NULL;
    row->left_out = (struct nd_table_set){{0}};
}

bool nd_index_rows_same_sketch(const struct nd_index_row *a, const struct nd_index_row *b)
{
    return a->identity == b->identity && a->simhash == b->simhash &&
           a->n_shingles == b->n_shingles && memcmp(a->low, b->low, ND_MINHASH_COUNT) == 0;
}

unsigned nd_low_bytes_equal(const uint8_t *a, const uint8_t *b)
{
    uint64_t equal[2];

    nd_sketch_kernels()->bytes_equal(a, b, equal);
    return nd_count_ones(equal[0]) + nd_count_ones(equal[1]);
}

static unsigned block_count(const struct nd_index_params *params)
{
    return params->simhash_bits == ND_NO_SIMHASH ? 0 : params->simhash_bits + 1;
}

unsigned nd_table_identity(const struct nd_index_params *params)
{
    return params->bands + block_count(params);
}

unsigned nd_table_count(const struct nd_index_params *params)
{
    return nd_table_identity(params) + 1;
}

unsigned nd_table_queried(const struct nd_index_params *params)
{
    unsigned identity = nd_table_identity(params);

    return identity ? identity : 1;
}

uint64_t nd_block_mask(unsigned block, unsigned n_blocks)
{
    unsigned from = block * 64 / n_blocks, to = (block + 1) * 64 / n_blocks;
    uint64_t below_to = to == 64 ? ~UINT64_C(0) : (UINT64_C(1) << to) - 1;

    return below_to & ~((UINT64_C(1) << from) - 1);
}

static uint64_t group_key(uint32_t group)
{
    return (uint64_t)group * UINT64_C(0x9E3779B97F4A7C15);
}

uint64_t nd_band_key(const struct nd_index_params *params, unsigned band, const uint8_t *low,
                     uint32_t group)
{
    uint64_t key = group_key(group), word;

    low += band * params->rows;
    for (unsigned rest = params->rows; rest; low += 8) {
        memcpy(&word, low, 8);
        if (rest < 8)
            word &= (UINT64_C(1) << 8 * rest) - 1;
        rest -= rest < 8 ? rest : 8;
        key = nd_mix64(key ^ word);
    }
    return key;
}

/* All keys of a row; bands of up to 8 rows, which nearly all are, in one go. */
void nd_table_keys(const struct nd_index_params *params, const struct nd_index_row *row,
                   uint64_t *key)
{
    const uint64_t group = group_key(row->group);
    unsigned t = 0;

    if (params->bands && params->rows <= 8) {
        const uint64_t kept = UINT64_MAX >> (64 - 8 * params->rows);

        for (const uint8_t *low = row->low; t < params->bands; t++, low += params->rows) {
            uint64_t word;

            memcpy(&word, low, sizeof word);
            key[t] = nd_mix64(group ^ (word & kept));
        }
    }
    for (; t < nd_table_count(params); t++)
        key[t] = nd_table_key(params, t, row);
}

uint32_t nd_key_room(const struct nd_index_params *params, uint32_t max_checks)
{
    enum { ENOUGH_BITS = 24 };
    unsigned bits = params->bands ? 8 * params->rows : 64 / (params->simhash_bits + 1);
    uint64_t room = max_checks;

    if (params->bands == 0 && params->simhash_bits == ND_NO_SIMHASH)
        return UINT32_MAX;
    room <<= bits < ENOUGH_BITS ? ENOUGH_BITS - bits : 0;
    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

uint64_t nd_table_key(const struct nd_index_params *params, unsigned table,
                      const struct nd_index_row *row)
{
    if (table < params->bands)
        return nd_band_key(params, table, row->low, row->group);
    if (table == nd_table_identity(params))
        return nd_mix64(group_key(row->group) ^ row->identity);
    return nd_mix64(group_key(row->group) ^
                    (row->simhash & nd_block_mask(table - params->bands, block_count(params))));
}

nd_equal_minima nd_band_starts(const struct nd_index_params *params)
{
    nd_equal_minima starts = 0;

    for (unsigned b = 0; b < params->bands; b++)
        starts |= (nd_equal_minima)1 << b * params->rows;
    return starts;
}

/*
 * Runs of ones shortened from below until only the beginnings of runs of `rows` are left: each step
 * adds up to as many as there are, so that six rows take three steps.
 */
static unsigned first_band(const struct nd_index_params *params, nd_equal_minima band_starts,
                           nd_equal_minima equal)
{
    uint64_t low, high;

    for (unsigned done = 1; done < params->rows;) {
        unsigned step = done < params->rows - done ? done : params->rows - done;

        equal &= equal >> step;
        done += step;
    }
    equal &= band_starts;
    low = (uint64_t)equal;
    high = (uint64_t)(equal >> 64);
    if (low)
        return (unsigned)__builtin_ctzll(low) / params->rows;
    return high ? (64 + (unsigned)__builtin_ctzll(high)) / params->rows : params->bands;
}

unsigned nd_table_first_common(const struct nd_index_params *params, nd_equal_minima band_starts,
                               nd_equal_minima equal, uint64_t simhash_difference)
{
    unsigned n_blocks = block_count(params);
    unsigned table = params->bands ? first_band(params, band_starts, equal) : 0;

    if (table < params->bands || n_blocks == 0)
        return table;
    if (nd_count_ones(simhash_difference) <= params->simhash_bits)
        for (unsigned block = 0; block < n_blocks; block++)
            if (!(simhash_difference & nd_block_mask(block, n_blocks)))
                return params->bands + block;
    return params->bands + n_blocks;
}

bool nd_table_is_common(const struct nd_index_params *params, unsigned table, nd_equal_minima equal,
                        uint64_t simhash_difference)
{
    if (table < params->bands) {
        nd_equal_minima rows =
            params->rows < 128 ? ((nd_equal_minima)1 << params->rows) - 1 : ~(nd_equal_minima)0;

        return ((equal >> table * params->rows) & rows) == rows;
    }
    return nd_count_ones(simhash_difference) <= params->simhash_bits &&
           !(simhash_difference & nd_block_mask(table - params->bands, block_count(params)));
}
