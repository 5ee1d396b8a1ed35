/* elias_fano_avx2.c - reading an Elias-Fano code with AVX2 and BMI
 *
 * The places of the ones are found one by one; the low parts of 4 values are gathered, each from
 * the byte in which it begins.
 */
#include "simd/elias_fano.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* The shift within the first byte takes up to 7 of a lane's 64 bits. */
enum { LOW_MAX = 57, PLACES = 256 };

/* Four values: their low parts, and the high ones as they are in `high`. */
TARGET static inline __m256i join(const struct nd_elias_fano_run *run, __m256i bit, __m256i high)
{
    const long long *base = (const long long *)(const void *)run->low;
    __m256i low = _mm256_i64gather_epi64(base, _mm256_srli_epi64(bit, 3), 1);

    low = _mm256_srlv_epi64(low, _mm256_and_si256(bit, _mm256_set1_epi64x(7)));
    low =
        _mm256_and_si256(low, _mm256_set1_epi64x((long long)((UINT64_C(1) << run->low_bits) - 1)));
    return _mm256_or_si256(low, _mm256_sll_epi64(high, _mm_cvtsi32_si128((int)run->low_bits)));
}

/* The values number i to i + n - 1 of the run, whose high parts out holds. */
TARGET static void join_high(const struct nd_elias_fano_run *run, size_t i, size_t n, uint64_t *out)
{
    const long long l = run->low_bits;
    __m256i bit = _mm256_add_epi64(_mm256_set1_epi64x((long long)(run->first + i) * l),
                                   _mm256_setr_epi64x(0, l, 2 * l, 3 * l));
    size_t j = 0;

    for (; j + 4 <= n; j += 4) {
        __m256i *at = (__m256i *)(void *)(out + j);

        _mm256_storeu_si256(at, join(run, bit, _mm256_loadu_si256(at)));
        bit = _mm256_add_epi64(bit, _mm256_set1_epi64x(4 * l));
    }
    for (; j < n; j++) {
        uint64_t from = (run->first + i + j) * run->low_bits;
        const char *byte = (const char *)run->low + from / 8;
        uint64_t part =
            (uint64_t)_mm_cvtsi128_si64(_mm_loadl_epi64((const __m128i *)(const void *)byte));

        out[j] = out[j] << run->low_bits | _bzhi_u64(part >> from % 8, run->low_bits);
    }
}

TARGET void nd_elias_fano_avx2(const struct nd_elias_fano_run *run, uint64_t *out)
{
    uint64_t word = run->place / 64, bits;
    size_t i = 0, done = 0;

    if (run->low_bits > LOW_MAX || run->count == 0) {
        nd_elias_fano_scalar(run, out);
        return;
    }
    bits = run->high[word] & ~UINT64_C(0) << run->place % 64;
    while (i < run->count) {
        size_t end = run->count - i < PLACES ? run->count : i + PLACES;

        for (uint64_t less = run->first + i; i < end; less++) {
            while (bits == 0)
                bits = run->high[++word];
            out[i++] = word * 64 + _tzcnt_u64(bits) - less;
            bits = _blsr_u64(bits);
        }
        join_high(run, done, i - done, out + done);
        done = i;
    }
}
#endif
