/* summary.h - what a run over files did, in numbers */
#ifndef ND_REPORT_SUMMARY_H
#define ND_REPORT_SUMMARY_H

#include <stdbool.h>

#include <neardup/run.h>

#include "evidence/counts.h"
#include "reading/lookup.h"
#include "reading/reading.h"
#include "report/output.h"

/* Count the clusters, and name the largest of them.  Any failure of nd_lookup_document. */
enum nd_status nd_cluster_sizes_summarise(const struct nd_cluster_sizes *s, size_t n,
                                          struct nd_lookup *lookup, const struct nd_places *places,
                                          const struct nd_reading *reading,
                                          struct nd_run_summary *summary, struct nd_error *err);

/* Its name and size.  Any failure of nd_lookup_document. */
enum nd_status nd_summary_name_cluster(struct nd_run_cluster *cluster, uint64_t documents,
                                       const struct nd_place *place, struct nd_lookup *lookup,
                                       const struct nd_reading *reading, struct nd_error *err);

/* Count a source under its kind. */
void nd_summary_count_source(struct nd_run_summary *summary, const struct nd_source *source);
/* Write it as JSON; is_published: there is a result beside it. */
enum nd_status nd_summary_write(const struct nd_run_summary *summary, bool is_published,
                                struct nd_output *out, struct nd_error *err);

#endif
