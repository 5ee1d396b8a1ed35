/* estimates.h - figures of all documents, estimated from true clusters of a sample */
#ifndef ND_USES_EVAL_ESTIMATES_H
#define ND_USES_EVAL_ESTIMATES_H

#include "uses/eval/relation.h"
#include "uses/eval/resample.h"

enum nd_estimated {
    ND_ESTIMATE_PRECISION,
    ND_ESTIMATE_RECALL,
    ND_ESTIMATE_F1,
    ND_ESTIMATE_EXACT_PRECISION,
    ND_ESTIMATE_EXACT_RECALL,
    ND_ESTIMATE_BCUBED_PRECISION,
    ND_ESTIMATE_BCUBED_RECALL,
    ND_ESTIMATES
};

/*
 * Estimate from `truth`, whose sets are complete clusters that were drawn, how good the sets of
 * `result` are among n documents (Binette and others 2022, cluster block sampling: quotients of means
 * with the correction of their bias). by_size: a cluster was drawn with one of its documents, so that
 * it weighs 1 / its size; otherwise each was as likely. Intervals of 1.96 standard deviations from 20
 * clusters on. *drawn becomes their number. ND_ENOMEM.
 */
enum nd_status nd_estimate(const struct nd_relation *truth, const struct nd_relation *result,
                           size_t n, bool by_size, struct nd_rated out[ND_ESTIMATES], size_t *drawn,
                           struct nd_error *err);

#endif
