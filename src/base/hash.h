/* hash.h - content hashes (xxHash) and the mixing of integers */
#ifndef ND_BASE_HASH_H
#define ND_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3, 64 bits, seed 0: pinned by docs/format/sketch.md. */
uint64_t nd_hash_bytes(const void *data, size_t len);
/* XXH3, 64 bits, with a seed. */
uint64_t nd_hash_bytes_seeded(const void *data, size_t len, uint64_t seed);
/* XXH3, 128 bits, seed 0. */
void nd_hash_bytes_128(const void *data, size_t len, uint64_t *low, uint64_t *high);

/* A bijection in which every input bit reaches every output bit (the finaliser of SplitMix64). */
static inline uint64_t nd_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* A running XXH3 of a stream. */
struct nd_hash_stream;
struct nd_hash_stream *nd_hash_stream_new(void);
void nd_hash_stream_add(struct nd_hash_stream *s, const void *data, size_t len);
uint64_t nd_hash_stream_value(const struct nd_hash_stream *s);
void nd_hash_stream_free(struct nd_hash_stream *s);

#endif
