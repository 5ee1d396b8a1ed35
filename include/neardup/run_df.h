/* neardup/run_df.h - whole runs over files for df tables: build, find the factor of a threshold */
#ifndef NEARDUP_RUN_DF_H
#define NEARDUP_RUN_DF_H

#include <neardup/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Which features of options->recipe: "terms"; "sketch", the shingles of its [sketch] section; the
 * name of one of its signatures; NULL: its first signature, or terms where it has none.
 * *weights, where not NULL, becomes that signature's, or the default.  ND_EINVAL: there is none of
 * that name.
 */
ND_API enum nd_status nd_run_df_features(const struct nd_recipe *recipe, const char *which,
                                         struct nd_feature_params *features,
                                         struct nd_weight_params *weights, struct nd_error *err);

struct nd_run_df_options {
    const char *features;  /* as above */
    uint64_t memory_bytes; /* of all threads; 0: 256 MB */
    unsigned char keep_texts;
};

/*
 * Count the features of all documents and write the table to options->output, a file; spilled runs
 * go to options->tmp.  ND_EINVAL; ND_EINPUT (no document, or strict), ND_EIO, ND_ENOMEM,
 * ND_ECANCELLED: no table is written.  ND_OK with summary->failed_inputs > 0: some inputs were left
 * out of it.
 */
ND_API enum nd_status nd_run_df_build(const struct nd_run_options *options,
                                      const struct nd_run_df_options *df,
                                      const struct nd_run_events *events,
                                      struct nd_run_summary *summary, struct nd_error *err);

struct nd_run_df_calibration {
    const char *features; /* as above */
    double drop;          /* share of the features that should weigh less: 0 < drop < 1 */
    unsigned sample;      /* documents; 0: 500 (000 s. 6.4.3) */
    /* Out. */
    uint64_t documents; /* in the sample */
    uint64_t n_features;
    double factor;  /* of the greatest weight: `low` or `high` */
    double dropped; /* the mean share that it drops */
};

/*
 * Find the factor of the greatest weight below which a share of a document's features lies, on the
 * mean of a sample (less, where so many share the greatest weight that no factor drops it): the
 * documents whose texts have the least XXH3, equal texts once.  The recipe's own thresholds are
 * off.  ND_EINVAL, ND_EINPUT (no document with a weight, a damaged table, or strict), ND_EIO,
 * ND_ENOMEM, ND_ECANCELLED.
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
