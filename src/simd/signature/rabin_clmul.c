/* rabin_clmul.c - Rabin's fingerprints by carry-less products, without a table
 *
 * a t^64 = q P + r, where q is the upper half of a times t^128 / P: exact, since what t^128 / P
 * leaves over is of degree below 64, and times a below 128 (Barrett 1986).  r is the lower half of
 * q P.
 */
#include "simd/signature/signature_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("pclmul,avx")))

/* The fingerprints of two words: a 1, the bytes, the first leading, and 64 zeroes. */
TARGET static inline __m128i two(__m128i word, __m128i polynomial, __m128i quotient)
{
    const __m128i swap = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    __m128i a = _mm_xor_si128(_mm_shuffle_epi8(word, swap), polynomial);
    __m128i q = _mm_xor_si128(a, _mm_unpackhi_epi64(_mm_clmulepi64_si128(a, quotient, 0x00),
                                                    _mm_clmulepi64_si128(a, quotient, 0x01)));

    return _mm_unpacklo_epi64(_mm_clmulepi64_si128(q, polynomial, 0x00),
                              _mm_clmulepi64_si128(q, polynomial, 0x01));
}

TARGET static void multiply(const struct nd_rabin *r, uint64_t *hash, size_t n)
{
    const __m128i polynomial = _mm_set1_epi64x((long long)r->polynomial);
    const __m128i quotient = _mm_set1_epi64x((long long)r->quotient);
    size_t i = 0;

    for (; n - i >= 2; i += 2)
        _mm_storeu_si128((__m128i *)(hash + i),
                         two(_mm_loadu_si128((const __m128i *)(hash + i)), polynomial, quotient));
    if (i < n)
        _mm_storel_epi64((__m128i *)(hash + i),
                         two(_mm_loadl_epi64((const __m128i *)(hash + i)), polynomial, quotient));
}

/* One step after the other; few instructions, so that those of several lists overlap. */
TARGET static uint64_t of_words(const struct nd_rabin *r, const uint64_t *word, size_t n)
{
    const __m128i polynomial = _mm_set1_epi64x((long long)r->polynomial);
    const __m128i quotient = _mm_set1_epi64x((long long)r->quotient);
    __m128i rest = polynomial; /* twice */

    for (size_t i = 0; i < n; i++) {
        __m128i a = _mm_xor_si128(rest, _mm_set1_epi64x((long long)__builtin_bswap64(word[i])));
        __m128i q = _mm_xor_si128(a, _mm_clmulepi64_si128(a, quotient, 0x00)); /* above */
        __m128i rests = _mm_clmulepi64_si128(q, polynomial, 0x01);

        rest = _mm_unpacklo_epi64(rests, rests);
    }
    return (uint64_t)_mm_cvtsi128_si64(rest);
}

uint64_t nd_rabin_of_words(const struct nd_rabin *r, const uint64_t *word, size_t n)
{
    return nd_isa_has_clmul() ? of_words(r, word, n) : nd_signature_scalar.rabin_words(r, word, n);
}

void nd_rabin_each(const struct nd_rabin *r, uint64_t *hash, size_t n)
{
    if (nd_isa_has_clmul())
        multiply(r, hash, n);
    else
        nd_signature_scalar.rabin(r, hash, n);
}
#endif
