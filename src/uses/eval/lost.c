/* lost.c - word runs of removed documents that no kept one has, in bounded memory */
#include "uses/eval/lost.h"

#include <stdlib.h>

#include "base/hash.h"

enum { IS_KEPT = 1, IS_REMOVED = 2, WHO = 3, FIRST_SLOTS = 1 << 10, SIEVE_BITS = 8 };

void nd_lost_release(struct nd_lost *l)
{
    free(l->slot);
    free(l->sieve);
    *l = (struct nd_lost){.most = l->most};
}

/* The bits of a hash that count, mixed. */
static uint64_t mixed_of(uint64_t hash)
{
    return nd_mix64(hash & ~(uint64_t)WHO);
}

static uint64_t *find(uint64_t *slot, size_t slots, uint64_t hash, uint64_t mixed)
{
    size_t i = (size_t)mixed & (slots - 1);

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
            *find(slot, slots, l->slot[i], mixed_of(l->slot[i])) = l->slot[i];
            l->count++;
        }
    free(l->slot);
    l->slot = slot;
    l->slots = slots;
    return true;
}

/* Add a hash, and who has it. */
static bool add(struct nd_lost *l, uint64_t hash, uint64_t who)
{
    uint64_t *slot;

    if (!is_in_sample(l, hash))
        return true;
    if ((!l->slots || 2 * l->count > l->slots) &&
        !rebuild(l, l->slots ? 2 * l->slots : FIRST_SLOTS))
        return false;
    slot = find(l->slot, l->slots, hash, mixed_of(hash));
    l->count += !*slot;
    *slot = (*slot ? *slot : hash & ~(uint64_t)WHO) | who;
    while (l->count > l->most && l->shift < 60) {
        l->shift++;
        if (!rebuild(l, l->slots))
            return false;
    }
    return true;
}

bool nd_lost_add(struct nd_lost *l, uint64_t hash, bool is_kept)
{
    return add(l, hash, is_kept ? IS_KEPT : IS_REMOVED);
}

bool nd_lost_join(struct nd_lost *l, const struct nd_lost *other)
{
    bool good = true;

    /* A hash that only the sample of this one has may be known to both: the sparser one decides. */
    while (l->shift < other->shift && good) {
        l->shift++;
        good = rebuild(l, l->slots ? l->slots : FIRST_SLOTS);
    }
    for (size_t i = 0; good && i < other->slots; i++)
        if (other->slot[i])
            good = add(l, other->slot[i] & ~(uint64_t)WHO, other->slot[i] & WHO);
    return good;
}

bool nd_lost_add_removed(struct nd_lost *l, const uint64_t *hash, size_t n)
{
    bool good = true;

    for (size_t i = 0; good && i < n; i++)
        if (is_in_sample(l, hash[i]))
            good = add(l, hash[i], IS_REMOVED);
    return good;
}

/* The bit of the sieve: SIEVE_BITS bits for each slot. */
static size_t bit_of(const struct nd_lost *l, uint64_t mixed)
{
    return (size_t)(mixed >> 24) & (l->slots * SIEVE_BITS - 1);
}

bool nd_lost_seal(struct nd_lost *l)
{
    if (!l->slots && !rebuild(l, FIRST_SLOTS))
        return false;
    l->sieve = calloc(l->slots * SIEVE_BITS / 64, sizeof *l->sieve);
    for (size_t i = 0; l->sieve && i < l->slots; i++)
        if (l->slot[i]) {
            const size_t bit = bit_of(l, mixed_of(l->slot[i]));

            l->sieve[bit / 64] |= UINT64_C(1) << bit % 64;
        }
    return l->sieve != NULL;
}

/* The hashes that pass the sieve, each with its place in the table, which is on its way to the cache. */
struct passing_hash {
    uint64_t hash, mixed;
};
enum { AT_ONCE = 64 };

/* Return how many of n hashes, AT_ONCE at most, pass. */
static size_t sift(const struct nd_lost *l, const uint64_t *hash, size_t n,
                   struct passing_hash passing[AT_ONCE])
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t mixed = mixed_of(hash[i]);
        const size_t bit = bit_of(l, mixed);

        if (!is_in_sample(l, hash[i]) || !(l->sieve[bit / 64] >> bit % 64 & 1))
            continue;
        __builtin_prefetch(&l->slot[(size_t)mixed & (l->slots - 1)]);
        passing[found++] = (struct passing_hash){hash[i], mixed};
    }
    return found;
}

void nd_lost_meet_kept(struct nd_lost *l, const uint64_t *hash, size_t n)
{
    struct passing_hash passing[AT_ONCE];

    for (size_t from = 0; from < n; from += AT_ONCE) {
        const size_t found = sift(l, hash + from, n - from < AT_ONCE ? n - from : AT_ONCE, passing);

        for (size_t i = 0; i < found; i++) {
            uint64_t *slot = find(l->slot, l->slots, passing[i].hash, passing[i].mixed);

            if ((__atomic_load_n(slot, __ATOMIC_RELAXED) & WHO) == IS_REMOVED)
                __atomic_fetch_or(slot, (uint64_t)IS_KEPT, __ATOMIC_RELAXED);
        }
    }
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
