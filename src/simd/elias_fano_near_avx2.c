/* elias_fano_near_avx2.c - low bits of an Elias-Fano code near to some, with AVX2 and POPCNT
 *
 * Eight parts are low_bits bytes, so eight after eight they lie alike: four of them are within 16
 * bytes, one shuffle brings each to its lane, and one shift its low bit to bit 0.
 */
#include "simd/elias_fano.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "simd/near_words.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* A lane is 32 bits, and a load of one part 64, of which the shift takes up to 7. */
enum { LANE_MAX = 25, LOW_MAX = 57, LANES = 8, FEW = 14 };

struct parts {
    __m256i byte, shift, mask, value, most;
    size_t second; /* where the 16 bytes of the last four begin, from those of the first four on */
};

TARGET static inline struct parts parts_of(const struct nd_elias_fano_run *run, uint64_t value,
                                           unsigned distance)
{
    const unsigned bits = run->low_bits, bit = (unsigned)(run->first * bits % 8);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i lowest = _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 0,
                                            0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    /* where each lane's part begins; of that byte and the three behind it the numbers */
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(lane, _mm256_set1_epi32((int)bits)),
                                  _mm256_set1_epi32((int)bit));
    struct parts p = {.second = (bit + 4 * bits) / 8};
    __m256i from =
        _mm256_blend_epi32(_mm256_setzero_si256(), _mm256_set1_epi32((int)p.second), 0xF0);

    p.byte = _mm256_shuffle_epi8(_mm256_sub_epi32(_mm256_srli_epi32(at, 3), from), lowest);
    p.byte = _mm256_add_epi32(p.byte, _mm256_set1_epi32(0x03020100));
    p.shift = _mm256_and_si256(at, _mm256_set1_epi32(7));
    p.mask = _mm256_set1_epi32((1 << bits) - 1);
    p.value = _mm256_set1_epi32((int)(value & UINT32_MAX));
    p.most = _mm256_set1_epi32((int)distance + 1);
    return p;
}

/* Which of eight parts from a byte on are near. */
TARGET static inline __attribute__((always_inline)) unsigned
eight_near(const struct parts *p, const unsigned char *byte, unsigned distance)
{
    const __m128i *first = (const __m128i *)(const void *)byte;
    const __m128i *second = (const __m128i *)(const void *)(byte + p->second);
    __m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)),
                                        _mm_loadu_si128(second), 1);

    x = _mm256_srlv_epi32(_mm256_shuffle_epi8(x, p->byte), p->shift);
    x = _mm256_and_si256(_mm256_xor_si256(x, p->value), p->mask);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(nd_near_words(x, distance, p->most)));
}

/* The parts from number j on, one by one; n are found so far. */
TARGET static size_t near_one_by_one(const struct nd_elias_fano_run *run, size_t j, uint64_t value,
                                     unsigned distance, uint32_t *found, size_t n)
{
    const uint64_t mask = (UINT64_C(1) << run->low_bits) - 1;
    uint64_t bit = (run->first + j) * run->low_bits;

    for (; j < run->count; j++, bit += run->low_bits) {
        uint64_t part;

        memcpy(&part, (const char *)run->low + bit / 8, sizeof part);
        found[n] = (uint32_t)j;
        n += (unsigned)__builtin_popcountll((part >> bit % 8 ^ value) & mask) <= distance;
    }
    return n;
}

/* Only 8 bytes are surely readable from the last part on, and 16 are read from the fifth of eight,
 * so that eight are taken while the last part begins 64 bits behind that one. */
TARGET static inline __attribute__((always_inline)) size_t
near_within(const struct nd_elias_fano_run *run, uint64_t value, unsigned distance, uint32_t *found)
{
    const struct parts p = parts_of(run, value, distance);
    const unsigned char *byte = (const unsigned char *)run->low + run->first * run->low_bits / 8;
    size_t behind = 5 + (64 + run->low_bits - 1) / run->low_bits, n = 0, j = 0;

    behind = behind < LANES ? LANES : behind;
    for (; j + behind <= run->count; j += LANES, byte += run->low_bits)
        for (unsigned near = eight_near(&p, byte, distance); near; near &= near - 1)
            found[n++] = (uint32_t)j + (unsigned)__builtin_ctz(near);
    return near_one_by_one(run, j, value, distance, found, n);
}

TARGET size_t nd_elias_fano_near_avx2(const struct nd_elias_fano_run *run, uint64_t value,
                                      unsigned distance, uint32_t *found)
{
    if (run->low_bits > LOW_MAX)
        return nd_elias_fano_near_scalar(run, value, distance, found);
    if (run->low_bits > LANE_MAX || run->low_bits == 0 || run->count < FEW)
        return near_one_by_one(run, 0, value, distance, found, 0);
    switch (distance) { /* the cheap ones, each compiled for itself */
    case 1: return near_within(run, value, 1, found);
    case 2: return near_within(run, value, 2, found);
    case 3: return near_within(run, value, 3, found);
    default: return near_within(run, value, distance, found);
    }
}
#endif
