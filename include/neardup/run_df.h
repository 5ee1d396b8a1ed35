/*
 * neardup/run_df.h - runs over files for df tables: count one, and find the factor of a threshold
 *
 * The library is libneardup-files.
 *
 *     nd_run_options_set_recipe(options, recipe);
 *     nd_run_options_set(options, "path", "in.jsonl", &err);
 *     nd_run_options_set(options, "output", "words.df", &err);
 *     status = nd_run_df_build(options, &(struct nd_run_df_options){0}, NULL, &summary, &err);
 */
#ifndef NEARDUP_RUN_DF_H
#define NEARDUP_RUN_DF_H

#include <neardup/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to count.  Zeroes are the defaults. */
struct nd_run_df_options {
    /* Which features, as nd_recipe_df_features takes them. */
    const char *features;
    /* Memory of all threads; 0: 256 MB. */
    uint64_t memory_bytes;
    /* The table holds the texts of the features too. */
    unsigned char keep_texts;
};

/*
 * Count the features of all documents, and write the table to the output, which must be a file.
 * Runs that do not fit into memory are spilled to the folder tmp.
 *
 * ND_OK: the table is written; with summary->failed_inputs some inputs were left out of it.  On
 * failure no table is written.  ND_EINVAL; ND_EINPUT: there is no document, or the run is strict and
 * met a problem; ND_EIO, ND_ENOMEM, ND_ECANCELLED.
 */
ND_API enum nd_status nd_run_df_build(const struct nd_run_options *options,
                                      const struct nd_run_df_options *df,
                                      const struct nd_run_events *events,
                                      struct nd_run_summary *summary, struct nd_error *err);

/* The goal of a calibration, and what it found. */
struct nd_run_df_calibration {
    /* In: which features, as nd_recipe_df_features takes them. */
    const char *features;
    /* In: the fraction of the features that should weigh less, above 0 and below 1. */
    double drop;
    /* In: documents in the sample; 0: 500 (Seshasai 2009, §6.4.3). */
    unsigned sample;

    /* Out: documents that were in the sample, and their features. */
    uint64_t documents;
    uint64_t n_features;
    /* Out: the factor of the greatest weight, for the keys `low` and `high`. */
    double factor;
    /* Out: the mean fraction that it drops. */
    double dropped;
};

/*
 * Find the factor of the greatest weight below which a fraction of a document's features lies, on
 * the mean of a sample.  It is less where so many features have the greatest weight that no factor
 * drops them.  The sample is the documents whose texts have the least XXH3, equal texts once; the
 * recipe's own thresholds are off.
 *
 * ND_EINVAL; ND_EINPUT: no document has a weight, the table is damaged, or the run is strict and met
 * a problem; ND_EIO, ND_ENOMEM, ND_ECANCELLED.
 */
ND_API enum nd_status nd_run_df_calibrate(const struct nd_run_options *options, const char *table,
                                          const struct nd_run_events *events,
                                          struct nd_run_summary *summary,
                                          struct nd_run_df_calibration *calibration,
                                          struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
