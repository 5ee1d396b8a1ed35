/* hamming_record.h - where a fingerprint goes in a table of a join: its part, its place, a filter
 */
#ifndef ND_SIMD_HAMMING_HAMMING_RECORD_H
#define ND_SIMD_HAMMING_HAMMING_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { ND_RECORD_RUNS = 32 };
#define ND_RECORD_FACTOR UINT64_C(0x9E3779B97F4A7C15)

/*
 * The first `part_bits` of the hash of a key choose the part, the next `place_bits` the place in
 * it.  The key is of 64 bits: its bits come together from so many runs.
 */
struct nd_record_code {
    unsigned part_bits, place_bits;
    unsigned key_bits, n_runs;
    unsigned shift[ND_RECORD_RUNS];
    uint64_t mask[ND_RECORD_RUNS];
};

/* The key's bits side by side, times an odd number, modulo as many bits: no two keys share a hash,
 * and none of its bits is one of the key alone. */
static inline __attribute__((always_inline)) uint64_t
nd_record_hash(const struct nd_record_code *code, unsigned n_runs, uint64_t x)
{
    uint64_t bits = 0;

    for (unsigned r = 0; r < n_runs; r++)
        bits |= x >> code->shift[r] & code->mask[r];
    return bits * ND_RECORD_FACTOR << (64 - code->key_bits);
}

/* The `bits` highest of a hash; 0 are possible. */
static inline uint32_t nd_record_high(uint64_t hash, unsigned bits)
{
    return (uint32_t)(hash >> (63 - bits) >> 1);
}

/* The place that a hash chooses, above a filter. */
static inline uint64_t nd_record_place(const struct nd_record_code *code, uint64_t hash,
                                       uint32_t filter)
{
    uint64_t place = hash << code->part_bits >> (32 - code->place_bits) >> 32 << 32;

    return place | filter;
}

/* Folded to 32 bits, which differ in no more bits than the values do.  One half is turned: halves
 * are often alike. */
static inline uint32_t nd_record_filter(uint64_t x)
{
    return (uint32_t)(x ^ (x >> 19 & UINT32_C(0xFFFFE000)) ^ x >> 51);
}

/* The bodies of the kernels `join_parts` and `join_places`, which every instruction set compiles
 * its own way: most keys are of one run or two. */
static inline __attribute__((always_inline)) void
nd_record_parts_of(const struct nd_record_code *given, unsigned n_runs, const uint64_t *x, size_t n,
                   uint32_t *part)
{
    const struct nd_record_code code = *given; /* not what is written to */

    for (size_t i = 0; i < n; i++)
        part[i] = nd_record_high(nd_record_hash(&code, n_runs, x[i]), code.part_bits);
}

static inline __attribute__((always_inline)) void
nd_record_places_of(const struct nd_record_code *given, unsigned n_runs, const uint64_t *x,
                    size_t n, uint64_t *place)
{
    const struct nd_record_code code = *given;

    for (size_t i = 0; i < n; i++)
        place[i] =
            nd_record_place(&code, nd_record_hash(&code, n_runs, x[i]), nd_record_filter(x[i]));
}

static inline __attribute__((always_inline)) void
nd_record_parts(const struct nd_record_code *code, const uint64_t *x, size_t n, uint32_t *part)
{
    if (code->n_runs == 1)
        nd_record_parts_of(code, 1, x, n, part);
    else if (code->n_runs == 2)
        nd_record_parts_of(code, 2, x, n, part);
    else
        nd_record_parts_of(code, code->n_runs, x, n, part);
}

static inline __attribute__((always_inline)) void
nd_record_places(const struct nd_record_code *code, const uint64_t *x, size_t n, uint64_t *place)
{
    if (code->n_runs == 1)
        nd_record_places_of(code, 1, x, n, place);
    else if (code->n_runs == 2)
        nd_record_places_of(code, 2, x, n, place);
    else
        nd_record_places_of(code, code->n_runs, x, n, place);
}

/* The body of the kernel `join_words`. */
static inline __attribute__((always_inline)) void nd_record_words(const uint64_t *record, size_t n,
                                                                  uint32_t *word)
{
    for (size_t i = 0; i < n; i++)
        word[i] = (uint32_t)record[i];
}

#endif
