/* sketch_avx2.c - the sketch kernels for AVX2 */
#include "simd/sketch/add_distinct.h"
#include "simd/sketch/sketch_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

enum { LANES32 = 8, LANES64 = 4, COLUMNS = 512, BLOCK = 64, SEARCHES = 256 };

TARGET static inline __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

TARGET static inline void store(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

TARGET static inline __m256i rotate(__m256i x)
{
    return _mm256_or_si256(_mm256_slli_epi64(x, ND_SHINGLE_ROTATION),
                           _mm256_srli_epi64(x, 64 - ND_SHINGLE_ROTATION));
}

/* x times a constant modulo 2^64: low * low + 2^32 (low * high + high * low). */
TARGET static inline __m256i multiply(__m256i x, __m256i low, __m256i high)
{
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                     _mm256_mul_epu32(x, high));

    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(cross, 32));
}

/* w is a constant where it matters, so that the loop is unrolled. */
TARGET static inline __attribute__((always_inline)) size_t
shingles_of(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    const __m256i low = _mm256_set1_epi64x((long long)(ND_SHINGLE_MULTIPLIER & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((long long)(ND_SHINGLE_MULTIPLIER >> 32));
    size_t i = 0;

    for (; n - i >= LANES64; i += LANES64) {
        __m256i sum = load(token + i);

        for (unsigned k = 1; k < w; k++)
            sum = _mm256_add_epi64(rotate(sum), load(token + i + k));
        sum = _mm256_xor_si256(sum, _mm256_srli_epi64(sum, 32));
        sum = multiply(sum, low, high);
        store(out + i, _mm256_xor_si256(sum, _mm256_srli_epi64(sum, 29)));
    }
    return i;
}

TARGET static void shingles(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    size_t done = w == 3 ? shingles_of(token, n, 3, out) : shingles_of(token, n, w, out);

    nd_sketch_scalar.shingles(token + done, n - done, w, out + done);
}

TARGET static uint64_t sequence_sum(const uint64_t *token, size_t n, uint64_t first)
{
    const __m256i next = _mm256_set1_epi64x((long long)(ND_POSITION_STEP * LANES64));
    __m256i sum = _mm256_setzero_si256(), position;
    uint64_t lane[LANES64];
    size_t i = 0;

    for (unsigned k = 0; k < LANES64; k++)
        lane[k] = (first + k) * ND_POSITION_STEP;
    position = load(lane);
    for (; n - i >= LANES64; i += LANES64) {
        __m256i x = _mm256_xor_si256(load(token + i), position);

        sum = _mm256_add_epi64(sum, _mm256_mul_epu32(x, _mm256_srli_epi64(x, 32)));
        position = _mm256_add_epi64(position, next);
    }
    store(lane, sum);
    return lane[0] + lane[1] + lane[2] + lane[3] +
           nd_sketch_scalar.sequence_sum(token + i, n - i, first + i);
}

/*
 * Lane k of the result is the minimum of the lanes of v[k].  Interleaving two vectors and taking
 * the minimum of the halves folds both at once; three such rounds (of lanes, pairs of lanes, halves)
 * leave one lane of each of the eight vectors, and put them in order: a transposition by the way.
 */
TARGET static inline __m256i least_of_each(__m256i v[LANES32])
{
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        v[k] = _mm256_min_epu32(_mm256_unpacklo_epi32(v[2 * k], v[2 * k + 1]),
                                _mm256_unpackhi_epi32(v[2 * k], v[2 * k + 1]));
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++)
        v[k] = _mm256_min_epu32(_mm256_unpacklo_epi64(v[2 * k], v[2 * k + 1]),
                                _mm256_unpackhi_epi64(v[2 * k], v[2 * k + 1]));
    return _mm256_min_epu32(_mm256_permute2x128_si256(v[0], v[1], 0x20),
                            _mm256_permute2x128_si256(v[0], v[1], 0x31));
}

/*
 * Minimum k of a document is the minimum over its shingles of h1 + k h2 (plus a change of step every
 * ND_MINIMA_BLOCK).  The loops are nested the other way round than in the definition:
 *
 *     for eight minima k … k + 7, held in eight registers of eight lanes
 *         for eight shingles a time, one in each lane
 *             least[j] = min(least[j], v); v += step       j = 0 … 7
 *
 * So a value costs one addition and one minimum, and nothing of a multiplication.  value[] keeps
 * what the next eight minima begin with.  A block of ND_MINIMA_BLOCK is two rounds: the step of a
 * block b is h2 + b ND_MINIMA_STEP, and after its last round the surplus 16 b ND_MINIMA_STEP is
 * taken off again (`less`), since values begin at h1 + k h2 in each block.
 */
TARGET static void minhash_some(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    uint32_t value[COLUMNS], step[COLUMNS];
    size_t full = (n + LANES32 - 1) / LANES32 * LANES32;

    for (size_t i = 0; i < full; i++) {
        uint64_t x = shingle[i < n ? i : n - 1];

        value[i] = (uint32_t)x;
        step[i] = (uint32_t)(x >> 32) | 1;
    }
    for (uint32_t k = 0; k < ND_MINIMA; k += LANES32) {
        const uint32_t longer = k / ND_MINIMA_BLOCK * ND_MINIMA_STEP;
        const __m256i more = _mm256_set1_epi32((int)longer);
        const __m256i less = _mm256_set1_epi32(
            (k + LANES32) % ND_MINIMA_BLOCK ? 0 : (int)(longer * ND_MINIMA_BLOCK));
        __m256i least[LANES32];

        for (int j = 0; j < LANES32; j++)
            least[j] = _mm256_set1_epi32(-1);
        for (size_t i = 0; i < full; i += LANES32) {
            __m256i v = load(value + i), s = _mm256_add_epi32(load(step + i), more);

#pragma GCC unroll 8
            for (int j = 0; j < LANES32; j++) {
                least[j] = _mm256_min_epu32(least[j], v);
                v = _mm256_add_epi32(v, s);
            }
            store(value + i, _mm256_sub_epi32(v, less));
        }
        store(minima + k, _mm256_min_epu32(load(minima + k), least_of_each(least)));
    }
}

TARGET static void minhash(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    for (size_t i = 0; i < n; i += COLUMNS)
        minhash_some(shingle + i, n - i < COLUMNS ? n - i : COLUMNS, minima);
}

/* 64 counters of a byte, one a bit. */
struct counters {
    __m256i low, high;
};

/* Count the set bits of four features.  pshufb copies byte i of a feature to lanes 8 i … 8 i + 7, an
 * AND with 1, 2, 4 … 128 leaves bit i in lane i, and a comparison makes it -1, which is subtracted. */
TARGET static inline void count(struct counters *c, __m256i features)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                            2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i four = _mm256_set1_epi8(4);
    uint64_t feature[LANES64];

    store(feature, features);
    for (int k = 0; k < LANES64; k++) {
        __m256i all = _mm256_set1_epi64x((long long)feature[k]);
        __m256i low = _mm256_and_si256(_mm256_shuffle_epi8(all, spread), bit);
        __m256i high =
            _mm256_and_si256(_mm256_shuffle_epi8(all, _mm256_add_epi8(spread, four)), bit);

        c->low = _mm256_sub_epi8(c->low, _mm256_cmpeq_epi8(low, bit));
        c->high = _mm256_sub_epi8(c->high, _mm256_cmpeq_epi8(high, bit));
    }
}

