/* sample.h - pages of each host: those whose paths hash least, the same paths on every host */
#ifndef ND_PIPELINE_SAMPLE_H
#define ND_PIPELINE_SAMPLE_H

#include <stdbool.h>

#include "pipeline/use.h"

struct nd_page {
    uint64_t path;        /* hash */
    struct nd_view words; /* the path itself, malloc'ed */
    struct nd_use_sketch sketch;
};

struct nd_host {
    uint64_t pages; /* seen */
    size_t *page;   /* numbers of the sampled pages: a heap, the greatest hash first; in the end
                       sorted, the least first */
    size_t n, capacity;
    bool is_full; /* pages were left out: only hashes up to the greatest are complete */
};

/* Start from zeroes and `most`, 0: all. */
struct nd_sample {
    size_t most;
    struct nd_groups names; /* host i has number i + 1 */
    struct nd_host *host;
    size_t hosts_capacity;
    struct nd_page *page;
    size_t n_pages, pages_capacity;
};
void nd_sample_release(struct nd_sample *s);

/* A page; of equal paths of a host the first one counts.  False: out of memory. */
bool nd_sample_add(struct nd_sample *s, struct nd_view host, struct nd_view path,
                   const struct nd_use_sketch *sketch);

/* All have been added. */
void nd_sample_sort(struct nd_sample *s);

/* The greatest hash up to which the sample has every path of the host. */
uint64_t nd_sample_bound(const struct nd_sample *s, const struct nd_host *host);

#endif
