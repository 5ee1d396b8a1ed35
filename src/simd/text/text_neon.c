/* text_neon.c - the kernels of the text layer, 16 bytes at a time */
#include "simd/text/text_plain.h"
#include "simd/text/utf8_tables.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

/* The first n < 16 bytes of a block; the others are zero and not touched. */
__attribute__((noinline)) static uint8x16_t load_part(const uint8_t *in, size_t n)
{
    uint8_t block[16] = {0};

    if (n)
        memcpy(block, in, n);
    return vld1q_u8(block);
}

static inline uint8x16_t load(const uint8_t *in, size_t n)
{
    return __builtin_expect(n >= 16, 1) ? vld1q_u8(in) : load_part(in, n);
}

/* 0xFF where a byte is one of `count` from `first` on. */
static inline uint8x16_t in_range(uint8x16_t v, uint8_t first, uint8_t count)
{
    return vcltq_u8(vsubq_u8(v, vdupq_n_u8(first)), vdupq_n_u8(count));
}

static inline uint8x16_t lower(uint8x16_t v)
{
    return vaddq_u8(v, vandq_u8(in_range(v, 'A', 26), vdupq_n_u8(32)));
}

/* Four bits for each byte of a comparison: there is no movemask. */
static inline uint64_t nibbles(uint8x16_t mask)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(mask), 4)), 0);
}

static inline uint64_t others(uint8x16_t v)
{
    return nibbles(vcgeq_u8(v, vdupq_n_u8(0x80)));
}

/* Characters of two bytes are folded one by one; a block of ASCII at once. */
static inline size_t fold(const uint8_t *in, size_t len, uint8_t *out,
                          const struct nd_fold_tables *tables, bool words)
{
    size_t i = 0, n;

    while (i < len) {
        uint8x16_t v = load(in + i, len - i), low = lower(v);
        uint8x16_t word = vorrq_u8(in_range(low, 'a', 26), in_range(v, '0', 10));
        uint64_t other = others(v);

        vst1q_u8(out + i, words ? vandq_u8(word, low) : low);
        if (!other && len - i >= 16) { /* a branch: a sum would wait for the comparison */
            i += 16;
            continue;
        }
        n = other ? (size_t)__builtin_ctzll(other) / 4 : 16;
        i += n < len - i ? n : len - i;
        while (i < len && in[i] >= 0x80) {
            n = nd_plain_step(in + i, len - i, out + i, tables, words);
            if (n == 0)
                return i;
            i += n;
        }
    }
    return i;
}

static size_t fold_words(const uint8_t *in, size_t len, uint8_t *out,
                         const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, true);
}

static size_t fold_text(const uint8_t *in, size_t len, uint8_t *out,
                        const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, false);
}

static size_t edges(const uint8_t *stream, size_t len, uint16_t *edge)
{
    uint64_t inside = 0;
    size_t count = 0;

    for (size_t i = 0; i < len; i += 16) {
        uint64_t word = nibbles(vtstq_u8(load(stream + i, len - i), vdupq_n_u8(0xFF)));
        uint64_t bits = (word ^ (word << 4 | inside)) & UINT64_C(0x1111111111111111);

        inside = word >> 60;
        for (; bits; bits &= bits - 1)
            edge[count++] = (uint16_t)(i + (size_t)__builtin_ctzll(bits) / 4);
    }
    return count;
}

/* A non-zero byte where v, with `prev` before it, is wrong: utf8_tables.h. */
static inline uint8x16_t wrong(uint8x16_t v, uint8x16_t prev)
{
    uint8x16_t first = vextq_u8(prev, v, 15);
    uint8x16_t bad =
        vandq_u8(vandq_u8(vqtbl1q_u8(vld1q_u8(nd_utf8_first_high), vshrq_n_u8(first, 4)),
                          vqtbl1q_u8(vld1q_u8(nd_utf8_first_low), vandq_u8(first, vdupq_n_u8(15)))),
                 vqtbl1q_u8(vld1q_u8(nd_utf8_second_high), vshrq_n_u8(v, 4)));
    uint8x16_t third = vcgeq_u8(vextq_u8(prev, v, 14), vdupq_n_u8(0xE0));
    uint8x16_t fourth = vcgeq_u8(vextq_u8(prev, v, 13), vdupq_n_u8(0xF0));
    uint8x16_t must = vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(0x80));

    return veorq_u8(must, bad);
}

static bool valid(const uint8_t *text, size_t len)
{
    uint8x16_t prev = vdupq_n_u8(0), bad = prev;
    bool was_ascii = true;

    for (size_t i = 0; i <= len; i += 16) { /* the last block ends in zeroes, or is empty */
        uint8x16_t v = load(text + i, len - i);
        bool is_ascii = vmaxvq_u8(v) < 0x80;

        if (!is_ascii || !was_ascii)
            bad = vorrq_u8(bad, wrong(v, prev));
        was_ascii = is_ascii;
        prev = v;
    }
    return vmaxvq_u8(bad) == 0;
}

static void hash(const uint8_t *stream, const uint16_t *edge, size_t count, uint64_t *out)
{
    nd_plain_hash(stream, edge, count, out);
}

const struct nd_text_kernels nd_text_kernels_neon = {
    .name = "neon",
    .fold_words = fold_words,
    .fold_text = fold_text,
    .edges = edges,
    .hash = hash,
    .valid = valid,
};
#endif
