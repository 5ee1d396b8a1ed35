/* filter_avx512.c - the filter's kernels for AVX-512 F, BW, DQ, VL and VPOPCNTDQ */
#include "simd/filter/filter_kernels.h"
#include "simd/mask_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")))

enum { PREFETCH_DISTANCE = 96 };

TARGET static void places(const struct nd_filter_code *code, const uint64_t *x, size_t n,
                          unsigned half, uint32_t *place)
{
    const __m512i pick = _mm512_add_epi32(
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
        _mm512_set1_epi32((int)half));
    const __m512i error0 = _mm512_loadu_si512(code->error);
    const __m512i error1 = _mm512_loadu_si512(code->error + 16);
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m512i word = _mm512_permutex2var_epi32(_mm512_loadu_si512(x + i), pick,
                                                 _mm512_loadu_si512(x + i + 8));
        __m512i syndrome = _mm512_setzero_si512();

        for (unsigned j = 0; j < ND_FILTER_CHECKS; j++) {
            __m512i ones =
                _mm512_popcnt_epi32(_mm512_and_si512(word, _mm512_set1_epi32((int)code->check[j])));

            ones = _mm512_and_si512(_mm512_slli_epi32(ones, j), _mm512_set1_epi32(1 << j));
            syndrome = _mm512_or_si512(syndrome, ones);
        }
        word = _mm512_xor_si512(word, _mm512_permutex2var_epi32(error0, syndrome, error1));
        _mm512_storeu_si512(place + i, _mm512_srli_epi32(word, ND_FILTER_CHECKS));
    }
    nd_filter_scalar.places(code, x + i, n - i, half, place + i);
}

TARGET static size_t marked(const uint32_t *set, const uint32_t *place, size_t n, uint32_t *found)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t count = 0;

    for (size_t i = 0; i < n && i < PREFETCH_DISTANCE; i++)
        _mm_prefetch((const char *)(set + place[i] / 32), _MM_HINT_T1);
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 in = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xFFFFu), set_ones;
        __m512i at = _mm512_maskz_loadu_epi32(in, place + i), word, bit;

        if (i + PREFETCH_DISTANCE + 16 <= n)
            for (size_t j = 0; j < 16; j++)
                _mm_prefetch((const char *)(set + place[i + PREFETCH_DISTANCE + j] / 32),
                             _MM_HINT_T1);
        else
            for (size_t j = i + PREFETCH_DISTANCE; j < n; j++)
                _mm_prefetch((const char *)(set + place[j] / 32), _MM_HINT_T1);
        word = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), in, _mm512_srli_epi32(at, 5),
                                           set, 4);
        bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(at, _mm512_set1_epi32(31)));
        set_ones = _mm512_test_epi32_mask(word, bit);
        _mm512_mask_compressstoreu_epi32(found + count, set_ones,
                                         _mm512_add_epi32(iota, _mm512_set1_epi32((int)i)));
        count += (size_t)_mm_popcnt_u32(nd_mask_bits(set_ones));
    }
    return count;
}

const struct nd_filter_kernels nd_filter_avx512 = {.places = places, .marked = marked};
#endif
