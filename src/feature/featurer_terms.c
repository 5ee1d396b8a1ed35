/* featurer_terms.c - which words are terms: stop words, form, dates (000 s. 4.2, 6.4.2; 004 s. 6.3)
 */
#include "feature/featurer.h"

enum {
    DATE = ND_WORD_DIGIT | ND_WORD_DATE,
    IN_DATES = DATE | ND_WORD_SHORT_DATE | ND_WORD_TIME | ND_WORD_FIRST_HALF | ND_WORD_SECOND_HALF,
    OUT = ND_WORD_STOP | ND_WORD_LEFT_OUT
};

static uint32_t kinds_at(const struct nd_featurer *f, size_t i)
{
    return i < f->word.count ? f->words.word[f->word.at[i]].kinds : 0;
}

/* Whether a date or a number begins with the short date at i, or goes on there. */
static bool is_short_date(const struct nd_featurer *f, size_t i, bool after_date)
{
    uint32_t next = kinds_at(f, i + 1);

    return after_date || (next & DATE) ||
           ((next & ND_WORD_SHORT_DATE) && (kinds_at(f, i + 2) & DATE));
}

/* The word at i, which may belong to a date: whether it does. */
static bool is_date(const struct nd_featurer *f, size_t i, bool after_date, bool after_half)
{
    uint32_t kinds = kinds_at(f, i);

    return (kinds & DATE) || ((kinds & ND_WORD_SHORT_DATE) && is_short_date(f, i, after_date)) ||
           ((kinds & ND_WORD_TIME) && after_date) ||
           ((kinds & ND_WORD_FIRST_HALF) && after_date &&
            (kinds_at(f, i + 1) & ND_WORD_SECOND_HALF)) ||
           ((kinds & ND_WORD_SECOND_HALF) && after_half);
}

static void keep_but_dates(struct nd_featurer *f)
{
    bool after_date = false, after_half = false;
    size_t n = 0;

    for (size_t i = 0; i < f->word.count; i++) {
        const struct nd_word *word = &f->words.word[f->word.at[i]];
        bool date = (word->kinds & IN_DATES) && is_date(f, i, after_date, after_half);

        f->term[n] = word->term;
        f->kept.at[n] = (uint32_t)i;
        f->term_df[n] = word->df;
        n += !date && (word->kinds & OUT) == 0;
        after_half = date && (word->kinds & ND_WORD_FIRST_HALF);
        after_date = date;
    }
    f->kept.count = n;
}

static void keep(struct nd_featurer *f)
{
    const struct nd_word *words = f->words.word;
    const uint32_t *word = f->word.at;
    uint64_t *term = f->term;
    uint32_t *kept = f->kept.at, *df = f->term_df;
    size_t n = 0;

    for (size_t i = 0; i < f->word.count; i++) {
        term[n] = words[word[i]].term;
        kept[n] = (uint32_t)i;
        df[n] = words[word[i]].df;
        n += (words[word[i]].kinds & OUT) == 0;
    }
    f->kept.count = n;
}

/* What the words at n tokens from `first` on (from 0) gain by where they stand and how. */
static void make_gains(const struct nd_featurer *f, size_t first, size_t n, uint32_t *gain)
{
    const uint16_t *mark = f->has_marks ? f->mark + first : NULL;

    nd_weigher_gains(f->weigher, first + 1, n, f->n_words, mark, gain);
}

static void add_words(struct nd_featurer *f)
{
    enum { BATCH = 512 };
    const uint32_t *word = f->word.at;
    uint32_t gain[BATCH];

    if (!f->needs_gain) {
        nd_word_counts_add(&f->counts, word, NULL, f->word.count);
        return;
    }
    for (size_t i = 0; i < f->word.count; i += BATCH) {
        size_t n = f->word.count - i < BATCH ? f->word.count - i : BATCH;

        make_gains(f, i, n, gain);
        nd_word_counts_add(&f->counts, word + i, gain, n);
    }
}

bool nd_featurer_count_words(struct nd_featurer *f)
{
    size_t n = f->word.count, words = f->words.count + 1;

    if (!nd_tally_reserve(&f->tally, n < words ? n : words) ||
        !nd_word_counts_begin(&f->counts, words, n, f->needs_gain))
        return false;
    add_words(f);
    f->n_terms = nd_word_counts_take(&f->counts, f->words.word, OUT, f->needs_gain, &f->tally);
    return true;
}

/* The words that are no part of a date move together. */
static void leave_words(struct nd_featurer *f)
{
    for (size_t i = 0; i < f->kept.count; i++)
        f->word.at[i] = f->word.at[f->kept.at[i]];
    f->word.count = f->kept.count;
}

bool nd_featurer_keep(struct nd_featurer *f)
{
    void *term_df = f->term_df;

    if (f->is_plain || (nd_featurer_is_by_word(f) && !f->words.has_dates))
        return true;
    if (!nd_array_reserve(&term_df, &f->term_df_capacity, f->word.count, sizeof *f->term_df))
        return false;
    f->term_df = term_df;
    f->kept.count = 0;
    if (!nd_numbers_reserve(&f->kept, f->word.count) ||
        !nd_featurer_reserve_terms(f, f->word.count))
        return false;
    if (f->words.has_dates)
        keep_but_dates(f);
    else
        keep(f);
    nd_featurer_drop_template(f);
    f->n_terms = f->kept.count;
    if (nd_featurer_is_by_word(f))
        leave_words(f);
    return true;
}
