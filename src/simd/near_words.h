/* near_words.h - which of eight words have few bits, with AVX2 */
#ifndef ND_SIMD_NEAR_WORDS_H
#define ND_SIMD_NEAR_WORDS_H

#if defined(__x86_64__)
#include <immintrin.h>

#define ND_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

enum { ND_BITS_CLEARED = 3 };

/* Bits of each byte, by its halves: a table of 16 looked up twice (Mula). */
ND_TARGET static inline __m256i nd_byte_counts(__m256i x)
{
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);

    return _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
}

/*
 * All ones where eight words have at most `distance` bits.  Up to 3 bits are cleared one by one, the
 * lowest first, which is cheaper than to count them; above 3 `most` is the distance + 1.
 */
ND_TARGET static inline __attribute__((always_inline)) __m256i
nd_near_words(__m256i x, unsigned distance, __m256i most)
{
    __m256i pairs, bits;

    if (distance <= ND_BITS_CLEARED) {
        for (unsigned k = 0; k < distance; k++)
            x = _mm256_and_si256(x, _mm256_add_epi32(x, _mm256_set1_epi32(-1)));
        return _mm256_cmpeq_epi32(x, _mm256_setzero_si256());
    }
    pairs = _mm256_maddubs_epi16(nd_byte_counts(x), _mm256_set1_epi8(1));
    bits = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    return _mm256_cmpgt_epi32(most, bits);
}

#undef ND_TARGET
#endif
#endif
