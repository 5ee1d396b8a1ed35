/*
 * neardup/eval.h - measure results against the truth: pairs, clusters, manifests
 *
 * The library is libneardup-files.
 *
 *     struct nd_eval_params params = nd_eval_params_default();
 *     const char *result = "clusters.tsv";
 *
 *     params.truth = "truth.tsv";
 *     params.results = &result;
 *     params.n_results = 1;
 *     status = nd_run_eval(options, &params, NULL, stdout, &err);
 */
#ifndef NEARDUP_EVAL_H
#define NEARDUP_EVAL_H

#include <stdio.h>

#include <neardup/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The form of a file (docs/format/eval.md). */
enum nd_eval_form {
    ND_EVAL_ANY, /* it is recognised */
    ND_EVAL_PAIRS,
    ND_EVAL_CLUSTERS,
    ND_EVAL_MANIFEST,
    ND_EVAL_CLASSES /* of a truth: ham and spam */
};

/* Which pairs count. */
enum nd_eval_universe {
    ND_EVAL_UNSAID,   /* only where the truth has clusters or classes: all */
    ND_EVAL_LABELLED, /* pairs that the truth calls the same or different */
    ND_EVAL_ALL,      /* every pair of documents */
    ND_EVAL_SAMPLE    /* likewise, estimated: the truth has complete clusters of a sample */
};

/* A step of a curve: precision and recall of the pairs down to a value.  NAN: not known. */
struct nd_eval_point {
    const char *result;
    double at, precision, recall;
};

/* Start from nd_eval_params_default(). */
struct nd_eval_params {
    const char *truth;
    /* "-" is the standard input. */
    const char *const *results;
    size_t n_results;
    enum nd_eval_form truth_form, result_form;
    enum nd_eval_universe universe;
    /* With ND_EVAL_SAMPLE, a cluster was drawn with one of its documents, so that it weighs 1 / its
     * size.  0: each cluster was as likely. */
    unsigned char weighs_by_size;
    /* has_at: the labels of the truth are scores, and pairs are the same from `at` on. */
    double at;
    unsigned char has_at;
    /* Labels that mean the same; all others mean different.  None: words are recognised. */
    const char *const *positive;
    size_t n_positive;
    /* The pairs of results are closed: their connected components are clusters. */
    unsigned char closes;
    /* The documents are read again for each result that removes some, and runs of three words of
     * removed documents that no kept one has are counted: exactly up to 8,388,608 distinct runs, and
     * estimated from as many beyond. */
    unsigned char counts_lost;
    /* JSON Lines instead of TSV. */
    unsigned char json;
    /* A column of the results, which are pairs, with a value: its name or its number, from 1; with
     * ":asc" or ":desc", whether low or high values come first.  Rows are then those of a curve, one
     * for each value.  NULL: there is one row for each result. */
    const char *curve;
    /* Called with each step of a curve.  NULL: it is not. */
    void (*each_point)(void *context, const struct nd_eval_point *point);
    void *context;
    /* A column of the results, which are pairs: a row for each of its values.  Or of the documents:
     * "site:FIELD", whether the addresses in FIELD have one host; "field:NAME", the value that both
     * have; "length", tokens of the shorter one.  NULL: there is one row for each result. */
    const char *by;
    /* How often components are drawn for an interval.  0: there are no intervals. */
    unsigned resamplings;
    unsigned seed;
};
ND_API struct nd_eval_params nd_eval_params_default(void);

/*
 * Write a row for each result to a stream.  The paths of the options are the documents whose ids
 * there are; without any, all ids are those of the truth.  ND_EINVAL: the universe must be said;
 * ND_EINPUT: a file cannot be read, names an unknown document, or contradicts itself.
 */
ND_API enum nd_status nd_run_eval(const struct nd_run_options *options,
                                  const struct nd_eval_params *params,
                                  const struct nd_run_events *events, FILE *stream,
                                  struct nd_error *err);

/* ---- Sizes of clusters, without a truth -------------------------------------------------------
 */

/* How many clusters of a result have this size, and how many documents have size - 1 near duplicates. */
struct nd_cluster_count {
    const char *result;
    uint64_t size, clusters, documents;
};

/* Starts from zeroes. */
struct nd_clusters_params {
    /* "-" is the standard input. */
    const char *const *results;
    size_t n_results;
    enum nd_eval_form result_form;
    /* How many documents there are, if the options name none.  0: those of the results. */
    uint64_t total;
    /* As in struct nd_eval_params: rows for each value, of the pairs down to it. */
    const char *curve;
    /* A row for each size of clusters, in place of one for all. */
    unsigned char by_size;
    /* Called with each size that occurs, in order, unless there is a curve.  NULL: it is not. */
    void (*each_size)(void *context, const struct nd_cluster_count *count);
    void *context;
    /* JSON Lines instead of TSV. */
    unsigned char json;
};

/*
 * Write to a stream how large the clusters of results are, and how many near duplicates a document
 * has (docs/format/eval.md). The paths of the options are the documents. ND_EINPUT: a file cannot be
 * read, names an unknown document, or has more than 1,000 values.
 */
ND_API enum nd_status nd_run_clusters(const struct nd_run_options *options,
                                      const struct nd_clusters_params *params,
                                      const struct nd_run_events *events, FILE *stream,
                                      struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
