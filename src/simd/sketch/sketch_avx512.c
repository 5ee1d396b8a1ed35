/* sketch_avx512.c - the sketch kernels for AVX-512 F, BW, DQ and VL */
#include "simd/mask_bits.h"
#include "simd/sketch/add_distinct.h"
#include "simd/sketch/sketch_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")))

_Static_assert(ND_MINIMA_BLOCK == 16, "a block is a vector");
enum { LANES32 = 16, LANES64 = 8, VECTORS = ND_MINIMA / LANES32 };
enum { COLUMNS = 512, LEAST_COLUMNS = 100, SEARCHES = 256 };

/* The first n of 8 lanes. */
static inline __mmask8 lanes(size_t n)
{
    return (__mmask8)(n < LANES64 ? (1u << n) - 1 : 0xFFu);
}

TARGET static inline __m512i finalise(__m512i sum)
{
    sum = _mm512_xor_si512(sum, _mm512_srli_epi64(sum, 32));
    sum = _mm512_mullo_epi64(sum, _mm512_set1_epi64((long long)ND_SHINGLE_MULTIPLIER));
    return _mm512_xor_si512(sum, _mm512_srli_epi64(sum, 29));
}

/* w is a constant where it matters, so that the loop is unrolled. */
TARGET static inline __attribute__((always_inline)) void
shingles_of(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    size_t i = 0;
    __m512i sum;

    /* Long shingles wait for one addition after the other: four vectors wait together. */
    for (; w > 4 && n - i >= 4 * LANES64; i += 4 * LANES64) {
        __m512i s[4];

        for (unsigned v = 0; v < 4; v++)
            s[v] = _mm512_loadu_si512(token + i + v * LANES64);
        for (unsigned k = 1; k < w; k++)
            for (unsigned v = 0; v < 4; v++)
                s[v] = _mm512_add_epi64(_mm512_rol_epi64(s[v], ND_SHINGLE_ROTATION),
                                        _mm512_loadu_si512(token + i + v * LANES64 + k));
        for (unsigned v = 0; v < 4; v++)
            _mm512_storeu_si512(out + i + v * LANES64, finalise(s[v]));
    }
    for (; n - i >= LANES64; i += LANES64) {
        sum = _mm512_loadu_si512(token + i);
        for (unsigned k = 1; k < w; k++)
            sum = _mm512_add_epi64(_mm512_rol_epi64(sum, ND_SHINGLE_ROTATION),
                                   _mm512_loadu_si512(token + i + k));
        _mm512_storeu_si512(out + i, finalise(sum));
    }
    if (i < n) {
        __mmask8 m = lanes(n - i);

        sum = _mm512_maskz_loadu_epi64(m, token + i);
        for (unsigned k = 1; k < w; k++)
            sum = _mm512_add_epi64(_mm512_rol_epi64(sum, ND_SHINGLE_ROTATION),
                                   _mm512_maskz_loadu_epi64(m, token + i + k));
        _mm512_mask_storeu_epi64(out + i, m, finalise(sum));
    }
}

TARGET static void shingles(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    if (w == 3)
        shingles_of(token, n, 3, out);
    else
        shingles_of(token, n, w, out);
}

TARGET static uint64_t sequence_sum(const uint64_t *token, size_t n, uint64_t first)
{
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i step = _mm512_set1_epi64((long long)ND_POSITION_STEP);
    const __m512i next = _mm512_set1_epi64((long long)(ND_POSITION_STEP * LANES64));
    __m512i position =
        _mm512_mullo_epi64(_mm512_add_epi64(_mm512_set1_epi64((long long)first), lane), step);
    __m512i sum = _mm512_setzero_si512(), x;
    uint64_t part[LANES64];
    size_t i = 0;

    for (; n - i >= LANES64; i += LANES64) {
        x = _mm512_xor_si512(_mm512_loadu_si512(token + i), position);
        sum = _mm512_add_epi64(sum, _mm512_mul_epu32(x, _mm512_srli_epi64(x, 32)));
        position = _mm512_add_epi64(position, next);
    }
    x = _mm512_maskz_xor_epi64(lanes(n - i), _mm512_maskz_loadu_epi64(lanes(n - i), token + i),
                               position);
    sum = _mm512_add_epi64(sum, _mm512_mul_epu32(x, _mm512_srli_epi64(x, 32)));
    _mm512_storeu_si512(part, sum);
    return part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
}

/*
 * A few shingles: the 128 values of one are 8 vectors, a block each, each the one before plus
 * 16 h2 + lane * ND_MINIMA_STEP; one addition and one minimum for 16 values, and a few instructions
 * to begin.
 */
