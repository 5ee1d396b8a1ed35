/* sample.h - the pages of each host whose paths have the lowest hashes */
#ifndef ND_USES_SAMPLE_H
#define ND_USES_SAMPLE_H

#include "base/groups.h"
#include "uses/use.h"

struct nd_page {
    uint64_t path;        /* its hash */
    struct nd_view words; /* the path itself, malloc'ed */
    struct nd_use_sketch sketch;
};

/*
 * While pages are added, the numbers of the sampled ones form a heap with the highest hash on top,
 * which is the next to be dropped; afterwards they are sorted by increasing hash.
 */
struct nd_host {
    uint64_t pages; /* seen */
    size_t *page;
    size_t n, capacity;
    bool is_full; /* pages were dropped: the sample is complete only up to its highest hash */
};

/*
 * Hosts that share a path sample it together, because whether a path is among the lowest hashes
 * depends on the path alone (as with the minima of min-hash, Broder 1997). Starts from zeroes and
 * `max`.
 */
struct nd_sample {
    size_t max;             /* maximum of pages for each host; 0: no limit */
    struct nd_groups names; /* host i has number i + 1 */
    struct nd_host *host;
    size_t hosts_capacity;
    struct nd_page *page;
    size_t n_pages, pages_capacity;
};
void nd_sample_release(struct nd_sample *s);

/* Add a page. Of equal paths of a host, the first one counts. False: out of memory. */
bool nd_sample_add(struct nd_sample *s, struct nd_view host, struct nd_view path,
                   const struct nd_use_sketch *sketch);

/* All pages have been added. */
void nd_sample_sort(struct nd_sample *s);

/* The highest hash up to which the sample contains every path of the host. */
uint64_t nd_sample_bound(const struct nd_sample *s, const struct nd_host *host);

#endif
