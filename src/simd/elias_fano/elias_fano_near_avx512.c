/* elias_fano_near_avx512.c - low bits of an Elias-Fano code near to some, with AVX-512, VBMI and VPOPCNTDQ
 *
 * Sixteen parts are 2 low_bits bytes, so sixteen after sixteen they lie alike: one permutation of
 * bytes brings each part to its lane, one shift its low bit to bit 0.  That is done once for all
 * probes; then an XOR, and a population count for each.  Few are near, so only the least of the counts
 * of twice sixteen parts and all probes is compared, and where it is low enough, each.
 */
#include "simd/elias_fano/elias_fano_kernels.h"
#include "simd/mask_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#define TARGET                                                                                     \
    __attribute__((                                                                                \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2,popcnt")))

/* A lane is 32 bits, of which the shift takes up to 7. */
enum { LOW_MAX = 25, LANES = 16, GROUP = 2 * LANES };

struct near_parts_avx512 {
    __m512i byte, shift, mask, most;
    __m512i value[ND_ELIAS_FANO_PROBES];
    unsigned bit, bits;
};

TARGET static inline __attribute__((always_inline)) struct near_parts_avx512
parts_of(const struct nd_elias_fano_run *run, const struct nd_elias_fano_probes *probes, unsigned n)
{
    struct near_parts_avx512 p;
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i lowest =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
    /* where each lane's part begins, in its lower 16 bits; of that byte and the three behind it the
     * numbers */
    __m512i at;

    p.bit = (unsigned)(run->first * run->low_bits % 8);
    p.bits = run->low_bits;
    at = _mm512_add_epi32(_mm512_mullo_epi16(lane, _mm512_set1_epi32((int)p.bits)),
                          _mm512_set1_epi32((int)p.bit));
    p.byte = _mm512_add_epi32(_mm512_shuffle_epi8(_mm512_srli_epi32(at, 3), lowest),
                              _mm512_set1_epi32(0x03020100));
    p.shift = _mm512_and_si512(at, _mm512_set1_epi32(7));
    p.mask = _mm512_set1_epi32((1 << p.bits) - 1);
    p.most = _mm512_set1_epi32((int)probes->distance);
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i++)
        p.value[i] = _mm512_set1_epi32((int)(probes->value[i] & UINT32_MAX));
    return p;
}

/* n <= 16 parts from a byte on, each at the lowest bits of its lane, and 0 behind them.  No more than
 * 8 bytes are read from where the last one begins. */
TARGET static inline __attribute__((always_inline)) __m512i
load(const struct near_parts_avx512 *p, const unsigned char *byte, unsigned n)
{
    unsigned bytes = (p->bit + (n - 1) * p->bits) / 8 + 4;
    __m512i x = _mm512_maskz_loadu_epi8(~UINT64_C(0) >> (64 - bytes), byte);

    return _mm512_srlv_epi32(_mm512_permutexvar_epi8(p->byte, x), p->shift);
}

/* In how many bits each part differs from a probe. */
TARGET static inline __attribute__((always_inline)) __m512i
differ(const struct near_parts_avx512 *p, __m512i x, unsigned probe)
{
    /* (x ^ value) & mask */
    return _mm512_popcnt_epi32(_mm512_ternarylogic_epi32(x, p->value[probe], p->mask, 0x28));
}

/* 32 parts, of which `left` count, from number j on: those that are near to a probe. */
TARGET static inline __attribute__((always_inline)) size_t
list_near(const struct near_parts_avx512 *p, const __m512i *x, size_t left, size_t j,
          unsigned probes, uint32_t *found)
{
    const uint32_t some = left < GROUP ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
    uint32_t near[ND_ELIAS_FANO_PROBES], all = 0;
    size_t n = 0;

#pragma GCC unroll 4
    for (unsigned i = 0; i < probes; i++) {
        near[i] = nd_mask_bits(_mm512_cmple_epu32_mask(differ(p, x[1], i), p->most)) << LANES;
        near[i] |= nd_mask_bits(_mm512_cmple_epu32_mask(differ(p, x[0], i), p->most));
        all |= near[i];
    }
    for (all &= some; all; all &= all - 1) {
        unsigned bit = (unsigned)__builtin_ctz(all);

#pragma GCC unroll 4
        for (unsigned i = 0; i < probes; i++)
            if (near[i] >> bit & 1)
                found[n++] = (uint32_t)(j + bit) * ND_ELIAS_FANO_PROBES + i;
    }
    return n;
}

/* Whether any part of 32 is near to any probe. */
TARGET static inline __attribute__((always_inline)) bool any_near(const struct near_parts_avx512 *p,
                                                                  const __m512i *x, unsigned probes)
{
    __m512i least = _mm512_min_epu32(differ(p, x[0], 0), differ(p, x[1], 0));

#pragma GCC unroll 4
    for (unsigned i = 1; i < probes; i++)
        least = _mm512_min_epu32(least, _mm512_min_epu32(differ(p, x[0], i), differ(p, x[1], i)));
    return _mm512_cmple_epu32_mask(least, p->most) != 0;
}

TARGET static inline __attribute__((always_inline)) size_t
near_to(const struct nd_elias_fano_run *run, const struct nd_elias_fano_probes *probes, unsigned k,
        uint32_t *found)
{
    const unsigned char *byte = (const unsigned char *)run->low + run->first * run->low_bits / 8;
    const struct near_parts_avx512 p = parts_of(run, probes, k);
    size_t n = 0, j = 0;
    __m512i x[2];

    for (; j + GROUP <= run->count; j += GROUP, byte += 4 * (size_t)p.bits) {
        x[0] = load(&p, byte, LANES);
        x[1] = load(&p, byte + 2 * (size_t)p.bits, LANES);
        if (any_near(&p, x, k))
            n += list_near(&p, x, GROUP, j, k, found + n);
    }
    if (j < run->count) {
        unsigned left = (unsigned)(run->count - j);

        x[0] = load(&p, byte, left < LANES ? left : LANES);
        x[1] = left > LANES ? load(&p, byte + 2 * (size_t)p.bits, left - LANES) : x[0];
        if (any_near(&p, x, k))
            n += list_near(&p, x, left, j, k, found + n);
    }
    return n;
}

TARGET size_t nd_elias_fano_near_avx512(const struct nd_elias_fano_run *run,
                                        const struct nd_elias_fano_probes *probes, uint32_t *found)
{
    if (run->low_bits > LOW_MAX)
        return nd_elias_fano_near_avx2(run, probes, found);
    switch (probes->n) { /* each compiled for itself */
    case 1: return near_to(run, probes, 1, found);
    case 2: return near_to(run, probes, 2, found);
    case 3: return near_to(run, probes, 3, found);
    default: return near_to(run, probes, 4, found);
    }
}
#endif
