/* domain_counts.h - how much was cut of the documents of each domain */
#ifndef ND_USES_REPEATS_DOMAIN_COUNTS_H
#define ND_USES_REPEATS_DOMAIN_COUNTS_H

#include <neardup/run.h>

#include <stdbool.h>

#include "base/groups.h"

/* Starts from zeroes. */
struct nd_domain_counts {
    bool takes_values; /* values that are no addresses count, too */
    struct nd_groups names;
    struct nd_domain_count {
        uint64_t documents, changed, text_bytes, cut_bytes;
    } * item; /* by number of the name - 1 */
    size_t n, capacity;
    bool has_others; /* domains came after those that are counted */
};
void nd_domain_counts_release(struct nd_domain_counts *c);

/* Count a document by the host of its address, or by the value itself.  data NULL: it has none, and
 * counts nowhere.  False: out of memory. */
bool nd_domain_counts_add(struct nd_domain_counts *c, struct nd_view value, uint64_t text_bytes,
                          uint64_t cut_bytes);

/* Write the domains that lost most to the summary. */
void nd_domain_counts_summarise(const struct nd_domain_counts *c, struct nd_repeats_summary *to);

#endif
