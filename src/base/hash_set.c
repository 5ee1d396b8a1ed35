/* hash_set.c - 64-bit hashes seen before, within a memory budget */
#include "base/hash_set.h"

#include "base/memory.h"

enum { FIRST_SLOTS = 1024 };

void nd_hash_set_release(struct nd_hash_set *s)
{
    nd_table_free(s->slot, s->slots * sizeof *s->slot);
    *s = (struct nd_hash_set){.bytes_max = s->bytes_max};
}

static uint64_t *find(const struct nd_hash_set *s, uint64_t hash)
{
    size_t i = (size_t)hash & (s->slots - 1);

    while (s->slot[i] && s->slot[i] != hash)
        i = (i + 1) & (s->slots - 1);
    return &s->slot[i];
}

/*
 * Double the slots. Both tables exist while the hashes are moved, so both count against the budget.
 */
static bool grow(struct nd_hash_set *s)
{
    struct nd_hash_set more = *s;

    more.slots = s->slots ? s->slots * 2 : FIRST_SLOTS;
    if ((s->slots + more.slots) * sizeof *s->slot > s->bytes_max)
        return false;
    more.slot = nd_table_alloc(more.slots * sizeof *more.slot);
    if (!more.slot) {
        s->has_no_memory = true;
        return false;
    }
    nd_table_touch(more.slot, more.slots * sizeof *more.slot);
    for (size_t i = 0; i < s->slots; i++)
        if (s->slot[i])
            *find(&more, s->slot[i]) = s->slot[i];
    nd_table_free(s->slot, s->slots * sizeof *s->slot);
    *s = more;
    return true;
}

void nd_hash_set_prefetch(const struct nd_hash_set *s, uint64_t hash)
{
    if (s->slots)
        __builtin_prefetch(&s->slot[(size_t)hash & (s->slots - 1)]);
}

bool nd_hash_set_has(const struct nd_hash_set *s, uint64_t hash)
{
    return s->slots && *find(s, hash + !hash);
}

bool nd_hash_set_add(struct nd_hash_set *s, uint64_t hash)
{
    uint64_t *slot;

    hash += !hash;
    if (s->count * 4 >= s->slots * 3 && !s->is_full)
        s->is_full = !grow(s);
    if (!s->slots)
        return false;
    slot = find(s, hash);
    if (*slot)
        return true;
    if (!s->is_full) {
        *slot = hash;
        s->count++;
    }
    return false;
}
