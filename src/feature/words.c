/* words.c - what is known of each distinct token: found out once, then looked up by its hash */
#include "feature/words.h"

#include "base/memory.h"
#include "text/digit.h"
#include "text/utf8.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_LOG2 = 12,
    KEPT = 1 << 18, /* words from one document to the next: 6 MB, and 16 MB of slots */
    AHEAD = 16,     /* tokens whose slots are asked for while others are looked at */
};

enum nd_status nd_words_init(struct nd_words *w, const struct nd_feature_params *params,
                             const struct nd_df *df, struct nd_error *err)
{
    enum nd_status status =
        nd_stop_words_init(&w->stop, params->stop_words, params->join_apostrophes, df, err);

    if (status != ND_OK)
        return status;
    if (strcmp(params->stem, "none") != 0 && params->stem[0]) {
        struct nd_error local;

        w->stemmer = nd_stemmer_new(params->stem, err ? err : &local);
        if (!w->stemmer)
            return (err ? err : &local)->status;
    }
    if (!nd_hashes_of_text(params->anchors, strlen(params->anchors), params->join_apostrophes,
                           &w->anchor, &w->n_anchors))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    w->df = df;
    w->least_length = params->least_length;
    w->most_digits = params->strip != ND_STRIP_NONE         ? 0
                     : params->most_digits >= ND_DIGITS_ANY ? UINT_MAX
                                                            : params->most_digits;
    w->has_dates = params->strip == ND_STRIP_DATES;
    return ND_OK;
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
    nd_stop_words_release(&w->stop);
    nd_stemmer_free(w->stemmer);
    free(w->anchor);
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

static uint32_t kinds_of_english(uint64_t hash)
{
    size_t low = 0, high = nd_english_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (nd_english[middle].hash == hash)
            return nd_english[middle].kinds;
        if (nd_english[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* What its form says of a token: digits, length. */
static uint32_t kinds_of_form(const struct nd_words *w, struct nd_view form)
{
    size_t codes = 0, digits = 0, n;

    for (size_t i = 0; i < form.len; i += n, codes++)
        digits += nd_is_digit(nd_utf8_decode(form.data + i, &n));
    return (digits ? ND_WORD_DIGIT : 0) |
           (codes < w->least_length || digits > w->most_digits ? ND_WORD_LEFT_OUT : 0);
}

/* Find all out.  False: out of memory. */
static bool learn(struct nd_words *w, struct nd_word *word, uint64_t hash, struct nd_view form)
{
    uint32_t english = kinds_of_english(hash), kinds = kinds_of_form(w, form);

    *word = (struct nd_word){.hash = hash, .term = hash};
    if (w->stemmer) {
        struct nd_view stem = nd_stemmer_run(w->stemmer, form);

        if (!stem.data)
            return false;
        word->term = nd_token_hash(stem.data, stem.len);
    }
    if (w->df) {
        word->df = nd_df_count(w->df, word->term);
        word->df += word->df == 0;
    }
    if (w->has_dates)
        kinds |= english & ~(uint32_t)ND_WORD_STOP;
    if ((w->stop.is_english && (english & ND_WORD_STOP)) ||
        nd_hashes_have(w->stop.hash, w->stop.count, hash) ||
        (w->stop.by_df && word->df > w->stop.df_limit))
        kinds |= ND_WORD_STOP;
    if (nd_hashes_have(w->anchor, w->n_anchors, hash))
        kinds |= ND_WORD_ANCHOR;
    word->kinds = kinds;
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
        size_t at = w->word[i].hash >> (64 - log2);

        while (slot[at].number)
            at = (at + 1) & mask;
        slot[at] = (struct nd_word_slot){w->word[i].hash, i};
    }
    free_slots(w);
    w->slot = slot;
    w->log2 = log2;
    return true;
}

/* Room for n more words, at most one slot in two taken. */
static bool reserve(struct nd_words *w, size_t n)
{
    void *word = w->word;
    unsigned log2 = w->log2 ? w->log2 : LEAST_LOG2;

    if (w->count + n >= UINT32_MAX / 2 ||
        !nd_array_reserve(&word, &w->capacity, w->count + n + 1, sizeof *w->word))
        return false;
    w->word = word;
    while ((size_t)1 << log2 < 2 * (w->count + n))
        log2++;
    return log2 == w->log2 || rebuild(w, log2);
}

/* The number of a word that is not in its first slot.  0: out of memory. */
static uint32_t find(struct nd_words *w, const struct nd_token_window *window, size_t i)
{
    size_t mask = ((size_t)1 << w->log2) - 1, at = window->hash[i] >> (64 - w->log2);
    uint32_t found;

    for (; w->slot[at].number; at = (at + 1) & mask)
        if (w->slot[at].hash == window->hash[i])
            return w->slot[at].number;
    found = (uint32_t)w->count + 1;
    if (!learn(w, &w->word[found], window->hash[i], nd_token_form(window, i)))
        return 0;
    w->slot[at] = (struct nd_word_slot){window->hash[i], found};
    w->count++;
    return found;
}

/* The table is larger than the caches: its misses are not to wait for one another. */
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

        __builtin_prefetch(&slots[hash[i + AHEAD < n ? i + AHEAD : i] >> shift]);
        number[i] = slot->hash == hash[i] ? slot->number : 0;
        if (number[i] == 0 && (number[i] = find(w, window, i)) == 0)
            return false;
    }
    return true;
}
