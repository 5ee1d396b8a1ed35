/* tally.c - the distinct features of a document, how often each occurs and with what gain */
#include "feature/tally.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_LOG2 = 6 };

void nd_tally_release(struct nd_tally *t)
{
    free(t->entry);
    free(t->slot);
    *t = (struct nd_tally){0};
}

void nd_tally_clear(struct nd_tally *t)
{
    t->count = 0;
    t->log2 = 0;
}

/* A cleared table of 2^log2 slots with the entries put in again. */
static bool rebuild(struct nd_tally *t, unsigned log2)
{
    size_t mask = ((size_t)1 << log2) - 1;

    if (log2 > t->capacity_log2) {
        uint32_t *slot = calloc((size_t)1 << log2, sizeof *slot);

        if (!slot)
            return false;
        free(t->slot);
        t->slot = slot;
        t->capacity_log2 = log2;
    } else {
        memset(t->slot, 0, sizeof *t->slot << log2);
    }
    for (uint32_t i = 1; i <= t->count; i++) {
        size_t at = t->entry[i].hash >> (64 - log2);

        while (t->slot[at])
            at = (at + 1) & mask;
        t->slot[at] = i;
    }
    t->log2 = log2;
    return true;
}

bool nd_tally_reserve(struct nd_tally *t, size_t n)
{
    void *entry = t->entry;

    if (n >= UINT32_MAX / 2 || !nd_array_reserve(&entry, &t->capacity, n + 2, sizeof *t->entry))
        return false;
    t->entry = entry;
    return true;
}

/* Room for n more, at most one slot in four taken. */
static bool reserve(struct nd_tally *t, size_t n)
{
    unsigned log2 = t->log2 ? t->log2 : LEAST_LOG2;

    if (!nd_tally_reserve(t, t->count + n))
        return false;
    while ((size_t)1 << log2 < 4 * (t->count + n))
        log2++;
    return log2 == t->log2 || rebuild(t, log2);
}

bool nd_tally_add(struct nd_tally *t, const uint64_t *hash, size_t n, uint32_t *number)
{
    struct nd_term_stat *entry;
    uint32_t *slot;
    unsigned shift;
    size_t mask, count;

    if (!reserve(t, n))
        return false;
    entry = t->entry;
    slot = t->slot;
    shift = 64 - t->log2;
    mask = ((size_t)1 << t->log2) - 1;
    count = t->count;
    for (size_t i = 0; i < n; i++) {
        size_t at = hash[i] >> shift;
        uint32_t found = slot[at];
        size_t is_new;

        entry[0].hash = hash[i];
        while (entry[found].hash != hash[i]) {
            at = (at + 1) & mask;
            found = slot[at];
        }
        /* Without a branch on whether it is new, which is a toss-up. */
        entry[count + 1] = (struct nd_term_stat){.hash = hash[i]};
        is_new = found == 0;
        count += is_new;
        found |= (uint32_t)(count & (0 - is_new));
        slot[at] = found;
        entry[found].tf++;
        number[i] = found;
    }
    t->count = count;
    return true;
}
