/* rows.h - the rows of the manifest and of the list of clusters */
#ifndef ND_EVIDENCE_ROWS_H
#define ND_EVIDENCE_ROWS_H

#include <stdbool.h>

#include <neardup/dedup.h>

#include "base/json_out.h"
#include "evidence/name.h"
#include "recipe/recipe_struct.h"

/* The rows of a batch, and its `revisit` records: formatted in parallel, written in order. */
struct nd_rows {
    struct nd_json manifest, clusters, revisits;
};
ND_API void nd_rows_release(struct nd_rows *rows);

/* A document as the outputs show it. */
struct nd_party {
    struct nd_name name;
    struct nd_at at;
};
/* With components: the neighbour by which a document is connected to the kept one. */
struct nd_row_via {
    struct nd_name name;
    double resemblance;
    bool is_verified; /* if not set, the resemblance is unknown */
};

/* The piece of its text that a removed document copied of the kept one. */
struct nd_row_passage {
    struct nd_view text;
    uint64_t offset; /* in the removed document's text */
    uint64_t tokens;
};

/* Parts of a row that only some rows have; NULL: this one does not. */
struct nd_row_parts {
    const struct nd_row_via *via; /* for components */
    const struct nd_row_passage *passage;
    const struct nd_difference *differs;
};

/* Return the name of what found the removed document: "identity", "minhash" … */
ND_API const char *nd_method_name(const struct nd_recipe *recipe,
                                  const struct nd_decision *decision);

/* *scratch is overwritten. */
ND_API void nd_row_removed(struct nd_json *out, struct nd_json *scratch,
                           const struct nd_party *removed, const struct nd_party *kept,
                           const struct nd_decision *decision, const struct nd_recipe *recipe,
                           struct nd_row_parts parts);
/* A document that stands for its cluster, for which none is kept. */
ND_API void nd_row_leader(struct nd_json *out, struct nd_json *scratch,
                          const struct nd_party *removed);
ND_API void nd_row_skipped(struct nd_json *out, struct nd_json *scratch, const struct nd_at *at,
                           const char *reason);
/* By name, what the signatures have in common: "B":{"shared":4,"removed":6,"kept":6}, where `a` is
 * "removed". */
ND_API void nd_agreements_json(struct nd_json *out, const struct nd_method *method,
                               const struct nd_agreement *agreement, const char *a, const char *b);
/* Append a line of a file of clusters. fate: "kept" or "removed", where the two names cannot say it;
 * else NULL. */
ND_API void nd_row_cluster(struct nd_json *out, const struct nd_name *name,
                           const struct nd_name *kept, const char *fate);

/*
 * Which of the two containments decided. NONE if something else did, or, with components, if that
 * of the kept document did not.
 */
enum nd_containment { ND_CONTAINMENT_NONE, ND_CONTAINMENT_OF_REMOVED, ND_CONTAINMENT_OF_KEPT };
ND_API enum nd_containment nd_deciding_containment(const struct nd_dedup_params *params,
                                                   const struct nd_decision *decision);
enum { ND_DISTANCE_MAX = 512 }; /* in bits; a greater distance means none */
/* The fraction part / whole; 1 if whole is 0, because two empty sets are equal. */
ND_API double nd_fraction(uint64_t part, uint64_t whole);
ND_API double nd_overlap_resemblance(const struct nd_overlap *overlap);

#endif
