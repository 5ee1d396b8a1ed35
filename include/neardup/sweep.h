/*
 * neardup/sweep.h - run a corpus with many settings of a recipe, and measure each against the truth
 *
 * The library is libneardup-files.
 *
 *     const char *const sets[] = {"threshold=0.5,0.6,0.7,0.8"};
 *     struct nd_sweep_params params = {.eval = nd_eval_params_default(), .sets = sets, .n_sets = 1};
 *     struct nd_sweep sweep;
 *
 *     params.eval.truth = "labels.tsv";
 *     params.eval.universe = ND_EVAL_LABELLED;
 *     if (nd_run_sweep(options, &params, NULL, stdout, &sweep, &err) == ND_OK)
 *         nd_sweep_release(&sweep);
 */
#ifndef NEARDUP_SWEEP_H
#define NEARDUP_SWEEP_H

#include <stdio.h>

#include <neardup/eval.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most keys that vary, and the most settings: products of their values. */
#define ND_SWEEP_KEYS 8
#define ND_SWEEP_SETTINGS 1000

/* Starts from zeroes, with eval = nd_eval_params_default(). */
struct nd_sweep_params {
    /* Only truth, truth_form, universe, at, positive, closes, resamplings, seed and json count.
     * The documents are those of the corpus. */
    struct nd_eval_params eval;
    /*
     * A key of the recipe with its values: "threshold=0.6,0.8", or "match=distance(simhash) <=
     * {0,1,2}", where only what is in braces varies.  The key "recipe" has names of shipped recipes
     * and files, in place of the options' recipe.  There is a row for each combination of the
     * values; those of the last key change fastest.
     */
    const char *const *sets;
    size_t n_sets;
    /* The df table of those recipes that need one; NULL: none. */
    const char *df;
    /* 1: measure the manifest of nd_run_dedup; 0: the pairs of nd_run_pairs. */
    unsigned char removes;
    /* Rows have columns with times, which differ from run to run. */
    unsigned char times;
};

/* A setting.  A figure that is not known is NAN. */
struct nd_sweep_row {
    /* "threshold=0.8 shingle=3" */
    char *setting;
    double precision, recall, f1;
    /* No other setting has a precision and a recall as high, and one of them higher. */
    int is_best;
};

struct nd_sweep {
    struct nd_sweep_row *row;
    size_t n;
};

/*
 * Write a row for each setting to a stream (docs/format/eval.md), and return them.  Documents are
 * read once for all settings that make the same sketches of them; those are kept in a sketch file in
 * the options' tmp meanwhile.  ND_EINVAL: the values, or what they give, are no recipe; a corpus is
 * the standard input; otherwise what nd_run_pairs and nd_run_eval return.  On failure *sweep is empty.
 */
ND_API enum nd_status nd_run_sweep(const struct nd_run_options *options,
                                   const struct nd_sweep_params *params,
                                   const struct nd_run_events *events, FILE *stream,
                                   struct nd_sweep *sweep, struct nd_error *err);
ND_API void nd_sweep_release(struct nd_sweep *sweep);

#ifdef __cplusplus
}
#endif
#endif
