/* tables.h - any design of keys: rows, and for each key a table of their numbers */
#ifndef ND_HAMMING_MEMORY_TABLES_H
#define ND_HAMMING_MEMORY_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hamming/memory/bucket_lines.h"
#include "hamming/memory/ids.h"
#include "hamming/memory/sink.h"
#include "hamming/plan/fingerprint.h"

/*
 * A row is a distinct fingerprint and, beside it, its id or its list of ids:
 *
 *     rows    | word 0 … word w-1 | ids |      8 (w + 1) bytes, one cache line for most
 *
 * Each table hashes the bits of its key to a bucket, a line of seven slots (bucket_lines.h):
 *
 *     word[7]   a filter of 32 bits         id[7]   the number of the row
 *     word 14   entries that are chained to the bucket, or ND_TABLES_REFINED
 *
 * The filter is the whole fingerprint, folded by XOR, so a distance between filters is never
 * greater than that between fingerprints, and what is near passes.  All entries of a bucket that a
 * query reads agree with it in the key, so the filter should show the bits outside the key: it is
 * folded so that as few of its bits as possible are made of the key alone.
 */

/*
 * A table.  Where very many rows agree in its key, as clusters do, their bucket is refined: they
 * move to inner tables, whose keys add to this one's a design for the bits outside it.  That is the
 * recurrence of Manku 2007, §3.1.2, where the data need it.  All refined buckets of a table share
 * its inner tables, and those are refined in their turn, three deep.
 */
struct nd_tables_node {
    uint64_t key[ND_HAMMING_WORDS_MAX]; /* a mask, with the bits of all outer ones */
    uint8_t first_word, end_word;       /* where it is not zero */
    uint8_t rotation;                   /* of the upper half before it is folded on the lower */
    uint16_t key_bits;
    struct nd_hamming_lines lines;
    const struct nd_tables_node *outer;
    struct nd_tables_node *inner; /* NULL: none yet */
    unsigned n_inner, number;     /* the number among those of the same design */
    bool is_last;                 /* no design for the bits left */
    struct nd_linear_hash linear_hash;
    size_t entries; /* without those inside */
};

/* The main line of a refined bucket is empty, and its word 15 says that there is more. */
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
    struct nd_column rows;
    uint32_t n_rows, free_row; /* rows ever used; number + 1 of the first free one, whose id is
                                * that of the next */
    size_t n_used;
    struct nd_hamming_ids *ids, own_ids; /* ids: the own ones, or those of who made this */
};

enum { ND_TABLES_NO_ROW = -1 };

static inline uint64_t *nd_tables_row(const struct nd_tables *s, uint32_t row)
{
    return (uint64_t *)s->rows.data + (size_t)row * (s->words + 1);
}

static inline struct nd_hamming_id *nd_tables_row_id(const struct nd_tables *s, uint32_t row)
{
    return (struct nd_hamming_id *)(void *)(nd_tables_row(s, row) + s->words);
}

/* The filter of a fingerprint whose words were folded to one. */
static inline uint32_t nd_tables_filter(const struct nd_tables_node *node, uint64_t fold)
{
    return nd_hamming_fold(fold, node->rotation);
}

static inline uint64_t nd_tables_hash(const struct nd_tables_node *node, const uint64_t *x)
{
    uint64_t hash = 0;

    for (unsigned w = node->first_word; w < node->end_word; w++)
        hash = nd_hamming_hash_word(hash, x[w] & node->key[w]);
    return nd_hamming_hash_end(hash);
}

static inline bool nd_tables_key_agrees(const struct nd_tables_node *node, const uint64_t *a,
                                        const uint64_t *b)
{
    unsigned first = node->first_word;

    return nd_hamming_agree(node->key + first, a + first, b + first, node->end_word - first);
}

/* The bucket of a fingerprint. */
static inline size_t nd_tables_place(const struct nd_tables_node *node, const uint64_t *x)
{
    return nd_hamming_place(&node->linear_hash, nd_tables_hash(node, x));
}

/* ids NULL: it has its own. NULL: out of memory. */
struct nd_tables *nd_tables_new(const struct nd_hamming_plan *plan, struct nd_hamming_ids *ids);
void nd_tables_free(struct nd_tables *s);
size_t nd_tables_bytes(const struct nd_tables *s);
/* The row of a fingerprint, or ND_TABLES_NO_ROW. */
int64_t nd_tables_find(const struct nd_tables *s, const uint64_t *x);
/* A fingerprint that is not there yet, with an id or a list of s->ids.  False: out of memory. */
bool nd_tables_put(struct nd_tables *s, const uint64_t *x, struct nd_hamming_id own);
/* One id more for a row, and one less.  False: out of memory; there is no such id. */
bool nd_tables_add_id(struct nd_tables *s, uint32_t row, uint32_t id);
bool nd_tables_take_id(struct nd_tables *s, uint32_t row, uint32_t id);

/* tables_query.c */
void nd_tables_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink);

#endif
