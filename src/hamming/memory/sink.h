/* sink.h - where the answers of an index go */
#ifndef ND_HAMMING_MEMORY_SINK_H
#define ND_HAMMING_MEMORY_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "hamming/memory/ids.h"

/* A list of ids that is not read to its end yet: the next block, and the query that it answers. */
struct nd_hamming_list {
    const struct nd_hamming_ids *ids;
    uint32_t list, block, query, distance;
};

/* Collects matches, or counts them for each query.  The members below these two start from zero,
 * except `list`. */
enum { ND_HAMMING_LISTS = 32 };
struct nd_hamming_sink {
    struct nd_hamming_matches *matches;
    uint64_t *count;
    uint32_t first; /* added to the numbers of queries */
    bool out_of_memory;
    /* Called for each match of an index whose ids its owner keeps: finds the ids, and passes them
     * on.  NULL: the index has ids itself. */
    void (*expand)(struct nd_hamming_sink *sink, uint32_t query, struct nd_hamming_id own,
                   uint32_t distance);
    void *context;   /* for expand */
    bool is_damaged; /* the index is not what it should be; answers may be missing */
    /* Cache lines of tables that were read.  Families of tables add to it; only
     * nd_hamming_query_lines gives it to anybody, and only tests call that. */
    uint64_t lines;
    /* Lists that are read side by side, a block of each in turn, since the next block of each is on
     * its way meanwhile. */
    struct nd_hamming_list *list; /* of ND_HAMMING_LISTS */
    size_t n_lists;
};

void nd_hamming_sink_id(struct nd_hamming_sink *sink, uint32_t query, uint32_t id,
                        uint32_t distance);
/* Every id of a list of `ids`, now or later. */
void nd_hamming_sink_list(struct nd_hamming_sink *sink, uint32_t query,
                          const struct nd_hamming_ids *ids, uint32_t list, uint32_t distance);
/* Add the ids of a fingerprint: one id, or all of a list of `ids`. */
static inline void nd_hamming_sink_ids(struct nd_hamming_sink *sink, uint32_t query,
                                       const struct nd_hamming_ids *ids, struct nd_hamming_id own,
                                       uint32_t distance)
{
    if (sink->expand)
        sink->expand(sink, query, own, distance);
    else if (own.is_list)
        nd_hamming_sink_list(sink, query, ids, own.number, distance);
    else
        nd_hamming_sink_id(sink, query, own.number, distance);
}
/* Read the lists that are left. */
void nd_hamming_sink_flush(struct nd_hamming_sink *sink);

#endif
