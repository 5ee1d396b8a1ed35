/* cluster_estimate.h - how many clusters a corpus has, from those of a sample */
#ifndef ND_USES_PLAN_CLUSTER_ESTIMATE_H
#define ND_USES_PLAN_CLUSTER_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/* A document of a sample: the cluster that it belongs to, and the block that it was sampled with. */
struct nd_sampled_document {
    uint64_t cluster;
    uint32_t block;
};

/* An estimate, and an interval around it. */
struct nd_estimate {
    double value, low, high;
};

/*
 * Which share of the documents of the corpus is not the first of its cluster.  `scale` (>= 1): so
 * many documents of the corpus come to one of the sample.  The documents are sorted.
 * The interval has nine chances in ten to hold the true number, as far as clusters are spread over
 * the corpus at random, and what lies close together lies within a block.  scale 1: it is exact.
 * Equal inputs give equal estimates.  ND_ENOMEM.
 */
enum nd_status nd_estimate_duplicates(struct nd_sampled_document *document, size_t n, double scale,
                                      struct nd_estimate *out, struct nd_error *err);

#endif
