/* band_filter_avx512.c - looking through rows by a filter, with AVX-512: eight bands at a time */
#include "simd/filter/band_filter.h"
#include "simd/mask_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2")))
#define TARGET_VBMI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2")))

enum { LANES = 8, MAX_BANDS = 128, LOW_BYTES = 128 };

/* nd_key_of_band of each lane; `table` is the part that the bands give. */
TARGET static inline __m512i key_of(__m512i low, __m512i table)
{
    const __m512i factor = _mm512_set1_epi64((int64_t)ND_KEY_FACTOR);

    low = _mm512_mullo_epi64(_mm512_xor_si512(low, _mm512_srli_epi64(low, 32)), factor);
    return _mm512_andnot_si512(_mm512_set1_epi64(1), _mm512_xor_si512(low, table));
}

/* nd_key_word of each lane. */
TARGET static inline __m512i word_of(__m512i key, __m512i n)
{
    return _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(key, 32), n), 32);
}

/* The bit that the lowest six bits of each lane mean. */
TARGET static inline __m512i bit_of(__m512i place)
{
    return _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(place, _mm512_set1_epi64(63)));
}

/* nd_key_bits of each lane. */
TARGET static inline __m512i bits_of(__m512i key)
{
    return _mm512_or_si512(
        _mm512_or_si512(bit_of(_mm512_srli_epi64(key, 8)), bit_of(_mm512_srli_epi64(key, 14))),
        _mm512_or_si512(bit_of(_mm512_srli_epi64(key, 20)), bit_of(_mm512_srli_epi64(key, 26))));
}

/* Constants for all rows: eight bands a vector, and the share of their numbers in the keys. */
struct lane_plan {
    unsigned vectors;
    __mmask8 in[MAX_BANDS / LANES];
    __m512i table[MAX_BANDS / LANES];
};

TARGET static inline void make_plan(struct lane_plan *plan, const struct nd_low_bands *bands)
{
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);

    plan->vectors = (bands->bands + LANES - 1) / LANES;
    for (unsigned v = 0; v < plan->vectors; v++) {
        unsigned left = bands->bands - LANES * v;
        __m512i band = _mm512_add_epi64(lane, _mm512_set1_epi64((int64_t)LANES * v));

        plan->in[v] = (__mmask8)(left < LANES ? (1u << left) - 1 : 0xFFu);
        plan->table[v] = _mm512_mullo_epi64(band, _mm512_set1_epi64((int64_t)ND_KEY_FACTOR));
    }
}

/* Which of eight bands, given as numbers, the filter has. */
TARGET static inline unsigned look_up(const struct nd_key_words *filter,
                                      const struct lane_plan *plan, unsigned v, __m512i low)
{
    __m512i key = key_of(low, plan->table[v]), bits = bits_of(key);
    __m512i words = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), plan->in[v],
                                                word_of(key, _mm512_set1_epi64((int64_t)filter->n)),
                                                filter->word, 8);

    return nd_mask_bits(
        _mm512_mask_testn_epi64_mask(plan->in[v], _mm512_andnot_si512(words, bits), bits));
}

TARGET size_t nd_band_filter_avx512(const struct nd_key_words *filter,
                                    const struct nd_low_bands *bands, const uint8_t *const *low,
                                    size_t n, uint32_t *found)
{
    const __m512i kept = _mm512_set1_epi64((int64_t)nd_band_mask(bands->rows));
    const __m512i begin = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                             _mm512_set1_epi64(bands->rows));
    struct lane_plan plan;
    size_t count = 0;

    make_plan(&plan, bands);
    for (size_t i = 0; i < n; i++) {
        unsigned hits = 0;

        for (unsigned v = 0; v < plan.vectors; v++) {
            __m512i key = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), plan.in[v], begin,
                                                      low[i] + (size_t)LANES * v * bands->rows, 1);

            hits |= look_up(filter, &plan, v, _mm512_and_si512(key, kept));
        }
        found[count] = (uint32_t)i;
        count += hits != 0;
    }
    return count;
}

/* Eight bands of up to 8 rows lie within 64 bytes, from which one permutation brings each to its
 * lane. */
TARGET_VBMI size_t nd_band_filter_vbmi(const struct nd_key_words *filter,
                                       const struct nd_low_bands *bands, const uint8_t *const *low,
                                       size_t n, uint32_t *found)
{
    const unsigned rows = bands->rows;
    __mmask64 kept = 0, readable[MAX_BANDS / LANES];
    uint8_t from[64] = {0};
    struct lane_plan plan;
    size_t count = 0;
    __m512i order;

    if (rows > 8)
        return nd_band_filter_avx512(filter, bands, low, n, found);
    make_plan(&plan, bands);
    for (unsigned i = 0; i < LANES * rows; i++) {
        unsigned to = i / rows * 8 + i % rows;

        from[to] = (uint8_t)i;
        kept |= (__mmask64)1 << to;
    }
    order = _mm512_loadu_si512(from);
    for (unsigned v = 0; v < plan.vectors; v++) {
        unsigned left = LOW_BYTES - LANES * v * rows;

        readable[v] = left < 64 ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned hits = 0;

        for (unsigned v = 0; v < plan.vectors; v++) {
            __m512i bytes = _mm512_maskz_loadu_epi8(readable[v], low[i] + (size_t)LANES * v * rows);

            hits |= look_up(filter, &plan, v, _mm512_maskz_permutexvar_epi8(kept, order, bytes));
        }
        found[count] = (uint32_t)i;
        count += hits != 0;
    }
    return count;
}
#endif
