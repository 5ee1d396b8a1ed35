/* partition.h - the fingerprints as records in the order of their parts */
#ifndef ND_HAMMING_JOIN_PARTITION_H
#define ND_HAMMING_JOIN_PARTITION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "base/thread/pool.h"
#include "simd/hamming/hamming_record.h"

/* The data that all threads of a join share. */
struct nd_join {
    const uint64_t *row; /* the fingerprints */
    size_t n, words;
    unsigned distance, n_threads;
    bool is_weak; /* a filter of 32 bits would let too much pass: compare 64 */
    struct nd_pool *pool;
    nd_hamming_report *report; /* one thread at a time calls it, under the pool's lock */
    void *context;
    atomic_bool stop, no_memory;
};

static inline bool nd_join_is_over(const struct nd_join *j)
{
    return atomic_load_explicit(&j->stop, memory_order_relaxed) ||
           atomic_load_explicit(&j->no_memory, memory_order_relaxed);
}

/*
 * A record is what is compared of a fingerprint, and its position among the rows.  The value is the
 * fingerprint itself where that has one word.  Of several words it is 32 bits of a hash of the key
 * above a filter: all words folded to 32 bits.
 */
struct nd_join_records {
    uint64_t *value;
    uint32_t *position;
};

/* Tables group[first … first + n - 1] share one partition: by a hash of the bits of `mask`, which
 * all their keys have. */
struct nd_join_pass {
    uint64_t mask;
    unsigned first, n;
    struct nd_record_code code;
};

/* The parts of so many passes are counted together, so that the rows are read once for all. */
enum { ND_JOIN_PASSES = 8 };

struct nd_join_partition {
    const struct nd_join *join;
    const uint64_t *keys; /* of all tables */
    unsigned part_bits;   /* no pass has more than 2^part_bits parts */
    unsigned *group;      /* numbers of tables, pass by pass */
    unsigned n_passes;
    struct nd_join_pass pass[ND_JOIN_PASSES];
    const struct nd_join_pass *current; /* the pass whose order the records are in */
    struct nd_join_records records;
    size_t *start;        /* of each part; one more behind the last */
    struct nd_move *move; /* of each thread */
    uint32_t *count;      /* thread by thread, pass by pass: the records of each part */
};

/* Room for all records.  `group` and the passes are the caller's to fill.  False: out of memory;
 * to be released in either case. */
bool nd_join_partition_make(struct nd_join_partition *p);
void nd_join_partition_release(struct nd_join_partition *p);
/* Count the parts of all passes. */
void nd_join_count_parts(struct nd_join_partition *p);
/* Write all records in the order of the parts of one pass. */
void nd_join_partition_run(struct nd_join_partition *p, const struct nd_join_pass *pass);

/* Whether a filter of 32 bits tells too little at the distance. */
bool nd_join_is_weak(unsigned distance);

/* The bits of keys that should choose the part of one of n records. */
unsigned nd_join_part_bits(size_t n);
/* Tables with so many bits in common may share a partition. */
unsigned nd_join_shared_bits(unsigned part_bits);

/*
 * How a pass chooses one of at most 2^part_bits parts; and how a table chooses places in a part of
 * n records: by the bits that its key adds to those of the pass, or, if it adds none, by more of
 * the same hash.  pass NULL: the records are in no partition.
 */
void nd_join_pass_code(struct nd_join_pass *pass, size_t words, unsigned part_bits);
void nd_join_table_code(struct nd_record_code *code, size_t words, const uint64_t *key,
                        const struct nd_join_pass *pass, size_t n);

/* Values are looked at a block at a time; those of a later block are prefetched meanwhile. */
enum { ND_JOIN_BLOCK = 128, ND_JOIN_PREFETCH_DISTANCE = 1024 };
/* The values of n rows of several words. */
void nd_join_values(const struct nd_join *j, const uint64_t *key, const uint64_t *row, size_t n,
                    uint64_t *value);
/* Find the places of n values in a part, each above a filter of 32 bits. */
void nd_join_places(const struct nd_join *j, const struct nd_record_code *code,
                    const uint64_t *value, size_t n, uint64_t *place);

#endif
