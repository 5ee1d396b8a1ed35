/* halves.h - 64 bits within 3: two halves, in buckets of one cache line */
#ifndef ND_HAMMING_MEMORY_HALVES_H
#define ND_HAMMING_MEMORY_HALVES_H

#include "base/file/checked.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hamming/memory/bucket_lines.h"
#include "hamming/memory/code.h"
#include "hamming/memory/ids.h"
#include "hamming/memory/sink.h"
#include "hamming/memory/tables.h"

/*
 * If at most 3 bits are wrong, one half of 32 bits has at most 1 of them. So it suffices to find,
 * for each half of a query, all fingerprints whose half differs in at most one bit. Two ways to do
 * that:
 *
 * By the perfect code (code.h): a table for each half, which files a fingerprint in the bucket of
 * that half's low 31 bits.  Bit 31 is not in the code; it chooses the bucket too where there are
 * more than 2^26 lines.  A query reads the 16 or 17 buckets of a ball.
 *
 * By windows: m tables for each half.  Table i rotates the half so that the i-th m-th of its bits
 * comes last, and files the fingerprint under the low bits, the window.  One wrong bit is in one
 * m-th only, so another table's window is clean.  A query reads one bucket of each table.
 *
 * The address of a bucket is the low bits of the data (27 bits: the code's data and bit 31; or the
 * 32 bits of the rotated half), by linear hashing (Litwin 1980), so a table has any number of lines
 * and grows one at a time:
 *
 *     data      | bits above the address | address |
 *                                        `- at least low_bits (16 or 17)
 *
 * A table with more lines than windows has some lines for each window; their addresses differ in
 * the bits above it, and a query reads all of them.  A slot holds what the address does not say, so
 * that 6 bytes hold the whole fingerprint, and no copy of it is needed:
 *
 *     word   32 bits   the other half.  It shares no bit with the key, so all of it filters
 *     rest   16 bits   of this half: data above low_bits.  Code: 9 bits, the syndrome (5), bit 31.
 *                      Windows: 15 bits in table 0, 16 in the others.  In table 0 the highest bit
 *                      says whether id is a list
 *     id     32 bits   in table 0 only, so that its lines have 6 slots and all others 10
 *
 *     table 0     layout IDS     six  (word, rest, id)    one cache line
 *     the others  layout OTHER   ten  (word, rest)        one cache line
 *
 * A fingerprint found through another table is looked up in table 0 for its ids.
 */
enum {
    ND_HALVES_TABLES = 8, /* at most */
    ND_HALVES_MANY = 1 << 15,
};

struct nd_halves_table {
    uint64_t window;  /* its bits of a fingerprint; code: none */
    uint8_t half;     /* 0 or 1 */
    uint8_t rotation; /* to the right, of that half */
    uint8_t low_bits; /* of the data, that are in no slot: there are 2^low_bits lines at least */
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

struct nd_halves {
    struct nd_hamming_code code;
    struct nd_halves_table table[ND_HALVES_TABLES];
    struct nd_halves_group group[ND_HALVES_TABLES]; /* two, or each table is one */
    bool is_apart; /* the latter; and the lines are somebody else's, who may have damaged them */
    struct nd_checked
        *checked;   /* the lines of is_apart, with their checksums; NULL: no checksums */
    size_t entries; /* of a table */
    struct nd_hamming_ids ids;
    struct nd_tables *overflow; /* of buckets whose chains grew too long; NULL: none did */
    unsigned distance, n_tables;
    unsigned window_bits; /* 0: the perfect code */
    size_t max_lines;     /* of a table, without chains */
    unsigned max_chained;
};

/* The place of a fingerprint in a table. */
struct nd_halves_place {
    uint32_t data, word, rest;
};

static inline uint32_t nd_halves_rotate(uint32_t x, unsigned right)
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
        data = nd_halves_rotate(own, t->rotation);
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
              ? nd_halves_rotate(data, (32u - t->rotation) & 31)
              : nd_hamming_code_word(&s->code, data & ND_HAMMING_DATA_MASK, e->rest >> 9 & 31) |
                    (e->rest >> 14 & 1) << 31;
    return (uint64_t)own << (32 * t->half) | (uint64_t)e->word << (32 * (1 - t->half));
}

static inline const struct nd_halves_group *nd_halves_group(const struct nd_halves *s,
                                                            unsigned table)
{
    return &s->group[s->is_apart ? table : table > 0];
}

static inline uint32_t nd_halves_address(const struct nd_halves_group *g, uint32_t data)
{
    uint32_t a = data & (uint32_t)(2 * g->level - 1);

    return a - (a >= g->size) * (uint32_t)g->level; /* unpredictable, so branchless */
}

/* The number of a bucket among the lines of its group. */
static inline size_t nd_halves_bucket(const struct nd_halves_group *g, unsigned table,
                                      uint32_t address)
{
    return (size_t)address * g->n_tables + (table - g->first);
}

/*
 * For lines that are not changed, as in a mapped file (hamming/file/fast.c): the tables of a plan,
 * each with lines of its own, as many as the plan asks for.  `checked` (NULL allowed) has all lines;
 * one whose checksum is wrong is not read.  NULL: out of memory.
 */
struct nd_halves *nd_halves_apart(const struct nd_hamming_plan *plan, struct nd_checked *checked);
void nd_halves_free(struct nd_halves *s);

/* Let a table have these lines, aligned to 64 bytes: `main` of its buckets, and `over`, to which
 * they are chained in ascending order.  False: no such table has so many buckets. */
struct nd_halves_lines {
    const struct nd_hamming_line *main, *over;
    size_t n_main, n_over;
};
bool nd_halves_set_lines(struct nd_halves *s, unsigned table, const struct nd_halves_lines *lines);

/*
 * As `query` of plan/family.h, of at most 2^28 queries.  Whatever is in the lines, nothing outside
 * of them is read; where they cannot be right, sink->is_damaged is set.
 */
void nd_halves_query(const struct nd_halves *s, const uint64_t *queries, size_t n,
                     unsigned distance, struct nd_hamming_sink *sink);

/* The first line of the bucket where data go. */
static inline struct nd_hamming_line *nd_halves_line(const struct nd_halves *s, unsigned table,
                                                     uint32_t data)
{
    const struct nd_halves_group *g = nd_halves_group(s, table);

    return nd_hamming_lines_at(&g->lines, nd_halves_bucket(g, table, nd_halves_address(g, data)));
}

#endif
