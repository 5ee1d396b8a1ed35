/* hash.c - content hashes: the one file that knows xxHash */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

#include <stdlib.h>

uint64_t nd_hash_bytes(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

struct nd_hash_stream {
    XXH3_state_t *state;
};

struct nd_hash_stream *nd_hash_stream_new(void)
{
    struct nd_hash_stream *s = malloc(sizeof *s);

    if (!s)
        return NULL;
    s->state = XXH3_createState();
    if (!s->state) {
        free(s);
        return NULL;
    }
    XXH3_64bits_reset(s->state);
    return s;
}

void nd_hash_stream_add(struct nd_hash_stream *s, const void *data, size_t len)
{
    if (len)
        XXH3_64bits_update(s->state, data, len);
}

uint64_t nd_hash_stream_value(const struct nd_hash_stream *s)
{
    return XXH3_64bits_digest(s->state);
}

void nd_hash_stream_free(struct nd_hash_stream *s)
{
    if (!s)
        return;
    XXH3_freeState(s->state);
    free(s);
}
