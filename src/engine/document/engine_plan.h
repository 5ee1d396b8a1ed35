/* engine_plan.h - what the parameters of an engine ask for, worked out once */
#ifndef ND_ENGINE_DOCUMENT_ENGINE_PLAN_H
#define ND_ENGINE_DOCUMENT_ENGINE_PLAN_H

#include <stdbool.h>

#include <neardup/dedup.h>

#include "engine/document/matching.h"
#include "index/containers.h"
#include "index/live.h"
#include "match/measure.h"
#include "recipe/recipe_struct.h"

/* Made from the parameters, and not changed once documents are pushed: all threads read it. */
struct nd_engine_plan {
    struct nd_dedup_params params; /* max_checks has no bound where all documents are candidates */
    struct nd_index_params index;
    struct nd_container_params containers; /* .sample: 0 where no samples are looked up */
    struct nd_value_set
        expected; /* the samples of all documents (nd_dedup_expect); empty: not known */
    struct nd_matching *matching; /* for ND_CANDIDATES_MATCH, else NULL */
    struct nd_fraction threshold;
    unsigned sketch_parts; /* which parts of a sketch these need */
    unsigned distance;     /* of a candidate at most, in low bytes or bits: nd_reach */
    unsigned n_keys;       /* of a row, one a table */
    uint32_t key_room;     /* documents that a key lists at most: nd_key_room */
};

/* The parameters were checked. */
enum nd_status nd_engine_plan_init(struct nd_engine_plan *plan,
                                   const struct nd_dedup_params *params, struct nd_error *err);
void nd_engine_plan_release(struct nd_engine_plan *plan);

/* Whether documents are compared by something else than their texts, so that none equals another.
 */
bool nd_engine_plan_ignores_text(const struct nd_engine_plan *plan);
/* Whether documents with the same bytes are alike in all that is compared: then a copy is decided
 * by what it is a copy of, and never read. */
bool nd_engine_plan_has_copies(const struct nd_engine_plan *plan);

/* Return which documents a document of n_shingles could match: a rule on signatures asks for no count
 * of shingles. */
struct nd_reach nd_engine_plan_reach(const struct nd_engine_plan *plan, uint64_t n_shingles);

#endif
