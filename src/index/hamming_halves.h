/* hamming_halves.h - 64 bits within 3: two halves, in buckets of one cache line */
#ifndef ND_INDEX_HAMMING_HALVES_H
#define ND_INDEX_HAMMING_HALVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/hamming_code.h"
#include "index/hamming_ids.h"
#include "index/hamming_index.h"
#include "index/hamming_lines.h"
#include "index/hamming_plan.h"
#include "index/hamming_tables.h"

/*
 * Of at most 3 wrong bits one half of 32 has at most 1.  Two ways to find by it:
 *
 * The perfect code: a table h for each half, which files a fingerprint under that half's bucket:
 * its 26 data bits in the code, and above them bit 31, which counts where there are more than 2^26
 * lines; a query asks the 16 or 17 buckets of a ball.
 * Windows: m tables for each half.  Table i files a fingerprint under that half turned, of which
 * the low bits, the window, leave out the i-th m-th of the half: one wrong bit leaves a window.
 *
 * The address of a bucket is the low bits of the data, 27 bits or the turned half, by linear
 * hashing (Litwin, 1980), so that a table of any number of lines grows one line at a time.  A table
 * with more lines than windows has some for each, whose addresses are known: all are asked.  A slot
 * holds
 *
 *     word   the other half, which filters
 *     rest   what the address leaves open of this half.  Code: data >> 17 (9 bits), the syndrome
 *            (5), bit 31 (1).  Windows: data >> 17 (15 bits) in table 0, >> 16 (16) in others.  In
 *            table 0 the highest bit says whether id is a list
 *     id     in table 0 only
 *
 * so every fingerprint can be rebuilt from where it stands.
 */
enum {
    ND_HALVES_TABLES = ND_HAMMING_WINDOW_TABLES,
    ND_HALVES_MANY = 1 << 15,
};

struct nd_halves_table {
    uint64_t window;  /* its bits of a fingerprint; code: none */
    uint8_t half;     /* 0 or 1 */
    uint8_t turn;     /* to the right, of that half */
    uint8_t low_bits; /* of the data, that are in no slot: 2^low_bits lines is the least */
    uint16_t in_rest; /* the bits of `rest` that are the fingerprint's */
};

/*
 * The lines of tables that are alike: of table 0, and of all others, which hold the same number of
 * entries and so grow together.  Those of one address stand side by side, and all tables of a group
 * take their chained lines from one place.
 */
struct nd_halves_group {
    struct nd_hamming_lines lines;
    size_t level; /* a power of 2: level <= size < 2 * level */
    size_t size;  /* lines of a table, without chains */
    double fill;  /* entries a line: more, and a line is added */
    unsigned first, n_tables;
};

/*
 * A bucket whose chain grows longer than so many lines moves to `crowded`, an index of keys, which
 * refines what clusters there, and which each query asks as well.  A fingerprint stands either
 * there or in the tables.  A query may meet 16 long chains in a table by the code, but one by a
 * window.
 */
enum { ND_HALVES_CHAIN_CODE = 32, ND_HALVES_CHAIN_MOST = 64 };

struct nd_halves {
    struct nd_hamming_code code;
    struct nd_halves_table table[ND_HALVES_TABLES];
    struct nd_halves_group group[2];
    size_t entries; /* of a table */
    struct nd_hamming_ids ids;
    struct nd_tables *crowded; /* NULL: none is */
    unsigned distance, n_tables;
    unsigned window_bits; /* 0: the perfect code */
    size_t most_lines;    /* of a table, without chains */
    unsigned most_chained;
};

/* Where a fingerprint goes in a table. */
struct nd_halves_place {
    uint32_t data, word, rest;
};

static inline uint32_t nd_halves_turn(uint32_t x, unsigned right)
{
    return x >> right | x << (31 - right) << 1;
}

