/* neardup/explain.h - why two documents are duplicates or not; what one document consists of
 *
 * Library: neardup-files.
 *
 *     struct nd_explanation e;
 *
 *     if (nd_run_explain(options, "a.txt", "b.txt", NULL, &e, &err) == ND_OK)
 *         puts(e.why);
 *     nd_explanation_release(&e);
 *
 * The functions that read documents are runs over files, as those of neardup/uses.h: of the options
 * the recipe, paths, input, tmp, threads and df_auto count.  They write nothing.
 */
#ifndef NEARDUP_EXPLAIN_H
#define NEARDUP_EXPLAIN_H

#include <neardup/evidence.h>
#include <neardup/run.h>
#include <neardup/uses.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Two documents ----------------------------------------------------------------------------
 */

/*
 * Explain two documents.  Without a path in the options, a and b are files that hold one document each;
 * else the first documents of that corpus with these ids or places, as they are or as the outputs
 * write them, with escapes.  ND_EINPUT: not found, or a file holds another number of documents.
 */
ND_API enum nd_status nd_run_explain(const struct nd_run_options *options, const char *a,
                                     const char *b, const struct nd_run_events *events,
                                     struct nd_explanation *out, struct nd_error *err);

/* ---- The features of one document -------------------------------------------------------------
 */

/*
 * List the features of one document.  Without a path in the options, `name` is a file that holds one
 * document; else an id or a place in that corpus, as in nd_run_explain, whose statuses it returns.
 */
ND_API enum nd_status nd_run_features(const struct nd_run_options *options, const char *name,
                                      const struct nd_run_events *events,
                                      struct nd_document_features *out, struct nd_error *err);

/* ---- The rows of a manifest -------------------------------------------------------------------
 */

/* The most rows that are explained at once. */
#define ND_EXPLAIN_ROWS_MAX 100000u

/* Starts from zeroes. */
struct nd_explain_rows_params {
    /* A file that nd_run_dedup wrote, compressed or not. */
    const char *manifest;
    /* How many rows, 1 … ND_EXPLAIN_ROWS_MAX. */
    size_t lowest;
    /* the recipe of the options decides, and not that of the manifest. */
    int own_recipe;
    /* Called for each row; not 0: stop with ND_ECANCELLED. */
    int (*each)(void *context, const struct nd_explained_row *row);
    void *context;
};

/*
 * Explain the rows of a manifest that have the lowest resemblance, the lowest first.  Rows without
 * one come last, by falling distance.  Documents are read as the manifest says.  Without
 * a path in the options they are looked for where they were, by their places; else in those files and
 * folders, by place or by id.  They are held in memory.  summary->found: rows that were explained;
 * left_out: rows of which a document was not found.  ND_EINPUT: not a manifest, or an input was
 * standard input; ND_EINVAL: `lowest`; the statuses of nd_run_explain.
 */
ND_API enum nd_status nd_run_explain_rows(const struct nd_run_options *options,
                                          const struct nd_explain_rows_params *params,
                                          const struct nd_run_events *events,
                                          struct nd_use_summary *summary, struct nd_error *err);

/* ---- How hashes are distributed ---------------------------------------------------------------
 */

#define ND_HISTOGRAM_BUCKETS_MAX 1024u

/* How many hashes fall into each of some equal parts of their space (Seshasai 2009, Figure 3-2,
 * with 256). */
struct nd_hash_histogram {
    /* The name of the signature, as above. */
    char name[ND_RECIPE_NAME_MAX + 1];
    /* 2 … ND_HISTOGRAM_BUCKETS_MAX. */
    unsigned buckets;
    /* The features of all documents, in all and in each part. */
    uint64_t features, all[ND_HISTOGRAM_BUCKETS_MAX];
    /* The distinct hashes, in all and in each part. */
    uint64_t distinct, bucket[ND_HISTOGRAM_BUCKETS_MAX];
    /* There were more distinct hashes than could be remembered. */
    int is_lower_bound;
};

/* Count one hash; is_new: it was not met before. */
ND_API void nd_hash_histogram_add(struct nd_hash_histogram *h, uint64_t hash, int is_new);

/* Make the histogram of a document's features.  ND_EINVAL: buckets. */
ND_API enum nd_status nd_hash_histogram_of(const struct nd_explained_signature *signature,
                                           unsigned buckets, struct nd_hash_histogram *out,
                                           struct nd_error *err);

/* The deviation of the buckets from their mean, divided by the one to be expected of uniform
 * hashes: about 1 if they are uniform, 0 without hashes. */
ND_API double nd_hash_histogram_deviation(const struct nd_hash_histogram *h);

/*
 * Make the histograms of all documents of the inputs, one for each signature of the recipe (at
 * most ND_RECIPE_SIGNATURES; *n: how many).  Features of weight 0 count as well.  ND_EINVAL:
 * buckets; the statuses of nd_run_sketch.
 */
ND_API enum nd_status nd_run_hash_histograms(const struct nd_run_options *options, unsigned buckets,
                                             const struct nd_run_events *events,
                                             struct nd_hash_histogram *out, unsigned *n,
                                             struct nd_run_summary *summary, struct nd_error *err);

/* Histograms as one JSON object and a newline; the caller frees *text.  ND_ENOMEM. */
ND_API enum nd_status nd_hash_histograms_json(const struct nd_hash_histogram *h, unsigned n,
                                              char **text, size_t *len, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
