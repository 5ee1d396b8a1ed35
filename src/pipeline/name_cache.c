/* name_cache.c - the names of documents met lately, in bounded memory */
#include "pipeline/name_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SLOTS = 1 << 18, RING_BYTES = 8 << 20, LENGTH_MAX = 1024 };

struct slot {
    uint64_t position; /* of its first byte, from 1; 0: empty */
    uint32_t number;   /* numbers are below 2^32 */
    uint16_t length;
    uint16_t kind;
};

struct nd_name_cache {
    struct slot *slot;
    char *ring;
    uint64_t position; /* of the next byte */
};

struct nd_name_cache *nd_name_cache_new(void)
{
    struct nd_name_cache *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->slot = calloc(SLOTS, sizeof *c->slot);
    c->ring = malloc(RING_BYTES);
    c->position = 1;
    if (c->slot && c->ring)
        return c;
    nd_name_cache_free(c);
    return NULL;
}

void nd_name_cache_free(struct nd_name_cache *c)
{
    if (!c)
        return;
    free(c->slot);
    free(c->ring);
    free(c);
}

void nd_name_cache_put(struct nd_name_cache *c, uint64_t number, const struct nd_name *name)
{
    size_t at = (size_t)(c->position % RING_BYTES);

    if (name->text.len > LENGTH_MAX)
        return;
    if (at + name->text.len > RING_BYTES) { /* a name is in one piece */
        c->position += RING_BYTES - at;
        at = 0;
    }
    if (name->text.len)
        memcpy(c->ring + at, name->text.data, name->text.len);
    c->slot[number % SLOTS] = (struct slot){.position = c->position,
                                            .number = (uint32_t)number,
                                            .length = (uint16_t)name->text.len,
                                            .kind = (uint16_t)name->kind};
    c->position += name->text.len;
}

bool nd_name_cache_get(const struct nd_name_cache *c, uint64_t number, struct nd_name *name)
{
    const struct slot *slot = &c->slot[number % SLOTS];

    if (slot->position == 0 || slot->number != (uint32_t)number ||
        c->position - slot->position > RING_BYTES)
        return false;
    *name = (struct nd_name){(enum nd_id_kind)slot->kind,
                             {c->ring + slot->position % RING_BYTES, slot->length}};
    return true;
}
