/* log2.c - binary logarithms in integers, a bit a squaring */
#include "base/log2.h"

/*
 * m in [1, 2) has 63 fraction bits.  Squaring it doubles its logarithm, whose integer part, 0 or 1,
 * is the next bit.  What a squaring cuts off, below 2^-63, counts half as much with each bit: in
 * all the logarithm is too small by less than 2^-61.
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
