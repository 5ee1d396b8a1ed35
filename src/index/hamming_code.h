/* hamming_code.h - the perfect [31, 26] Hamming code as a way to choose buckets */
#ifndef ND_INDEX_HAMMING_CODE_H
#define ND_INDEX_HAMMING_CODE_H

#include <stdint.h>

/*
 * Every word of 31 bits is a code word or has exactly one code word at distance 1 (Hamming, 1950).
 * Bits 0 … 25 are the data of a code word, 26 … 30 its checks.  The bucket of a word is the data of
 * its nearest code word.  The 32 words within distance 1 of a word fall into 16 buckets, or into
 * one when it is a code word, and which ones depends on the syndrome alone: the data XOR 16 masks.
 */
enum { ND_HAMMING_DATA_BITS = 26, ND_HAMMING_BALL = 16 };
#define ND_HAMMING_DATA_MASK ((UINT32_C(1) << ND_HAMMING_DATA_BITS) - 1)

struct nd_hamming_code {
    uint8_t syndrome[4][256];
    uint32_t error[32];                 /* the one wrong bit that a syndrome means */
    uint32_t ball[32][ND_HAMMING_BALL]; /* masks, those with equal low bits side by side */
};

void nd_hamming_code_init(struct nd_hamming_code *code);

/* Of the low 31 bits. */
static inline unsigned nd_hamming_syndrome(const struct nd_hamming_code *code, uint32_t word)
{
    return code->syndrome[0][word & 255] ^ code->syndrome[1][word >> 8 & 255] ^
           code->syndrome[2][word >> 16 & 255] ^ code->syndrome[3][word >> 24 & 127];
}

/* The word of 31 bits whose bucket is `data` and whose syndrome is `syndrome`. */
static inline uint32_t nd_hamming_code_word(const struct nd_hamming_code *code, uint32_t data,
                                            unsigned syndrome)
{
    uint32_t checks = nd_hamming_syndrome(code, data);

    return (data | checks << ND_HAMMING_DATA_BITS) ^ code->error[syndrome];
}

#endif
