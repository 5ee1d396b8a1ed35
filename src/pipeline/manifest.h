/* manifest.h - the rows of the manifest and of the list of clusters, and the manifest's first line */
#ifndef ND_PIPELINE_MANIFEST_H
#define ND_PIPELINE_MANIFEST_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/run.h>

#include "base/json_out.h"
#include "pipeline/names.h"
#include "pipeline/options.h"
#include "pipeline/output.h"
#include "pipeline/reading.h"
#include "recipe/recipe.h"

/* The rows of a batch: formatted in parallel, written in order. */
struct nd_rows {
    struct nd_json manifest, clusters;
};
void nd_rows_release(struct nd_rows *rows);

/* A document as the outputs show it. */
struct nd_party {
    struct nd_name name;
    const struct nd_source *source;
    uint64_t line;
};
/* With components: the neighbour by which a document is connected to the kept one. */
struct nd_row_via {
    struct nd_name name;
    double resemblance;
    bool is_verified; /* if not set, the resemblance is unknown */
};

/* via: NULL except for components. *scratch is overwritten. */
void nd_row_removed(struct nd_json *out, struct nd_json *scratch, const struct nd_party *removed,
                    const struct nd_party *kept, const struct nd_decision *decision,
                    const struct nd_recipe *recipe, const struct nd_row_via *via);
void nd_row_skipped(struct nd_json *out, struct nd_json *scratch, const struct nd_source *source,
                    uint64_t line, const char *reason);
/* By name, what the signatures have in common: "B":{"shared":4,"removed":6,"kept":6}, where `a` is
 * "removed". */
void nd_agreements_json(struct nd_json *out, const struct nd_method *method,
                        const struct nd_agreement *agreement, const char *a, const char *b);
void nd_row_cluster(struct nd_json *out, const struct nd_name *name, const struct nd_name *kept);

/*
 * Which of the two containments decided. NONE if something else did, or, with components, if that
 * of the kept document did not.
 */
enum nd_containment { ND_CONTAINMENT_NONE, ND_CONTAINMENT_OF_REMOVED, ND_CONTAINMENT_OF_KEPT };
enum nd_containment nd_deciding_containment(const struct nd_dedup_params *params,
                                            const struct nd_decision *decision);
enum { ND_DISTANCE_MAX = 512 }; /* in bits; a greater distance means none */
/* The fraction part / whole; 1 if whole is 0, because two empty sets are equal. */
double nd_fraction(uint64_t part, uint64_t whole);
double nd_overlap_resemblance(const struct nd_overlap *overlap);

/* Write the first line: what was done, to which inputs, and with which options. */
enum nd_status nd_manifest_put_header(struct nd_output *out, const struct nd_recipe *recipe,
                                      const struct nd_run_options *options,
                                      const struct nd_run_summary *summary,
                                      const struct nd_reading *reading, struct nd_error *err);
/* The charset of the inputs; NULL if it is UTF-8. */
const char *nd_input_charset(const struct nd_input_options *input);

#endif
