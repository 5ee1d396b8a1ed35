/* code.h - the perfect [31, 26] Hamming code as a way to choose buckets */
#ifndef ND_HAMMING_MEMORY_CODE_H
#define ND_HAMMING_MEMORY_CODE_H

#include <stdint.h>

/*
 * A code word has 26 data bits (0 … 25) and 5 check bits (26 … 30).  Bit i has a column, a number
 * from 1 to 31, and no two bits have the same; the syndrome of a word is the XOR of the columns of
 * its ones.  Code words are the words of syndrome 0.  Changing one bit of a code word gives the
 * syndrome of that bit's column, so the syndrome of a word with one wrong bit says which bit is
 * wrong.  There are 31 columns and 31 syndromes beside 0, so every word of 31 bits is a code word
 * or has exactly one code word at distance 1: the balls of radius 1 around the 2^26 code words hold
 * 32 words each and fill the space of 2^31 without overlap.  That is what "perfect" means (Hamming
 * 1950).
 *
 * The bucket of a word is the data of its nearest code word.  So all words fall into 2^26 buckets
 * of 32.  What is looked for is within distance 1 of a query q, and that is why few buckets do:
 *
 *     If q is a code word, all 32 words within 1 of q have q as their nearest code word: one
 *     bucket.
 *     Else let s be its syndrome.  A word q ^ e_a (bit a wrong) has the syndrome s ^ column(a), and
 *     is a code word for the one a of column s; for another a it is corrected at the bit b of
 *     column s ^ column(a), and correcting q ^ e_b leads to the same code word q ^ e_a ^ e_b.  So
 *     the 30 other bits pair up to 15 code words.  Bucket 16 is that of q itself, which the
 *     neighbour along column s shares.
 *
 * The code words q ^ e_a ^ e_b differ from q's own nearest one, q ^ e_s, by e_s ^ e_a ^ e_b, which
 * depends on s alone.  So the 16 buckets are the data of q's code word XOR 16 masks, which `ball`
 * lists for each syndrome.
 */
enum { ND_HAMMING_DATA_BITS = 26, ND_HAMMING_BALL = 16 };
#define ND_HAMMING_DATA_MASK ((UINT32_C(1) << ND_HAMMING_DATA_BITS) - 1)

struct nd_hamming_code {
    uint8_t syndrome[4][256];
    uint32_t error[32];                 /* the one wrong bit that a syndrome means */
    uint32_t ball[32][ND_HAMMING_BALL]; /* masks, those with equal low bits side by side */
};

void nd_hamming_code_init(struct nd_hamming_code *code);

/* The syndrome of the low 31 bits. */
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
