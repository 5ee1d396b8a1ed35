/* text_plain.h - character by character, token by token: the definition, and what vector kernels
 * fall to */
#ifndef ND_SIMD_TEXT_TEXT_PLAIN_H
#define ND_SIMD_TEXT_TEXT_PLAIN_H

#include "simd/text/text_kernels.h"
#include "simd/text/token_hash.h"

#include <string.h>

static inline bool nd_plain_is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool nd_plain_is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static inline uint8_t nd_plain_fold(uint8_t c, bool words)
{
    if (words && !nd_plain_is_word(c))
        return 0;
    return nd_plain_is_upper(c) ? (uint8_t)(c + 32) : c;
}

static inline size_t nd_plain_step_two(const uint8_t *in, uint8_t *out, const uint32_t *pairs,
                                       bool words)
{
    uint32_t pair = pairs[(in[0] & 31) << 6 | (in[1] & 63)];

    if (pair & ND_PAIR_HARD)
        return 0;
    if (words && (pair & ND_PAIR_SEPARATOR))
        pair = 0;
    out[0] = (uint8_t)pair;
    out[1] = (uint8_t)(pair >> 8);
    return 2;
}

static inline size_t nd_plain_step_three(const uint8_t *in, uint8_t *out,
                                         const struct nd_fold_tables *tables, bool words)
{
    uint32_t c = (uint32_t)(in[0] & 15) << 12 | (uint32_t)(in[1] & 63) << 6 | (in[2] & 63);
    uint32_t e = tables->entry[(size_t)tables->block[c / 64] * 64 + c % 64];

    c += ND_FOLD_SHIFT(e);
    if (ND_FOLD_KIND(e) != ND_FOLD_SINGLE || ND_FOLD_CLASS(e) == ND_FOLD_BIGRAM || c < 0x800 ||
        c > 0xFFFF)
        return 0;
    if (words && ND_FOLD_CLASS(e) == ND_FOLD_SEPARATOR) {
        memset(out, 0, 3);
        return 3;
    }
    out[0] = (uint8_t)(0xE0 | c >> 12);
    out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
    out[2] = (uint8_t)(0x80 | (c & 63));
    return 3;
}

/* U+3000 to 9FFF by the first byte. */
static inline bool nd_plain_is_east(uint8_t first)
{
    return first >= 0xE3 && first <= 0xE9;
}

/* Fold one character: its bytes, or 0 where it must be left to others. */
static inline size_t nd_plain_step(const uint8_t *in, size_t len, uint8_t *out,
                                   const struct nd_fold_tables *tables, bool words)
{
    if (in[0] < 0x80) {
        out[0] = nd_plain_fold(in[0], words);
        return 1;
    }
    if (in[0] >= 0xC0 && in[0] < 0xE0 && len >= 2)
        return nd_plain_step_two(in, out, tables->pairs, words);
    if (in[0] >= 0xE0 && in[0] < 0xF0 && !nd_plain_is_east(in[0]) && len >= 3)
        return nd_plain_step_three(in, out, tables, words);
    return 0;
}

static inline void nd_plain_hash(const uint8_t *stream, const uint16_t *edge, size_t count,
                                 uint64_t *hash)
{
    for (size_t i = 0; i < count; i++)
        hash[i] = nd_token_hash_padded((const char *)stream + edge[2 * i],
                                       (size_t)(edge[2 * i + 1] - edge[2 * i]));
}

#endif
