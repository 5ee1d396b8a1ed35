/* elias_fano_near_avx512.c - low bits of an Elias-Fano code near to some, with AVX-512, VBMI and VPOPCNTDQ
 *
 * Sixteen parts are 2 low_bits bytes, so sixteen after sixteen they lie alike: one permutation of
 * bytes brings each part to its lane, one shift its low bit to bit 0; then an XOR, a population
 * count and a comparison.  Few are near, so twice sixteen are looked at before anything is listed.
 */
#include "simd/elias_fano.h"
#include "simd/mask_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((                                                                                \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2,popcnt")))

/* A lane is 32 bits, of which the shift takes up to 7. */
enum { LOW_MAX = 25, LANES = 16, GROUP = 2 };

struct parts {
    __m512i byte, shift, mask, value, most;
    unsigned bit, bits;
};

TARGET static struct parts parts_of(const struct nd_elias_fano_run *run, uint64_t value,
                                    unsigned distance)
{
    struct parts p = {.bit = (unsigned)(run->first * run->low_bits % 8), .bits = run->low_bits};
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    /* where each lane's part begins; of that byte and the three behind it the numbers */
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32((int)p.bits)),
                                  _mm512_set1_epi32((int)p.bit));

    p.byte = _mm512_add_epi32(
        _mm512_mullo_epi32(_mm512_srli_epi32(at, 3), _mm512_set1_epi32(0x01010101)),
        _mm512_set1_epi32(0x03020100));
    p.shift = _mm512_and_si512(at, _mm512_set1_epi32(7));
    p.mask = _mm512_set1_epi32((1 << p.bits) - 1);
    p.value = _mm512_set1_epi32((int)value);
    p.most = _mm512_set1_epi32((int)distance);
    return p;
}

/* Which of the sixteen parts in these bytes are near. */
TARGET static inline __mmask16 near_of(const struct parts *p, __m512i bytes)
{
    __m512i low = _mm512_srlv_epi32(_mm512_permutexvar_epi8(p->byte, bytes), p->shift);

    low = _mm512_ternarylogic_epi32(low, p->value, p->mask, 0x28); /* (low ^ value) & mask */
    return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(low), p->most);
}

/* The bytes that n <= 16 parts are made of; no more than 8 from where the last one begins. */
TARGET static inline __m512i load(const struct parts *p, const unsigned char *byte, unsigned n)
{
    unsigned bytes = (p->bit + (n - 1) * p->bits) / 8 + 4;

    return _mm512_maskz_loadu_epi8(~UINT64_C(0) >> (64 - bytes), byte);
}

TARGET size_t nd_elias_fano_near_avx512(const struct nd_elias_fano_run *run, uint64_t value,
                                        unsigned distance, uint32_t *found)
{
    const unsigned char *byte = (const unsigned char *)run->low + run->first * run->low_bits / 8;
    struct parts p;
    size_t n = 0, j = 0;

    if (run->low_bits > LOW_MAX)
        return nd_elias_fano_near_avx2(run, value, distance, found);
    p = parts_of(run, value, distance);
    while (j < run->count) {
        size_t left = run->count - j;
        uint32_t near = 0;

        if (left >= GROUP * LANES) {
            for (unsigned i = 0; i < GROUP; i++, byte += 2 * p.bits)
                near |= nd_mask_bits(near_of(&p, load(&p, byte, LANES))) << i * LANES;
        } else {
            unsigned some = left < LANES ? (unsigned)left : LANES;

            near = nd_mask_bits(near_of(&p, load(&p, byte, some))) & (0xFFFFu >> (LANES - some));
            byte += 2 * p.bits;
        }
        for (uint32_t bits = near; bits; bits &= bits - 1)
            found[n++] = (uint32_t)j + (uint32_t)__builtin_ctz(bits);
        j += left >= GROUP * LANES ? GROUP * LANES : LANES;
    }
    return n;
}
#endif
