/* word_table.h - the words of English that have a meaning of their own, by hash */
#ifndef ND_FEATURE_WORD_WORD_TABLE_H
#define ND_FEATURE_WORD_WORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Flags of a token; the first six stand in the table. */
enum {
    ND_WORD_STOP = 1 << 0,        /* a stop word */
    ND_WORD_DATE = 1 << 1,        /* a month or a weekday */
    ND_WORD_SHORT_DATE = 1 << 2,  /* an abbreviation of one */
    ND_WORD_TIME = 1 << 3,        /* am, pm, a time zone: after a number */
    ND_WORD_FIRST_HALF = 1 << 4,  /* a, p, o: of a m, p m, o clock */
    ND_WORD_SECOND_HALF = 1 << 5, /* m, clock */
    ND_WORD_DIGIT = 1 << 6,       /* has a digit */
    ND_WORD_LEFT_OUT = 1 << 7,    /* by its form: too short, too many digits */
    ND_WORD_ANCHOR = 1 << 8,      /* one of the anchor words */
};

struct nd_english_word {
    uint64_t hash;
    uint32_t kinds;
};
extern const size_t nd_english_count;
extern const struct nd_english_word nd_english[]; /* by hash */

#endif
