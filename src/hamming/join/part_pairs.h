/* part_pairs.h - the pairs within one part: buckets, comparisons, large buckets once more */
#ifndef ND_HAMMING_JOIN_PART_PAIRS_H
#define ND_HAMMING_JOIN_PART_PAIRS_H

#include "hamming/join/design.h"
#include "hamming/join/partition.h"
#include "simd/hamming/hamming_kernels.h"

enum {
    ND_JOIN_LARGE = 4096, /* a bucket of more is joined by itself */
    ND_JOIN_CHUNK = 1024, /* records that one call of a kernel compares with those behind them */
    ND_JOIN_ROWS = 64,    /* rows of a bucket that one call compares with all of it */
    ND_JOIN_WHOLE = 512,  /* a bucket of no more is compared by one call */
    ND_JOIN_HITS = 512,
    ND_JOIN_PAIRS = 1024
};

/* One table of the join of all fingerprints, or of the join of a bucket of `parent`. */
struct nd_join_level {
    const struct nd_join_level *parent;
    struct nd_join_design design;
    uint64_t open[ND_HAMMING_WORDS_MAX]; /* the bits in no parent's key */
    unsigned table;
    struct nd_record_code code;
};

/*
 * A part in the order of its buckets.  A record travels as one word of 64 bits, its number in the
 * part above its filter, so that sorting moves 8 bytes whatever the width of fingerprints.
 */
struct nd_join_scratch {
    size_t capacity;
    uint64_t *place;  /* of each record, above its filter */
    uint64_t *record; /* bucket by bucket: the record's number in the part, above its filter */
    uint32_t *word;   /* the filters alone, in the same order */
    uint64_t *value;  /* 64 bits of each, in the same order, where the filter is weak */
    uint32_t *end;    /* of each bucket */
    uint32_t largest; /* the records of the fullest bucket */
};
bool nd_join_scratch_make(struct nd_join_scratch *s, size_t n);
void nd_join_scratch_release(struct nd_join_scratch *s);

/* The state of one thread. */
struct nd_join_worker {
    struct nd_hamming_pair out[ND_JOIN_PAIRS]; /* on their way to the caller's function */
    size_t n_out;
    struct nd_join_scratch scratch;
    /* Hits: pairs of a part that passed the filter, by their numbers in the part. */
    uint32_t hit_a[ND_JOIN_HITS], hit_b[ND_JOIN_HITS];
    uint8_t hit_distance[ND_JOIN_HITS];
    size_t n_hits;
    struct nd_hamming_found found[ND_JOIN_CHUNK];
    struct nd_hamming_words pair[ND_JOIN_CHUNK * ND_HAMMING_NEXT];
    struct nd_hamming_near near[ND_JOIN_ROWS * (ND_JOIN_LARGE / ND_HAMMING_WINDOW + 1)];
};

/* One worker joins the records of one part, or of one bucket, by one table. */
struct nd_join_task {
    struct nd_join *join;
    struct nd_join_worker *worker;
    const struct nd_join_level *level;
    struct nd_join_records part;
    struct nd_join_scratch *scratch;
    /* Positions, those of equal rows side by side: the lowest of each group stands for all of it.
     * NULL: each record stands for itself. */
    const uint32_t *member;
    size_t n_members;
};

/* The keys of a level's table. */
static inline const uint64_t *nd_join_key(const struct nd_join *j,
                                          const struct nd_join_level *level, unsigned table)
{
    return level->design.keys + table * j->words;
}

/* Join the n records of task->part. */
void nd_join_part(const struct nd_join_task *task, size_t n);

/*
 * To compare all with all: fill in the values and the order of n records whose positions are there;
 * then compare each of ND_JOIN_CHUNK records from `from` on with all that follow.
 */
void nd_join_list_all(const struct nd_join_task *task, size_t n);
void nd_join_compare_rest(const struct nd_join_task *task, size_t from, size_t n);

/* Ask the caller's function whether to go on; for worker 0, which is the caller's thread. */
void nd_join_ask(struct nd_join *j, struct nd_join_worker *worker);
/* Hand the pairs of a worker to the caller's function. */
void nd_join_flush(struct nd_join *j, struct nd_join_worker *worker);

#endif
