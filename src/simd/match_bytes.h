/* match_bytes.h - one byte looked for among sixteen */
#ifndef ND_SIMD_MATCH_BYTES_H
#define ND_SIMD_MATCH_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/*
 * Bit i: byte i of eight is x.  After the XOR such a byte is zero.  Adding 0x7F to its low 7 bits sets
 * the high bit of a byte unless those are zero; with the byte's own high bit and all low bits ORed
 * in, only zero bytes keep a 0 there.  No carry leaves a byte, so this is exact, unlike the shorter
 * borrow trick of feature/word/scan.h.  The multiplication gathers the eight high bits in the top byte.
 */
static inline unsigned nd_match_8(const uint8_t *byte, uint8_t x)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t v;

    memcpy(&v, byte, 8);
    v ^= x * UINT64_C(0x0101010101010101);
    v = ~(((v & low7) + low7) | v | low7); /* 0x80 in every zero byte */
    return (unsigned)((v >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

static inline unsigned nd_match_16_plain(const uint8_t *byte, uint8_t x)
{
    return nd_match_8(byte, x) | nd_match_8(byte + 8, x) << 8;
}

/* Bit i: byte i of sixteen is x.  What every processor of the architecture has, so inlined. */
static inline unsigned nd_match_16(const uint8_t *byte, uint8_t x)
{
#if defined(__SSE2__)
    __m128i v = _mm_loadu_si128((const __m128i *)byte);

    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)x)));
#else
    return nd_match_16_plain(byte, x);
#endif
}

#endif
