/* places.c - where the documents stand that may be asked for again */
#include "pipeline/places.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { RANK_BITS = 512, WORD_BITS = 64 };

struct nd_packed_place {
    uint64_t offset;
    uint32_t source, len_low;
    uint64_t line : 48, len_high : 16;
};
_Static_assert(sizeof(struct nd_packed_place) == 24, "a place takes 24 bytes");

void nd_places_release(struct nd_places *p)
{
    free(p->at);
    free(p->bit);
    free(p->rank);
    *p = (struct nd_places){0};
}

static bool add_bit(struct nd_places *p, bool is_set)
{
    size_t word = (size_t)(p->documents / WORD_BITS);
    void *bit = p->bit, *rank = p->rank;

    if (p->documents % WORD_BITS == 0) {
        if (!nd_array_reserve(&bit, &p->bit_capacity, word + 1, sizeof *p->bit))
            return false;
        p->bit = bit;
        p->bit[word] = 0;
    }
    if (p->documents % RANK_BITS == 0) {
        size_t block = (size_t)(p->documents / RANK_BITS);

        if (!nd_array_reserve(&rank, &p->rank_capacity, block + 1, sizeof *p->rank))
            return false;
        p->rank = rank;
        p->rank[block] = p->count;
    }
    p->bit[word] |= (uint64_t)is_set << p->documents % WORD_BITS;
    p->documents++;
    return true;
}

bool nd_places_add(struct nd_places *p, const struct nd_place *place)
{
    void *at = p->at;

    if (place && !nd_array_reserve(&at, &p->capacity, p->count + 1, sizeof *p->at))
        return false;
    p->at = at;
    if (!add_bit(p, place != NULL))
        return false;
    if (place)
        p->at[p->count++] = (struct nd_packed_place){
            .offset = place->offset,
            .source = place->source,
            .len_low = (uint32_t)place->len,
            .len_high = (uint16_t)(place->len >> 32),
            .line = place->line & ((UINT64_C(1) << 48) - 1),
        };
    return true;
}

void nd_places_shrink(struct nd_places *p)
{
    struct nd_packed_place *less = p->count ? realloc(p->at, p->count * sizeof *less) : NULL;

    if (!less)
        return;
    p->at = less;
    p->capacity = p->count;
}

size_t nd_places_rank(const struct nd_places *p, uint64_t document)
{
    size_t word = (size_t)(document / WORD_BITS), from = word / (RANK_BITS / WORD_BITS);
    uint64_t rank = p->rank[from];
    uint64_t below = (UINT64_C(1) << document % WORD_BITS) - 1;

    for (size_t i = from * (RANK_BITS / WORD_BITS); i < word; i++)
        rank += (unsigned)__builtin_popcountll(p->bit[i]);
    return (size_t)rank + (size_t)__builtin_popcountll(p->bit[word] & below);
}

struct nd_place nd_places_at(const struct nd_places *p, size_t n)
{
    const struct nd_packed_place *packed = &p->at[n];

    return (struct nd_place){
        .offset = packed->offset,
        .len = packed->len_low | (uint64_t)packed->len_high << 32,
        .line = packed->line,
        .source = packed->source,
    };
}

struct nd_place nd_places_get(const struct nd_places *p, uint64_t document)
{
    return nd_places_at(p, nd_places_rank(p, document));
}
