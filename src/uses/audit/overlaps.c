/* overlaps.c - documents that are searched for among all kept ones, by their shingles, exhaustively */
#include "uses/audit/overlaps.h"

#include "base/hash.h"
#include "base/memory.h"
#include "sketch/shingle_set.h"

#include <stdlib.h>
#include <string.h>

/* Bits of the sieve for each slot: about one in 32 of the shingles that nobody sought passes it. */
enum { SIEVE_BITS = 16 };

/* ---- How near ---------------------------------------------------------------------------------- */

void nd_audit_nearest_offer(struct nd_audit_nearest *best, struct nd_audit_nearest found)
{
    const uint64_t left = (uint64_t)found.shared * best->either,
                   right = (uint64_t)best->shared * found.either;

    if (found.shared &&
        (!best->shared || left > right || (left == right && found.order < best->order)))
        *best = found;
}

bool nd_audit_nearest_reaches(const struct nd_audit_nearest *nearest, struct nd_ratio threshold)
{
    return nearest->shared &&
           (uint64_t)nearest->shared * threshold.q >= (uint64_t)nearest->either * threshold.p;
}

/* ---- The lists ---------------------------------------------------------------------------------- */

static uint64_t key_of(uint64_t shingle)
{
    return shingle ? shingle : 1;
}

static size_t home_of(const struct nd_overlaps *o, uint64_t mixed)
{
    return (size_t)mixed & (o->n_slots - 1);
}

static struct nd_overlap_slot *find(const struct nd_overlaps *o, uint64_t shingle, uint64_t mixed)
{
    size_t at = home_of(o, mixed);

    while (o->slot[at].shingle && o->slot[at].shingle != shingle)
        at = (at + 1) & (o->n_slots - 1);
    return &o->slot[at];
}

static struct nd_overlap_slot *slot_of(const struct nd_overlaps *o, uint64_t shingle)
{
    const uint64_t key = key_of(shingle);

    return find(o, key, nd_mix64(key));
}

/* The bit of the sieve: other bits of the hash than those that choose the slot. */
static size_t bit_of(const struct nd_overlaps *o, uint64_t mixed)
{
    return (size_t)(mixed >> 24) & (o->n_slots * SIEVE_BITS - 1);
}

/* Make a table for so many shingles. */
static bool make_slots(struct nd_overlaps *o, size_t total)
{
    o->n_slots = 16;
    while (o->n_slots < 2 * total)
        o->n_slots *= 2;
    free(o->slot);
    o->slot = total < UINT32_MAX ? calloc(o->n_slots, sizeof *o->slot) : NULL;
    return o->slot != NULL;
}

/* Count in how many documents each of the first `listed` shingles of each is. */
static void count_documents(struct nd_overlaps *o)
{
    for (size_t i = 0; i < o->n; i++)
        for (uint32_t k = 0; k < o->listed[i]; k++) {
            struct nd_overlap_slot *slot = slot_of(o, o->sought[i].shingle[k]);

            slot->shingle = key_of(o->sought[i].shingle[k]);
            slot->count++;
        }
}

/* Give each shingle its part of the list, and fill it. */
static void fill(struct nd_overlaps *o)
{
    uint32_t from = 0;

    for (size_t at = 0; at < o->n_slots; at++) {
        o->slot[at].from = from;
        from += o->slot[at].count;
        o->slot[at].count = 0;
    }
    for (size_t i = 0; i < o->n; i++)
        for (uint32_t k = 0; k < o->listed[i]; k++) {
            struct nd_overlap_slot *slot = slot_of(o, o->sought[i].shingle[k]);
            const size_t bit = bit_of(o, nd_mix64(slot->shingle));

            o->list[slot->from + slot->count++] = (uint32_t)i;
            o->sieve[bit / 64] |= UINT64_C(1) << bit % 64;
        }
}

/* Put those first that the fewest have, as many as the threshold asks for: how many have each is
 * counted up to HAVE_MOST.  room: for all shingles of the document. */
static void choose(struct nd_overlaps *o, size_t i, uint64_t *room)
{
    enum { HAVE_MOST = 255 };
    const struct nd_sought *s = &o->sought[i];
    const uint64_t least = ((uint64_t)s->n * o->threshold.p + o->threshold.q - 1) / o->threshold.q;
    uint32_t have[HAVE_MOST + 1] = {0}, to[HAVE_MOST + 1], at = 0;

    for (uint32_t k = 0; k < s->n; k++) {
        const uint32_t count = slot_of(o, s->shingle[k])->count;

        have[count < HAVE_MOST ? count : HAVE_MOST]++;
    }
    for (unsigned c = 0; c <= HAVE_MOST; c++) {
        to[c] = at;
        at += have[c];
    }
    for (uint32_t k = 0; k < s->n; k++) {
        const uint32_t count = slot_of(o, s->shingle[k])->count;

        room[to[count < HAVE_MOST ? count : HAVE_MOST]++] = s->shingle[k];
    }
    memcpy(s->shingle, room, s->n * sizeof *room);
    o->listed[i] = (uint32_t)(s->n - least + 1);
}

