/* sketch_neon.c - the sketch kernels for NEON (AArch64) */
#include "simd/sketch/sketch_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

enum { LANES32 = 4, HALF = ND_MINIMA / 2, VECTORS = HALF / LANES32 };
enum { BLOCKS = HALF / ND_MINIMA_BLOCK };

/*
 * 64 minima in 16 registers, so the shingles are gone through twice.  A block of 16 values is four
 * vectors, each the one before plus 4 steps of the block.
 */
static void minhash_half(const uint64_t *shingle, size_t n, uint32_t first, uint32_t *minima)
{
    const uint32_t number[LANES32] = {0, 1, 2, 3};
    const uint32x4_t lane = vld1q_u32(number);
    uint32x4_t least[VECTORS];

    for (uint32_t k = 0; k < VECTORS; k++)
        least[k] = vld1q_u32(minima + first + k * LANES32);
    for (size_t i = 0; i < n; i++) {
        uint32_t h1 = (uint32_t)shingle[i], h2 = (uint32_t)(shingle[i] >> 32) | 1;

#pragma GCC unroll 4
        for (uint32_t b = 0; b < BLOCKS; b++) {
            uint32_t start = first + b * ND_MINIMA_BLOCK;
            uint32_t s = h2 + start / ND_MINIMA_BLOCK * ND_MINIMA_STEP;
            uint32x4_t value = vmlaq_n_u32(vdupq_n_u32(h1 + start * h2), lane, s);
            uint32x4_t step = vdupq_n_u32(s * LANES32);

#pragma GCC unroll 4
            for (uint32_t k = b * VECTORS / BLOCKS; k < (b + 1) * VECTORS / BLOCKS; k++) {
                least[k] = vminq_u32(least[k], value);
                value = vaddq_u32(value, step);
            }
        }
    }
    for (uint32_t k = 0; k < VECTORS; k++)
        vst1q_u32(minima + first + k * LANES32, least[k]);
}

static void minhash(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    minhash_half(shingle, n, 0, minima);
    minhash_half(shingle, n, HALF, minima);
}

/* There is no product of 64-bit lanes: the sums are vectors, the finaliser is not. */
static void shingles(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    size_t i = 0;

    for (; n - i >= 2; i += 2) {
        uint64x2_t sum = vld1q_u64(token + i);

        for (unsigned k = 1; k < w; k++) {
            uint64x2_t turned =
                vsriq_n_u64(vshlq_n_u64(sum, ND_SHINGLE_ROTATION), sum, 64 - ND_SHINGLE_ROTATION);

            sum = vaddq_u64(turned, vld1q_u64(token + i + k));
        }
        out[i] = nd_shingle_finalise(vgetq_lane_u64(sum, 0));
        out[i + 1] = nd_shingle_finalise(vgetq_lane_u64(sum, 1));
    }
    nd_sketch_scalar.shingles(token + i, n - i, w, out + i);
}

static uint64_t sequence_sum(const uint64_t *token, size_t n, uint64_t first)
{
    const uint64_t start[2] = {first * ND_POSITION_STEP, (first + 1) * ND_POSITION_STEP};
    const uint64x2_t next = vdupq_n_u64(2 * ND_POSITION_STEP);
    uint64x2_t sum = vdupq_n_u64(0), position = vld1q_u64(start);
    size_t i = 0;

    for (; n - i >= 2; i += 2) {
        uint64x2_t x = veorq_u64(vld1q_u64(token + i), position);

        sum = vmlal_u32(sum, vmovn_u64(x), vshrn_n_u64(x, 32));
        position = vaddq_u64(position, next);
    }
    return vaddvq_u64(sum) + nd_sketch_scalar.sequence_sum(token + i, n - i, first + i);
}

/* 64 counters of a byte, one a bit, emptied before they overflow. */
static void simhash(const uint64_t *feature, size_t n, int64_t *sum)
{
    enum { FULL = 255, GROUPS = 4 };
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    const uint8x16_t spread = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));

    for (int b = 0; b < ND_SIMHASH_WIDTH; b++)
        sum[b] -= (int64_t)n;
    for (size_t i = 0; i < n;) {
        size_t end = n - i < FULL ? n : i + FULL;
        uint8x16_t ones[GROUPS] = {vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0)};
        uint8_t byte[ND_SIMHASH_WIDTH];

        for (; i < end; i++) {
            uint8x16_t all = vreinterpretq_u8_u64(vdupq_n_u64(feature[i]));

#pragma GCC unroll 4
            for (int g = 0; g < GROUPS; g++) {
                uint8x16_t mine = vqtbl1q_u8(all, vaddq_u8(spread, vdupq_n_u8((uint8_t)(2 * g))));

                ones[g] = vsubq_u8(ones[g], vtstq_u8(mine, bit));
            }
        }
        for (int g = 0; g < GROUPS; g++)
            vst1q_u8(byte + 16 * g, ones[g]);
        for (int b = 0; b < ND_SIMHASH_WIDTH; b++)
            sum[b] += 2 * (int64_t)byte[b];
    }
}

/* Each byte of a half keeps the bit of its place, and their sum is the byte of the mask. */
static void bytes_equal(const uint8_t *a, const uint8_t *b, uint64_t equal[2])
{
    static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vld1q_u8(bit);

    equal[0] = equal[1] = 0;
    for (int k = 0; k < ND_MINIMA; k += 16) {
        uint8x16_t same = vandq_u8(bits, vceqq_u8(vld1q_u8(a + k), vld1q_u8(b + k)));
        uint64_t mask = vaddv_u8(vget_low_u8(same)) | (uint64_t)vaddv_u8(vget_high_u8(same)) << 8;

        equal[k / 64] |= mask << k % 64;
    }
}

static void low_bytes(const uint32_t *minima, uint8_t *out)
{
    for (int k = 0; k < ND_MINIMA; k += 16) {
        uint16x8_t a =
            vcombine_u16(vmovn_u32(vld1q_u32(minima + k)), vmovn_u32(vld1q_u32(minima + k + 4)));
        uint16x8_t b = vcombine_u16(vmovn_u32(vld1q_u32(minima + k + 8)),
                                    vmovn_u32(vld1q_u32(minima + k + 12)));

        vst1q_u8(out + k, vcombine_u8(vmovn_u16(a), vmovn_u16(b)));
    }
}

static unsigned minima_equal(const uint32_t *a, const uint32_t *b)
{
    uint32x4_t equal = vdupq_n_u32(0);

    for (int k = 0; k < ND_MINIMA; k += LANES32)
        equal = vsubq_u32(equal, vceqq_u32(vld1q_u32(a + k), vld1q_u32(b + k)));
    return vaddvq_u32(equal);
}

static uint64_t positive(const int64_t *sum)
{
    return nd_sketch_scalar.positive(sum);
}

static size_t count_found(const struct nd_slots *in, const uint64_t *value, size_t n, size_t *near)
{
    return nd_sketch_scalar.count_found(in, value, n, near);
}

static size_t add_distinct(const struct nd_slots *in, const uint64_t *value, size_t n)
{
    return nd_sketch_scalar.add_distinct(in, value, n);
}

const struct nd_sketch_kernels nd_sketch_neon = {
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
