/* text_plain.h - folding character by character: the definition, and what vector kernels fall to */
#ifndef ND_SIMD_TEXT_PLAIN_H
#define ND_SIMD_TEXT_PLAIN_H

#include "simd/text_kernels.h"

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

/* Fold one character: its bytes, or 0 where it must be left to others. */
static inline size_t nd_plain_step(const uint8_t *in, size_t len, uint8_t *out,
                                   const uint32_t *pairs, bool words)
{
    uint32_t pair;

    if (in[0] < 0x80) {
        out[0] = nd_plain_fold(in[0], words);
        return 1;
    }
    if (in[0] < 0xC0 || in[0] >= 0xE0 || len < 2)
        return 0;
    pair = pairs[(in[0] & 31) << 6 | (in[1] & 63)];
    if (pair & ND_PAIR_HARD)
        return 0;
    if (words && (pair & ND_PAIR_SEPARATOR))
        pair = 0;
    out[0] = (uint8_t)pair;
    out[1] = (uint8_t)(pair >> 8);
    return 2;
}

#endif
