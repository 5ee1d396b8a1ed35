/* words.c - what is known of each distinct token: worked out once, then looked up by its hash */
#include "feature/words.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    MIN_LOG2 = 12,
    KEPT = 1 << 18,         /* words from one document to the next: 6 MB, and 16 MB of slots */
    PREFETCH_DISTANCE = 16, /* tokens */
};

enum nd_status nd_words_init(struct nd_words *w, const struct nd_word_rules *rules,
                             const char *stem, struct nd_error *err)
{
    struct nd_error local;

    w->rules = rules;
    if (strcmp(stem, "none") == 0 || !*stem)
        return ND_OK;
    w->stemmer = nd_stemmer_new(stem, err ? err : &local);
    return w->stemmer ? ND_OK : (err ? err : &local)->status;
}

static void free_slots(struct nd_words *w)
{
    if (w->slot)
        nd_table_free(w->slot, sizeof *w->slot << w->log2);
    w->slot = NULL;
    w->log2 = 0;
}

void nd_words_release(struct nd_words *w)
{
    nd_stemmer_free(w->stemmer);
    free(w->word);
    free_slots(w);
    *w = (struct nd_words){0};
}

void nd_words_begin(struct nd_words *w)
{
    if (w->count <= KEPT)
        return;
    free(w->word);
    free_slots(w);
    w->word = NULL;
    w->count = w->capacity = 0;
}

struct nd_view nd_words_term(struct nd_words *w, struct nd_view form)
{
    return w->stemmer ? nd_stemmer_run(w->stemmer, form) : form;
}

/* Work out all that is known of a token.  False: out of memory. */
static bool learn(struct nd_words *w, struct nd_word *word, uint64_t hash, struct nd_view form)
{
    *word = (struct nd_word){.hash = hash, .term = hash};
    if (w->stemmer) {
        struct nd_view stem = nd_stemmer_run(w->stemmer, form);

        if (!stem.data)
            return false;
        word->term = nd_token_hash(stem.data, stem.len);
    }
    if (w->rules->df) {
        word->df = nd_df_count(w->rules->df, word->term);
        word->df += word->df == 0;
    }
    word->kinds = nd_word_kinds(w->rules, hash, form, word->df);
    return true;
}

/* A table of 2^log2 slots with the words put in again. */
static bool rebuild(struct nd_words *w, unsigned log2)
{
    struct nd_word_slot *slot = nd_table_alloc(sizeof *slot << log2);
    size_t mask = ((size_t)1 << log2) - 1;

    if (!slot)
        return false;
    for (uint32_t i = 1; i <= w->count; i++) {
        size_t place = w->word[i].hash >> (64 - log2);

        while (slot[place].number)
            place = (place + 1) & mask;
        slot[place] = (struct nd_word_slot){w->word[i].hash, i};
    }
    free_slots(w);
    w->slot = slot;
    w->log2 = log2;
    return true;
}

/* Make room for n more words, with at most one slot in two taken. */
static bool reserve(struct nd_words *w, size_t n)
{
    unsigned log2 = w->log2 ? w->log2 : MIN_LOG2;

    if (w->count + n >= UINT32_MAX / 2 || !ND_RESERVE(w->word, &w->capacity, w->count + n + 1))
        return false;
    while ((size_t)1 << log2 < 2 * (w->count + n))
        log2++;
    return log2 == w->log2 || rebuild(w, log2);
}

/* The number of a word that is not in its first slot; a new word is added.  0: out of memory. */
static uint32_t find(struct nd_words *w, const struct nd_token_window *window, size_t i)
{
    size_t mask = ((size_t)1 << w->log2) - 1, place = window->hash[i] >> (64 - w->log2);
    uint32_t found;

    for (; w->slot[place].number; place = (place + 1) & mask)
        if (w->slot[place].hash == window->hash[i])
            return w->slot[place].number;
    found = (uint32_t)w->count + 1;
    if (!learn(w, &w->word[found], window->hash[i], nd_token_form(window, i)))
        return 0;
    w->slot[place] = (struct nd_word_slot){window->hash[i], found};
    w->count++;
    return found;
}

/* The table is larger than the caches, so slots are prefetched: their misses overlap.  Nearly every
 * token is found in its first slot; `find` is called for the others. */
bool nd_words_find(struct nd_words *w, const struct nd_token_window *window, uint32_t *number)
{
    const uint64_t *hash = window->hash;
    const size_t n = window->count;
    const struct nd_word_slot *slots;
    unsigned shift;

    if (!reserve(w, n))
        return false;
    shift = 64 - w->log2;
    slots = w->slot;
    for (size_t i = 0; i < n; i++) {
        const struct nd_word_slot *slot = &slots[hash[i] >> shift];

        __builtin_prefetch(
            &slots[hash[i + PREFETCH_DISTANCE < n ? i + PREFETCH_DISTANCE : i] >> shift]);
        number[i] = slot->hash == hash[i] ? slot->number : 0;
        if (number[i] == 0 && (number[i] = find(w, window, i)) == 0)
            return false;
    }
    return true;
}