TARGET static void minhash_by_row(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i growth = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)ND_MINIMA_STEP));
    __m512i least[VECTORS];

    for (int k = 0; k < VECTORS; k++)
        least[k] = _mm512_loadu_si512(minima + k * LANES32);
    for (size_t i = 0; i < n; i++) {
        uint32_t h1 = (uint32_t)shingle[i], h2 = (uint32_t)(shingle[i] >> 32) | 1;
        __m512i value = _mm512_add_epi32(_mm512_set1_epi32((int)h1),
                                         _mm512_mullo_epi32(_mm512_set1_epi32((int)h2), lane));
        __m512i step = _mm512_add_epi32(_mm512_set1_epi32((int)(h2 * LANES32)), growth);

#pragma GCC unroll 8
        for (int k = 0; k < VECTORS; k++) {
            least[k] = _mm512_min_epu32(least[k], value);
            value = _mm512_add_epi32(value, step);
        }
    }
    for (int k = 0; k < VECTORS; k++)
        _mm512_storeu_si512(minima + k * LANES32, least[k]);
}

/* Lane k of the result is the least lane of v[k]: halves folded together, a transposition. */
TARGET static inline __m512i least_of_each(__m512i v[LANES32])
{
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        v[k] = _mm512_min_epu32(_mm512_unpacklo_epi32(v[2 * k], v[2 * k + 1]),
                                _mm512_unpackhi_epi32(v[2 * k], v[2 * k + 1]));
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        v[k] = _mm512_min_epu32(_mm512_unpacklo_epi64(v[2 * k], v[2 * k + 1]),
                                _mm512_unpackhi_epi64(v[2 * k], v[2 * k + 1]));
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++)
        v[k] = _mm512_min_epu32(_mm512_shuffle_i32x4(v[2 * k], v[2 * k + 1], 0x88),
                                _mm512_shuffle_i32x4(v[2 * k], v[2 * k + 1], 0xDD));
    return _mm512_min_epu32(_mm512_shuffle_i32x4(v[0], v[1], 0x88),
                            _mm512_shuffle_i32x4(v[0], v[1], 0xDD));
}

/*
 * Many shingles: 16 of them in a vector, and 16 minima of each lane in registers, so that nothing
 * but one addition and one minimum is left for 16 values: both 512-bit ports are busy all the time.
 * value[] holds what the next block begins with.
 */
TARGET static void minhash_by_column(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    uint32_t value[COLUMNS], step[COLUMNS];
    size_t full = (n + LANES32 - 1) / LANES32 * LANES32;

    for (size_t i = 0; i < full; i++) {
        uint64_t x = shingle[i < n ? i : n - 1];

        value[i] = (uint32_t)x;
        step[i] = (uint32_t)(x >> 32) | 1;
    }
    for (uint32_t block = 0; block < VECTORS; block++) {
        const __m512i more = _mm512_set1_epi32((int)(block * ND_MINIMA_STEP));
        const __m512i less = _mm512_slli_epi32(more, 4); /* 16 steps too long */
        uint32_t *to = minima + block * LANES32;
        __m512i least[LANES32];

        for (int j = 0; j < LANES32; j++)
            least[j] = _mm512_set1_epi32(-1);
        for (size_t i = 0; i < full; i += LANES32) {
            __m512i v = _mm512_loadu_si512(value + i);
            __m512i s = _mm512_add_epi32(_mm512_loadu_si512(step + i), more);

#pragma GCC unroll 16
            for (int j = 0; j < LANES32; j++) {
                least[j] = _mm512_min_epu32(least[j], v);
                v = _mm512_add_epi32(v, s);
            }
            _mm512_storeu_si512(value + i, _mm512_sub_epi32(v, less));
        }
        _mm512_storeu_si512(to, _mm512_min_epu32(_mm512_loadu_si512(to), least_of_each(least)));
    }
}

TARGET static void minhash(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    for (size_t i = 0; i < n; i += COLUMNS) {
        size_t m = n - i < COLUMNS ? n - i : COLUMNS;

        if (m < LEAST_COLUMNS)
            minhash_by_row(shingle + i, m, minima);
        else
            minhash_by_column(shingle + i, m, minima);
    }
}

/* sum[8g … 8g + 7] += those bytes of `ones` << shift */
TARGET static inline void add_shifted(int64_t *sum, __m512i ones, unsigned shift)
{
    uint8_t byte[ND_SIMHASH_WIDTH];

    _mm512_storeu_si512(byte, ones);
    for (int g = 0; g < ND_SIMHASH_WIDTH; g += LANES64) {
        __m512i wide = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(byte + g)));
        __m512i old = _mm512_loadu_si512(sum + g);

        _mm512_storeu_si512(sum + g, _mm512_add_epi64(old, _mm512_slli_epi64(wide, shift)));
    }
}

/*
 * Features are counted in columns: eight are a vector, and bit b of plane k counts 2^k for its
 * lane's features with bit b.  Carry-save addition of eight vectors is seven full adders of two
 * instructions (Muła 2018).
 */