/* Count all shingles, and choose those that are listed.  Return how many, or 0: out of memory. */
static size_t choose_all(struct nd_overlaps *o)
{
    uint64_t *room;
    size_t total = 0, most = 0;

    for (size_t i = 0; i < o->n; i++) {
        o->listed[i] = o->sought[i].n;
        total += o->sought[i].n;
        most = o->sought[i].n > most ? o->sought[i].n : most;
    }
    room = nd_alloc_array(most + 1, sizeof *room);
    if (!room || !make_slots(o, total)) {
        free(room);
        return 0;
    }
    count_documents(o);
    total = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (!o->sought[i].whole)
            choose(o, i, room);
        total += o->listed[i];
    }
    free(room);
    return total + 1;
}

bool nd_overlaps_init(struct nd_overlaps *o, struct nd_sought *sought, size_t n,
                      struct nd_ratio threshold)
{
    size_t total;

    *o = (struct nd_overlaps){.sought = sought, .n = n, .threshold = threshold};
    o->listed = nd_alloc_array(n + 1, sizeof *o->listed);
    total = o->listed ? choose_all(o) : 0;
    if (!total || !make_slots(o, total))
        return false;
    o->list = nd_alloc_array(total, sizeof *o->list);
    o->sieve = calloc(o->n_slots * SIEVE_BITS / 64, sizeof *o->sieve);
    if (!o->list || !o->sieve)
        return false;
    count_documents(o);
    fill(o);
    return true;
}

void nd_overlaps_release(struct nd_overlaps *o)
{
    free(o->slot);
    free(o->sieve);
    free(o->list);
    free(o->listed);
}

/* ---- The documents of the corpus ---------------------------------------------------------------- */

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

/* A shingle that passes the sieve, and its hash; its slot is on its way to the cache. */
struct passing_shingle {
    uint64_t key, mixed;
};
enum { AT_ONCE = 64 };

/* Return how many of n shingles, AT_ONCE at most, pass. */
static size_t sift(const struct nd_overlaps *o, const uint64_t *shingle, size_t n,
                   struct passing_shingle passing[AT_ONCE])
{
    size_t found = 0;

    for (size_t k = 0; k < n; k++) {
        const uint64_t key = key_of(shingle[k]), mixed = nd_mix64(key);
        const size_t bit = bit_of(o, mixed);

        if (!(o->sieve[bit / 64] >> bit % 64 & 1))
            continue;
        __builtin_prefetch(&o->slot[home_of(o, mixed)]);
        passing[found++] = (struct passing_shingle){key, mixed};
    }
    return found;
}

/* Count what each document sought shares of its listed shingles; note those that share any. */
static size_t meet(const struct nd_overlaps *o, struct nd_overlaps_worker *w,
                   const uint64_t *shingle, size_t n)
{
    struct passing_shingle passing[AT_ONCE];
    size_t n_met = 0;

    for (size_t from = 0; from < n; from += AT_ONCE) {
        const size_t found =
            sift(o, shingle + from, n - from < AT_ONCE ? n - from : AT_ONCE, passing);

        for (size_t k = 0; k < found; k++) {
            const struct nd_overlap_slot *slot = find(o, passing[k].key, passing[k].mixed);

            for (uint32_t i = 0; i < slot->count; i++) {
                const uint32_t number = o->list[slot->from + i];

                if (!w->count[number]++)
                    w->met[n_met++] = number;
            }
        }
    }
    return n_met;
}

/* How many shingles are so many that n and m reach the threshold: the least s with
 * s / (n + m - s) >= p / q. */
static uint64_t needed(struct nd_ratio t, uint64_t n, uint64_t m)
{
    const uint64_t both = (uint64_t)t.p + t.q;

    return ((n + m) * t.p + both - 1) / both;
}

/* Compare a document sought with one of the corpus that shares so many of its listed shingles. */
static void compare(const struct nd_overlaps *o, struct nd_overlaps_worker *w, uint32_t number,
                    uint64_t shared, const struct nd_sought *corpus,
                    const struct nd_shingle_set *set)
{
    const struct nd_sought *s = &o->sought[number];

    if (s->order == corpus->order || (s->after && corpus->order > s->order))
        return;
    if (!s->whole) {
        const uint64_t need = needed(o->threshold, s->n, corpus->n);

        if (w->nearest[number].shared || shared + s->n - o->listed[number] < need)
            return;
        if (set)
            shared = nd_shingle_set_shared(set, s->shingle, s->n, need);
        if (shared < need || shared == ND_SHARED_TOO_FEW)
            return;
    }
    nd_audit_nearest_offer(&w->nearest[number],
                           (struct nd_audit_nearest){corpus->order, (uint32_t)shared,
                                                     (uint32_t)(s->n + corpus->n - shared)});
}

void nd_overlaps_take(const struct nd_overlaps *o, struct nd_overlaps_worker *w, uint64_t order,
                      const uint64_t *shingle, size_t n, const struct nd_shingle_set *set)
{
    const size_t n_met = meet(o, w, shingle, n);
    const struct nd_sought corpus = {.order = order, .n = (uint32_t)n};

    for (size_t i = 0; i < n_met; i++) {
        const uint32_t number = w->met[i], shared = w->count[number];

        w->count[number] = 0;
        compare(o, w, number, shared, &corpus, set);
    }
}

void nd_overlaps_join(const struct nd_overlaps *o, struct nd_overlaps_worker *w,
                      const struct nd_overlaps_worker *other)
{
    for (size_t i = 0; i < o->n; i++)
        nd_audit_nearest_offer(&w->nearest[i], other->nearest[i]);
}
