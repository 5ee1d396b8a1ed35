/* summary.h - what a run did, in numbers, and as JSON */
#ifndef ND_PIPELINE_SUMMARY_H
#define ND_PIPELINE_SUMMARY_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/run.h>

#include "pipeline/lookup.h"
#include "pipeline/output.h"
#include "pipeline/reading.h"
#include "recipe/recipe.h"

/*
 * How near removed documents are to what they were compared with: the i-th step counts those that
 * measure at least i / (ND_RUN_STEPS - 1), and less than the next step.  Each worker has a histogram
 * of its own, and they are added up at the end.
 */
/* Count a removed document that is not equal to what it was compared with. */
void nd_measured_count(uint64_t step[ND_RUN_STEPS], const struct nd_dedup_params *params,
                       const struct nd_overlap *overlap);
void nd_measured_summarise(const uint64_t step[ND_RUN_STEPS], const struct nd_dedup_params *params,
                           struct nd_run_summary *summary);

/* How many documents each kept one stands for, itself counted, by its rank among the places.  Starts
 * from zeroes. */
struct nd_cluster_sizes {
    uint32_t *members;
    size_t capacity;
};
/* False: out of memory. */
bool nd_cluster_sizes_set(struct nd_cluster_sizes *s, size_t rank, uint32_t members);
/* There will be n of them. */
void nd_cluster_sizes_shrink(struct nd_cluster_sizes *s, size_t n);
/* Count the clusters, and name the largest of them.  Any failure of nd_lookup_document. */
enum nd_status nd_cluster_sizes_summarise(const struct nd_cluster_sizes *s, size_t n,
                                          struct nd_lookup *lookup, const struct nd_places *places,
                                          const struct nd_reading *reading,
                                          struct nd_run_summary *summary, struct nd_error *err);
void nd_cluster_sizes_release(struct nd_cluster_sizes *s);

/* Count a source under its kind. */
void nd_summary_count_source(struct nd_run_summary *summary, const struct nd_source *source);
/* What the engine counted. */
void nd_summary_count_decisions(struct nd_run_summary *summary, const struct nd_dedup *dedup);
/* Write it as JSON; is_published: there is a result beside it. */
enum nd_status nd_summary_write(const struct nd_run_summary *summary, bool is_published,
                                struct nd_output *out, struct nd_error *err);

#endif
