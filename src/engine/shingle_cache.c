/* shingle_cache.c - the shingles of kept documents that were asked for, within a limit of bytes */
#include "engine/shingle_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* An entry without shingles (NULL) is free. */
struct entry {
    uint64_t *shingle;
    size_t n;
    uint32_t number;
    unsigned char wanted; /* looked up since the hand last passed */
};

/*
 * Entries in an array, found by an open-addressing table of entry + 1 (0: empty) at a load of at
 * most a half. Removal shifts later ones of the run back, so that there are no tombstones.
 */
struct nd_shingle_cache {
    struct entry *entry;
    size_t n_entries, capacity;
    uint32_t *free_entry; /* a stack of the free ones */
    size_t n_free, free_capacity;
    uint32_t *place;
    size_t n_places; /* a power of two */
    size_t count, bytes, limit, hand;
};

static size_t entry_bytes(size_t n)
{
    return n * sizeof(uint64_t) + sizeof(struct entry) + 4 * sizeof(uint32_t);
}

struct nd_shingle_cache *nd_shingle_cache_new(size_t limit_bytes)
{
    struct nd_shingle_cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return NULL;
    cache->limit = limit_bytes;
    cache->n_places = 64;
    cache->place = calloc(cache->n_places, sizeof *cache->place);
    if (!cache->place) {
        free(cache);
        return NULL;
    }
    return cache;
}

void nd_shingle_cache_free(struct nd_shingle_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->n_entries; i++)
        free(cache->entry[i].shingle);
    free(cache->entry);
    free(cache->free_entry);
    free(cache->place);
    free(cache);
}

size_t nd_shingle_cache_bytes(const struct nd_shingle_cache *cache)
{
    return cache->bytes;
}

bool nd_shingle_cache_is_full(const struct nd_shingle_cache *cache)
{
    return cache->bytes > cache->limit;
}

static size_t home(const struct nd_shingle_cache *cache, uint32_t number)
{
    return (size_t)nd_mix64(number) & (cache->n_places - 1);
}

/* Where the number stands, or the empty place where it would. */
static size_t find(const struct nd_shingle_cache *cache, uint32_t number)
{
    size_t at = home(cache, number);

    while (cache->place[at] && cache->entry[cache->place[at] - 1].number != number)
        at = (at + 1) & (cache->n_places - 1);
    return at;
}

const uint64_t *nd_shingle_cache_get(struct nd_shingle_cache *cache, uint32_t number, size_t *n)
{
    size_t at = find(cache, number);
    struct entry *entry;

    if (!cache->place[at])
        return NULL;
    entry = &cache->entry[cache->place[at] - 1];
    __atomic_store_n(&entry->wanted, 1, __ATOMIC_RELAXED); /* several threads may look up */
    *n = entry->n;
    return entry->shingle;
}

static bool grow_places(struct nd_shingle_cache *cache)
{
    uint32_t *old = cache->place;
    size_t n_old = cache->n_places;

    cache->place = calloc(2 * n_old, sizeof *cache->place);
    if (!cache->place) {
        cache->place = old;
        return false;
    }
    cache->n_places = 2 * n_old;
    for (size_t i = 0; i < n_old; i++)
        if (old[i])
            cache->place[find(cache, cache->entry[old[i] - 1].number)] = old[i];
    free(old);
    return true;
}

static bool reserve(struct nd_shingle_cache *cache)
{
    void *entries = cache->entry, *free_entries = cache->free_entry;
    bool ok;

    if (2 * (cache->count + 1) > cache->n_places && !grow_places(cache))
        return false;
    if (cache->n_free)
        return true;
    ok = nd_array_reserve(&entries, &cache->capacity, cache->n_entries + 1, sizeof *cache->entry);
    cache->entry = entries;
    if (!ok)
        return false;
    ok = nd_array_reserve(&free_entries, &cache->free_capacity, cache->capacity,
                          sizeof *cache->free_entry);
    cache->free_entry = free_entries;
    return ok;
}

bool nd_shingle_cache_put(struct nd_shingle_cache *cache, uint32_t number, uint64_t *shingle,
                          size_t n)
{
    size_t at, i;

    if (!reserve(cache))
        return false;
    at = find(cache, number);
    if (cache->place[at]) {
        free(shingle);
        return true;
    }
    i = cache->n_free ? cache->free_entry[--cache->n_free] : cache->n_entries++;
    cache->entry[i] = (struct entry){shingle, n, number, 0};
    cache->place[at] = (uint32_t)i + 1;
    cache->count++;
    cache->bytes += entry_bytes(n);
    return true;
}

/* Close the gap at `at`: what follows in its run moves back unless it would pass its home. */
static void close_gap(struct nd_shingle_cache *cache, size_t at)
{
    size_t mask = cache->n_places - 1, next = at;

    for (;;) {
        size_t from;

        next = (next + 1) & mask;
        if (!cache->place[next])
            break;
        from = home(cache, cache->entry[cache->place[next] - 1].number);
        if (((next - from) & mask) >= ((next - at) & mask)) {
            cache->place[at] = cache->place[next];
            at = next;
        }
    }
    cache->place[at] = 0;
}

/* Forget an entry and hand over its array. */
static uint64_t *take(struct nd_shingle_cache *cache, size_t i)
{
    struct entry *entry = &cache->entry[i];
    uint64_t *shingle = entry->shingle;

    close_gap(cache, find(cache, entry->number));
    cache->bytes -= entry_bytes(entry->n);
    cache->count--;
    *entry = (struct entry){0};
    cache->free_entry[cache->n_free++] = (uint32_t)i;
    return shingle;
}

void nd_shingle_cache_trim(struct nd_shingle_cache *cache)
{
    while (cache->bytes > cache->limit && cache->count) {
        struct entry *entry = &cache->entry[cache->hand];

        if (entry->shingle && entry->wanted)
            entry->wanted = 0;
        else if (entry->shingle)
            free(take(cache, cache->hand));
        cache->hand = cache->hand + 1 == cache->n_entries ? 0 : cache->hand + 1;
    }
}

void nd_shingle_cache_move(struct nd_shingle_cache *from, struct nd_shingle_cache *to)
{
    for (size_t i = 0; i < from->n_entries; i++) {
        struct entry entry = from->entry[i];

        if (!entry.shingle)
            continue;
        take(from, i);
        if (nd_shingle_cache_put(to, entry.number, entry.shingle, entry.n))
            continue;
        free(entry.shingle);
    }
}
