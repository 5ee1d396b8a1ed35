/* signature_avx2.c - the signature kernels for AVX2 */
#include "simd/signature/signature_kernels.h"
#include "simd/sketch/sketch_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

typedef uint32_t sha1_word __attribute__((vector_size(32)));
#include "simd/signature/sha1_lanes.h"

typedef uint64_t lookup8_word __attribute__((vector_size(32)));
#include "simd/signature/lookup8_lanes.h"

enum { LANES32 = 8, LANES64 = 4, EIGHTHS = ND_WEIGHTED_BITS / LANES32, BLOCK = 256 };

TARGET static inline __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

TARGET static inline void store(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

/* x times a constant modulo 2^64: low * low + 2^32 (low * high + high * low). */
TARGET static inline __m256i multiply(__m256i x, uint64_t by)
{
    const __m256i low = _mm256_set1_epi64x((long long)(by & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((long long)(by >> 32));
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                     _mm256_mul_epu32(x, high));

    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(cross, 32));
}

/* nd_mix64 of four numbers. */
TARGET static inline __m256i mix_four(__m256i x)
{
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 30));
    x = multiply(x, UINT64_C(0xBF58476D1CE4E5B9));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 27));
    x = multiply(x, UINT64_C(0x94D049BB133111EB));
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 31));
}

TARGET static void mix(const uint64_t *value, size_t n, uint64_t add, uint64_t *out)
{
    const __m256i more = _mm256_set1_epi64x((long long)add);
    size_t i = 0;

    for (; n - i >= LANES64; i += LANES64)
        store(out + i, mix_four(_mm256_add_epi64(load(value + i), more)));
    nd_signature_scalar.mix(value + i, n - i, add, out + i);
}

/*
 * 64 counters of 32 bits.  A byte of the word is spread over eight lanes, each keeps its bit, and
 * where that is set the lane adds the weight: (ones) - (zeroes) = 2 (ones) - (all).
 */
TARGET static void weighted_block(const uint64_t *word, const int32_t *weight, size_t n,
                                  int64_t total, int64_t *sum)
{
    const __m256i bit[4] = {
        _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128),
        _mm256_setr_epi32(1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15),
        _mm256_setr_epi32(1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23),
        _mm256_setr_epi32(1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30, INT32_MIN),
    };
    const __m256i all = _mm256_set1_epi64x(total);
    __m256i ones[EIGHTHS];

    for (int e = 0; e < EIGHTHS; e++)
        ones[e] = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i++) {
        const __m256i w = _mm256_set1_epi32(weight[i]);
        const __m256i low = _mm256_set1_epi32((int)(uint32_t)word[i]);
        const __m256i high = _mm256_set1_epi32((int)(uint32_t)(word[i] >> 32));

#pragma GCC unroll 8
        for (int e = 0; e < EIGHTHS; e++) {
            __m256i mine = _mm256_and_si256(e < EIGHTHS / 2 ? low : high, bit[e % 4]);
            __m256i is_set = _mm256_cmpeq_epi32(mine, bit[e % 4]);

            ones[e] = _mm256_add_epi32(ones[e], _mm256_and_si256(is_set, w));
        }
    }
    for (int g = 0; g < ND_WEIGHTED_BITS / LANES64; g++) {
        __m128i half =
            g % 2 ? _mm256_extracti128_si256(ones[g / 2], 1) : _mm256_castsi256_si128(ones[g / 2]);
        __m256i more = _mm256_sub_epi64(_mm256_slli_epi64(_mm256_cvtepi32_epi64(half), 1), all);
        int64_t *to = sum + (size_t)g * LANES64;

        store(to, _mm256_add_epi64(load(to), more));
    }
}

TARGET static void weighted(const uint64_t *word, const int32_t *weight, size_t n, int64_t *sum)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        int64_t total;

        if (nd_weights_fit(weight + i, m, &total))
            weighted_block(word + i, weight + i, m, total, sum);
        else
            nd_signature_scalar.weighted(word + i, weight + i, m, sum);
    }
}

static void equal(const uint64_t *word, size_t n, int32_t weight, int64_t *sum)
{
    int64_t ones[ND_WEIGHTED_BITS] = {0};

    nd_sketch_avx2.simhash(word, n, ones);
    for (int b = 0; b < ND_WEIGHTED_BITS; b++)
        sum[b] += ones[b] * weight;
}

