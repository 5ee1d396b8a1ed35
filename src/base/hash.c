/* hash.c - content hashes: the one file that knows xxHash */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

#include <stdlib.h>

uint64_t nd_hash_bytes(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

uint64_t nd_hash_bytes_seeded(const void *data, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, len, seed);
}

void nd_hash_bytes_128(const void *data, size_t len, uint64_t *low, uint64_t *high)
{
    XXH128_hash_t hash = XXH3_128bits(data, len);

    *low = hash.low64;
    *high = hash.high64;
}

/* A struct nd_hash_stream is a state of xxHash by another name. */
static XXH3_state_t *state_of(struct nd_hash_stream *s)
{
    return (XXH3_state_t *)s;
}

struct nd_hash_stream *nd_hash_stream_new(void)
{
    XXH3_state_t *state = XXH3_createState();

    if (state)
        XXH3_64bits_reset(state);
    return (struct nd_hash_stream *)state;
}

void nd_hash_stream_add(struct nd_hash_stream *s, const void *data, size_t len)
{
    if (len)
        XXH3_64bits_update(state_of(s), data, len);
}

uint64_t nd_hash_stream_value(const struct nd_hash_stream *s)
{
    return XXH3_64bits_digest((const XXH3_state_t *)s);
}

void nd_hash_stream_free(struct nd_hash_stream *s)
{
    XXH3_freeState(state_of(s));
}
