/* log2.h - binary logarithms in integers: the same on every machine */
#ifndef ND_BASE_LOG2_H
#define ND_BASE_LOG2_H

#include <stdint.h>

#define ND_LOG2_MOST 48 /* fraction bits */

/* log2(x) * 2^bits, rounded down, for x >= 1; `bits` up to ND_LOG2_MOST. */
uint64_t nd_log2_fixed(uint64_t x, unsigned bits);

#endif
