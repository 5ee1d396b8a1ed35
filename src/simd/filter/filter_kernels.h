/* filter_kernels.h - the hot loops of letting few of a stream of fingerprints pass */
#ifndef ND_SIMD_FILTER_FILTER_KERNELS_H
#define ND_SIMD_FILTER_FILTER_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "simd/instruction_set.h"

/* The perfect [31, 26] Hamming code: what its checks are made of, and which bit a syndrome means.
 */
enum { ND_FILTER_CHECKS = 5 };
struct nd_filter_code {
    uint32_t check[ND_FILTER_CHECKS]; /* bit j of the syndrome is the parity of word & check[j] */
    uint32_t error[1 << ND_FILTER_CHECKS];
};

/* All tables give the same results; the scalar one is the definition. */
struct nd_filter_kernels {
    /*
     * place[i] of the half of x[i], the lower (0) or the upper one (1): bits 5 … 30 of the code
     * word nearest to the half's low 31 bits, and above them the half's bit 31.
     */
    void (*places)(const struct nd_filter_code *code, const uint64_t *x, size_t n, unsigned half,
                   uint32_t *place);

    /*
     * The numbers i < n whose bit in the set is 1, in order: bit place[i] % 32 of word
     * place[i] / 32.  Returns how many; `found` holds n.  place[i] < 2^32.
     */
    size_t (*marked)(const uint32_t *set, const uint32_t *place, size_t n, uint32_t *found);
};

/*
 * The table in use, and the one of an instruction set: NULL where this build has none.  The one for
 * AVX-512 also needs VPOPCNTDQ, and gives way to the one for AVX2 where that is missing; NEON has
 * no way to look up more than one place at once, and takes the scalar one.
 */
const struct nd_filter_kernels *nd_filter_kernels(void);
const struct nd_filter_kernels *nd_filter_kernels_of(enum nd_isa isa);

extern const struct nd_filter_kernels nd_filter_scalar;
#if defined(__x86_64__)
extern const struct nd_filter_kernels nd_filter_avx2, nd_filter_avx512;
#endif

#endif
