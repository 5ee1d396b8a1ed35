/* word_counts.c - how often each word of nd_words stands in a document, and with what gain */
#include "feature/word_counts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 16 }; /* words that are asked for while others are taken */

void nd_word_counts_release(struct nd_word_counts *c)
{
    free(c->tf);
    free(c->gain);
    free(c->met);
    *c = (struct nd_word_counts){0};
}

/* Room for n elements, the new ones zeroes. */
static bool reserve_zeroes(void **array, size_t *capacity, size_t n, size_t size)
{
    size_t had = *capacity;

    if (!nd_array_reserve(array, capacity, n, size))
        return false;
    if (*capacity > had)
        memset((char *)*array + had * size, 0, (*capacity - had) * size);
    return true;
}

bool nd_word_counts_begin(struct nd_word_counts *c, size_t words, size_t n, bool has_gain)
{
    void *tf = c->tf, *gain = c->gain, *met = c->met;
    size_t most = (n < words ? n : words) + 1; /* and the place behind the last */
    bool good = reserve_zeroes(&tf, &c->tf_capacity, words, sizeof *c->tf);

    c->tf = tf;
    good = good && nd_array_reserve(&met, &c->met_capacity, most, sizeof *c->met);
    c->met = met;
    good = good && (!has_gain || reserve_zeroes(&gain, &c->gain_capacity, words, sizeof *c->gain));
    c->gain = gain;
    c->count = 0;
    return good;
}

void nd_word_counts_add(struct nd_word_counts *c, const uint32_t *word, const uint32_t *gain,
                        size_t n)
{
    uint32_t *tf = c->tf, *met = c->met;
    uint64_t *sum = c->gain;
    size_t count = c->count;

    for (size_t i = 0; i < n; i++) { /* without a branch on whether it is new, which is a toss-up */
        uint32_t w = word[i], had = tf[w];

        met[count] = w;
        count += had == 0;
        tf[w] = had + 1;
    }
    for (size_t i = 0; gain && i < n; i++)
        sum[word[i]] += gain[i];
    c->count = count;
}

uint64_t nd_word_counts_take(struct nd_word_counts *c, const struct nd_word *word, uint32_t out,
                             bool has_gain, struct nd_tally *tally)
{
    struct nd_term_stat *entry = tally->entry + 1;
    const uint32_t *met = c->met;
    uint64_t occurrences = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct nd_word *w = &word[met[i]];

        if (i + AHEAD < c->count)
            __builtin_prefetch(&word[met[i + AHEAD]]);
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
