/* sha1.h - SHA-1, in builds that have it */
#ifndef ND_BASE_SHA1_H
#define ND_BASE_SHA1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool nd_sha1_is_built(void);

/* The first 64 bits of the digest as it is printed; 0 in a build without it. */
uint64_t nd_sha1_64(const void *data, size_t len);

#endif
