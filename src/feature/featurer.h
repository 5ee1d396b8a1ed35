/* featurer.h - a featurer: a plan, and the scratch of a document in three parts */
#ifndef ND_FEATURE_FEATURER_H
#define ND_FEATURE_FEATURER_H

#include "feature/document_terms.h"
#include "feature/feature_counts.h"
#include "feature/feature_plan.h"
#include "feature/metadata.h"
#include "feature/weigh.h"

#include <neardup/feature.h>

#include <stddef.h>
#include <stdint.h>

/*
 * A document goes through the parts in this order; each works by the plan and reads what stands in
 * the parts before it:
 *
 *     terms     the document's tokens and terms
 *     counts    its distinct features and how often they occur
 *     metadata  the features of its fields and links
 *     output    all features with their weights, lent to the caller until the next document
 */
struct nd_featurer {
    struct nd_feature_plan plan;
    struct nd_document_terms terms;
    struct nd_feature_counts counts;
    struct nd_metadata *metadata;
    struct nd_weigh_scratch scratch;
    struct nd_feature_output {
        struct nd_feature *items;
        uint32_t *df;    /* of each item */
        int32_t *weight; /* of each entry of the tally */
        size_t capacity, df_capacity, weight_capacity;
    } output;
};

/* As nd_featurer_run, for a caller who wants to know this of the document. */
enum nd_status nd_featurer_request(struct nd_featurer *f, const struct nd_document *document,
                                   enum nd_feature_request request, struct nd_features *out);

#endif
