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

/*
 * A table.  Where very many rows agree in its key, as clusters do, their bucket is refined: they
 * move to inner tables, whose keys add to this one's a design for the bits outside it.  That is the
 * recurrence of 002, section 3.1.2, where the data want it; all refined buckets of a table share
 * its inner tables, and those are refined in their turn, three deep.
 */
struct nd_tables_node {
    struct nd_tables_key key; /* with the bits of all outer ones */
    struct nd_hamming_lines lines;
    const struct nd_tables_node *outer;
    struct nd_tables_node *inner; /* NULL: none yet */
    unsigned n_inner, number;     /* the number among those of the same design */
    bool is_last;                 /* no design for the bits left */
    struct nd_hamming_spread spread;
    size_t entries; /* without those inside */
};

/*
 * Word 14 of a bucket's main line: how many entries are chained to it, or that it is refined.  Of a
 * refined one the line is empty, and its word 15 says that there is more.
 */
enum { ND_TABLES_CHAINED = 14 };
#define ND_TABLES_REFINED UINT32_MAX

static inline bool nd_tables_is_refined(const struct nd_hamming_line *main)
{
    return main->word[ND_TABLES_CHAINED] == ND_TABLES_REFINED;
}

struct nd_tables {
    size_t words;
    unsigned distance, n_tables;
    uint64_t all[ND_HAMMING_WORDS_MAX]; /* the bits of a fingerprint */
    struct nd_tables_node *table;
    struct nd_column rows;     /* of each its words, then its struct nd_tables_ids */
    uint32_t n_rows, free_row; /* rows ever used; number + 1 of the first free one */
    size_t n_used;
    struct nd_hamming_ids *ids, own_ids; /* ids: the own ones, or those of who made this */
};

enum { ND_TABLES_NO_ROW = -1 };

static inline uint64_t *nd_tables_row(const struct nd_tables *s, uint32_t row)
{
    return (uint64_t *)s->rows.data + (size_t)row * (s->words + 1);
}

static inline struct nd_tables_ids *nd_tables_row_ids(const struct nd_tables *s, uint32_t row)
{
    return (struct nd_tables_ids *)(void *)(nd_tables_row(s, row) + s->words);
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
    return nd_hamming_fold(fold, key->turn);
}

static inline uint64_t nd_tables_hash(const struct nd_tables_key *key, const uint64_t *x)
{
    uint64_t hash = 0;

    for (unsigned w = key->first_word; w < key->end_word; w++)
        hash = nd_hamming_hash_word(hash, x[w] & key->mask[w]);
    return nd_hamming_hash_end(hash);
}

static inline bool nd_tables_key_agrees(const struct nd_tables_key *key, const uint64_t *a,
                                        const uint64_t *b)
{
    uint64_t differ = 0;

    for (unsigned w = key->first_word; w < key->end_word; w++)
        differ |= (a[w] ^ b[w]) & key->mask[w];
    return differ == 0;
}

static inline size_t nd_tables_place(const struct nd_tables_node *node, const uint64_t *x)
{
    return nd_hamming_place(&node->spread, nd_tables_hash(&node->key, x));
}

/*
 * One table, and those within it.  mask: the bits of its key; entries: how many are expected, of
 * _make none.  After _init its columns are to be made.  _make and _put are false where memory is
 * out, and then nothing has changed.
 */
void nd_tables_node_init(const struct nd_tables *s, struct nd_tables_node *node,
                         const uint64_t *mask, double entries, struct nd_column_wish wish[2]);
bool nd_tables_node_make(const struct nd_tables *s, struct nd_tables_node *node,
                         const uint64_t *mask);
void nd_tables_node_release(struct nd_tables_node *node);
bool nd_tables_node_put(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row);
void nd_tables_node_drop(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row);
size_t nd_tables_node_bytes(const struct nd_tables_node *node);

/* Take all entries, which stand inside by now, from a bucket of more than one line. */
void nd_tables_node_empty(struct nd_tables_node *node, size_t bucket);

/* Move the entries of a crowded bucket inside, if that helps and memory is there. */
void nd_tables_refine(const struct nd_tables *s, struct nd_tables_node *node, size_t bucket);

/* ids NULL: it has its own. NULL: out of memory. */
struct nd_tables *nd_tables_new(const struct nd_hamming_plan *plan, struct nd_hamming_ids *ids);
void nd_tables_free(struct nd_tables *s);
size_t nd_tables_bytes(const struct nd_tables *s);
/* The row of a fingerprint, or ND_TABLES_NO_ROW. */
int64_t nd_tables_find(const struct nd_tables *s, const uint64_t *x);
/* A fingerprint that is not there yet, with an id, or a list of s->ids.  False: out of memory. */
bool nd_tables_put(struct nd_tables *s, const uint64_t *x, struct nd_tables_ids ids);
/* One id more for a row, and one less.  False: out of memory; there is no such id. */
bool nd_tables_add_id(struct nd_tables *s, uint32_t row, uint32_t id);
bool nd_tables_take_id(struct nd_tables *s, uint32_t row, uint32_t id);

void nd_tables_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink);

#endif
