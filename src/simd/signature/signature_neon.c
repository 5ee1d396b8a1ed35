/* signature_neon.c - the signature kernels for NEON (AArch64) */
#include "simd/signature/signature_kernels.h"
#include "simd/sketch/sketch_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define TARGET
typedef uint32x4_t sha1_word;
#include "simd/signature/sha1_lanes.h"

typedef uint64_t lookup8_word __attribute__((vector_size(16)));
#include "simd/signature/lookup8_lanes.h"

enum { LANES32 = 4, PARTS = ND_WEIGHTED_BITS / LANES32, BLOCK = 256 };

/* There is no product of 64-bit lanes: what multiplies is plain. */
static void mix(const uint64_t *value, size_t n, uint64_t add, uint64_t *out)
{
    nd_signature_scalar.mix(value, n, add, out);
}

static void lexicons(const struct nd_lexicons *lexicons, const uint64_t *term,
                     const uint64_t *value, size_t n, uint64_t *sum, uint64_t *count)
{
    nd_signature_scalar.lexicons(lexicons, term, value, n, sum, count);
}

/* 64 counters of 32 bits: a lane whose bit is set is -1, and takes off minus the weight. */
static void weighted_block(const uint64_t *word, const int32_t *weight, size_t n, int64_t total,
                           int64_t *sum)
{
    static const uint32_t first[LANES32] = {1, 2, 4, 8};
    const uint32x4_t lowest = vld1q_u32(first);
    int32x4_t ones[PARTS];
    uint32x4_t bit[PARTS / 2];
    int32_t lane[LANES32];

    for (int p = 0; p < PARTS / 2; p++)
        bit[p] = vshlq_u32(lowest, vdupq_n_s32(p * LANES32));
    for (int p = 0; p < PARTS; p++)
        ones[p] = vdupq_n_s32(0);
    for (size_t i = 0; i < n; i++) {
        const int32x4_t w = vdupq_n_s32(weight[i]);
        const uint32x4_t low = vdupq_n_u32((uint32_t)word[i]);
        const uint32x4_t high = vdupq_n_u32((uint32_t)(word[i] >> 32));

#pragma GCC unroll 16
        for (int p = 0; p < PARTS; p++) {
            uint32x4_t mine = p < PARTS / 2 ? low : high;
            int32x4_t is_set = vreinterpretq_s32_u32(vtstq_u32(mine, bit[p % (PARTS / 2)]));

            ones[p] = vmlsq_s32(ones[p], is_set, w);
        }
    }
    for (int p = 0; p < PARTS; p++) {
        vst1q_s32(lane, ones[p]);
        for (int k = 0; k < LANES32; k++)
            sum[p * LANES32 + k] += 2 * (int64_t)lane[k] - total;
    }
}

static void weighted(const uint64_t *word, const int32_t *weight, size_t n, int64_t *sum)
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

    nd_sketch_neon.simhash(word, n, ones);
    for (int b = 0; b < ND_WEIGHTED_BITS; b++)
        sum[b] += ones[b] * weight;
}

static uint64_t signs(const int64_t *sum)
{
    return nd_signature_scalar.signs(sum);
}

static void rabin(const struct nd_rabin *r, uint64_t *hash, size_t n)
{
    nd_signature_scalar.rabin(r, hash, n);
}

static uint64_t rabin_words(const struct nd_rabin *r, const uint64_t *word, size_t n)
{
    return nd_signature_scalar.rabin_words(r, word, n);
}

static size_t changes(const uint64_t *value, size_t n, uint64_t before, uint64_t *out)
{
    return nd_signature_scalar.changes(value, n, before, out);
}

static void sha1_one(uint32_t state[5], const uint32_t block[16])
{
    nd_signature_scalar.sha1_one(state, block);
}

/* A vector reads at the distance only what has not been written yet. */
static void least(uint64_t *value, size_t n, size_t distance)
{
    size_t windows = n > distance ? n - distance : 0, i = 0;

    for (; windows - i >= 2; i += 2) {
        uint64x2_t a = vld1q_u64(value + i), b = vld1q_u64(value + i + distance);

        vst1q_u64(value + i, vbslq_u64(vcgtq_u64(a, b), b, a));
    }
    nd_signature_scalar.least(value + i, n - i, distance);
}

const struct nd_signature_kernels nd_signature_neon = {
    .mix = mix,
    .weighted = weighted,
    .equal = equal,
    .signs = signs,
    .least = least,
    .changes = changes,
    .lookup8 = lookup8,
    .rabin = rabin,
    .rabin_words = rabin_words,
    .sha1 = sha1,
    .sha1_one = sha1_one,
    .lexicons = lexicons,
};
#endif
