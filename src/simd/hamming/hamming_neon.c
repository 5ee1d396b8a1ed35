/* hamming_neon.c - the Hamming kernels for NEON */
#include "simd/hamming/hamming_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

/* Which of 4 words differ from v in at most `most` bits, as 4 bits. */
static inline unsigned words_within(const uint32_t *word, uint32x4_t v, uint32x4_t most)
{
    static const uint32_t bit[4] = {1, 2, 4, 8};
    uint8x16_t counts = vcntq_u8(vreinterpretq_u8_u32(veorq_u32(vld1q_u32(word), v)));
    uint32x4_t within = vcleq_u32(vpaddlq_u16(vpaddlq_u8(counts)), most);

    return vaddvq_u32(vandq_u32(within, vld1q_u32(bit)));
}

/* NEON has neither products of 64 bits nor compressed stores: nothing is won by it. */
static void places(const struct nd_linear_hash *table, uint64_t key, unsigned rotation,
                   const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold)
{
    nd_hamming_scalar.places(table, key, rotation, x, n, place, fold);
}

static size_t ball(const uint32_t *mask, uint32_t data, uint32_t level, uint32_t n_lines,
                   uint32_t *place)
{
    return nd_hamming_scalar.ball(mask, data, level, n_lines, place);
}

static struct nd_hamming_seen lines(const struct nd_hamming_look *now,
                                    const struct nd_hamming_look *next, unsigned distance,
                                    struct nd_hamming_found *found, uint32_t *more)
{
    const uint32x4_t most = vdupq_n_u32(distance);
    struct nd_hamming_seen seen = {0, 0};

    for (size_t i = 0; i < now->n; i++) {
        const uint32_t *word = now->line[i]->word;
        uint32x4_t v = vdupq_n_u32(now->value[i]);
        unsigned slots = 0;

        for (unsigned j = 0; j < 16; j += 4)
            slots |= words_within(word + j, v, most) << j;
        slots &= (1u << (word[15] & 15)) - 1;
        if (i < next->n)
            __builtin_prefetch(next->line[i], 0, 2);
        found[seen.found] = (struct nd_hamming_found){(uint32_t)i, slots};
        seen.found += slots != 0;
        more[seen.more] = (uint32_t)i;
        seen.more += word[15] > 15;
    }
    for (size_t i = now->n; i < next->n; i++)
        __builtin_prefetch(next->line[i], 0, 2);
    return seen;
}

static size_t rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                   unsigned distance, uint32_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++, row += words) {
        unsigned bits = 0;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)vaddv_u8(vcnt_u8(vcreate_u8(row[w] ^ query[w])));
        found[count] = (uint32_t)i;
        count += bits <= distance;
    }
    return count;
}

static size_t next(const uint64_t *value, size_t n, size_t end, size_t gap, unsigned distance,
                   struct nd_hamming_found *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 + gap < end; i++) {
        size_t first = i + 1 + gap;
        uint64x2_t v = vdupq_n_u64(value[i]);
        unsigned slots = 0;

        for (unsigned b = 0; b < 8; b += 2) {
            uint8x16_t x = vreinterpretq_u8_u64(veorq_u64(vld1q_u64(value + first + b), v));
            uint64x2_t bits = vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(x))));

            slots |= (unsigned)(vgetq_lane_u64(bits, 0) <= distance) << b;
            slots |= (unsigned)(vgetq_lane_u64(bits, 1) <= distance) << (b + 1);
        }
        if (first + 8 > end)
            slots &= (1u << (end - first)) - 1;
        found[count] = (struct nd_hamming_found){(uint32_t)i, slots};
        count += slots != 0;
    }
    return count;
}

/* Which of 16 words differ from v in at most `most` bits, as 16 bits. */
static unsigned sixteen_within(const uint32_t *word, uint32x4_t v, uint32x4_t most)
{
    static const uint32_t bit[4] = {1, 2, 4, 8};
    const uint32x4_t weight = vld1q_u32(bit);
    unsigned slots = 0;

    for (unsigned b = 0; b < ND_HAMMING_WINDOW; b += 4) {
        uint8x16_t x = vreinterpretq_u8_u32(veorq_u32(vld1q_u32(word + b), v));
        uint32x4_t bits = vpaddlq_u16(vpaddlq_u8(vcntq_u8(x)));

        slots |= vaddvq_u32(vandq_u32(vcleq_u32(bits, most), weight)) << b;
    }
    return slots;
}

static size_t words_next(const uint32_t *word, size_t n, size_t end, unsigned reach,
                         unsigned distance, struct nd_hamming_words *pair)
{
    const uint32x4_t most = vdupq_n_u32(distance);
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 < end; i++) {
        unsigned slots = sixteen_within(word + i + 1, vdupq_n_u32(word[i]), most);

        if (i + 1 + reach > end)
            slots &= (1u << (end - i - 1)) - 1;
        count += nd_hamming_add_next(i, slots, reach, pair + count);
    }
    return count;
}

static size_t words_in(const uint32_t *word, size_t from, size_t n_rows, size_t n, size_t gap,
                       unsigned distance, struct nd_hamming_near *near)
{
    const uint32x4_t most = vdupq_n_u32(distance);
    size_t count = 0, end = from + n_rows;

    for (size_t g = from; g < end; g += ND_HAMMING_GROUP)
        for (size_t first = g + 1 + gap, more = 0; first < n; first += ND_HAMMING_WINDOW, more++) {
            unsigned before = first + ND_HAMMING_WINDOW > n ? (1u << (n - first)) - 1 : 0xFFFFu;

            for (unsigned i = 0; i < ND_HAMMING_GROUP && g + i < n; i++) {
                unsigned slots =
                    sixteen_within(word + first, vdupq_n_u32(word[g + i]), most) & before;

                if (more == 0)
                    slots &= ~0u << i;
                near[count] =
                    (struct nd_hamming_near){(uint32_t)(g + i), (uint16_t)slots, (uint16_t)more};
                count += slots != 0;
            }
        }
    return count;
}

const struct nd_hamming_kernels nd_hamming_neon = {
    .next_ns = 4.0,
    .word_ns = 0.2,
    .reach = ND_HAMMING_NEXT,
    .places = places,
    .ball = ball,
    .lines = lines,
    .rows = rows,
    .next = next,
    .words_next = words_next,
    .words_in = words_in,
    .join_parts = nd_plain_join_parts,
    .join_places = nd_plain_join_places,
    .join_words = nd_plain_join_words,
    .join_move = nd_plain_join_move,
    .fence = nd_plain_fence,
};
#endif
