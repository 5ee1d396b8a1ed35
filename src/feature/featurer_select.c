/* featurer_select.c - which features are used (000 s. 2.3.1; 002 s. 5.4), and counting them */
#include "feature/featurer.h"

#include "feature/df_layout.h"

#include <stdlib.h>
#include <string.h>

/* The number of the word (for character n-grams of the code point), from 0, where an occurrence
 * begins. */
static size_t position_of(const struct nd_featurer *f, uint32_t from)
{
    bool is_term = f->params.unit != ND_FEATURE_CHARACTERS && f->params.unit != ND_FEATURE_SPOTS;

    return is_term ? nd_featurer_word_of(f, from) : from;
}

/* Whether it is the select_count-th that begins in its sentence. */
static bool is_of_sentence(struct nd_featurer *f, size_t position)
{
    while (f->in_sentence < f->sentence.count && f->sentence.at[f->in_sentence] <= position) {
        f->in_sentence++;
        f->seen_in_it = 0;
    }
    return ++f->seen_in_it == f->params.select_count;
}

/* Whether one of the anchors' code points stand at the beginning of an n-gram. */
static bool begins_with_string(const struct nd_featurer *f, uint32_t from)
{
    const uint64_t *code = f->term + (from - f->n_dropped);
    size_t have = f->n_terms - (from - f->n_dropped), begin = 0;

    for (size_t i = 0; i < f->anchor_end.count; begin = f->anchor_end.at[i++]) {
        size_t n = f->anchor_end.at[i] - begin, same = 0;

        while (same < n && same < have && code[same] == f->anchor_code[begin + same])
            same++;
        if (same == n)
            return true;
    }
    return false;
}

static bool is_anchored(const struct nd_featurer *f, uint32_t from)
{
    if (f->params.unit == ND_FEATURE_CHARACTERS)
        return begins_with_string(f, from);
    return f->words.word[f->word.at[position_of(f, from)]].kinds & ND_WORD_ANCHOR;
}

static bool is_selected(struct nd_featurer *f, uint32_t from)
{
    switch (f->params.select) {
    case ND_SELECT_FIRST:
        return f->params.count == ND_FEATURE_DISTINCT || f->n_seen++ < f->params.select_count;
    case ND_SELECT_KTH: return ++f->n_seen % f->params.select_count == 0;
    case ND_SELECT_SENTENCE: return is_of_sentence(f, position_of(f, from));
    case ND_SELECT_ANCHORED: return is_anchored(f, from);
    default: return true;
    }
}

/* The df of a feature that is new in this document. */
static uint32_t df_of(const struct nd_featurer *f, uint64_t hash, uint32_t from)
{
    uint32_t n;

    if (f->params.unit == ND_FEATURE_TERMS) {
        const struct nd_word *word = &f->words.word[f->word.at[nd_featurer_word_of(f, from)]];

        if (word->term == hash)
            return word->df;
    }
    n = nd_df_count(f->df, hash);
    return n ? n : 1;
}

