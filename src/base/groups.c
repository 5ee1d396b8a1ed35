/* groups.c - distinct values, each with a number of its own */
#include "base/groups.h"

#include "base/hash.h"
#include "base/replaced_hash.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

void nd_groups_release(struct nd_groups *g)
{
    nd_arena_release(&g->text);
    free(g->value);
    free(g->replaced);
    free(g->slot);
    *g = (struct nd_groups){0};
}

static uint32_t *find(const struct nd_groups *g, struct nd_view value, uint64_t replaced)
{
    size_t i =
        (size_t)nd_replaced_mark(nd_hash_bytes(value.data, value.len), replaced) & (g->slots - 1);

    for (; g->slot[i]; i = (i + 1) & (g->slots - 1)) {
        const struct nd_view *there = &g->value[g->slot[i] - 1];

        if (there->len == value.len && g->replaced[g->slot[i] - 1] == replaced &&
            memcmp(there->data, value.data, value.len) == 0)
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
        *find(g, g->value[i], g->replaced[i]) = (uint32_t)i + 1;
    return true;
}

static bool reserve(struct nd_groups *g, size_t n)
{
    return ND_RESERVE(g->value, &g->capacity, n) &&
           ND_RESERVE(g->replaced, &g->replaced_capacity, n);
}

bool nd_groups_number(struct nd_groups *g, struct nd_view value, uint32_t *number)
{
    return nd_groups_number_repaired(g, value, 0, number);
}

bool nd_groups_number_repaired(struct nd_groups *g, struct nd_view value, uint64_t replaced,
                               uint32_t *number)
{
    uint32_t *slot;
    char *copy;

    *number = 0;
    if (!value.data)
        return true;
    if (g->count * 2 >= g->slots && !grow(g))
        return false;
    slot = find(g, value, replaced);
    if (!*slot) {
        if (!reserve(g, g->count + 1))
            return false;
        copy = nd_arena_copy(&g->text, value.data, value.len);
        if (!copy)
            return false;
        g->text_bytes += value.len + ND_BUFFER_PADDING;
        g->replaced[g->count] = replaced;
        g->value[g->count++] = (struct nd_view){copy, value.len};
        *slot = (uint32_t)g->count;
    }
    *number = *slot;
    return true;
}

size_t nd_groups_bytes(const struct nd_groups *g)
{
    return g->text_bytes + g->capacity * sizeof *g->value +
           g->replaced_capacity * sizeof *g->replaced + g->slots * sizeof *g->slot;
}

uint32_t nd_groups_find(const struct nd_groups *g, struct nd_view value)
{
    return g->slots && value.data ? *find(g, value, 0) : 0;
}
