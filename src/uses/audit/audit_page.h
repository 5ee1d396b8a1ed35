/* audit_page.h - what an audit found, as a page: removed documents and clusters that look wrong */
#ifndef ND_USES_AUDIT_AUDIT_PAGE_H
#define ND_USES_AUDIT_AUDIT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/output.h"
#include "uses/audit/audit_result.h"

enum { ND_AUDIT_SHOWN = 20, ND_AUDIT_CLUSTERS = 10, ND_AUDIT_TEXT_BYTES = 64 << 10 };

/* Starts from zeroes, and what the audit found, which is borrowed. */
struct nd_audit_page {
    const struct nd_audit_join *join;
    const struct nd_audit_result *result;
    uint32_t *
        item; /* removed documents, by their numbers: those that will be shown, the farthest first */
    size_t n, capacity;
    struct nd_audit_cluster *cluster; /* those that will be shown */
    size_t n_clusters;
};

/* Offer a removed document that was searched for; once all have been, choose those that are shown, and
 * the clusters.  False: out of memory. */
bool nd_audit_page_offer(struct nd_audit_page *p, uint32_t removed);
bool nd_audit_page_choose(struct nd_audit_page *p);
/* Whether a removed document is shown, so that its nearest one is wanted. */
bool nd_audit_page_wants(const struct nd_audit_page *p, uint32_t removed);
/* The texts are read again. */
enum nd_status nd_audit_page_write(struct nd_audit_page *p, struct nd_output *out,
                                   struct nd_error *err);
void nd_audit_page_release(struct nd_audit_page *p);

#endif
