/* signature_avx512.c - the signature kernels for AVX-512 F, BW, DQ and VL */
#include "simd/mask_bits.h"
#include "simd/signature/signature_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")))

typedef uint32_t sha1_word __attribute__((vector_size(64)));
#include "simd/signature/sha1_lanes.h"

typedef uint64_t lookup8_word __attribute__((vector_size(64)));
#include "simd/signature/lookup8_lanes.h"

enum { LANES32 = 16, LANES64 = 8, QUARTERS = ND_WEIGHTED_BITS / LANES32, BLOCK = 256 };

/* The first n of 8 lanes. */
static inline __mmask8 lanes(size_t n)
{
    return (__mmask8)(n < LANES64 ? (1u << n) - 1 : 0xFFu);
}

/* nd_mix64 of eight numbers. */
TARGET static inline __m512i mix_eight(__m512i x)
{
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 30));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0xBF58476D1CE4E5B9)));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0x94D049BB133111EB)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}

TARGET static void mix(const uint64_t *value, size_t n, uint64_t add, uint64_t *out)
{
    const __m512i more = _mm512_set1_epi64((long long)add);
    size_t i = 0;

    for (; n - i >= LANES64; i += LANES64)
        _mm512_storeu_si512(out + i,
                            mix_eight(_mm512_add_epi64(_mm512_loadu_si512(value + i), more)));
    if (i < n) {
        __mmask8 m = lanes(n - i);

        _mm512_mask_storeu_epi64(
            out + i, m, mix_eight(_mm512_add_epi64(_mm512_maskz_loadu_epi64(m, value + i), more)));
    }
}

/*
 * 64 counters of 32 bits: a word is the mask of an addition of its weight.
 * (ones) - (zeroes) = 2 (ones) - (all).
 */
TARGET static void weighted_block(const uint64_t *word, const int32_t *weight, size_t n,
                                  int64_t total, int64_t *sum)
{
    __m512i ones[QUARTERS];
    const __m512i all = _mm512_set1_epi64(total);

    for (int q = 0; q < QUARTERS; q++)
        ones[q] = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i++) {
        const __m512i w = _mm512_set1_epi32(weight[i]);

#pragma GCC unroll 4
        for (int q = 0; q < QUARTERS; q++) {
            __mmask16 m;

            memcpy(&m, (const char *)(word + i) + 2 * q, sizeof m); /* to a mask without a shift */
            ones[q] = _mm512_mask_add_epi32(ones[q], m, ones[q], w);
        }
    }
    for (int g = 0; g < ND_WEIGHTED_BITS / LANES64; g++) {
        __m256i half =
            g % 2 ? _mm512_extracti64x4_epi64(ones[g / 2], 1) : _mm512_castsi512_si256(ones[g / 2]);
        __m512i more = _mm512_sub_epi64(_mm512_slli_epi64(_mm512_cvtepi32_epi64(half), 1), all);
        int64_t *to = sum + (size_t)g * LANES64;

        _mm512_storeu_si512(to, _mm512_add_epi64(_mm512_loadu_si512(to), more));
    }
}

/* nd_weights_fit, eight at once: it is asked for each word of a simhash. */
TARGET static bool weights_fit(const int32_t *weight, size_t n, int64_t *total)
{
    __m512i sum = _mm512_setzero_si512(), size = _mm512_setzero_si512();

    for (size_t i = 0; i < n; i += LANES64) {
        __m256i w = _mm256_maskz_loadu_epi32(lanes(n - i), weight + i);
        __m512i wide = _mm512_cvtepi32_epi64(w);

        sum = _mm512_add_epi64(sum, wide);
        size = _mm512_add_epi64(size, _mm512_abs_epi64(wide));
    }
    *total = _mm512_reduce_add_epi64(sum);
    return _mm512_reduce_add_epi64(size) <= INT32_MAX;
}

TARGET static void weighted(const uint64_t *word, const int32_t *weight, size_t n, int64_t *sum)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        int64_t total;

        if (weights_fit(weight + i, m, &total))
            weighted_block(word + i, weight + i, m, total, sum);
        else
            nd_signature_scalar.weighted(word + i, weight + i, m, sum);
    }
}

/* At most 255 words: 64 counters of a byte, one for each bit, and a word is the mask of adding 1.
 */
TARGET static void equal_block(const uint64_t *word, size_t n, int32_t weight, int64_t *sum)
{
    const __m512i one = _mm512_set1_epi8(1), w = _mm512_set1_epi64(weight);
    const __m512i all = _mm512_set1_epi64((int64_t)n * weight);
    __m512i ones[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    uint8_t count[ND_WEIGHTED_BITS];
    size_t i = 0;

    for (; n - i >= 2; i += 2)
        for (size_t k = 0; k < 2; k++)
            ones[k] = _mm512_mask_add_epi8(ones[k], word[i + k], ones[k], one);
    if (i < n)
        ones[0] = _mm512_mask_add_epi8(ones[0], word[i], ones[0], one);
    _mm512_storeu_si512(count, _mm512_add_epi8(ones[0], ones[1]));
    for (int b = 0; b < ND_WEIGHTED_BITS; b += LANES64) {
        __m512i c = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(count + b)));
        __m512i more = _mm512_sub_epi64(_mm512_mul_epi32(_mm512_add_epi64(c, c), w), all);

        _mm512_storeu_si512(sum + b, _mm512_add_epi64(_mm512_loadu_si512(sum + b), more));
    }
}

