/* band_filter_avx2.c - looking through rows by a filter, with AVX2: four bands at a time */
#include "simd/filter/band_filter.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2")))

enum { LANES = 4, MAX_BANDS = 128 };

/* The lower 64 bits of each product. */
TARGET static inline __m256i product(__m256i a, uint64_t factor)
{
    const __m256i b = _mm256_set1_epi64x((int64_t)factor);
    __m256i high = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xB1)); /* of the two mixed ones */

    high =
        _mm256_add_epi64(_mm256_slli_epi64(high, 32),
                         _mm256_and_si256(high, _mm256_set1_epi64x((int64_t)0xFFFFFFFF00000000)));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), high);
}

/* nd_key_of_band of each lane; `table` is the part that the bands give. */
TARGET static inline __m256i key_of(__m256i low, __m256i table)
{
    low = product(_mm256_xor_si256(low, _mm256_srli_epi64(low, 32)), ND_KEY_FACTOR);
    return _mm256_andnot_si256(_mm256_set1_epi64x(1), _mm256_xor_si256(low, table));
}

/* nd_key_word of each lane. */
TARGET static inline __m256i word_of(__m256i key, __m256i n)
{
    return _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(key, 32), n), 32);
}

/* The bit that the lowest six bits of each lane mean. */
TARGET static inline __m256i bit_of(__m256i place)
{
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1),
                             _mm256_and_si256(place, _mm256_set1_epi64x(63)));
}

/* nd_key_bits of each lane. */
TARGET static inline __m256i bits_of(__m256i key)
{
    return _mm256_or_si256(
        _mm256_or_si256(bit_of(_mm256_srli_epi64(key, 8)), bit_of(_mm256_srli_epi64(key, 14))),
        _mm256_or_si256(bit_of(_mm256_srli_epi64(key, 20)), bit_of(_mm256_srli_epi64(key, 26))));
}

/* All ones in the lanes whose bits are all set. */
TARGET static inline __m256i are_set(__m256i words, __m256i bits)
{
    return _mm256_cmpeq_epi64(_mm256_andnot_si256(words, bits), _mm256_setzero_si256());
}

/* The words at these places, in steps of bytes or of words; 0 in the lanes that are not `in`. */
TARGET static inline __m256i bytes_at(const void *from, __m256i at, __m256i in)
{
    return _mm256_mask_i64gather_epi64(_mm256_setzero_si256(), from, at, in, 1);
}

TARGET static inline __m256i words_at(const void *from, __m256i at, __m256i in)
{
    return _mm256_mask_i64gather_epi64(_mm256_setzero_si256(), from, at, in, 8);
}

TARGET size_t nd_band_filter_avx2(const struct nd_key_words *filter,
                                  const struct nd_low_bands *bands, const uint8_t *const *low,
                                  size_t n, uint32_t *found)
{
    const __m256i kept = _mm256_set1_epi64x((int64_t)nd_band_mask(bands->rows));
    const __m256i n_words = _mm256_set1_epi64x((int64_t)filter->n);
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i begin = product(lane, bands->rows);
    const unsigned vectors = (bands->bands + LANES - 1) / LANES;
    __m256i table[MAX_BANDS / LANES], in[MAX_BANDS / LANES];
    size_t count = 0;

    for (unsigned v = 0; v < vectors; v++) {
        __m256i band = _mm256_add_epi64(lane, _mm256_set1_epi64x((int64_t)LANES * v));

        table[v] = product(band, ND_KEY_FACTOR);
        in[v] = _mm256_cmpgt_epi64(_mm256_set1_epi64x(bands->bands), band);
    }
    for (size_t i = 0; i < n; i++) {
        __m256i hits = _mm256_setzero_si256();

        for (unsigned v = 0; v < vectors; v++) {
            __m256i key = bytes_at(low[i] + (size_t)LANES * v * bands->rows, begin, in[v]), words;

            key = key_of(_mm256_and_si256(key, kept), table[v]);
            words = words_at(filter->word, word_of(key, n_words), in[v]);
            hits = _mm256_or_si256(hits, _mm256_and_si256(in[v], are_set(words, bits_of(key))));
        }
        found[count] = (uint32_t)i;
        count += !_mm256_testz_si256(hits, hits);
    }
    return count;
}
#endif
