/* hamming_halves.h - 64 bits within 3: two halves, perfect-code buckets of one cache line */
#ifndef ND_INDEX_HAMMING_HALVES_H
#define ND_INDEX_HAMMING_HALVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/hamming_code.h"
#include "index/hamming_ids.h"
#include "index/hamming_index.h"
#include "index/hamming_lines.h"
#include "index/hamming_tables.h"

/*
 * Of at most 3 wrong bits one half of 32 has at most 1.  Table h files a fingerprint under its half
 * h: a bucket is the 26 data bits of that half in the perfect code, and above them its bit 31.  The
 * address of a bucket is its low bits, by linear hashing (Litwin, 1980), so that a table of any
 * number of lines grows one line at a time; bit 31 counts where there are more than 2^26.  A slot
 * holds
 *
 *     word   the other half, which filters
 *     rest   what the address leaves open of this half:  data >> 17 (9 bits),
 *            the syndrome (5), bit 31 (1), and whether id is a list (1)
 *     id     in table 0 only
 *
 * so every fingerprint can be rebuilt from where it stands.
 */
enum {
    ND_HALVES_LOW_BITS = 17,
    ND_HALVES_BUCKET_BITS = ND_HAMMING_DATA_BITS + 1,
    ND_HALVES_MANY = 1 << 15
};

struct nd_halves_table {
    struct nd_hamming_lines lines;
    size_t level; /* a power of 2: level <= lines < 2 * level */
    double fill;  /* entries a line: more, and a line is added */
    size_t entries;
};

/*
 * A bucket whose chain grows longer than ND_HALVES_CHAIN lines moves to `crowded`, an index of
 * keys, which refines what clusters there.  A fingerprint stands either there or in the two tables.
 */
enum { ND_HALVES_CHAIN = 32 };

struct nd_halves {
    struct nd_hamming_code code;
    struct nd_halves_table table[2];
    struct nd_hamming_ids ids;
    struct nd_tables *crowded; /* NULL: none is */
    unsigned distance;
};

/* Where a fingerprint goes in table `half`. */
struct nd_halves_place {
    uint32_t bucket, word;
    uint16_t rest;
};

/* Of a half whose low 31 bits are a code word. */
static inline uint32_t nd_halves_bucket(uint32_t own)
{
    return (own & ND_HAMMING_DATA_MASK) | own >> 31 << ND_HAMMING_DATA_BITS;
}

static inline struct nd_halves_place nd_halves_place(const struct nd_hamming_code *code, uint64_t x,
                                                     unsigned half)
{
    uint32_t own = (uint32_t)(x >> (32 * half)), word = (uint32_t)(x >> (32 * (1 - half)));
    unsigned s = nd_hamming_syndrome(code, own);
    uint32_t bucket = nd_halves_bucket(own ^ code->error[s]);

    return (struct nd_halves_place){
        bucket, word,
        (uint16_t)((bucket & ND_HAMMING_DATA_MASK) >> ND_HALVES_LOW_BITS | s << 9 |
                   own >> 31 << 14)};
}

/* The half that stands at an address with this rest. */
static inline uint32_t nd_halves_own(const struct nd_hamming_code *code, uint32_t address,
                                     uint16_t rest)
{
    uint32_t low = address & ((UINT32_C(1) << ND_HALVES_LOW_BITS) - 1);
    uint32_t data = low | (uint32_t)(rest & 511) << ND_HALVES_LOW_BITS;

    return nd_hamming_code_word(code, data, rest >> 9 & 31) | (uint32_t)(rest >> 14 & 1) << 31;
}

static inline uint32_t nd_halves_address(const struct nd_halves_table *t, uint32_t bucket)
{
    uint32_t a = bucket & (uint32_t)(2 * t->level - 1);

    return a < t->lines.n_main ? a : bucket & (uint32_t)(t->level - 1);
}

/* Move all fingerprints of a bucket to `crowded`, or as many as memory allows. */
void nd_halves_move_bucket(struct nd_halves *s, unsigned half, uint32_t address);

/* Remove from both tables a fingerprint that stands there. */
void nd_halves_drop(struct nd_halves *s, const struct nd_halves_place *place);

/* The line and slot of a fingerprint in a table; NULL: it is not there. */
struct nd_hamming_line *nd_halves_find(const struct nd_halves_table *t,
                                       const struct nd_halves_place *place, unsigned *slot);

void nd_halves_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink);

#endif
