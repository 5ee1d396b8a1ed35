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

bool nd_featurer_keep(struct nd_featurer *f)
{
    void *term_df = f->term_df;

    if (f->is_plain)
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
    f->n_terms = f->kept.count;
    return true;
}
