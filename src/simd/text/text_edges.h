/* text_edges.h - from the bits of edges to their places, for processors without VBMI2 */
#ifndef ND_SIMD_TEXT_TEXT_EDGES_H
#define ND_SIMD_TEXT_TEXT_EDGES_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

/* The places of the set bits of each byte, one in each byte of the entry. */
#define ND_BIT(b, k) ((b) >> (k)&1)
#define ND_RANK(b, k)                                                                              \
    (((k) > 0 ? ND_BIT(b, 0) : 0) + ((k) > 1 ? ND_BIT(b, 1) : 0) + ((k) > 2 ? ND_BIT(b, 2) : 0) +  \
     ((k) > 3 ? ND_BIT(b, 3) : 0) + ((k) > 4 ? ND_BIT(b, 4) : 0) + ((k) > 5 ? ND_BIT(b, 5) : 0) +  \
     ((k) > 6 ? ND_BIT(b, 6) : 0))
#define ND_PLACE(b, k) (ND_BIT(b, k) ? UINT64_C(k) << 8 * ND_RANK(b, k) : 0)
#define ND_PLACES(b)                                                                               \
    (ND_PLACE(b, 0) | ND_PLACE(b, 1) | ND_PLACE(b, 2) | ND_PLACE(b, 3) | ND_PLACE(b, 4) |          \
     ND_PLACE(b, 5) | ND_PLACE(b, 6) | ND_PLACE(b, 7))
#define ND_PLACES_4(b) ND_PLACES(b), ND_PLACES((b) + 1), ND_PLACES((b) + 2), ND_PLACES((b) + 3)
#define ND_PLACES_16(b)                                                                            \
    ND_PLACES_4(b), ND_PLACES_4((b) + 4), ND_PLACES_4((b) + 8), ND_PLACES_4((b) + 12)
#define ND_PLACES_64(b)                                                                            \
    ND_PLACES_16(b), ND_PLACES_16((b) + 16), ND_PLACES_16((b) + 32), ND_PLACES_16((b) + 48)

static const uint64_t nd_bit_places[256] = {ND_PLACES_64(0), ND_PLACES_64(64), ND_PLACES_64(128),
                                            ND_PLACES_64(192)};

/*
 * Write base + the place of each set bit; returns their number.  A byte of the bits at a time, by
 * table: no branch, and no chain from one edge to the next.  Up to 8 numbers beyond are
 * overwritten.
 */
__attribute__((target("avx2,bmi,bmi2,popcnt"))) static inline size_t
nd_write_edges(uint64_t bits, size_t base, uint16_t *edge)
{
    size_t count = 0;

    for (size_t k = 0; k < 64; k += 8, bits >>= 8) {
        __m128i places = _mm_loadl_epi64((const __m128i *)&nd_bit_places[bits & 255]);

        _mm_storeu_si128(
            (__m128i *)(edge + count),
            _mm_add_epi16(_mm_cvtepu8_epi16(places), _mm_set1_epi16((short)(base + k))));
        count += (size_t)_mm_popcnt_u64(bits & 255);
    }
    return count;
}

#endif
#endif
