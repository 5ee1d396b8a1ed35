/* hamming_join.h - the self-join from within: designs on the bits that are still open, pairs out */
#ifndef ND_INDEX_HAMMING_JOIN_H
#define ND_INDEX_HAMMING_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "base/pool.h"

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

/*
 * The first table not done and, of one-word keys, those that have enough bits in common with it to
 * go through one partition: their numbers, and the bits that all have in common.  Returns how many.
 */
unsigned nd_join_group(const uint64_t *keys, unsigned tables, size_t words, bool *done,
                       unsigned *group, uint64_t *mask);

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

/*
 * One table of the join of all, or of a bucket of `parent`.  Buckets are chosen by the bits of
 * `mask` in the value, of whose hash the first `used` bits have chosen the part.
 */
struct nd_join_level {
    const struct nd_join_level *parent;
    struct nd_join_design design;
    uint64_t open[ND_HAMMING_WORDS_MAX]; /* bits not in any parent's key */
    unsigned table;
    uint64_t mask;
    unsigned used;
};

/*
 * What is compared of a fingerprint: itself where it has one word, else 32 bits of a hash of the
 * key above 32 bits of all words folded, which are never farther apart than the fingerprints.
 */
struct nd_join_records {
    uint64_t *value;
    uint32_t *position;
    size_t capacity;
};
/* Readable behind what is compared. */
enum { ND_JOIN_PADDING = 16 };
bool nd_join_records_make(struct nd_join_records *r, size_t n);
void nd_join_records_release(struct nd_join_records *r);

/* Room for a part in the order of its buckets, and what a worker found. */
struct nd_join_scratch {
    struct nd_join_records records;
    uint32_t *end; /* of each bucket */
    size_t capacity;
};
bool nd_join_scratch_make(struct nd_join_scratch *s, size_t n);
void nd_join_scratch_release(struct nd_join_scratch *s);

struct nd_join_worker {
    struct nd_join_buffer out;
    struct nd_join_scratch scratch;
};

struct nd_join_share;

/* Tables that go through one partition: group[first …], by a hash of the bits of `mask`. */
struct nd_join_pass {
    uint64_t mask;
    unsigned first, n;
};

/* Passes whose parts are counted together: the rows are read once for all. */
enum { ND_JOIN_PASSES = 4 };

struct nd_join {
    const uint64_t *row;
    size_t n, words;
    unsigned distance, n_threads;
    struct nd_pool *pool;
    struct nd_join_output out;
    atomic_bool no_memory;
    struct nd_join_level level;
    struct nd_join_worker *worker;

    /* The partition: 2^part_bits parts, by pass[now]. */
    unsigned part_bits, *group, now, n_passes;
    struct nd_join_pass pass[ND_JOIN_PASSES];
    struct nd_join_records part;
    size_t *start; /* of each part */
    struct nd_join_share *share;
};

static inline const uint64_t *nd_join_key(const struct nd_join *j,
                                          const struct nd_join_level *level, unsigned table)
{
    return level->design.keys + table * j->words;
}

uint64_t nd_join_folded_value(const struct nd_join *j, const struct nd_join_level *level,
                              const uint64_t *x);

static inline uint64_t nd_join_value(const struct nd_join *j, const struct nd_join_level *level,
                                     size_t position)
{
    const uint64_t *x = j->row + position * j->words;

    return j->words == 1 ? x[0] : nd_join_folded_value(j, level, x);
}

/* The first `bits` bits, after `used` ones, of a hash of the value's bits in the mask. */
static inline size_t nd_join_place(uint64_t value, uint64_t mask, unsigned used, unsigned bits)
{
    uint64_t hash = (value & mask) * UINT64_C(0x9E3779B97F4A7C15) << used;

    return (size_t)(hash >> (63 - bits) >> 1);
}

/* The fewest bits, at most `most`, by which n records fall into places of `each` or fewer. */
unsigned nd_join_bits(size_t n, size_t each, unsigned most);

/* What the values' places are chosen by in a table: the bits of its key, or the hash of them. */
static inline uint64_t nd_join_key_mask(const struct nd_join *j, const struct nd_join_level *level,
                                        unsigned table)
{
    return j->words == 1 ? nd_join_key(j, level, table)[0] : ~(uint64_t)UINT32_MAX;
}

bool nd_join_partition_make(struct nd_join *j);
void nd_join_partition_release(struct nd_join *j);
/* Count the parts of all passes; then write all records to j->part in the order of those of one. */
void nd_join_count(struct nd_join *j);
void nd_join_partition(struct nd_join *j);

/* Join n records of one part, or of a whole bucket of the parent. */
void nd_join_part(struct nd_join *j, struct nd_join_worker *w, const struct nd_join_level *level,
                  const struct nd_join_records *part, size_t n, struct nd_join_scratch *s);

/*
 * Compare the ND_JOIN_AT_ONCE records from `from` on with one another and with all that follow, of
 * n; and all n with one another.
 */
enum { ND_JOIN_AT_ONCE = 1024 };
void nd_join_compare_rest(struct nd_join *j, struct nd_join_worker *w,
                          const struct nd_join_level *level, const struct nd_join_records *records,
                          size_t from, size_t n);
void nd_join_compare_all(struct nd_join *j, struct nd_join_worker *w,
                         const struct nd_join_level *level, const struct nd_join_records *records,
                         size_t n);

#endif
