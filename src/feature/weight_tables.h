/* weight_tables.h - logarithms and cosines from integer tables: the same bits on every processor */
#ifndef ND_FEATURE_WEIGHT_TABLES_H
#define ND_FEATURE_WEIGHT_TABLES_H

#include <stdint.h>

/* ln(1 + i / 1024) in 2^-40, and cos(pi i / 1024) + 1 in 2^-24: i = 0 … 1024. */
extern const uint64_t nd_log_table[1025];
extern const uint32_t nd_cosine_table[1025];

#define ND_LN_ONE (UINT64_C(1) << 40)    /* 1 in the units of nd_ln */
#define ND_LN_TWO UINT64_C(762123384786) /* ln 2 */

/*
 * ln x in 2^-40, x >= 1: x = 2^e (1 + i / 1024 + rest), a straight line between two entries.  The
 * logarithm is concave, so the line lies below it, by at most h^2 / 8 max |ln''| = 2^-20 / 8 = 2^-23
 * for steps h of 2^-10 and |ln''| = x^-2 <= 1 from 1 to 2.  So the result is at most 2^-23 too small,
 * never too large by more than a rounding, and never falls as x grows.
 */
static inline uint64_t nd_ln(uint64_t x)
{
    unsigned e = 63 - (unsigned)__builtin_clzll(x);
    uint64_t m = x << (63 - e);
    uint64_t i = m >> 53 & 1023, rest = m >> 21 & UINT32_MAX;
    uint64_t step = nd_log_table[i + 1] - nd_log_table[i];

    return e * ND_LN_TWO + nd_log_table[i] + (step * rest >> 32);
}

/* cos(2 pi phase / 2^32) + 1 in 2^-24. */
static inline uint32_t nd_raised_cosine(uint32_t phase)
{
    uint32_t p = phase > UINT32_C(1) << 31 ? -phase : phase;
    uint32_t i = p >> 21, rest = p & ((UINT32_C(1) << 21) - 1);
    uint32_t step;

    if (i == 1024)
        return nd_cosine_table[1024];
    step = nd_cosine_table[i] - nd_cosine_table[i + 1];
    return nd_cosine_table[i] - (uint32_t)((uint64_t)step * rest >> 21);
}

#endif
