/*
 * neardup/plan.h - predict from a sample what deduplicating files will take and find
 *
 * The library is libneardup-files.
 *
 *     struct nd_plan plan;
 *
 *     nd_run_options_set(options, "path", "in.jsonl", &err);
 *     status = nd_run_plan(options, NULL, NULL, &plan, &err);
 *     if (status == ND_OK)
 *         printf("%.0f s\n", plan.figure[ND_FIGURE_SECONDS].value);
 */
#ifndef NEARDUP_PLAN_H
#define NEARDUP_PLAN_H

#include <neardup/candidates.h>
#include <neardup/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from nd_plan_params_default(). */
struct nd_plan_params {
    /* Bytes of the files, as they are stored, whose documents are compared; to choose these, at most
     * ten times as much is read.  Where the files have no more than that, all documents are
     * compared, and what is predicted of them is exact. */
    uint64_t sample_bytes;
    /* The job on Spark to predict; its executors are 0: none.  What is 0 of its documents, bytes and
     * matching follows from the sample. */
    struct nd_spark_job spark;
};
ND_API struct nd_plan_params nd_plan_params_default(void);

#define ND_PLAN_STEPS 10 /* thresholds from .5 to .95 */

/* A threshold, and what a run with it would take. */
struct nd_plan_step {
    double threshold;
    /* nd_bands_choose; 0: the recipe's minima cannot find such pairs. */
    unsigned bands, rows;
    /* The chance that a pair at the threshold becomes a candidate. */
    double recall;
    /* Expected candidates a document: kept ones that share a band, and pass the filter of counts
     * and low bytes. */
    double candidates;
};

#define ND_PLAN_MEMORY 5 /* limits that are tried */

/* A limit of memory, and what a run under it would take. */
struct nd_plan_memory {
    uint64_t memory_bytes;
    /* As of the summary. */
    double loads, peak_bytes, spilled_bytes, spool_bytes;
    double processor_seconds, seconds;
};

/* The prediction for a run with these options. */
struct nd_plan {
    struct nd_forecast figure[ND_FIGURES];
    /* The sample: stored bytes of it and of all files, its documents, what was read to choose it, and
     * the files of which that is only the beginning, with their stored bytes. */
    uint64_t sample_bytes, stored_bytes, sample_documents;
    uint64_t read_bytes, read_documents;
    uint64_t beginnings, beginning_bytes;
    /* All was read. */
    int is_whole;
    /* The cost of the sample itself: processor time and time. */
    double processor_seconds, seconds;
    /* Shares of the predicted processor time: reading, sketching (parsing included), deciding; all 0
     * where a run goes through the documents several times.  Writing is not predicted. */
    double reading, sketching, deciding;
    /* nd_forecast_recipe: which recipe it is for. */
    uint64_t recipe_hash;
    /* The run over the sample: threads, bands and rows, the curve of recall (nd_run_recall) … */
    struct nd_run_summary sample;
    /* 0: candidates are not found by bands of minima. */
    size_t n_steps;
    struct nd_plan_step step[ND_PLAN_STEPS];
    /* 0: the option `memory` is not set.  The first is that of the option, of which the figures are;
     * the others are greater, up to that from which on all documents are decided in one load. */
    size_t n_memory;
    struct nd_plan_memory memory[ND_PLAN_MEMORY];
    /* Which that is; and what a run without a limit would take.  0 where n_memory is. */
    uint64_t one_load_bytes;
    double unlimited_processor_seconds, unlimited_seconds, unlimited_peak_bytes;
    /* The job on Spark that was asked for; its executors are 0: none was. */
    struct nd_spark_job spark;
    struct nd_spark_stage spark_stage[ND_SPARK_STAGES];
    double spark_disk_bytes; /* local disk of all executors */
};

/*
 * Predict what nd_run_dedup with these options would take and find.  A sample is deduplicated as
 * the run would do it, and what it took is scaled up; docs/format/plan.md says how.  The option
 * `output` is where the plan is written, as nd_plan_json gives it; not set: nowhere.  Other outputs
 * do not count.  params NULL: the default.
 *
 * ND_EINVAL: the options do not fit together; an input is no regular file.  ND_EINPUT: no record
 * could be read.  ND_EIO, ND_ENOMEM, ND_ECANCELLED.
 */
ND_API enum nd_status nd_run_plan(const struct nd_run_options *options,
                                  const struct nd_plan_params *params,
                                  const struct nd_run_events *events, struct nd_plan *plan,
                                  struct nd_error *err);

/* The plan as a line of JSON (docs/format/plan.md), which the option `predicted` of a run reads.
 * *text is the caller's, to free().  ND_ENOMEM. */
ND_API enum nd_status nd_plan_json(const struct nd_plan *plan, char **text, size_t *len,
                                   struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
