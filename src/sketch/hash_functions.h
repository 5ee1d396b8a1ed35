/* hash_functions.h - published hash functions of lists of words: lookup8, Rabin's, SHA-1 */
#ifndef ND_SKETCH_HASH_FUNCTIONS_H
#define ND_SKETCH_HASH_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/signature/rabin_step.h"

/* Words one after another.  Their bytes are hashed, each word's in little-endian order. */
struct nd_list {
    const uint64_t *word;
    size_t n;
};

/* Jenkins' 64-bit hash(key, 8 n, level 0) of 1997. */
uint64_t nd_lookup8_words(const uint64_t *word, size_t n);

/* Rabin's fingerprints: remainders of polynomials over GF(2), modulo t^64 + polynomial.  False: out
 * of memory. */
bool nd_rabin_init(struct nd_rabin *r, uint64_t polynomial);
void nd_rabin_release(struct nd_rabin *r);
/* Whether t^64 + these coefficients is irreducible over GF(2). */
bool nd_rabin_is_irreducible(uint64_t polynomial);

/* hash[i] becomes the first 64 bits of the SHA-1 digest of its bytes, as it is printed. */
void nd_sha1_each(uint64_t *hash, size_t n);
/* Hash each of `count` lists in the same way. */
void nd_sha1_lists(const struct nd_list *list, size_t count, uint64_t *out);

#endif
