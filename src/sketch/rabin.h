/* rabin.h - Rabin's fingerprints: remainders of polynomials over GF(2) */
#ifndef ND_SKETCH_RABIN_H
#define ND_SKETCH_RABIN_H

#include <stddef.h>
#include <stdint.h>

/* For t^64 + polynomial: entry [i][b] is b(t) t^(8 i) t^64 modulo it.  NULL: no memory; free(). */
uint64_t (*nd_rabin_table_new(uint64_t polynomial))[256];

/* The fingerprint of the words' bytes, little-endian, the first byte leading. */
uint64_t nd_rabin_words(uint64_t (*table)[256], const uint64_t *word, size_t n);

#endif
