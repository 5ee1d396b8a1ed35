/* rarity.c - which of a set's table keys are the rarest, by an order that all sets share */
#include "index/rarity.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum { LEAST = 1024 };

void nd_rarity_release(struct nd_rarity *r)
{
    free(r->seen);
    free(r->fixed);
    *r = (struct nd_rarity){0};
}

size_t nd_rarity_bytes(const struct nd_rarity *r)
{
    return r->n_seen * sizeof *r->seen + r->n_fixed * sizeof *r->fixed;
}

void nd_rarity_clear(struct nd_rarity *r)
{
    if (r->n_seen)
        memset(r->seen, 0, r->n_seen * sizeof *r->seen);
    if (r->n_fixed)
        memset(r->fixed, 0, r->n_fixed * sizeof *r->fixed);
}

static size_t place_of(uint64_t key, size_t places)
{
    return (size_t)(key >> 20) & (places - 1);
}

static bool grow(struct nd_rarity *r, size_t all)
{
    size_t n = r->n_seen ? r->n_seen : LEAST;
    uint16_t *more;

    if (r->n_seen >= all / 2 && r->n_seen)
        return true;
    while (n < all)
        n *= 2;
    more = calloc(n, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; r->n_seen && i < n; i++) /* an upper bound stays one */
        more[i] = r->seen[i & (r->n_seen - 1)];
    free(r->seen);
    r->seen = more;
    r->n_seen = n;
    return true;
}

bool nd_rarity_count(struct nd_rarity *r, const uint64_t *key, size_t n, size_t all)
{
    if (!grow(r, all))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint16_t *seen = &r->seen[place_of(key[i], r->n_seen)];

        if (*seen < UINT16_MAX)
            ++*seen;
    }
    return true;
}

uint16_t *nd_rarity_copy(const struct nd_rarity *r)
{
    uint16_t *copy = nd_alloc_array(r->n_seen, sizeof *copy);

    if (copy && r->n_seen)
        memcpy(copy, r->seen, r->n_seen * sizeof *copy);
    return copy;
}

void nd_rarity_fix(struct nd_rarity *r, uint16_t *copy)
{
    free(r->fixed);
    r->fixed = copy;
    r->n_fixed = r->n_seen;
}

/*
 * By count, then by key: of equal keys equal, of others almost surely not.  A count in 21 bits, its
 * exponent and what follows its first bit: spread like that, counts are sorted in one go.
 */
static uint64_t rank_of(const struct nd_rarity *r, uint64_t key)
{
    uint64_t seen = 1 + (uint64_t)(r->n_fixed ? r->fixed[place_of(key, r->n_fixed)] : 0);
    unsigned exponent = 63 - (unsigned)__builtin_clzll(seen);
    uint64_t rest = seen << (16 - exponent) & UINT16_MAX;

    return ((uint64_t)exponent << 16 | rest) << 43 | key >> 21;
}

int64_t nd_rarity_choose(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                         uint64_t *out)
{
    enum { FEW = 256 };
    uint64_t few[3 * FEW], *rank = few, *sorted, last;
    int64_t chosen = 0;

    if (take == 0 || n == 0)
        return 0;
    if (take >= n) {
        memcpy(out, key, n * sizeof *key);
        return (int64_t)n;
    }
    if (n > FEW && !(rank = nd_alloc_array(n, 3 * sizeof *rank)))
        return -1;
    sorted = rank + n;
    for (size_t i = 0; i < n; i++)
        rank[i] = sorted[i] = rank_of(r, key[i]);
    nd_sort_values(sorted, n, sorted + n);
    last = sorted[take - 1];
    for (size_t i = 0; i < n; i++)
        if (rank[i] <= last)
            out[chosen++] = key[i];
    if (rank != few)
        free(rank);
    return chosen;
}