enum { PLANES = 8, LOW_PLANES = 5, FULL = 255 * LANES64 };

/* a + b + c to bits of weight 1, in *a, and 2. */
TARGET static inline __m512i carry_save(__m512i *a, __m512i b, __m512i c)
{
    __m512i carry = _mm512_ternarylogic_epi64(*a, b, c, 0xE8);

    *a = _mm512_ternarylogic_epi64(*a, b, c, 0x96);
    return carry;
}

/* A bit of a plane is the mask of an addition to 64 counters of a byte: 8 * 31 at most. */
TARGET static inline __m512i count_planes(const __m512i *plane, unsigned n)
{
    __m512i sum = _mm512_setzero_si512();

    for (unsigned k = 0; k < n; k++) {
        const __m512i weight = _mm512_set1_epi8((char)(1 << k));
        uint64_t mask[LANES64];

        _mm512_storeu_si512(mask, plane[k]);
        for (int lane = 0; lane < LANES64; lane++)
            sum = _mm512_mask_add_epi8(sum, mask[lane], sum, weight);
    }
    return sum;
}

/* 64 features, or the m that are left. */
TARGET static inline void count_group(__m512i plane[PLANES], const uint64_t *feature, size_t m)
{
    __m512i v[8], carry;

    for (unsigned k = 0; k < 8; k++) {
        size_t left = m > k * LANES64 ? m - k * LANES64 : 0;

        v[k] = _mm512_maskz_loadu_epi64(lanes(left), feature + k * LANES64);
    }
    for (unsigned k = 0; k < 4; k++)
        v[k] = carry_save(&plane[0], v[2 * k], v[2 * k + 1]);
    v[0] = carry_save(&plane[1], v[0], v[1]);
    v[1] = carry_save(&plane[1], v[2], v[3]);
    carry = carry_save(&plane[2], v[0], v[1]);
    for (unsigned k = 3; k < PLANES; k++) {
        __m512i next = _mm512_and_si512(plane[k], carry);

        plane[k] = _mm512_xor_si512(plane[k], carry);
        carry = next;
    }
}

/* FULL features at most. */
TARGET static void count_bits(const uint64_t *feature, size_t n, int64_t *sum)
{
    enum { GROUP = 8 * LANES64, LOW_MOST = ((1 << LOW_PLANES) - 1) * LANES64 };
    __m512i plane[PLANES];

    for (unsigned k = 0; k < PLANES; k++)
        plane[k] = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i += GROUP)
        count_group(plane, feature + i, n - i < GROUP ? n - i : GROUP);
    add_shifted(sum, count_planes(plane, LOW_PLANES), 1);
    if (n > LOW_MOST)
        add_shifted(sum, count_planes(plane + LOW_PLANES, PLANES - LOW_PLANES), 1 + LOW_PLANES);
}

/* (ones) - (zeroes) = 2 (ones) - n */
TARGET static void simhash(const uint64_t *feature, size_t n, int64_t *sum)
{
    for (int g = 0; g < ND_SIMHASH_WIDTH; g += LANES64)
        _mm512_storeu_si512(sum + g, _mm512_sub_epi64(_mm512_loadu_si512(sum + g),
                                                      _mm512_set1_epi64((long long)n)));
    for (size_t i = 0; i < n; i += FULL)
        count_bits(feature + i, n - i < FULL ? n - i : FULL, sum);
}

TARGET static uint64_t positive(const int64_t *sum)
{
    uint64_t bits = 0;

    for (int b = 0; b < ND_SIMHASH_WIDTH; b += LANES64)
        bits |= (uint64_t)nd_mask_bits(
                    _mm512_cmpgt_epi64_mask(_mm512_loadu_si512(sum + b), _mm512_setzero_si512()))
                << b;
    return bits;
}

TARGET static void bytes_equal(const uint8_t *a, const uint8_t *b, uint64_t equal[2])
{
    equal[0] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
    equal[1] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a + 64), _mm512_loadu_si512(b + 64));
}

TARGET static void low_bytes(const uint32_t *minima, uint8_t *out)
{
    for (int k = 0; k < ND_MINIMA; k += LANES32)
        _mm_storeu_si128((__m128i *)(out + k),
                         _mm512_cvtepi32_epi8(_mm512_loadu_si512(minima + k)));
}

TARGET static unsigned minima_equal(const uint32_t *a, const uint32_t *b)
{
    int equal = 0;

    for (int k = 0; k < ND_MINIMA; k += LANES32)
        equal += __builtin_popcount(
            _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(a + k), _mm512_loadu_si512(b + k)));
    return (unsigned)equal;
}

