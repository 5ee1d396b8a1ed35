/* filter_avx2.c - the filter's kernels for AVX2 */
#include "simd/filter/filter_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

enum { PREFETCH_DISTANCE = 96 };

/* The parity of each of 8 words, as bit j. */
TARGET static inline __m256i parity_at(__m256i x, int j)
{
    const __m256i odd = _mm256_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0,
                                         1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0);

    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 8));
    x = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi32(x, 4)), _mm256_set1_epi32(15));
    x = _mm256_and_si256(_mm256_shuffle_epi8(odd, x), _mm256_set1_epi32(1));
    return _mm256_slli_epi32(x, j);
}

/* The halves of 8 values. */
TARGET static inline __m256i halves(const uint64_t *x, unsigned half)
{
    __m256 a = _mm256_loadu_ps((const float *)(const void *)x);
    __m256 b = _mm256_loadu_ps((const float *)(const void *)(x + 4));
    __m256 mixed = half ? _mm256_shuffle_ps(a, b, 0xDD) : _mm256_shuffle_ps(a, b, 0x88);

    return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xD8);
}

TARGET static void places(const struct nd_filter_code *code, const uint64_t *x, size_t n,
                          unsigned half, uint32_t *place)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256i word = halves(x + i, half), syndrome = _mm256_setzero_si256(), error;

        for (int j = 0; j < ND_FILTER_CHECKS; j++) {
            __m256i checked = _mm256_and_si256(word, _mm256_set1_epi32((int)code->check[j]));

            syndrome = _mm256_or_si256(syndrome, parity_at(checked, j));
        }
        error = _mm256_i32gather_epi32((const int *)(const void *)code->error, syndrome, 4);
        word = _mm256_srli_epi32(_mm256_xor_si256(word, error), ND_FILTER_CHECKS);
        _mm256_storeu_si256((__m256i *)(void *)(place + i), word);
    }
    nd_filter_scalar.places(code, x + i, n - i, half, place + i);
}

TARGET static size_t marked(const uint32_t *set, const uint32_t *place, size_t n, uint32_t *found)
{
    size_t count = 0, i = 0;

    for (; i < n && i < PREFETCH_DISTANCE; i++)
        _mm_prefetch((const char *)(set + place[i] / 32), _MM_HINT_T1);
    for (i = 0; i + 8 <= n; i += 8) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(place + i)), word;
        unsigned bits;

        for (size_t j = i + PREFETCH_DISTANCE; j < i + PREFETCH_DISTANCE + 8 && j < n; j++)
            _mm_prefetch((const char *)(set + place[j] / 32), _MM_HINT_T1);
        word = _mm256_i32gather_epi32((const int *)(const void *)set, _mm256_srli_epi32(at, 5), 4);
        at = _mm256_sub_epi32(_mm256_set1_epi32(31), _mm256_and_si256(at, _mm256_set1_epi32(31)));
        word = _mm256_sllv_epi32(word, at); /* the bit asked for goes to the sign */
        bits = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(word));
        for (; bits; bits &= bits - 1)
            found[count++] = (uint32_t)i + (uint32_t)__builtin_ctz(bits);
    }
    for (; i < n; i++) {
        found[count] = (uint32_t)i;
        count += set[place[i] / 32] >> place[i] % 32 & 1;
    }
    return count;
}

const struct nd_filter_kernels nd_filter_avx2 = {.places = places, .marked = marked};
#endif
