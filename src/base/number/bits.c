/* bits.c - binary logarithms in integers, a bit a squaring */
#include "base/number/bits.h"

/*
 * x = m * 2^whole with m in [1, 2), held as an integer with 63 fraction bits.  Squaring m doubles
 * log2(m), so that the integer part of the new logarithm, 0 or 1, is the next bit of the old one:
 *
 *      m^2 >= 2   the bit is 1, and m becomes m^2 / 2
 *      m^2 <  2   the bit is 0, and m becomes m^2
 *
 * The error.  Every step cuts m^2 off at 63 fraction bits, which takes off less than 2^-63 of it,
 * and from its logarithm less than 2^-63 / ln 2 < 2^-62.  The step of bit i is
 * worth 2^-i of the result, so that the errors add up to less than 2^-62 (1/2 + 1/4 + …) < 2^-62,
 * and never make the logarithm too large.  With ND_LOG2_BITS_MAX = 48 bits, only a logarithm that
 * lies within 2^-62 above a multiple of 2^-48 could be rounded down one too far.
 */
uint64_t nd_log2_fixed(uint64_t x, unsigned bits)
{
    unsigned whole = 63 - (unsigned)__builtin_clzll(x | 1);
    uint64_t m = x << (63 - whole), log = whole;

    for (unsigned i = 0; i < bits; i++) {
        unsigned __int128 square = (unsigned __int128)m * m; /* 126 fraction bits */
        unsigned is_two = (unsigned)(square >> 127);

        m = (uint64_t)(square >> (63 + is_two));
        log = log << 1 | is_two;
    }
    return log;
}
