/* weigh.h - from counts to weights: tf·idf, markup, position, clip, thresholds, quantise */
#ifndef ND_FEATURE_WEIGH_H
#define ND_FEATURE_WEIGH_H

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/feature.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gains are in 2^-24: a word without position weight and without markup has ND_GAIN_ONE. */
#define ND_GAIN_ONE (UINT32_C(1) << 24)
/* How far a word is marked: 0 not at all, ND_MARK_FULL wholly; anchor windows lie between. */
#define ND_MARK_FULL 256u

/* One feature of a document before it has a weight. */
struct nd_term_stat {
    uint64_t hash;
    uint64_t gain; /* the sum of nd_weigher_gain over its occurrences; not read where
                      nd_weigher_needs_gain is false */
    uint32_t tf;   /* occurrences, at least 1 */
    uint32_t df;   /* of the df table; unseen, or without a table: 0 or 1, both count as 1 */
};

/* The rules of weights: made once, immutable, for any number of threads. */
struct nd_weigher;

/* The working memory of one thread.  Starts from zeroes. */
struct nd_weigh_scratch {
    unsigned __int128 *raw; /* idf times frequency, in 2^-64 */
    uint64_t *weight;       /* the same with 48 bits in the greatest */
    uint64_t *work;         /* for ranks */
    size_t raw_capacity, weight_capacity, work_capacity;
};
void nd_weigh_scratch_release(struct nd_weigh_scratch *s);

/* Check that every weight by these rules is a whole number: a count, or 1. */
bool nd_weights_are_whole(const struct nd_weight_params *params);

/*
 * `df` outlives the weigher; NULL where there is none.  `has_fields`: weights of fields, which are
 * fractions of ND_WEIGHT_ONE, stand beside these.  NULL and *err: ND_EINVAL (a value out of
 * its range, a position table that cannot be read, a df table that is missing or has not been
 * calibrated for these weights), ND_ENOMEM.
 */
struct nd_weigher *nd_weigher_new(const struct nd_weight_params *params, const struct nd_df *df,
                                  bool has_fields, struct nd_error *err);
void nd_weigher_free(struct nd_weigher *w);

bool nd_weigher_needs_df(const struct nd_weigher *w);     /* nd_term_stat.df is read */
bool nd_weigher_needs_gain(const struct nd_weigher *w);   /* nd_term_stat.gain is read */
bool nd_weigher_needs_marks(const struct nd_weigher *w);  /* nd_weigher_gain reads `mark` */
bool nd_weigher_needs_length(const struct nd_weigher *w); /* nd_weigher_gain reads `length`: the
                                                             text is read twice */

/*
 * The gain of word i, counted from 1 before any word is dropped, of `length` words, 1 <= i <=
 * length < 2^32.  `mark` as above.  Any thread.
 */
uint32_t nd_weigher_gain(const struct nd_weigher *w, uint64_t i, uint64_t length, unsigned mark);

/* Write the gains of words i … i + n - 1; `mark` of each, NULL: of none.  Any thread. */
void nd_weigher_gains(const struct nd_weigher *w, uint64_t i, size_t n, uint64_t length,
                      const uint16_t *mark, uint32_t *gain);

/*
 * The weights of n features, 0 … ND_WEIGHT_ONE, the greatest of them ND_WEIGHT_ONE unless all are
 * 0.  Whole weights without fields are multiplied by the greatest power of two that leaves the
 * greatest at ND_WEIGHT_ONE or below, or by 1.  `n_words` is the length of the document in words, for the length normalisation.  *unit is
 * what ND_WEIGHT_ONE stands for, in 2^-32 (UINT64_MAX: that or more); it may be NULL.  ND_ENOMEM.
 */
enum nd_status nd_weigher_run(const struct nd_weigher *w, struct nd_weigh_scratch *scratch,
                              const struct nd_term_stat *stat, size_t n, uint64_t n_words,
                              int32_t *weight, uint64_t *unit);

/* The unit where every weight is 1. */
uint64_t nd_weigher_unit_of_one(const struct nd_weigher *w, uint64_t n_words);

/* The value that stands at place `rank`, from 0, when n > rank values are sorted; they are put into
 * another order.  Time in proportion to n, whatever the values. */
uint64_t nd_rank_select(uint64_t *value, size_t n, size_t rank);

#endif