TARGET static inline void twice(struct counters *c)
{
    c->low = _mm256_add_epi8(c->low, c->low);
    c->high = _mm256_add_epi8(c->high, c->high);
}

/* sum += 2 * count */
TARGET static void add_to_sum(int64_t *sum, const struct counters *c)
{
    uint8_t byte[ND_SIMHASH_WIDTH];

    store(byte, c->low);
    store(byte + 32, c->high);
    for (int b = 0; b < ND_SIMHASH_WIDTH; b += LANES64) {
        int32_t four;

        memcpy(&four, byte + b, sizeof four);
        store(sum + b, _mm256_add_epi64(
                           load(sum + b),
                           _mm256_slli_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)), 1)));
    }
}

/* A full adder of three numbers of one bit, in every bit of a vector. */
TARGET static inline void add3(__m256i *carry, __m256i *sum, __m256i a, __m256i b)
{
    __m256i half = _mm256_xor_si256(a, b);

    *carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(half, *sum));
    *sum = _mm256_xor_si256(half, *sum);
}

/*
 * Carry-save addition (Muła 2018, after Harley and Seal).  A full adder of bitwise operations adds
 * three numbers of one bit in every column at once: the sum keeps its weight, the carry has twice
 * that.  A tree of them adds 64 features into planes of ones, twos, fours and eights, and only the
 * sixteens that come out, one vector in sixteen, are counted bit by bit.
 */
struct planes {
    __m256i ones, twos, fours, eights;
};

TARGET static inline __m256i add_eight(struct planes *p, const uint64_t *f)
{
    __m256i two_a, two_b, four_a, four_b, eight;

    add3(&two_a, &p->ones, load(f), load(f + 4));
    add3(&two_b, &p->ones, load(f + 8), load(f + 12));
    add3(&four_a, &p->twos, two_a, two_b);
    add3(&two_a, &p->ones, load(f + 16), load(f + 20));
    add3(&two_b, &p->ones, load(f + 24), load(f + 28));
    add3(&four_b, &p->twos, two_a, two_b);
    add3(&eight, &p->fours, four_a, four_b);
    return eight;
}

TARGET static inline __m256i add_block(struct planes *p, const uint64_t *f)
{
    __m256i first = add_eight(p, f), second = add_eight(p, f + BLOCK / 2), sixteens;

    add3(&sixteens, &p->eights, first, second);
    return sixteens;
}

