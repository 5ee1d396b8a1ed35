/* audit_result.h - what an audit counts, and the clusters that are false */
#ifndef ND_USES_AUDIT_AUDIT_RESULT_H
#define ND_USES_AUDIT_AUDIT_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "uses/audit/audit_join.h"
#include "uses/judging/proportions.h"

struct nd_audit_result {
    uint64_t removed, kept;
    uint64_t doubtful;              /* removed ones for which the join found no match */
    uint64_t searched, join_missed; /* of a sample of these, how many have one after all */
    uint64_t kept_sampled, missed;  /* kept documents that are like an earlier kept one */
    uint64_t runs, runs_lost;       /* of removed documents, and those that no kept one has */

    uint64_t clustered, far; /* removed documents whose cluster keeps one, and those far from it */
    uint64_t false_clusters; /* clusters that keep a document to which all others are far */
    uint64_t largest_false;  /* how many removed documents the largest of these has */
};

/* A cluster, by the document that it keeps, with the numbers of documents that were removed for it and
 * of those that are far from it. */
struct nd_audit_cluster {
    uint32_t number, removed, far;
    uint32_t farthest; /* the number of the removed document that is the farthest */
};

/* Both passes of the join are over: count.  ND_ENOMEM. */
enum nd_status nd_audit_count(const struct nd_audit_join *j, struct nd_audit_result *result,
                              struct nd_error *err);
/* List the clusters that keep a document from which some removed one is far: those with the most such
 * ones first, of equally many the one whose kept document comes first.  NULL: out of memory. */
struct nd_audit_cluster *nd_audit_far_clusters(const struct nd_audit_join *j, size_t *n);

/* The shares of the row, with their intervals; a value below 0: nothing was drawn. */
struct nd_rated nd_audit_unmatched(const struct nd_audit_result *r);
struct nd_rated nd_audit_missed(const struct nd_audit_result *r);

#endif
