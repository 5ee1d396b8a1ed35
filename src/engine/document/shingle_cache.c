/* shingle_cache.c - the shingles of kept documents used lately, in a ring of fixed size */
#include "engine/document/shingle_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/*
 * The ring, in words of 8 bytes, holds entries in the order in which they came:
 *
 *     entry     number  n  s0 s1 … s(n-1)  (one word more where n is odd)
 *
 *     straight  [ free | oldest … newest | free ]          head > tail, or both 0: empty
 *                      tail              head
 *
 *     wrapped   [ … newest | free | oldest … | END | ? ]   head <= tail, and not empty
 *                         head    tail
 *
 * Invariants:
 *
 *   - Entries are whole: one that does not fit before the end of the ring begins at its start, and
 *     the word END, which is no document's number, stands where it would have begun, unless that is
 *     the very end.
 *   - `tail` is the beginning of the oldest entry, and never at END or at the end of the ring:
 *     drop_oldest moves it on to the start at once.
 *   - An empty ring has head and tail at 0, so that head == tail with entries means that it is full.
 *   - Each entry has one place in the hash table, and no place leads elsewhere.  Places are found by
 *     linear probing and removed by moving others back (Knuth 1998, §6.4, algorithm R): as entries
 *     come and go all the time, markers of deleted ones would soon fill the table.
 *
 * The oldest entry goes first, also if it was just used: an entry that is still in use is made again
 * once a ring's length, which costs less than moving entries at each look-up, and lets any number of
 * threads look up without writing.
 */
struct nd_shingle_cache {
    uint64_t *ring;
    size_t bytes;    /* of the ring */
    size_t capacity; /* in words */
    size_t head;     /* where the next entry goes */
    size_t tail;     /* the oldest */
    size_t count;
    struct place {
        uint32_t number_plus_1; /* 0: empty */
        uint32_t offset;        /* in units of two words */
    } * place;
    size_t n_places; /* a power of two, at most half full */
};

enum { HEADER = 2 };
#define END UINT64_MAX

/* Entries begin at even words, so that a place has 32 bits for 64 GB. */
static size_t entry_words(size_t n)
{
    return (HEADER + n + 1) & ~(size_t)1;
}

struct nd_shingle_cache *nd_shingle_cache_new(size_t bytes)
{
    struct nd_shingle_cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return NULL;
    cache->bytes = bytes;
    cache->capacity = bytes / sizeof *cache->ring & ~(size_t)1;
    cache->n_places = 64;
    cache->place = calloc(cache->n_places, sizeof *cache->place);
    cache->ring = nd_table_alloc(bytes);
    if (cache->ring)
        nd_table_begin_small(cache->ring, bytes);
    if (cache->place && cache->ring)
        return cache;
    nd_shingle_cache_free(cache);
    return NULL;
}

void nd_shingle_cache_free(struct nd_shingle_cache *cache)
{
    if (!cache)
        return;
    nd_table_free(cache->ring, cache->bytes);
    free(cache->place);
    free(cache);
}

size_t nd_shingle_cache_bytes(const struct nd_shingle_cache *cache)
{
    bool has_wrapped = cache->count && cache->head <= cache->tail;

    return has_wrapped ? cache->bytes : cache->head * sizeof *cache->ring;
}

static size_t home(const struct nd_shingle_cache *cache, uint32_t number_plus_1)
{
    return (size_t)nd_mix64(number_plus_1) & (cache->n_places - 1);
}

/* Find the place of a number, or the empty place where it would stand. */
static size_t find(const struct nd_shingle_cache *cache, uint32_t number_plus_1)
{
    size_t at = home(cache, number_plus_1);

    while (cache->place[at].number_plus_1 && cache->place[at].number_plus_1 != number_plus_1)
        at = (at + 1) & (cache->n_places - 1);
    return at;
}

const uint64_t *nd_shingle_cache_get(const struct nd_shingle_cache *cache, uint32_t number,
                                     size_t *n)
{
    const struct place *place = &cache->place[find(cache, number + 1)];
    const uint64_t *entry = cache->ring + (size_t)place->offset * 2;

    if (!place->number_plus_1)
        return NULL;
    *n = (size_t)entry[1];
    return entry + HEADER;
}