/* Three blocks at most: counters of a byte must hold the ones of all. */
TARGET static void simhash_some(const uint64_t *feature, size_t n, int64_t *sum)
{
    struct planes planes = {0};
    struct counters ones = {0};
    uint64_t last[BLOCK] = {0}; /* a feature of zeroes adds no ones */

    for (size_t i = 0; i < n; i += BLOCK) {
        const uint64_t *f = feature + i;

        if (n - i < BLOCK)
            f = memcpy(last, f, (n - i) * sizeof *f);
        count(&ones, add_block(&planes, f));
    }
    twice(&ones);
    count(&ones, planes.eights);
    twice(&ones);
    count(&ones, planes.fours);
    twice(&ones);
    count(&ones, planes.twos);
    twice(&ones);
    count(&ones, planes.ones);
    add_to_sum(sum, &ones);
}

TARGET static void simhash(const uint64_t *feature, size_t n, int64_t *sum)
{
    enum { FULL = 3 * BLOCK };

    for (int b = 0; b < ND_SIMHASH_WIDTH; b++)
        sum[b] -= (int64_t)n;
    for (size_t i = 0; i < n; i += FULL)
        simhash_some(feature + i, n - i < FULL ? n - i : FULL, sum);
}

TARGET static uint64_t positive(const int64_t *sum)
{
    uint64_t bits = 0;

    for (int b = 0; b < ND_SIMHASH_WIDTH; b += 4) {
        __m256i is_positive = _mm256_cmpgt_epi64(load(sum + b), _mm256_setzero_si256());

        bits |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_positive)) << b;
    }
    return bits;
}

TARGET static void bytes_equal(const uint8_t *a, const uint8_t *b, uint64_t equal[2])
{
    uint32_t part[ND_MINIMA / 32];

    for (int k = 0; k < ND_MINIMA / 32; k++)
        part[k] =
            (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(a + 32 * k), load(b + 32 * k)));
    equal[0] = (uint64_t)part[1] << 32 | part[0];
    equal[1] = (uint64_t)part[3] << 32 | part[2];
}

TARGET static void low_bytes(const uint32_t *minima, uint8_t *out)
{
    const __m256i mask = _mm256_set1_epi32(0xFF);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);

    for (int k = 0; k < ND_MINIMA; k += 32) {
        __m256i a = _mm256_and_si256(load(minima + k), mask);
        __m256i b = _mm256_and_si256(load(minima + k + 8), mask);
        __m256i c = _mm256_and_si256(load(minima + k + 16), mask);
        __m256i d = _mm256_and_si256(load(minima + k + 24), mask);
        __m256i all = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));

        store(out + k, _mm256_permutevar8x32_epi32(all, order));
    }
}

TARGET static unsigned minima_equal(const uint32_t *a, const uint32_t *b)
{
    __m256i equal = _mm256_setzero_si256();
    uint32_t lane[LANES32], sum = 0;

    for (int k = 0; k < ND_MINIMA; k += LANES32)
        equal = _mm256_sub_epi32(equal, _mm256_cmpeq_epi32(load(a + k), load(b + k)));
    store(lane, equal);
    for (int k = 0; k < LANES32; k++)
        sum += lane[k];
    return sum;
}

/*
 * Probe one slot: returns the entry if it is the value's.  A search that is not over is added to the
 * list `open`.  A free slot reads entry 0, whatever that holds, so that there is no branch.
 */
TARGET static inline __attribute__((always_inline)) size_t
probe(const struct nd_slots *in, bool wide, uint64_t v, size_t at, uint64_t *open, size_t *n_open)
{
    size_t entry = wide ? ((const uint32_t *)in->slot)[at] : ((const uint16_t *)in->slot)[at];
    size_t busy = entry != 0, equal = in->entry[entry] == v;

    open[*n_open] = v;
    *n_open += busy & ~equal & 1;
    return entry & (0 - equal);
}

/* Whether four values are these four entries. */
TARGET static inline bool are_entries(const uint64_t *value, const uint64_t *entry)
{
    return _mm256_movemask_epi8(_mm256_cmpeq_epi64(load(value), load(entry))) == -1;
}

/*
 * If four values are the entries behind the last one found, as in near copies, no search is needed.
 * Otherwise each value is probed once, and those whose search is not over are probed again in
 * rounds, so that no branch depends on what is found.
 */
TARGET static inline __attribute__((always_inline)) size_t
count_found_in(const struct nd_slots *in, bool wide, const uint64_t *value, size_t n, size_t *near)
{
    const size_t mask = ((size_t)1 << (64 - in->shift)) - 1;
    uint64_t open[SEARCHES];
    size_t found = 0, n_open = 0, expected = *near;

    for (size_t i = 0; i < n; i++) {
        size_t entry;

        if (n - i >= 4 && expected + 4 <= in->n_entries + 1 &&
            are_entries(value + i, in->entry + expected)) {
            found += 4;
            expected += 4;
            i += 3;
            continue;
        }
        entry = probe(in, wide, value[i], value[i] >> in->shift, open, &n_open);
        found += entry != 0;
        expected = entry ? entry + 1 : expected;
    }
    *near = expected;
    for (size_t step = 1; n_open; step++) {
        size_t left = n_open;

        n_open = 0;
        for (size_t i = 0; i < left; i++)
            found += probe(in, wide, open[i], ((open[i] >> in->shift) + step) & mask, open,
                           &n_open) != 0;
    }
    return found;
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

const struct nd_sketch_kernels nd_sketch_avx2 = {
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
