/* bits.h - counting the ones of a word; binary logarithms in integers */
#ifndef ND_BASE_NUMBER_BITS_H
#define ND_BASE_NUMBER_BITS_H

#include <stdint.h>

/*
 * How many bits of a word are 1.  A build for every x86-64 may not use the instruction for it, and
 * the compiler's builtin is then a call; these few additions are faster in a loop.  They add
 * neighbouring bits, then pairs, then fours; the product gathers the eight bytes in the highest.
 */
static inline unsigned nd_count_ones(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

#define ND_LOG2_BITS_MAX 48 /* fraction bits */

/* log2(x) * 2^bits, rounded down, for x >= 1; `bits` up to ND_LOG2_BITS_MAX.  The same on every
 * machine. */
uint64_t nd_log2_fixed(uint64_t x, unsigned bits);

#endif
