/* hamming_tables.h - any design of keys: rows, and for each key a table of their numbers */
#ifndef ND_INDEX_HAMMING_TABLES_H
#define ND_INDEX_HAMMING_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "index/hamming_ids.h"
#include "index/hamming_index.h"
#include "index/hamming_lines.h"

/*
 * A row is a distinct fingerprint.  Each table hashes the bits of its key to a line, which holds
 * row numbers beside a filter of 32 bits: the fingerprint's words, folded by XOR so that no bit of
 * the key falls on one outside as far as that can be had.  Folding never makes a distance greater,
 * so what is near passes; two fingerprints of one key differ only outside it, so what passes by
 * chance is rare.
 */
struct nd_tables_key {
    uint64_t mask[ND_HAMMING_WORDS_MAX];
    uint8_t first_word, end_word; /* where the mask is not zero */
    uint8_t turn;                 /* of the upper half before it is folded on the lower */
    uint16_t bits;
};

enum nd_tables_state { ND_TABLES_ONE, ND_TABLES_MANY, ND_TABLES_FREE };

/* One id, a list of them, or, of a row that is free, the next such row + 1. */
struct nd_tables_ids {
    uint32_t id;
    uint32_t state;
};

struct nd_tables {
    size_t words;
    unsigned n_tables;
    struct nd_tables_key *key;
    struct nd_hamming_lines *table;
    struct nd_column rows, row_ids;
    uint32_t n_rows, free_row; /* rows ever used; number + 1 of the first free one */
    size_t n_used;
    struct nd_hamming_ids ids;
};

static inline uint64_t *nd_tables_row(const struct nd_tables *s, uint32_t row)
{
    return (uint64_t *)s->rows.data + (size_t)row * s->words;
}

static inline struct nd_tables_ids *nd_tables_row_ids(const struct nd_tables *s, uint32_t row)
{
    return (struct nd_tables_ids *)s->row_ids.data + row;
}

/* All words of a fingerprint folded to one. */
static inline uint64_t nd_tables_fold(const uint64_t *x, size_t words)
{
    uint64_t fold = x[0];

    for (size_t w = 1; w < words; w++)
        fold ^= x[w] << (5 * w) | x[w] >> (64 - 5 * w);
    return fold;
}

static inline uint32_t nd_tables_filter(const struct nd_tables_key *key, uint64_t fold)
{
    uint32_t low = (uint32_t)fold, high = (uint32_t)(fold >> 32);

    return low ^ (high << key->turn | high >> (31 - key->turn) >> 1);
}

static inline size_t nd_tables_bucket(const struct nd_tables_key *key, size_t n_lines,
                                      const uint64_t *x)
{
    uint64_t hash = 0;

    for (unsigned w = key->first_word; w < key->end_word; w++) {
        hash = (hash ^ (x[w] & key->mask[w])) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return (size_t)(((unsigned __int128)hash * n_lines) >> 64);
}

static inline bool nd_tables_key_agrees(const struct nd_tables_key *key, const uint64_t *a,
                                        const uint64_t *b)
{
    uint64_t differ = 0;

    for (unsigned w = key->first_word; w < key->end_word; w++)
        differ |= (a[w] ^ b[w]) & key->mask[w];
    return differ == 0;
}

void nd_tables_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink);

#endif
