/* counts.h - what a run did, in numbers, and as JSON */
#ifndef ND_EVIDENCE_COUNTS_H
#define ND_EVIDENCE_COUNTS_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/run.h>

#include "base/json_out.h"
#include "recipe/recipe_struct.h"

/*
 * How near removed documents are to what they were compared with: the i-th step counts those that
 * measure at least i / (ND_RUN_STEPS - 1), and less than the next step.  Each worker has a histogram
 * of its own, and they are added up at the end.
 */
/* A histogram, and behind its steps how many runs are lost (nd_run_summary.lost_runs). */
enum { ND_MEASURED = ND_RUN_STEPS + 1 };
/* Count a removed document that is not equal to what it was compared with: their overlap, and that
 * with the kept one, which with components may be another. */
ND_API void nd_measured_count(uint64_t measured[ND_MEASURED], const struct nd_dedup_params *params,
                              const struct nd_overlap *overlap, const struct nd_overlap *with_kept);

/* Count one by its measure, a quotient of two numbers below 2^48: no rounding takes it across a step. */
ND_API void nd_measured_count_value(uint64_t measured[ND_MEASURED],
                                    const struct nd_dedup_params *params, double value);
/* Fill in the steps, the greatest first; returns how many they are. */
ND_API size_t nd_measured_steps(const uint64_t measured[ND_MEASURED],
                                const struct nd_dedup_params *params,
                                struct nd_run_step step[ND_RUN_STEPS]);

/* Return the measure of an overlap, of a document and the kept one, as the number to
 * show; -1 where nothing is measured. */
ND_API double nd_measured_value(const struct nd_dedup_params *params,
                                const struct nd_overlap *overlap);

/* How many documents each kept one stands for, itself counted, by its rank among the places.  Starts
 * from zeroes. */
struct nd_cluster_sizes {
    uint32_t *members;
    size_t capacity;
};
/* False: out of memory. */
ND_API bool nd_cluster_sizes_set(struct nd_cluster_sizes *s, size_t rank, uint32_t members);
/* There will be n of them. */
ND_API void nd_cluster_sizes_shrink(struct nd_cluster_sizes *s, size_t n);
/* Choose of n ranks those of the largest clusters, the largest first, equal ones by rank; returns
 * how many they are.  *n_clusters: all clusters of two or more documents. */
ND_API size_t nd_cluster_sizes_largest(const struct nd_cluster_sizes *s, size_t n,
                                       size_t largest[ND_RUN_LARGEST], uint64_t *n_clusters);
/* The sizes of clusters, in steps: 2, 3, 4, 5 to 8, 9 to 16 … */
enum { ND_CLUSTER_STEPS = 33 };
/* The least and the greatest size of a step. */
ND_API void nd_cluster_step_ends(unsigned step, uint64_t *from, uint64_t *to);
/* Count a cluster of this size; one of a single document is none. */
ND_API void nd_cluster_step_count(uint64_t clusters[ND_CLUSTER_STEPS], uint64_t size);
ND_API void nd_cluster_sizes_release(struct nd_cluster_sizes *s);

/* Add the counts of an engine to those of the ones before it; of the memory, the most counts. */
ND_API void nd_dedup_stats_add(struct nd_dedup_stats *sum, const struct nd_dedup_stats *s);
/* Take the documents of `part` out of the kinds that they were counted in. */
ND_API void nd_dedup_stats_leave_out(struct nd_dedup_stats *sum, const struct nd_dedup_stats *part);

/*
 * Complete the summary by what the engine counted (NULL: there is none), what was measured (NULL:
 * nothing is), and what follows from the parameters.  The documents have been counted.
 */
ND_API void nd_summary_complete(struct nd_run_summary *summary, const struct nd_dedup_stats *stats,
                                const struct nd_dedup_params *params,
                                const uint64_t measured[ND_MEASURED]);

/* nd_run_recall */
ND_API double nd_summary_recall(const struct nd_run_summary *summary, double x);

/* Inputs that were taken for the same thing. */
struct nd_summary_input {
    const char *format, *compression;
    const char *archive; /* NULL: none */
    const char *first;   /* path of the first */
    uint64_t files, records, bytes;
};
/* Append it as a line of JSON; is_published: there is a result beside it. */
ND_API void nd_summary_json(struct nd_json *out, const struct nd_run_summary *summary,
                            bool is_published, const struct nd_summary_input *input, size_t n);

#endif