TARGET static uint64_t signs(const int64_t *sum)
{
    const __m256i zero = _mm256_setzero_si256();
    uint64_t word = 0;

    for (int b = ND_WEIGHTED_BITS - LANES64; b >= 0; b -= LANES64) {
        __m256i above = _mm256_cmpgt_epi64(load(sum + b), zero);

        word = word << LANES64 | (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(above));
    }
    return word;
}

/* A vector reads at the distance only what has not been written yet.  Numbers are compared as
 * signed ones, their highest bit turned. */
TARGET static void least(uint64_t *value, size_t n, size_t distance)
{
    const __m256i turn = _mm256_set1_epi64x(INT64_MIN);
    size_t windows = n > distance ? n - distance : 0, i = 0;

    for (; windows - i >= LANES64; i += LANES64) {
        __m256i a = load(value + i), b = load(value + i + distance);
        __m256i is_greater =
            _mm256_cmpgt_epi64(_mm256_xor_si256(a, turn), _mm256_xor_si256(b, turn));

        store(value + i, _mm256_blendv_epi8(a, b, is_greater));
    }
    nd_signature_scalar.least(value + i, n - i, distance);
}

TARGET static uint64_t sum_of(__m256i v)
{
    uint64_t lane[LANES64];

    store(lane, v);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

/* Add up what four lexicons keep of the first n terms, a multiple of 4; `most` of the four exist.
 */
TARGET static void four_lexicons(uint64_t key, uint32_t drop, unsigned most, const uint64_t *term,
                                 const uint64_t *value, size_t n, uint64_t *sum, uint64_t *count)
{
    const __m256i keys = _mm256_set1_epi64x((long long)key);
    const __m256i below = _mm256_set1_epi64x((long long)drop - 1);
    const __m256i low = _mm256_set1_epi64x(UINT16_MAX);
    __m256i sums[ND_LEXICONS_A_KEY], counts[ND_LEXICONS_A_KEY];

    for (int k = 0; k < ND_LEXICONS_A_KEY; k++)
        sums[k] = counts[k] = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += LANES64) {
        const __m256i v = load(value + i);
        __m256i bits = mix_four(_mm256_xor_si256(load(term + i), keys));

#pragma GCC unroll 4
        for (int k = 0; k < ND_LEXICONS_A_KEY; k++) {
            __m256i kept = _mm256_cmpgt_epi64(_mm256_and_si256(bits, low), below);

            sums[k] = _mm256_add_epi64(sums[k], _mm256_and_si256(v, kept));
            counts[k] = _mm256_sub_epi64(counts[k], kept);
            bits = _mm256_srli_epi64(bits, 16);
        }
    }
    for (unsigned k = 0; k < most; k++) {
        sum[k] += sum_of(sums[k]);
        count[k] += sum_of(counts[k]);
    }
}

TARGET static void lexicons(const struct nd_lexicons *lexicons, const uint64_t *term,
                            const uint64_t *value, size_t n, uint64_t *sum, uint64_t *count)
{
    const size_t whole = n / LANES64 * LANES64;

    for (unsigned k = 0; k < lexicons->count; k += ND_LEXICONS_A_KEY) {
        unsigned left = lexicons->count - k;

        four_lexicons(lexicons->key[k / ND_LEXICONS_A_KEY], lexicons->drop,
                      left < ND_LEXICONS_A_KEY ? left : ND_LEXICONS_A_KEY, term, value, whole,
                      sum + k, count + k);
    }
    nd_signature_scalar.lexicons(lexicons, term + whole, value + whole, n - whole, sum, count);
}

/* Windows in which the value before wins again are passed over four at a time. */
TARGET static size_t changes(const uint64_t *value, size_t n, uint64_t before, uint64_t *out)
{
    size_t count = nd_signature_scalar.changes(value, n > 0, before, out), i = 1;

    for (; n > i && n - i >= LANES64; i += LANES64)
        if (_mm256_movemask_epi8(_mm256_cmpeq_epi64(load(value + i), load(value + i - 1))) != -1)
            count += nd_signature_scalar.changes(value + i, LANES64, value[i - 1], out + count);
    if (i < n)
        count += nd_signature_scalar.changes(value + i, n - i, value[i - 1], out + count);
    return count;
}

const struct nd_signature_kernels nd_signature_avx2 = {
    .mix = mix,
    .weighted = weighted,
    .equal = equal,
    .signs = signs,
    .least = least,
    .changes = changes,
    .lookup8 = lookup8,
    .rabin = nd_rabin_each,
    .rabin_words = nd_rabin_of_words,
    .sha1 = sha1,
    .sha1_one = nd_sha1_one,
    .lexicons = lexicons,
};
#endif
