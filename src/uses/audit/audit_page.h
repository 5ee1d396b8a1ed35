/* audit_page.h - what an audit found, as a page: the removed documents that are least like any kept one */
#ifndef ND_USES_AUDIT_AUDIT_PAGE_H
#define ND_USES_AUDIT_AUDIT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/output.h"
#include "uses/audit/overlaps.h"
#include "uses/judging/proportions.h"

enum { ND_AUDIT_SHOWN = 20, ND_AUDIT_TEXT_BYTES = 64 << 10 };

/* A removed document, and the nearest kept one. */
struct nd_audit_case {
    uint64_t order;
    struct nd_audit_nearest nearest;
    bool is_wrong;
    struct nd_json name[2], text[2]; /* [0] is of the kept one, if there is one */
    bool is_cut[2];
};

/* Starts from zeroes.  Everything is set by the audit but for the cases. */
struct nd_audit_page {
    const char *result;
    const struct nd_judged_stratum *removed, *kept;
    uint64_t runs, runs_lost;
    struct nd_audit_case *item; /* those that will be shown, the farthest first */
    size_t n, capacity;
};

/* Offer a removed document; once all have been, choose those that are shown.  False: out of memory.
 */
bool nd_audit_page_offer(struct nd_audit_page *p, uint64_t order,
                         const struct nd_audit_nearest *nearest, bool is_wrong);
void nd_audit_page_choose(struct nd_audit_page *p);
/* Whether the text of a document is shown; and give it, once.  Different documents may be given by
 * different threads.  False: out of memory. */
bool nd_audit_page_wants(const struct nd_audit_page *p, uint64_t order);
bool nd_audit_page_take(struct nd_audit_page *p, uint64_t order, struct nd_view name,
                        struct nd_view text);
enum nd_status nd_audit_page_write(struct nd_audit_page *p, struct nd_output *out,
                                   struct nd_error *err);
void nd_audit_page_release(struct nd_audit_page *p);

#endif
