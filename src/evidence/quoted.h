/* quoted.h - how many documents match something of each group of prototypes */
#ifndef ND_EVIDENCE_QUOTED_H
#define ND_EVIDENCE_QUOTED_H

#include <stdbool.h>

#include <neardup/run.h>

#include "base/groups.h"

/* Starts from zeroes.  Groups have the names that were added, in their order. */
struct nd_quoted {
    struct nd_groups groups;
    struct nd_quoted_group {
        uint64_t prototypes, documents;
        uint64_t last; /* number of the last document that was counted, + 1 */
    } * item;
    size_t n, capacity;
};
ND_API void nd_quoted_release(struct nd_quoted *q);

/* Add n prototypes to the group of this name; *group: its number, from 0.  False: out of memory. */
ND_API bool nd_quoted_add(struct nd_quoted *q, struct nd_view name, uint64_t n, uint32_t *group);

/* A document matches a prototype of the group.  Documents come one after the other; each counts once
 * for a group. */
ND_API void nd_quoted_count(struct nd_quoted *q, uint32_t group, uint64_t document);

/* Write the groups to the summary. */
ND_API void nd_quoted_summarise(const struct nd_quoted *q, struct nd_run_summary *summary);

#endif
