/* rabin.h - Rabin's fingerprints: remainders of polynomials over GF(2) */
#ifndef ND_SKETCH_RABIN_H
#define ND_SKETCH_RABIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/rabin_step.h"

/* For t^64 + polynomial.  False: out of memory. */
bool nd_rabin_init(struct nd_rabin *r, uint64_t polynomial);
void nd_rabin_release(struct nd_rabin *r);

/* The fingerprint of the words' bytes, little-endian, the first byte leading. */
uint64_t nd_rabin_words(const struct nd_rabin *r, const uint64_t *word, size_t n);

#endif