void nd_shingle_cache_prefetch_entry(const struct nd_shingle_cache *cache, uint32_t number)
{
    __builtin_prefetch(&cache->place[home(cache, number + 1)]);
}

void nd_shingle_cache_prefetch_shingles(const struct nd_shingle_cache *cache, uint32_t number)
{
    enum { WORDS_A_LINE = 8, LINES = 4 };
    const struct place *place = &cache->place[find(cache, number + 1)];
    const uint64_t *entry = cache->ring + (size_t)place->offset * 2;

    for (int line = 0; place->number_plus_1 && line < LINES; line++)
        __builtin_prefetch(entry + line * WORDS_A_LINE);
}

static bool grow_places(struct nd_shingle_cache *cache)
{
    struct place *old = cache->place;
    size_t n_old = cache->n_places;

    cache->place = calloc(2 * n_old, sizeof *cache->place);
    if (!cache->place) {
        cache->place = old;
        return false;
    }
    cache->n_places = 2 * n_old;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].number_plus_1)
            cache->place[find(cache, old[i].number_plus_1)] = old[i];
    free(old);
    return true;
}

/*
 * Close the gap at `at`: an entry that follows in its run moves into it, unless it would stand before
 * its home then.  It may move if it is at least as far from its home as from the gap, both counted
 * around the table.
 */
static void close_gap(struct nd_shingle_cache *cache, size_t at)
{
    size_t mask = cache->n_places - 1, next = at;

    for (;;) {
        size_t from;

        next = (next + 1) & mask;
        if (!cache->place[next].number_plus_1)
            break;
        from = home(cache, cache->place[next].number_plus_1);
        if (((next - from) & mask) >= ((next - at) & mask)) {
            cache->place[at] = cache->place[next];
            at = next;
        }
    }
    cache->place[at] = (struct place){0, 0};
}

static void drop_oldest(struct nd_shingle_cache *cache)
{
    uint64_t *entry = cache->ring + cache->tail;

    close_gap(cache, find(cache, (uint32_t)entry[0] + 1));
    cache->tail += entry_words((size_t)entry[1]);
    cache->count--;
    if (cache->count == 0)
        cache->head = cache->tail = 0;
    else if (cache->tail == cache->capacity || cache->ring[cache->tail] == END)
        cache->tail = 0;
}

/* Make `words` free at the head, in one piece; they are at most a quarter of the ring. */
static void make_room(struct nd_shingle_cache *cache, size_t words)
{
    for (;;) {
        bool wrapped = cache->count && cache->head <= cache->tail;

        if ((wrapped ? cache->tail : cache->capacity) - cache->head >= words)
            return;
        if (wrapped) {
            drop_oldest(cache);
        } else {
            if (cache->head < cache->capacity)
                cache->ring[cache->head] = END;
            cache->head = 0;
            if (cache->count && cache->tail == 0)
                drop_oldest(cache);
        }
    }
}

bool nd_shingle_cache_put(struct nd_shingle_cache *cache, uint32_t number, const uint64_t *shingle,
                          size_t n)
{
    size_t words = entry_words(n), at;
    uint64_t *entry;

    if (words > cache->capacity / 4 || number == UINT32_MAX)
        return true;
    if (2 * (cache->count + 1) > cache->n_places && !grow_places(cache))
        return false;
    if (cache->place[find(cache, number + 1)].number_plus_1)
        return true;
    make_room(cache, words);
    at = find(cache, number + 1);
    entry = cache->ring + cache->head;
    entry[0] = number;
    entry[1] = n;
    if (n)
        memcpy(entry + HEADER, shingle, n * sizeof *shingle);
    cache->place[at] = (struct place){number + 1, (uint32_t)(cache->head / 2)};
    cache->head += words;
    cache->count++;
    return true;
}

void nd_shingle_cache_move(struct nd_shingle_cache *from, struct nd_shingle_cache *to)
{
    while (from->count) {
        const uint64_t *entry = from->ring + from->tail;

        (void)nd_shingle_cache_put(to, (uint32_t)entry[0], entry + HEADER, (size_t)entry[1]);
        drop_oldest(from);
    }
}
