/* rabin_step.h - one word's step of Rabin's fingerprints, by a table */
#ifndef ND_SIMD_SIGNATURE_RABIN_STEP_H
#define ND_SIMD_SIGNATURE_RABIN_STEP_H

#include <stdint.h>

/*
 * P is t^64 + polynomial.  table[i][b] is b(t) t^(8 i) t^64 modulo P; quotient is t^128 / P without
 * its t^64, for those who multiply (Barrett 1986, with polynomials in place of integers).
 */
struct nd_rabin {
    uint64_t polynomial, quotient;
    uint64_t (*table)[256];
};

/* a t^64 modulo P */
static inline uint64_t nd_rabin_step(uint64_t (*table)[256], uint64_t a)
{
    uint64_t product = 0;

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        product ^= table[i][a >> 8 * i & 255];
    return product;
}

#endif
