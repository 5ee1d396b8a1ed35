/* index_row.h - what the live index keeps of a document, and under which keys it stands in the tables */
#ifndef ND_INDEX_INDEX_ROW_H
#define ND_INDEX_INDEX_ROW_H

#include <stdbool.h>

#include <neardup/index.h>

#include "base/number/bits.h"
#include "index/reach.h"

/* Readable bytes behind a row's low bytes, so that any 8 of them can be loaded at once. */
enum { ND_LOW_PADDING = 8 };

/* A set of tables, by their numbers. */
enum { ND_TABLE_SET_WORDS = 3 };
struct nd_table_set {
    uint64_t word[ND_TABLE_SET_WORDS];
};

/* The part of a sketch that the index keeps: the low byte of each minimum, the simhash, the
 * identity. */
struct nd_index_row {
    uint8_t low[ND_MINHASH_COUNT + ND_LOW_PADDING];
    uint64_t simhash;
    uint64_t identity;
    uint32_t group;
    uint32_t n_shingles;          /* distinct */
    bool is_short;                /* for the owner: fewer than w tokens */
    bool identity_only;           /* found by its identity, and a candidate of nothing */
    const uint64_t *key;          /* nd_table_keys of it, or NULL: made where they are needed */
    struct nd_table_set left_out; /* the tables in which it is not to be found: they are full */
};

/* How many low bytes of two documents are equal. */
unsigned nd_low_bytes_equal(const uint8_t *a, const uint8_t *b);

/* Whether all but the group is the same. */
bool nd_index_rows_same_sketch(const struct nd_index_row *a, const struct nd_index_row *b);

void nd_index_row_from_sketch(struct nd_index_row *row, const struct nd_sketch *sketch,
                              uint32_t group);

/*
 * Tables 0 … bands - 1 are the bands.  Where simhashes are looked up, k + 1 more tables follow, one
 * for each block of 64 / (k + 1) bits: of k wrong bits one block at least has none (Manku 2007, §3,
 * the plainest design).  The last table is by identity.
 */
unsigned nd_table_count(const struct nd_index_params *params);
unsigned nd_table_identity(const struct nd_index_params *params);

/* How many tables, from 0 on, are queried for candidates: bands and blocks, or the identity where
 * there are none. */
unsigned nd_table_queried(const struct nd_index_params *params);

/*
 * How many documents a key lists at most, whether they could match one another or not:
 * max_checks.  Where keys have fewer than 24 bits, unrelated documents share them by chance, and each
 * bit less doubles the number.  UINT32_MAX: there are no tables that are queried for candidates.
 */
uint32_t nd_key_room(const struct nd_index_params *params, uint32_t max_checks);

/* The key of a row in a table: the bytes of the band or the bits of the block, and the group,
 * mixed. */
uint64_t nd_table_key(const struct nd_index_params *params, unsigned table,
                      const struct nd_index_row *row);

/* Write the keys of a row in all tables. */
void nd_table_keys(const struct nd_index_params *params, const struct nd_index_row *row,
                   uint64_t *key);

/* Return the key of a band alone, from low bytes with ND_LOW_PADDING readable behind them. */
uint64_t nd_band_key(const struct nd_index_params *params, unsigned band, const uint8_t *low,
                     uint32_t group);

/* The bits of a block, in place. */
uint64_t nd_block_mask(unsigned block, unsigned n_blocks);

/* Bit i: the low bytes of the i-th minima are equal. */
typedef unsigned __int128 nd_equal_minima;

/* The bit of the first row of each band. */
nd_equal_minima nd_band_starts(const struct nd_index_params *params);

/* The first band or block in which two rows meet, or the number of them: none. */
unsigned nd_table_first_common(const struct nd_index_params *params, nd_equal_minima band_starts,
                               nd_equal_minima equal, uint64_t simhash_difference);

/* Whether two rows of a group have this band or block in common; not for the table by identity. */
bool nd_table_is_common(const struct nd_index_params *params, unsigned table, nd_equal_minima equal,
                        uint64_t simhash_difference);

#endif
