/* sources.c - a table that grows without moving what it holds */
#include "input/streams/sources.h"
#include "base/system/descriptor.h"

#include <stdlib.h>

/* The block of a number, and its place there. */
static unsigned place_of(size_t number, size_t *place)
{
    size_t n = number / ND_SOURCES_FIRST + 1;
    unsigned block = 63u - (unsigned)__builtin_clzll(n);

    *place = number - (((size_t)1 << block) - 1) * ND_SOURCES_FIRST;
    return block;
}

struct nd_source_kept *nd_sources_get(const struct nd_sources *s, size_t number)
{
    size_t place;
    unsigned block = place_of(number, &place);

    return &s->block[block][place];
}

struct nd_source_kept *nd_sources_add(struct nd_sources *s)
{
    size_t place;
    unsigned block = place_of(s->count, &place);
    struct nd_source_kept *source;

    if (block >= ND_SOURCES_BLOCKS)
        return NULL;
    if (!s->block[block])
        s->block[block] = calloc((size_t)ND_SOURCES_FIRST << block, sizeof *s->block[block]);
    if (!s->block[block])
        return NULL;
    source = &s->block[block][place];
    source->fd = -1;
    s->count++;
    return source;
}

void nd_sources_release(struct nd_sources *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (nd_sources_get(s, i)->fd >= 0)
            (void)nd_descriptor_close(nd_sources_get(s, i)->fd);
    for (unsigned b = 0; b < ND_SOURCES_BLOCKS; b++)
        free(s->block[b]);
    *s = (struct nd_sources){0};
}

void nd_source_add_info(struct nd_source_kept *source, struct nd_source_info *info)
{
    atomic_init(&info->next, NULL);
    atomic_store_explicit(source->last_info ? &source->last_info->next : &source->first_info, info,
                          memory_order_release);
    source->last_info = info;
}

/* Every source that the library hands out is the first member of a kept one. */
const struct nd_source_info *nd_source_next_info(const struct nd_source *source,
                                                 const struct nd_source_info *last, uint64_t line)
{
    const struct nd_source_kept *kept = (const struct nd_source_kept *)(const void *)source;
    const struct nd_source_info *next =
        atomic_load_explicit(last ? &last->next : &kept->first_info, memory_order_acquire);

    return next && next->at < line ? next : NULL;
}
