/* tally.c - the distinct features of a document, how often each occurs and with what gain */
#include "feature/tally.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_LOG2 = 6, PREFETCH_DISTANCE = 16 /* words */ };

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
        size_t place = t->entry[i].hash >> (64 - log2);

        while (t->slot[place])
            place = (place + 1) & mask;
        t->slot[place] = i;
    }
    t->log2 = log2;
    return true;
}

bool nd_tally_reserve(struct nd_tally *t, size_t n)
{
    return n < UINT32_MAX / 2 && ND_RESERVE(t->entry, &t->capacity, n + 2);
}

/* Make room for n more features, with at most one slot in four taken. */
static bool reserve(struct nd_tally *t, size_t n)
{
    unsigned log2 = t->log2 ? t->log2 : MIN_LOG2;

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
        size_t place = hash[i] >> shift;
        uint32_t found = slot[place];
        size_t is_new;

        /* A free slot holds 0, and entry 0 is a sentinel with this very hash: the search has one
         * condition, whether it ends at the feature or at a free slot. */
        entry[0].hash = hash[i];
        while (entry[found].hash != hash[i]) {
            place = (place + 1) & mask;
            found = slot[place];
        }
        /* Whether the feature is new is unpredictable, so this is branchless: the entry behind the
         * last is always prepared, and counts only where is_new is 1. */
        entry[count + 1] = (struct nd_term_stat){.hash = hash[i]};
        is_new = found == 0;
        count += is_new;
        found |= (uint32_t)(count & (0 - is_new));
        slot[place] = found;
        entry[found].tf++;
        number[i] = found;
    }
    t->count = count;
    return true;
}

void nd_word_counts_release(struct nd_word_counts *c)
{
    free(c->tf);
    free(c->gain);
    free(c->met);
    *c = (struct nd_word_counts){0};
}

bool nd_word_counts_begin(struct nd_word_counts *c, size_t words, size_t n, bool has_gain)
{
    size_t max = (n < words ? n : words) + 1, had = c->tf_capacity;

    c->count = 0;
    if (!ND_RESERVE(c->met, &c->met_capacity, max) || !ND_RESERVE(c->tf, &c->tf_capacity, words))
        return false;
    memset(c->tf + had, 0, (c->tf_capacity - had) * sizeof *c->tf);
    had = c->gain_capacity;
    if (!has_gain || words <= had)
        return true;
    if (!ND_RESERVE(c->gain, &c->gain_capacity, words))
        return false;
    memset(c->gain + had, 0, (c->gain_capacity - had) * sizeof *c->gain);
    return true;
}

void nd_word_counts_add(struct nd_word_counts *c, const uint32_t *word, const uint32_t *gain,
                        size_t n)
{
    uint32_t *tf = c->tf, *met = c->met;
    uint64_t *sum = c->gain;
    size_t count = c->count;

    for (size_t i = 0; i < n; i++) { /* whether a word is new is unpredictable, so branchless */
        uint32_t w = word[i], had = tf[w];

        met[count] = w;
        count += had == 0;
        tf[w] = had + 1;
    }
    for (size_t i = 0; gain && i < n; i++)
        sum[word[i]] += gain[i];
    c->count = count;
}

/* Branchless as well: a word that is left out is overwritten by the next one. */
uint64_t nd_word_counts_take(struct nd_word_counts *c, const struct nd_word *word, uint32_t out,
                             bool has_gain, struct nd_tally *tally)
{
    struct nd_term_stat *entry = tally->entry + 1;
    const uint32_t *met = c->met;
    uint64_t occurrences = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct nd_word *w = &word[met[i]];

        if (i + PREFETCH_DISTANCE < c->count)
            __builtin_prefetch(&word[met[i + PREFETCH_DISTANCE]]);
        uint32_t stays = (w->kinds & out) == 0;

        entry[n] = (struct nd_term_stat){.hash = w->term, .tf = c->tf[met[i]], .df = w->df};
        if (has_gain) {
            entry[n].gain = c->gain[met[i]];
            c->gain[met[i]] = 0;
        }
        occurrences += entry[n].tf & (0 - stays);
        n += stays;
        c->tf[met[i]] = 0;
    }
    c->count = 0;
    tally->count = n;
    return occurrences;
}
