/* hamming_index.h - what the three kinds of index in memory share */
#ifndef ND_INDEX_HAMMING_INDEX_H
#define ND_INDEX_HAMMING_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "index/hamming_ids.h"

/* What is left of a list of ids, and whom it answers. */
struct nd_hamming_list {
    const struct nd_hamming_ids *ids;
    uint32_t list, block, query, distance;
};

/* Where answers go: a list, or counts, one a query. */
enum { ND_HAMMING_LISTS = 32 };
struct nd_hamming_sink {
    struct nd_hamming_matches *matches;
    uint64_t *count;
    uint32_t first; /* added to the numbers of queries */
    bool out_of_memory;
    uint64_t lines; /* of tables that were looked at */
    /* Lists that are gone along side by side, as the next line of each is on its way. */
    struct nd_hamming_list *list; /* room for ND_HAMMING_LISTS */
    size_t n_lists;
};
void nd_hamming_sink_id(struct nd_hamming_sink *sink, uint32_t query, uint32_t id,
                        uint32_t distance);
/* Every id of a list of `ids`, now or later; and those that are left. */
void nd_hamming_sink_list(struct nd_hamming_sink *sink, uint32_t query,
                          const struct nd_hamming_ids *ids, uint32_t list, uint32_t distance);
void nd_hamming_sink_settle(struct nd_hamming_sink *sink);

/* How many lines of its tables an index looks at for the queries; 0: out of memory. */
uint64_t nd_hamming_query_lines(const struct nd_hamming *index, const uint64_t *queries, size_t n,
                                unsigned distance);

/* Of each kind one table of functions; `self` is what `make` returned.  Fingerprints are valid. */
struct nd_hamming_kind {
    void *(*make)(const struct nd_hamming_plan *plan);
    void (*destroy)(void *self);
    /* Adds as many as it can and returns how many. */
    size_t (*add)(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n);
    bool (*remove)(void *self, const uint64_t *fingerprint, uint32_t id);
    void (*query)(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                  struct nd_hamming_sink *sink);
    size_t (*bytes)(const void *self);
};

extern const struct nd_hamming_kind nd_hamming_halves_kind, nd_hamming_tables_kind,
    nd_hamming_shards_kind;

#endif
