/* hamming_join.h - the self-join from within: designs on the bits that are still open, pairs out */
#ifndef ND_INDEX_HAMMING_JOIN_H
#define ND_INDEX_HAMMING_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

/* The keys of the tables that a join goes through. */
struct nd_join_design {
    unsigned tables;
    uint64_t *keys; /* `words` words each, from malloc */
};

/*
 * The design for joining n fingerprints within the distance by the bits of `open` alone.  False:
 * out of memory.  No tables: comparing all with all is cheaper, or there is no other way.
 */
bool nd_join_design(struct nd_join_design *design, const uint64_t *open, size_t words,
                    unsigned distance, size_t n);

/* Pairs on their way to the caller's function, which one thread at a time enters. */
struct nd_join_output {
    nd_hamming_report *report;
    void *context;
    atomic_flag busy;
    atomic_bool stop;
};

enum { ND_JOIN_PAIRS = 1024 };

struct nd_join_buffer {
    struct nd_hamming_pair pair[ND_JOIN_PAIRS];
    size_t n;
};

void nd_join_flush(struct nd_join_output *out, struct nd_join_buffer *buffer);

#endif
