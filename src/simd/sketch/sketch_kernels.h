/* sketch_kernels.h - the hot loops of sketching, one table an instruction set */
#ifndef ND_SIMD_SKETCH_SKETCH_KERNELS_H
#define ND_SIMD_SKETCH_SKETCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/instruction_set.h"

enum { ND_MINIMA = 128, ND_SIMHASH_WIDTH = 64 };

/* Pinned by docs/format/sketch.md. */
#define ND_SHINGLE_ROTATION 21
#define ND_SHINGLE_MULTIPLIER UINT64_C(0x9FB21C651E98DF25)
#define ND_POSITION_STEP UINT64_C(0x9E3779B97F4A7C15)

/*
 * Minimum i of a shingle is h1 + i * h2, and in block k of 16 the step is h2 + k * this: with one
 * step for all, sets of ten shingles miss bands 2.4 times as often (docs/decisions/bands.md). Even,
 * so that the steps stay odd.
 */
#define ND_MINIMA_BLOCK 16
#define ND_MINIMA_STEP UINT32_C(0x9E3779B8)

/* The last step of a shingle hash: a bijection. */
static inline uint64_t nd_shingle_finalise(uint64_t x)
{
    x ^= x >> 32;
    x *= ND_SHINGLE_MULTIPLIER;
    return x ^ (x >> 29);
}

static inline uint64_t nd_shingle_rotate(uint64_t x)
{
    return x << ND_SHINGLE_ROTATION | x >> (64 - ND_SHINGLE_ROTATION);
}

static inline uint64_t nd_shingle_sum(const uint64_t *token, size_t n)
{
    uint64_t sum = token[0];

    for (size_t i = 1; i < n; i++)
        sum = nd_shingle_rotate(sum) + token[i];
    return sum;
}

/* The shingle of n > 0 consecutive tokens, where n is the width (docs/format/sketch.md). */
static inline uint64_t nd_shingle_of(const uint64_t *token, size_t n)
{
    return nd_shingle_finalise(nd_shingle_sum(token, n));
}

/* The one shingle of a text whose n > 0 tokens are fewer than its width: of all of them, and not
 * the one that the same n tokens make elsewhere, because n is added. */
static inline uint64_t nd_shingle_of_all(const uint64_t *token, size_t n)
{
    return nd_shingle_finalise(nd_shingle_sum(token, n) + ND_POSITION_STEP * n);
}

/*
 * A table to look 64-bit values up in: open addressing, linear probing, a value's search begins at
 * value >> shift.  A slot holds the number of an entry, or 0 where it is free; the entries count
 * from 1.
 */
struct nd_slots {
    uint64_t *entry; /* the first is scratch */
    size_t n_entries;
    void *slot;     /* 2^(64 - shift), one of them free, and 4 readable bytes beyond */
    unsigned shift; /* 32 … 58 */
    bool wide;      /* slots of 32 bits, else of 16 */
};

/*
 * All tables give the same results; the scalar one is the definition.  No alignment is needed, and
 * nothing beyond the given counts is read or written.
 */
struct nd_sketch_kernels {
    /* out[i] = hash of the shingle token[i] … token[i + w - 1], for i < n; reads n + w - 1. */
    void (*shingles)(const uint64_t *token, size_t n, unsigned w, uint64_t *out);

    /* The sum of low 32 bits * high 32 bits of token[i] xor (first + i) * ND_POSITION_STEP. */
    uint64_t (*sequence_sum)(const uint64_t *token, size_t n, uint64_t first);

    /* minima[i] = the least of itself and the shingles' i-th values, i < 128. */
    void (*minhash)(const uint64_t *shingle, size_t n, uint32_t *minima);

    /* sum[b] += 1 for each feature with bit b, -1 for each without. */
    void (*simhash)(const uint64_t *feature, size_t n, int64_t *sum);

    /* Bit b: sum[b] > 0, b < 64. */
    uint64_t (*positive)(const int64_t *sum);

    /* Bit i of equal[i / 64]: byte i of two strings of 128 is the same. */
    void (*bytes_equal)(const uint8_t *a, const uint8_t *b, uint64_t equal[2]);

    /* out[i] = low byte of minima[i], i < 128. */
    void (*low_bytes)(const uint32_t *minima, uint8_t *out);

    /* Equal values of two arrays of 128. */
    unsigned (*minima_equal)(const uint32_t *a, const uint32_t *b);

    /*
     * How many of the n values stand in the table.  *near, at first 1: the entry that the next
     * value probably is, as near copies hold the same values in the same order; whatever it is,
     * the answer is the same.
     */
    size_t (*count_found)(const struct nd_slots *in, const uint64_t *value, size_t n, size_t *near);

    /*
     * Add the values that are not there yet, in order; the number of entries then.  There is a free
     * slot for each value, and n + 1 more entries are allocated.
     */
    size_t (*add_distinct)(const struct nd_slots *in, const uint64_t *value, size_t n);
};

/* The table in use, and the one of an instruction set: NULL where this build has none. */
const struct nd_sketch_kernels *nd_sketch_kernels(void);
const struct nd_sketch_kernels *nd_sketch_kernels_of(enum nd_isa isa);

extern const struct nd_sketch_kernels nd_sketch_scalar;
#if defined(__x86_64__)
extern const struct nd_sketch_kernels nd_sketch_avx2, nd_sketch_avx512;
#elif defined(__aarch64__)
extern const struct nd_sketch_kernels nd_sketch_neon;
#endif

#endif
