/* sha1.h - SHA-1 of many lists of words at once */
#ifndef ND_SKETCH_SHA1_H
#define ND_SKETCH_SHA1_H

#include "sketch/hasher.h"

/* hash[i] becomes the first 64 bits of the digest of its bytes, little-endian, as it is printed. */
void nd_sha1_each(uint64_t *hash, size_t n);

/* The same of each of `count` lists of words' bytes. */
void nd_sha1_lists(const struct nd_list *list, size_t count, uint64_t *out);

#endif