/* By the code, of a half whose low 31 bits are a code word. */
static inline uint32_t nd_halves_code_bucket(uint32_t own)
{
    return (own & ND_HAMMING_DATA_MASK) | own >> 31 << ND_HAMMING_DATA_BITS;
}

static inline struct nd_halves_place nd_halves_place(const struct nd_halves *s, uint64_t x,
                                                     unsigned table)
{
    const struct nd_halves_table *t = &s->table[table];
    uint32_t own = (uint32_t)(x >> (32 * t->half)), word = (uint32_t)(x >> (32 * (1 - t->half)));
    uint32_t data;
    unsigned syndrome;

    if (s->window_bits) {
        data = nd_halves_turn(own, t->turn);
        return (struct nd_halves_place){data, word, data >> t->low_bits};
    }
    syndrome = nd_hamming_syndrome(&s->code, own);
    data = nd_halves_code_bucket(own ^ s->code.error[syndrome]);
    return (struct nd_halves_place){
        data, word, (data & ND_HAMMING_DATA_MASK) >> t->low_bits | syndrome << 9 | own >> 31 << 14};
}

/* The data of what stands at an address with this rest. */
static inline uint32_t nd_halves_data(const struct nd_halves *s, const struct nd_halves_table *t,
                                      uint32_t address, uint32_t rest)
{
    uint32_t low = address & ((UINT32_C(1) << t->low_bits) - 1);

    if (s->window_bits)
        return low | (rest & t->in_rest) << t->low_bits;
    return low | (rest & 511) << t->low_bits | (rest >> 14 & 1) << ND_HAMMING_DATA_BITS;
}

/* The fingerprint of an entry at an address. */
static inline uint64_t nd_halves_fingerprint(const struct nd_halves *s,
                                             const struct nd_halves_table *t, uint32_t address,
                                             const struct nd_hamming_entry *e)
{
    uint32_t data = nd_halves_data(s, t, address, e->rest), own;

    own = s->window_bits
              ? nd_halves_turn(data, (32u - t->turn) & 31)
              : nd_hamming_code_word(&s->code, data & ND_HAMMING_DATA_MASK, e->rest >> 9 & 31) |
                    (e->rest >> 14 & 1) << 31;
    return (uint64_t)own << (32 * t->half) | (uint64_t)e->word << (32 * (1 - t->half));
}

static inline const struct nd_halves_group *nd_halves_group(const struct nd_halves *s,
                                                            unsigned table)
{
    return &s->group[table > 0];
}

static inline uint32_t nd_halves_address(const struct nd_halves_group *g, uint32_t data)
{
    uint32_t a = data & (uint32_t)(2 * g->level - 1);

    return a - (a >= g->size) * (uint32_t)g->level; /* no branch: a coin */
}

/* The number of a bucket among the lines of its group. */
static inline size_t nd_halves_bucket(const struct nd_halves_group *g, unsigned table,
                                      uint32_t address)
{
    return (size_t)address * g->n_tables + (table - g->first);
}

/* The first line of the bucket where data go. */
static inline struct nd_hamming_line *nd_halves_line(const struct nd_halves *s, unsigned table,
                                                     uint32_t data)
{
    const struct nd_halves_group *g = nd_halves_group(s, table);

    return nd_hamming_lines_at(&g->lines, nd_halves_bucket(g, table, nd_halves_address(g, data)));
}

/* Move all fingerprints of the bucket where data go to `crowded`, or as many as memory allows. */
void nd_halves_move_bucket(struct nd_halves *s, unsigned table, uint32_t data);

/* Remove from all tables a fingerprint that stands there. */
void nd_halves_drop(struct nd_halves *s, const struct nd_halves_place *place);

/* The line and slot of a fingerprint in a table, whose place that is; NULL: it is not there. */
struct nd_hamming_line *nd_halves_find(const struct nd_halves *s, unsigned table,
                                       const struct nd_halves_place *place, unsigned *slot);

void nd_halves_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink);

#endif
