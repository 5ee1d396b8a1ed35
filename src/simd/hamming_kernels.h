/* hamming_kernels.h - the hot loops of searching by Hamming distance, one table an instruction set
 */
#ifndef ND_SIMD_HAMMING_KERNELS_H
#define ND_SIMD_HAMMING_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "simd/cpu.h"

/*
 * A cache line of a table: up to 15 slots that begin with a word each, and in word 15 how many of
 * them are taken (low 4 bits) and, above, whatever else the owner keeps there.
 */
struct nd_hamming_line {
    _Alignas(64) uint32_t word[16];
};

/* What one line had to say: the number of the line, and the slots that are near. */
struct nd_hamming_found {
    uint32_t line;
    uint16_t slots; /* bit i: slot i */
    uint16_t more;  /* 1: word 15 holds something above its low 4 bits */
};

/* All tables give the same results; the scalar one is the definition. */
struct nd_hamming_kernels {
    /*
     * Of n lines, those in which a taken slot's word differs from value[i] in at most `distance`
     * bits, or in which there is more.  Returns how many, in order.
     */
    size_t (*lines)(const struct nd_hamming_line *const *line, const uint32_t *value, size_t n,
                    unsigned distance, struct nd_hamming_found *found);

    /*
     * Of n rows of `words` words each, the numbers of those within the distance of the query, in
     * order. Returns how many; `found` holds n.
     */
    size_t (*rows)(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                   unsigned distance, uint32_t *found);

    /*
     * For each i < n the values within the distance of value[i] among the eight from
     * value[i + 1 + gap] on, as far as they lie before value[end]: `line` is i, bit b of `slots`
     * says value[i + 1 + gap + b].  Returns for how many there is one, in order; `found` holds n.
     * Eight values beyond value[end] are readable.
     */
    size_t (*next)(const uint64_t *value, size_t n, size_t end, size_t gap, unsigned distance,
                   struct nd_hamming_found *found);

    /*
     * Copy 64 bytes to an aligned place that will not be read soon: past the caches where that can
     * be had.  Another thread sees it after `fence`.
     */
    void (*store_line)(void *to, const void *from);
    void (*fence)(void);
};

/*
 * The table in use, and the one of an instruction set: NULL where this build has none.  The one for
 * AVX-512 also needs VPOPCNTDQ, and gives way to the one for AVX2 where that is missing.
 */
const struct nd_hamming_kernels *nd_hamming_kernels(void);
const struct nd_hamming_kernels *nd_hamming_kernels_of(enum nd_isa isa);

extern const struct nd_hamming_kernels nd_hamming_scalar;
#if defined(__x86_64__)
extern const struct nd_hamming_kernels nd_hamming_avx2, nd_hamming_avx512;
#elif defined(__aarch64__)
extern const struct nd_hamming_kernels nd_hamming_neon;
#endif

#endif
