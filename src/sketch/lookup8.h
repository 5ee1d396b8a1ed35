/* lookup8.h - Jenkins' 64-bit hash() of 1997, of whole words */
#ifndef ND_SKETCH_LOOKUP8_H
#define ND_SKETCH_LOOKUP8_H

#include <stddef.h>
#include <stdint.h>

/* hash(key, 8 n, level 0) of the words' bytes, little-endian. */
uint64_t nd_lookup8_words(const uint64_t *word, size_t n);

#endif
