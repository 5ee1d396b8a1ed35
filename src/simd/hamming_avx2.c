/* hamming_avx2.c - the Hamming kernels for AVX2 and POPCNT */
#include "simd/hamming_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Bits of each byte, by its halves: a table of 16 looked up twice (Mula). */
TARGET static inline __m256i byte_counts(__m256i x)
{
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);

    return _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
}

/* Which of 8 words have at most `most` bits, as 8 bits. */
TARGET static inline unsigned words_within(__m256i x, __m256i most)
{
    __m256i pairs = _mm256_maddubs_epi16(byte_counts(x), _mm256_set1_epi8(1));
    __m256i bits = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    __m256i above = _mm256_cmpgt_epi32(bits, most);

    return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(above)) & 0xFFu;
}

TARGET static size_t lines(const struct nd_hamming_line *const *line, const uint32_t *value,
                           size_t n, unsigned distance, struct nd_hamming_found *found)
{
    const __m256i most = _mm256_set1_epi32((int)distance);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const __m256i *half = (const __m256i *)(const void *)line[i];
        __m256i v = _mm256_set1_epi32((int)value[i]);
        uint32_t last = line[i]->word[15];
        unsigned taken = (1u << (last & 15)) - 1, more = last > 15;
        unsigned slots = words_within(_mm256_xor_si256(_mm256_load_si256(half), v), most);

        slots |= words_within(_mm256_xor_si256(_mm256_load_si256(half + 1), v), most) << 8;
        slots &= taken;
        found[count] = (struct nd_hamming_found){(uint32_t)i, (uint16_t)slots, (uint16_t)more};
        count += (slots | more) != 0;
    }
    return count;
}

TARGET static size_t rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                          unsigned distance, uint32_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++, row += words) {
        unsigned bits = 0;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)__builtin_popcountll(row[w] ^ query[w]);
        found[count] = (uint32_t)i;
        count += bits <= distance;
    }
    return count;
}

/* Which of 4 values differ from v in at most `most` bits, as 4 bits. */
TARGET static inline unsigned values_within(const uint64_t *value, __m256i v, __m256i most)
{
    __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)value), v);
    __m256i bits = _mm256_sad_epu8(byte_counts(x), _mm256_setzero_si256());
    __m256i above = _mm256_cmpgt_epi64(bits, most);

    return ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(above)) & 15u;
}

TARGET static size_t next(const uint64_t *value, size_t n, size_t end, size_t gap,
                          unsigned distance, struct nd_hamming_found *found)
{
    const __m256i most = _mm256_set1_epi64x(distance);
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 + gap < end; i++) {
        size_t first = i + 1 + gap;
        __m256i v = _mm256_set1_epi64x((long long)value[i]);
        unsigned slots =
            values_within(value + first, v, most) | values_within(value + first + 4, v, most) << 4;

        if (first + 8 > end)
            slots &= (1u << (end - first)) - 1;
        found[count] = (struct nd_hamming_found){(uint32_t)i, (uint16_t)slots, 0};
        count += slots != 0;
    }
    return count;
}

TARGET static void store_line(void *to, const void *from)
{
    const __m256i *half = from;
    __m256i *place = to;

    _mm256_stream_si256(place, _mm256_loadu_si256(half));
    _mm256_stream_si256(place + 1, _mm256_loadu_si256(half + 1));
}

static void fence(void)
{
    _mm_sfence();
}

const struct nd_hamming_kernels nd_hamming_avx2 = {
    .lines = lines, .rows = rows, .next = next, .store_line = store_line, .fence = fence};
#endif
