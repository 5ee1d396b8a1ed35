/* elias_fano_near_avx2.c - low bits of an Elias-Fano code near to some, with AVX2 and POPCNT
 *
 * Eight parts are low_bits bytes, so eight after eight they lie alike: four of them are within 16
 * bytes, one shuffle brings each to its lane, and one shift its low bit to bit 0.
 */
#include "simd/elias_fano/elias_fano_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "simd/near_words.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* A lane is 32 bits, and a load of one part 64, of which the shift takes up to 7. */
enum { LANE_MAX = 25, LOW_MAX = 57, LANES = 8, FEW = 14 };

struct near_parts_avx2 {
    __m256i byte, shift, mask, most;
    __m256i value[ND_ELIAS_FANO_PROBES];
    size_t second; /* where the 16 bytes of the last four begin, from those of the first four on */
};

TARGET static inline struct near_parts_avx2 parts_of(const struct nd_elias_fano_run *run,
                                                     const struct nd_elias_fano_probes *probes)
{
    const unsigned bits = run->low_bits, bit = (unsigned)(run->first * bits % 8);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i lowest = _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 0,
                                            0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    /* where each lane's part begins; of that byte and the three behind it the numbers */
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(lane, _mm256_set1_epi32((int)bits)),
                                  _mm256_set1_epi32((int)bit));
    struct near_parts_avx2 p = {.second = (bit + 4 * bits) / 8};
    __m256i from =
        _mm256_blend_epi32(_mm256_setzero_si256(), _mm256_set1_epi32((int)p.second), 0xF0);

    p.byte = _mm256_shuffle_epi8(_mm256_sub_epi32(_mm256_srli_epi32(at, 3), from), lowest);
    p.byte = _mm256_add_epi32(p.byte, _mm256_set1_epi32(0x03020100));
    p.shift = _mm256_and_si256(at, _mm256_set1_epi32(7));
    p.mask = _mm256_set1_epi32((1 << bits) - 1);
    p.most = _mm256_set1_epi32((int)probes->distance + 1);
    for (unsigned i = 0; i < probes->n; i++)
        p.value[i] = _mm256_set1_epi32((int)(probes->value[i] & UINT32_MAX));
    return p;
}

/* Eight parts from a byte on, each at the lowest bits of its lane, and what is behind it. */
TARGET static inline __attribute__((always_inline)) __m256i load(const struct near_parts_avx2 *p,
                                                                 const unsigned char *byte)
{
    const __m128i *first = (const __m128i *)(const void *)byte;
    const __m128i *second = (const __m128i *)(const void *)(byte + p->second);
    __m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)),
                                        _mm_loadu_si128(second), 1);

    return _mm256_srlv_epi32(_mm256_shuffle_epi8(x, p->byte), p->shift);
}

/* Which of them are near to a probe. */
TARGET static inline __attribute__((always_inline)) __m256i
near_of(const struct near_parts_avx2 *p, __m256i x, unsigned probe, unsigned distance)
{
    x = _mm256_and_si256(_mm256_xor_si256(x, p->value[probe]), p->mask);
    return nd_near_words(x, distance, p->most);
}

/* List eight parts, from number j on, that are near to a probe. */
TARGET static __attribute__((noinline)) size_t list_near(const struct near_parts_avx2 *p, __m256i x,
                                                         size_t j,
                                                         const struct nd_elias_fano_probes *probes,
                                                         uint32_t *found)
{
    unsigned near[ND_ELIAS_FANO_PROBES], all = 0;
    size_t n = 0;

    for (unsigned i = 0; i < probes->n; i++) {
        __m256i is_near = near_of(p, x, i, probes->distance);

        near[i] = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_near));
        all |= near[i];
    }
    for (; all; all &= all - 1) {
        unsigned bit = (unsigned)__builtin_ctz(all);

        for (unsigned i = 0; i < probes->n; i++)
            if (near[i] >> bit & 1)
                found[n++] = (uint32_t)(j + bit) * ND_ELIAS_FANO_PROBES + i;
    }
    return n;
}

/* The parts from number j on, one by one. */
TARGET static size_t near_one_by_one(const struct nd_elias_fano_run *run, size_t j,
                                     const struct nd_elias_fano_probes *probes, uint32_t *found)
{
    const uint64_t mask = (UINT64_C(1) << run->low_bits) - 1;
    uint64_t bit = (run->first + j) * run->low_bits;
    size_t n = 0;

    for (; j < run->count; j++, bit += run->low_bits) {
        uint64_t part;

        memcpy(&part, (const char *)run->low + bit / 8, sizeof part);
        for (unsigned i = 0; i < probes->n; i++) {
            uint64_t differ = (part >> bit % 8 ^ probes->value[i]) & mask;

            found[n] = (uint32_t)j * ND_ELIAS_FANO_PROBES + i;
            n += (unsigned)__builtin_popcountll(differ) <= probes->distance;
        }
    }
    return n;
}

/* Only 8 bytes are surely readable from the last part on, and 16 are read from the fifth of eight,
 * so that eight are taken while the last part begins 64 bits behind that one. */
TARGET static inline __attribute__((always_inline)) size_t
near_within(const struct nd_elias_fano_run *run, const struct nd_elias_fano_probes *probes,
            unsigned k, unsigned distance, uint32_t *found)
{
    const struct near_parts_avx2 p = parts_of(run, probes);
    const unsigned char *byte = (const unsigned char *)run->low + run->first * run->low_bits / 8;
    size_t behind = 5 + (64 + run->low_bits - 1) / run->low_bits, n = 0, j = 0;

    behind = behind < LANES ? LANES : behind;
    for (; j + behind <= run->count; j += LANES, byte += run->low_bits) {
        const __m256i x = load(&p, byte);
        __m256i any = near_of(&p, x, 0, distance);

        for (unsigned i = 1; i < k; i++)
            any = _mm256_or_si256(any, near_of(&p, x, i, distance));
        if (_mm256_movemask_ps(_mm256_castsi256_ps(any)))
            n += list_near(&p, x, j, probes, found + n);
    }
    return n + near_one_by_one(run, j, probes, found + n);
}

/* The distances that are cheap, each compiled for itself. */
TARGET static inline __attribute__((always_inline)) size_t
near_to(const struct nd_elias_fano_run *run, const struct nd_elias_fano_probes *probes, unsigned k,
        uint32_t *found)
{
    switch (probes->distance) {
    case 1: return near_within(run, probes, k, 1, found);
    case 2: return near_within(run, probes, k, 2, found);
    case 3: return near_within(run, probes, k, 3, found);
    default: return near_within(run, probes, k, probes->distance, found);
    }
}

TARGET size_t nd_elias_fano_near_avx2(const struct nd_elias_fano_run *run,
                                      const struct nd_elias_fano_probes *probes, uint32_t *found)
{
    if (run->low_bits > LOW_MAX)
        return nd_elias_fano_near_scalar(run, probes, found);
    if (run->low_bits > LANE_MAX || run->low_bits == 0 || run->count < FEW)
        return near_one_by_one(run, 0, probes, found);
    switch (probes->n) { /* and so is each number of probes */
    case 1: return near_to(run, probes, 1, found);
    case 2: return near_to(run, probes, 2, found);
    case 3: return near_to(run, probes, 3, found);
    default: return near_to(run, probes, 4, found);
    }
}
#endif
