/* curve.h - precision and recall as pairs are listed, the best ones first */
#ifndef ND_USES_EVAL_CURVE_H
#define ND_USES_EVAL_CURVE_H

#include "uses/eval/scores.h"

/* The pairs that are listed down to a value. */
struct nd_curve_step {
    double at;
    uint64_t right, listed;
};

/* Starts from zeroes. */
struct nd_curve {
    struct nd_curve_step *step; /* one for each value of the column */
    size_t n_steps;
    uint64_t same;            /* pairs that the truth calls so */
    double average_precision; /* NAN: not known, as the next */
    double break_even;        /* precision and recall where they are equal */
};

/* The column that an option names, without its ":asc" or ":desc". Allocated; NULL: out of memory. */
char *nd_curve_column(const char *option, bool *is_ascending);

/* Make the steps. `scores` has the counts of the same two relations. ND_ENOMEM. */
enum nd_status nd_curve_make(struct nd_curve *curve, const struct nd_relation *truth,
                             const struct nd_relation *result, const struct nd_scores *scores,
                             size_t n, bool all, bool is_ascending, struct nd_error *err);
void nd_curve_release(struct nd_curve *curve);

#endif