TARGET static void equal(const uint64_t *word, size_t n, int32_t weight, int64_t *sum)
{
    enum { MOST = 254 }; /* of a byte, and even */

    for (size_t i = 0; i < n; i += MOST)
        equal_block(word + i, n - i < MOST ? n - i : MOST, weight, sum);
}

TARGET static uint64_t signs(const int64_t *sum)
{
    const __m512i zero = _mm512_setzero_si512();
    uint64_t word = 0;

    for (int b = ND_WEIGHTED_BITS - LANES64; b >= 0; b -= LANES64)
        word = word << LANES64 |
               nd_mask_bits(_mm512_cmpgt_epi64_mask(_mm512_loadu_si512(sum + b), zero));
    return word;
}

/* A vector reads at the distance only what has not been written yet. */
TARGET static void least(uint64_t *value, size_t n, size_t distance)
{
    size_t windows = n > distance ? n - distance : 0, i = 0;

    for (; windows - i >= LANES64; i += LANES64)
        _mm512_storeu_si512(value + i, _mm512_min_epu64(_mm512_loadu_si512(value + i),
                                                        _mm512_loadu_si512(value + i + distance)));
    if (i < windows) {
        __mmask8 m = lanes(windows - i);
        __m512i v = _mm512_maskz_loadu_epi64(m, value + i);

        _mm512_mask_storeu_epi64(
            value + i, m, _mm512_min_epu64(v, _mm512_maskz_loadu_epi64(m, value + i + distance)));
    }
}

/* Modulo 2^64: the compiler's own reduction takes them for signed. */
TARGET static uint64_t sum_of(__m512i v)
{
    uint64_t lane[LANES64], sum = 0;

    _mm512_storeu_si512(lane, v);
    for (int k = 0; k < LANES64; k++)
        sum += lane[k];
    return sum;
}

/* Add up what four lexicons keep of the terms; `most` of the four exist. */
TARGET static void four_lexicons(uint64_t key, uint32_t drop, unsigned most, const uint64_t *term,
                                 const uint64_t *value, size_t n, uint64_t *sum, uint64_t *count)
{
    const __m512i keys = _mm512_set1_epi64((long long)key), one = _mm512_set1_epi64(1);
    const __m512i least = _mm512_set1_epi64(drop), low = _mm512_set1_epi64(UINT16_MAX);
    __m512i sums[ND_LEXICONS_A_KEY], counts[ND_LEXICONS_A_KEY];

    for (int k = 0; k < ND_LEXICONS_A_KEY; k++)
        sums[k] = counts[k] = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i += LANES64) {
        const __mmask8 m = lanes(n - i);
        const __m512i v = _mm512_maskz_loadu_epi64(m, value + i);
        __m512i bits = mix_eight(_mm512_xor_si512(_mm512_maskz_loadu_epi64(m, term + i), keys));

#pragma GCC unroll 4
        for (int k = 0; k < ND_LEXICONS_A_KEY; k++) {
            __mmask8 kept = _mm512_mask_cmpge_epu64_mask(m, _mm512_and_si512(bits, low), least);

            sums[k] = _mm512_mask_add_epi64(sums[k], kept, sums[k], v);
            counts[k] = _mm512_mask_add_epi64(counts[k], kept, counts[k], one);
            bits = _mm512_srli_epi64(bits, 16);
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
    for (unsigned k = 0; k < lexicons->count; k += ND_LEXICONS_A_KEY) {
        unsigned left = lexicons->count - k;

        four_lexicons(lexicons->key[k / ND_LEXICONS_A_KEY], lexicons->drop,
                      left < ND_LEXICONS_A_KEY ? left : ND_LEXICONS_A_KEY, term, value, n, sum + k,
                      count + k);
    }
}

TARGET static size_t changes(const uint64_t *value, size_t n, uint64_t before, uint64_t *out)
{
    size_t count = nd_signature_scalar.changes(value, n > 0, before, out), i = 1;

    for (; n > i && n - i >= LANES64; i += LANES64) {
        __m512i v = _mm512_loadu_si512(value + i);
        unsigned m = nd_mask_bits(_mm512_cmpneq_epi64_mask(v, _mm512_loadu_si512(value + i - 1)));

        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi64((__mmask8)m, v));
        count += (unsigned)__builtin_popcount(m);
    }
    if (i < n)
        count += nd_signature_scalar.changes(value + i, n - i, value[i - 1], out + count);
    return count;
}

const struct nd_signature_kernels nd_signature_avx512 = {
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
