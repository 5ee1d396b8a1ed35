/* band_filter_avx512.c - looking through rows by a filter, with AVX-512 F and DQ: eight bands at a time
 */
#include "simd/band_filter.h"
#include "simd/mask_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2")))

enum { LANES = 8, MAX_BANDS = 128 };

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

TARGET size_t nd_band_filter_avx512(const struct nd_key_words *filter,
                                    const struct nd_low_bands *bands, const uint8_t *const *low,
                                    size_t n, uint32_t *found)
{
    const __m512i kept = _mm512_set1_epi64((int64_t)nd_band_mask(bands->rows));
    const __m512i n_words = _mm512_set1_epi64((int64_t)filter->n);
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i begin = _mm512_mullo_epi64(lane, _mm512_set1_epi64(bands->rows));
    const unsigned vectors = (bands->bands + LANES - 1) / LANES;
    __m512i table[MAX_BANDS / LANES];
    size_t count = 0;

    for (unsigned v = 0; v < vectors; v++)
        table[v] = _mm512_mullo_epi64(_mm512_add_epi64(lane, _mm512_set1_epi64((int64_t)LANES * v)),
                                      _mm512_set1_epi64((int64_t)ND_KEY_FACTOR));
    for (size_t i = 0; i < n; i++) {
        unsigned left = bands->bands, hits = 0;

        for (unsigned v = 0; v < vectors; v++, left -= LANES) {
            __mmask8 in = (__mmask8)(left < LANES ? (1u << left) - 1 : 0xFFu);
            const uint8_t *from = low[i] + (size_t)LANES * v * bands->rows;
            __m512i key, bits, words;

            key = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), in, begin, from, 1);
            key = key_of(_mm512_and_si512(key, kept), table[v]);
            bits = bits_of(key);
            words = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), in, word_of(key, n_words),
                                                filter->word, 8);
            hits |= nd_mask_bits(
                _mm512_mask_testn_epi64_mask(in, _mm512_andnot_si512(words, bits), bits));
        }
        found[count] = (uint32_t)i;
        count += hits != 0;
    }
    return count;
}
#endif
