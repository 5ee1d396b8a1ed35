/* overlaps.c - the nearest of many documents to each of some, by their sets of shingles, exhaustively */
#include "uses/audit/overlaps.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

static uint64_t key_of(uint64_t shingle)
{
    return shingle ? shingle : 1;
}

static size_t home_of(const struct nd_overlaps *o, uint64_t shingle)
{
    return (size_t)nd_mix64(shingle) & (o->n_slots - 1);
}

static struct nd_overlap_slot *find(const struct nd_overlaps *o, uint64_t shingle)
{
    size_t at = home_of(o, shingle);

    while (o->slot[at].shingle && o->slot[at].shingle != shingle)
        at = (at + 1) & (o->n_slots - 1);
    return &o->slot[at];
}

/* Count the documents of each shingle, give each its part of the list, and fill it. */
static void fill(struct nd_overlaps *o)
{
    uint32_t from = 0;

    for (size_t i = 0; i < o->n; i++)
        for (uint32_t k = 0; k < o->sought[i].n; k++) {
            struct nd_overlap_slot *slot = find(o, key_of(o->sought[i].shingle[k]));

            slot->shingle = key_of(o->sought[i].shingle[k]);
            slot->count++;
        }
    for (size_t at = 0; at < o->n_slots; at++) {
        o->slot[at].from = from;
        from += o->slot[at].count;
        o->slot[at].count = 0;
    }
    for (size_t i = 0; i < o->n; i++)
        for (uint32_t k = 0; k < o->sought[i].n; k++) {
            struct nd_overlap_slot *slot = find(o, key_of(o->sought[i].shingle[k]));

            o->list[slot->from + slot->count++] = (uint32_t)i;
        }
}

bool nd_overlaps_init(struct nd_overlaps *o, const struct nd_sought *sought, size_t n)
{
    size_t total = 0;

    *o = (struct nd_overlaps){.sought = sought, .n = n, .n_slots = 16};
    for (size_t i = 0; i < n; i++)
        total += sought[i].n;
    while (o->n_slots < 2 * total)
        o->n_slots *= 2;
    o->slot = total < UINT32_MAX ? calloc(o->n_slots, sizeof *o->slot) : NULL;
    o->list = nd_alloc_array(total + 1, sizeof *o->list);
    if (!o->slot || !o->list)
        return false;
    fill(o);
    return true;
}

void nd_overlaps_release(struct nd_overlaps *o)
{
    free(o->slot);
    free(o->list);
}

bool nd_overlaps_worker_init(struct nd_overlaps_worker *w, const struct nd_overlaps *o)
{
    w->nearest = calloc(o->n + 1, sizeof *w->nearest);
    w->count = calloc(o->n + 1, sizeof *w->count);
    w->met = nd_alloc_array(o->n + 1, sizeof *w->met);
    return w->nearest && w->count && w->met;
}

void nd_overlaps_worker_release(struct nd_overlaps_worker *w)
{
    free(w->nearest);
    free(w->count);
    free(w->met);
}

/* Fractions are compared exactly; of equal ones the first document is the nearest. */
static void offer(struct nd_audit_nearest *best, struct nd_audit_nearest found)
{
    const uint64_t left = (uint64_t)found.shared * best->either,
                   right = (uint64_t)best->shared * found.either;

    if (found.shared &&
        (!best->shared || left > right || (left == right && found.order < best->order)))
        *best = found;
}

void nd_overlaps_take(const struct nd_overlaps *o, struct nd_overlaps_worker *w, uint64_t order,
                      const uint64_t *shingle, size_t n)
{
    enum { AHEAD = 12 };
    size_t n_met = 0;

    for (size_t k = 0; k < n; k++) {
        const struct nd_overlap_slot *slot = find(o, key_of(shingle[k]));

        if (k + AHEAD < n)
            __builtin_prefetch(&o->slot[home_of(o, key_of(shingle[k + AHEAD]))]);
        for (uint32_t i = 0; i < slot->count; i++) {
            const uint32_t number = o->list[slot->from + i];

            if (!w->count[number]++)
                w->met[n_met++] = number;
        }
    }
    for (size_t i = 0; i < n_met; i++) {
        const uint32_t number = w->met[i], shared = w->count[number];
        const struct nd_sought *s = &o->sought[number];

        w->count[number] = 0;
        if (s->order != order && (!s->after || order < s->order))
            offer(&w->nearest[number],
                  (struct nd_audit_nearest){order, shared, (uint32_t)(s->n + n - shared)});
    }
}

void nd_overlaps_join(const struct nd_overlaps *o, struct nd_overlaps_worker *w,
                      const struct nd_overlaps_worker *other)
{
    for (size_t i = 0; i < o->n; i++)
        offer(&w->nearest[i], other->nearest[i]);
}
