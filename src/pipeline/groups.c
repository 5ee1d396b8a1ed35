/* groups.c - the values of a field, each with a number of its own */
#include "pipeline/groups.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

void nd_groups_release(struct nd_groups *g)
{
    nd_arena_release(&g->text);
    free(g->value);
    free(g->slot);
    *g = (struct nd_groups){0};
}

static uint32_t *find(const struct nd_groups *g, struct nd_view value)
{
    size_t i = (size_t)nd_hash_bytes(value.data, value.len) & (g->slots - 1);

    for (; g->slot[i]; i = (i + 1) & (g->slots - 1)) {
        const struct nd_view *there = &g->value[g->slot[i] - 1];

        if (there->len == value.len && memcmp(there->data, value.data, value.len) == 0)
            break;
    }
    return &g->slot[i];
}

static bool grow(struct nd_groups *g)
{
    size_t slots = g->slots ? g->slots * 2 : FIRST_SLOTS;
    uint32_t *slot = calloc(slots, sizeof *slot);

    if (!slot)
        return false;
    free(g->slot);
    g->slot = slot;
    g->slots = slots;
    for (size_t i = 0; i < g->count; i++)
        *find(g, g->value[i]) = (uint32_t)i + 1;
    return true;
}

bool nd_groups_number(struct nd_groups *g, struct nd_view value, uint32_t *number)
{
    void *values = g->value;
    uint32_t *slot;
    char *copy;

    *number = 0;
    if (!value.data)
        return true;
    if (g->count * 2 >= g->slots && !grow(g))
        return false;
    slot = find(g, value);
    if (!*slot) {
        if (!nd_array_reserve(&values, &g->capacity, g->count + 1, sizeof *g->value))
            return false;
        g->value = values;
        copy = nd_arena_copy(&g->text, value.data, value.len);
        if (!copy)
            return false;
        g->value[g->count++] = (struct nd_view){copy, value.len};
        *slot = (uint32_t)g->count;
    }
    *number = *slot;
    return true;
}

uint32_t nd_groups_find(const struct nd_groups *g, struct nd_view value)
{
    return g->slots && value.data ? *find(g, value) : 0;
}
