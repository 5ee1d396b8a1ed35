/* lost.c - word runs of removed documents that no kept one has, in bounded memory */
#include "uses/eval/lost.h"

#include <stdlib.h>

#include "base/hash.h"

enum { IS_KEPT = 1, IS_REMOVED = 2, WHO = 3, FIRST_SLOTS = 1 << 10 };

void nd_lost_release(struct nd_lost *l)
{
    free(l->slot);
    *l = (struct nd_lost){.most = l->most};
}

static uint64_t *find(uint64_t *slot, size_t slots, uint64_t hash)
{
    size_t i = (size_t)nd_mix64(hash & ~(uint64_t)WHO) & (slots - 1);

    while (slot[i] && (slot[i] | WHO) != (hash | WHO))
        i = (i + 1) & (slots - 1);
    return &slot[i];
}

static bool is_in_sample(const struct nd_lost *l, uint64_t hash)
{
    return !l->shift || hash >> (64 - l->shift) == 0;
}

/* Move what is in the sample to a table of so many slots. */
static bool rebuild(struct nd_lost *l, size_t slots)
{
    uint64_t *slot = calloc(slots, sizeof *slot);

    if (!slot)
        return false;
    l->count = 0;
    for (size_t i = 0; i < l->slots; i++)
        if (l->slot[i] && is_in_sample(l, l->slot[i])) {
            *find(slot, slots, l->slot[i]) = l->slot[i];
            l->count++;
        }
    free(l->slot);
    l->slot = slot;
    l->slots = slots;
    return true;
}

bool nd_lost_add(struct nd_lost *l, uint64_t hash, bool is_kept)
{
    uint64_t *slot;

    if (!is_in_sample(l, hash))
        return true;
    if (2 * (l->count + 1) > l->slots && !rebuild(l, l->slots ? 2 * l->slots : FIRST_SLOTS))
        return false;
    slot = find(l->slot, l->slots, hash);
    l->count += !*slot;
    *slot = (*slot ? *slot : hash & ~(uint64_t)WHO) | (is_kept ? IS_KEPT : IS_REMOVED);
    while (l->count > l->most && l->shift < 60) {
        l->shift++;
        if (!rebuild(l, l->slots))
            return false;
    }
    return true;
}

void nd_lost_count(const struct nd_lost *l, uint64_t *removed, uint64_t *lost)
{
    *removed = *lost = 0;
    for (size_t i = 0; i < l->slots; i++) {
        *removed += (l->slot[i] & IS_REMOVED) != 0;
        *lost += (l->slot[i] & WHO) == IS_REMOVED;
    }
    *removed <<= l->shift;
    *lost <<= l->shift;
}