/* The df of those that are new: whose numbers are above `had`. */
static void ask_df(struct nd_featurer *f, const uint64_t *hash, const uint32_t *from,
                   const uint32_t *number, size_t n, size_t had)
{
    if (f->keeps_df) { /* again and again, rather than with a branch that is a toss-up */
        for (size_t i = 0; i < n; i++)
            f->tally.entry[number[i]].df = f->term_df[from[i]];
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (number[i] > had)
            nd_df_prefetch(f->df, hash[i]);
    for (size_t i = 0; i < n; i++)
        if (number[i] > had) {
            f->tally.entry[number[i]].df = df_of(f, hash[i], from[i]);
            had = number[i];
        }
}

static bool note(struct nd_numbers *numbers, const uint32_t *number, size_t n)
{
    if (!nd_numbers_reserve(numbers, n))
        return false;
    if (n)
        memcpy(numbers->at + numbers->count, number, n * sizeof *number);
    numbers->count += n;
    return true;
}

static bool note_origins(struct nd_featurer *f, const uint32_t *number, const uint32_t *from,
                         size_t n)
{
    if (!nd_numbers_reserve(&f->origin, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (number[i] > f->origin.count)
            f->origin.at[f->origin.count++] = from[i];
    return true;
}

static void add_gains(struct nd_featurer *f, const uint32_t *number, const uint32_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = position_of(f, from[i]);
        unsigned mark = f->has_marks ? f->mark[at] : 0;
        uint64_t gain = nd_weigher_gain(f->weigher, at + 1, f->n_words, mark);

        if (f->params.template_count && f->template_weight && f->is_template[at])
            gain = gain * f->template_weight >> 24;
        f->tally.entry[number[i]].gain += gain;
    }
}

bool nd_featurer_reserve_direct(struct nd_featurer *f, size_t n)
{
    void *direct = f->direct;

    if (!nd_array_reserve(&direct, &f->direct_capacity, f->n_direct + n, sizeof *f->direct))
        return false;
    f->direct = direct;
    return true;
}

/* Every occurrence is a feature. */
static bool put_direct(struct nd_featurer *f, const uint64_t *hash, size_t n)
{
    if (!nd_featurer_reserve_direct(f, n))
        return false;
    if (n)
        memcpy(f->direct + f->n_direct, hash, n * sizeof *hash);
    f->n_direct += n;
    return true;
}

static bool tally(struct nd_featurer *f, const uint64_t *hash, const uint32_t *from, size_t n)
{
    enum { BATCH = 512 };
    uint32_t number[BATCH];
    size_t had = f->tally.count;

    if (nd_featurer_is_direct(f))
        return put_direct(f, hash, n);
    if (!nd_tally_add(&f->tally, hash, n, number))
        return false;
    if (f->df)
        ask_df(f, hash, from, number, n, had);
    if (f->needs_gain)
        add_gains(f, number, from, n);
    if ((f->params.count == ND_FEATURE_OCCURRENCES || f->has_places) &&
        !note(&f->occurrence, number, n))
        return false;
    if (f->has_places && !note(&f->occurrence_from, from, n))
        return false;
    return !f->has_origins || note_origins(f, number, from, n);
}

bool nd_featurer_add(struct nd_featurer *f, uint64_t *hash, uint32_t *from, size_t n)
{
    size_t selected = 0;

    if (!f->selects_occurrences)
        return tally(f, hash, from, n);
    for (size_t i = 0; i < n; i++) {
        hash[selected] = hash[i];
        from[selected] = from[i];
        selected += is_selected(f, from[i]);
    }
    return tally(f, hash, from, selected);
}

/* The rarest first; of equally rare ones the least hash. */
static int by_rarity(const void *a, const void *b)
{
    const struct nd_term_stat *x = a, *y = b;

    if (x->df != y->df)
        return x->df < y->df ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The rank of the last that is still among the n rarest.  False: out of memory. */
static bool last_of_rarest(const struct nd_featurer *f, size_t n, struct nd_term_stat *last)
{
    struct nd_term_stat *sorted = nd_alloc_array(f->tally.count, sizeof *sorted);

    if (!sorted)
        return false;
    for (size_t i = 0; i < f->tally.count; i++)
        sorted[i] = f->tally.entry[i + 1];
    qsort(sorted, f->tally.count, sizeof *sorted, by_rarity);
    *last = sorted[n - 1];
    free(sorted);
    return true;
}

/* Entry i (from 1) moves to place n, or goes (n = 0): what names it follows. */
static void move_entry(struct nd_featurer *f, size_t i, size_t n)
{
    f->new_number.at[i] = (uint32_t)n;
    if (n == 0)
        return;
    f->tally.entry[n] = f->tally.entry[i];
    if (f->has_origins)
        f->origin.at[n - 1] = f->origin.at[i - 1];
}

static void renumber_occurrences(struct nd_featurer *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->occurrence.count; i++) {
        f->occurrence.at[n] = f->new_number.at[f->occurrence.at[i]];
        if (f->has_places)
            f->occurrence_from.at[n] = f->occurrence_from.at[i];
        n += f->occurrence.at[n] != 0;
    }
    f->occurrence.count = n;
    if (f->has_places)
        f->occurrence_from.count = n;
}

/* Of the distinct features, those that the selection wants. */
bool nd_featurer_select(struct nd_featurer *f)
{
    struct nd_term_stat last = {.df = f->params.select_count, .hash = UINT64_MAX};
    enum nd_feature_select select = f->params.select;
    size_t count = f->tally.count, n = 0;

    if (select == ND_SELECT_FIRST && f->params.count == ND_FEATURE_DISTINCT &&
        count > f->params.select_count)
        f->tally.count = f->params.select_count;
    if ((select != ND_SELECT_RAREST || count <= f->params.select_count) &&
        select != ND_SELECT_UNCOMMON)
        return true;
    f->new_number.count = 0;
    if (select == ND_SELECT_RAREST && !last_of_rarest(f, f->params.select_count, &last))
        return false;
    if (!nd_numbers_reserve(&f->new_number, count + 1))
        return false;
    for (size_t i = 1; i <= count; i++) {
        bool stays = by_rarity(&f->tally.entry[i], &last) <= 0;

        n += stays;
        move_entry(f, i, stays ? n : 0);
    }
    f->tally.count = n;
    renumber_occurrences(f);
    return true;
}
