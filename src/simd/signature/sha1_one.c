/* sha1_one.c - the compression function of SHA-1 of one message by the SHA instructions
 *
 * Four rounds an instruction.  The words of a vector stand highest first.
 */
#include "simd/signature/signature_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("sha,sse4.1")))

enum { HIGHEST_FIRST = 0x1B, GROUPS = 20 };

TARGET static inline __m128i load(const uint32_t *word)
{
    return _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)word), HIGHEST_FIRST);
}

/* The choice of the function and its constant is part of the instruction. */
TARGET static inline __attribute__((always_inline)) __m128i four_rounds(__m128i abcd, __m128i e,
                                                                        int kind)
{
    switch (kind) {
    case 0: return _mm_sha1rnds4_epu32(abcd, e, 0);
    case 1: return _mm_sha1rnds4_epu32(abcd, e, 1);
    case 2: return _mm_sha1rnds4_epu32(abcd, e, 2);
    default: return _mm_sha1rnds4_epu32(abcd, e, 3);
    }
}

TARGET static void compress(uint32_t state[5], const uint32_t block[16])
{
    const __m128i first = load(state), e_first = _mm_set_epi32((int)state[4], 0, 0, 0);
    __m128i abcd = first, before = first, e, m[4];

    for (int k = 0; k < 4; k++)
        m[k] = load(block + 4 * k);
#pragma GCC unroll 20
    for (int g = 0; g < GROUPS; g++) {
        e = g ? _mm_sha1nexte_epu32(before, m[g & 3]) : _mm_add_epi32(e_first, m[0]);
        before = abcd;
        abcd = four_rounds(abcd, e, g / 5);
        if (g < GROUPS - 4)
            m[g & 3] = _mm_sha1msg2_epu32(
                _mm_xor_si128(_mm_sha1msg1_epu32(m[g & 3], m[(g + 1) & 3]), m[(g + 2) & 3]),
                m[(g + 3) & 3]);
    }
    e = _mm_sha1nexte_epu32(before, e_first);
    abcd = _mm_shuffle_epi32(_mm_add_epi32(abcd, first), HIGHEST_FIRST);
    _mm_storeu_si128((__m128i *)state, abcd);
    state[4] = (uint32_t)_mm_extract_epi32(e, 3);
}

void nd_sha1_one(uint32_t state[5], const uint32_t block[16])
{
    if (nd_isa_has_sha())
        compress(state, block);
    else
        nd_signature_scalar.sha1_one(state, block);
}
#endif