/* Searches that are not over: the value, and the slot to look at next. */
struct open {
    uint64_t value[SEARCHES + LANES64], at[SEARCHES + LANES64];
    size_t count;
};

/*
 * Look at one slot for each of the values of `m`: which were found, and as which entries; what is
 * open goes to the list.
 */
TARGET static inline __attribute__((always_inline)) unsigned probe(const struct nd_slots *in,
                                                                   bool wide, __mmask8 m, __m512i v,
                                                                   __m512i at, struct open *open,
                                                                   __m256i *entry)
{
    const __m512i mask = _mm512_set1_epi64((1LL << (64 - in->shift)) - 1);
    const __m256i zero = _mm256_setzero_si256();
    __m256i number = wide ? _mm512_mask_i64gather_epi32(zero, m, at, in->slot, 4)
                          : _mm256_and_si256(_mm512_mask_i64gather_epi32(zero, m, at, in->slot, 2),
                                             _mm256_set1_epi32(0xFFFF));
    __mmask8 busy = _mm256_test_epi32_mask(number, number);
    __m512i held = _mm512_mask_i32gather_epi64(v, busy, number, in->entry, 8);
    __mmask8 other = _mm512_mask_cmpneq_epi64_mask(busy, held, v);

    at = _mm512_and_si512(_mm512_add_epi64(at, _mm512_set1_epi64(1)), mask);
    _mm512_storeu_si512(open->value + open->count, _mm512_maskz_compress_epi64(other, v));
    _mm512_storeu_si512(open->at + open->count, _mm512_maskz_compress_epi64(other, at));
    open->count += (size_t)__builtin_popcount(nd_mask_bits(other));
    *entry = number;
    return nd_mask_bits(busy ^ other);
}

/* The entry behind that of the last value found among eight that were looked up. */
TARGET static inline size_t behind(__m256i entry, unsigned found, size_t near)
{
    uint32_t number[LANES64];
    unsigned last;

    if (!found)
        return near;
    last = 31 - (unsigned)__builtin_clz(found);
    _mm256_storeu_si256((__m256i *)number, entry);
    return number[last] + (LANES64 - last);
}

/*
 * Eight values at a time.  Where they are the eight entries behind the last one found, as in near
 * copies, no search is needed.  Else each is probed once, and those whose search is not over go to
 * a list that is probed in the same way, so that no branch depends on what is found.
 */
TARGET static inline __attribute__((always_inline)) size_t
count_found_in(const struct nd_slots *in, bool wide, const uint64_t *value, size_t n, size_t *near)
{
    const __m128i shift = _mm_cvtsi32_si128((int)in->shift);
    struct open open;
    size_t sum = 0, expected = *near;
    __m256i entry;

    open.count = 0; /* the lists stay as they are: clearing them would cost more than the search */
    for (size_t i = 0; i < n; i += LANES64) {
        __mmask8 m = lanes(n - i);
        __m512i v = _mm512_maskz_loadu_epi64(m, value + i);
        unsigned found;

        if (expected + LANES64 <= in->n_entries + 1 &&
            nd_mask_bits(_mm512_cmpeq_epi64_mask(v, _mm512_loadu_si512(in->entry + expected))) ==
                0xFF) {
            sum += LANES64;
            expected += LANES64;
            continue;
        }
        found = probe(in, wide, m, v, _mm512_srl_epi64(v, shift), &open, &entry);
        sum += (size_t)__builtin_popcount(found);
        expected = behind(entry, found, expected);
    }
    *near = expected;
    while (open.count) {
        size_t left = open.count;

        open.count = 0;
        for (size_t i = 0; i < left; i += LANES64) {
            __m512i v = _mm512_loadu_si512(open.value + i), at = _mm512_loadu_si512(open.at + i);

            sum +=
                (size_t)__builtin_popcount(probe(in, wide, lanes(left - i), v, at, &open, &entry));
        }
    }
    return sum;
}

TARGET static size_t count_found(const struct nd_slots *in, const uint64_t *value, size_t n,
                                 size_t *near)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i += SEARCHES) {
        size_t m = n - i < SEARCHES ? n - i : SEARCHES;

        found += in->wide ? count_found_in(in, true, value + i, m, near)
                          : count_found_in(in, false, value + i, m, near);
    }
    return found;
}

TARGET static size_t add_distinct(const struct nd_slots *in, const uint64_t *value, size_t n)
{
    return nd_add_distinct(in, value, n);
}

const struct nd_sketch_kernels nd_sketch_avx512 = {
    .shingles = shingles,
    .sequence_sum = sequence_sum,
    .minhash = minhash,
    .simhash = simhash,
    .positive = positive,
    .bytes_equal = bytes_equal,
    .low_bytes = low_bytes,
    .minima_equal = minima_equal,
    .count_found = count_found,
    .add_distinct = add_distinct,
};
#endif
