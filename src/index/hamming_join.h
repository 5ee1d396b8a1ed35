/* hamming_join.h - the self-join from within: designs on the bits that are still open, pairs out */
#ifndef ND_INDEX_HAMMING_JOIN_H
#define ND_INDEX_HAMMING_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "base/pool.h"
#include "simd/hamming_kernels.h"
#include "simd/hamming_record.h"

/* The keys of the tables that a join goes through. */
struct nd_join_design {
    unsigned tables;
    uint64_t *keys; /* `words` words each, from malloc */
};

/* A design that may be chosen for n fingerprints within a distance. */
struct nd_join_wish {
    size_t n;
    unsigned distance, key_bits, tables;
    const uint64_t *keys; /* of one word; NULL: they have more, or are many */
};

/* Nanoseconds a fingerprint: of a join, and of a bucket of an index that is to be refined. */
typedef double nd_join_cost_of(const struct nd_join_wish *wish);
nd_join_cost_of nd_join_cost, nd_join_inner_cost;

/*
 * The design for n fingerprints within the distance, by the bits of `open` alone, that should cost
 * least.  False: out of memory.  No tables: comparing all with all is cheaper, or there is no other
 * way.
 */
bool nd_join_design(struct nd_join_design *design, const uint64_t *open, size_t words,
                    unsigned distance, size_t n, nd_join_cost_of *cost_of);

/*
 * The first table not done and, of one-word keys, those that have at least `shared` bits in common
 * with it, which may go through one partition by those: their numbers, and the bits that all have
 * in common.  Returns how many.
 */
unsigned nd_join_group(const uint64_t *keys, unsigned tables, size_t words, unsigned shared,
                       bool *done, unsigned *group, uint64_t *mask);

/* Pairs on their way to the caller's function, which one thread at a time enters. */
struct nd_join_output {
    nd_hamming_report *report;
    void *context;
    struct nd_pool *pool;
    atomic_bool stop;
};

enum { ND_JOIN_PAIRS = 1024 };

struct nd_join_buffer {
    struct nd_hamming_pair pair[ND_JOIN_PAIRS];
    size_t n;
};

void nd_join_flush(struct nd_join_output *out, struct nd_join_buffer *buffer);

/* One table of the join of all, or of a bucket of `parent`. */
struct nd_join_level {
    const struct nd_join_level *parent;
    struct nd_join_design design;
    uint64_t open[ND_HAMMING_WORDS_MAX]; /* bits not in any parent's key */
    unsigned table;
    struct nd_record_code code;
};

/* What is compared of a fingerprint: itself where it has one word, else 32 bits of a hash of the
 * key above 32 bits of all words folded; and its number among the rows. */
struct nd_join_records {
    uint64_t *value;
    uint32_t *position;
};

/* Room for a part in the order of its buckets. */
struct nd_join_scratch {
    size_t capacity;
    uint64_t *place;  /* of each record, above its filter */
    uint64_t *record; /* bucket by bucket: the record's number in the part, above its filter */
    uint32_t *word;   /* the filters of these */
    uint64_t *value;  /* 64 bits of it, where the filter is weak */
    uint32_t *end;    /* of each bucket */
    uint32_t largest; /* the records of the fullest bucket */
};
bool nd_join_scratch_make(struct nd_join_scratch *s, size_t n);
void nd_join_scratch_release(struct nd_join_scratch *s);

/* Pairs of a part that are on their way to the output, or to be looked up among the rows. */
enum { ND_JOIN_HITS = 512 };
struct nd_join_hits {
    uint32_t a[ND_JOIN_HITS], b[ND_JOIN_HITS];
    uint8_t distance[ND_JOIN_HITS];
    size_t n;
};

enum {
    ND_JOIN_LARGE = 4096, /* a bucket of more is joined by itself */
    ND_JOIN_CHUNK = 1024, /* records compared at once with those behind them */
    ND_JOIN_ROWS = 64,    /* of a bucket, compared at once with all of it */
    ND_JOIN_WHOLE = 512,  /* a bucket of no more is compared at once */
    ND_JOIN_PADDING = ND_HAMMING_PADDING
};

/* Positions, those of equal rows side by side, the least of them first: it stands for all. */
struct nd_join_equals {
    uint32_t *member; /* from malloc */
    size_t n;
};

struct nd_join_worker {
    struct nd_join_buffer out;
    struct nd_join_scratch scratch;
    struct nd_join_hits hits;
    struct nd_hamming_found found[ND_JOIN_CHUNK];
    struct nd_hamming_words pair[ND_JOIN_CHUNK * ND_HAMMING_NEXT];
    struct nd_hamming_near near[ND_JOIN_ROWS * (ND_JOIN_LARGE / ND_HAMMING_WINDOW + 1)];
};

struct nd_join_share;

/* Tables that go through one partition: group[first …], by a hash of the bits of `mask`. */
struct nd_join_pass {
    uint64_t mask;
    unsigned first, n;
    struct nd_record_code code;
};

/* Passes whose parts are counted together: the rows are read once for all. */
enum { ND_JOIN_PASSES = 8 };

struct nd_join {
    const uint64_t *row;
    size_t n, words;
    unsigned distance, n_threads;
    bool is_weak; /* the filter lets too much pass: compare 64 bits */
    struct nd_pool *pool;
    struct nd_join_output out;
    atomic_bool no_memory;
    struct nd_join_level level;
    struct nd_join_worker *worker;

    /* The partition: at most 2^part_bits parts, by pass[now]. */
    unsigned part_bits, *group, now, n_passes;
    struct nd_join_pass pass[ND_JOIN_PASSES];
    struct nd_join_records part;
    size_t *start; /* of each part */
    struct nd_join_share *share;
};

/* What is done where: one worker, one table, the records at hand. */
struct nd_join_site {
    struct nd_join *join;
    struct nd_join_worker *worker;
    const struct nd_join_level *level;
    struct nd_join_records part;
    struct nd_join_scratch *s;
    const struct nd_join_equals *equals; /* NULL: each record stands for itself */
};

static inline const uint64_t *nd_join_key(const struct nd_join *j,
                                          const struct nd_join_level *level, unsigned table)
{
    return level->design.keys + table * j->words;
}

static inline bool nd_join_is_over(const struct nd_join *j)
{
    return atomic_load_explicit(&j->out.stop, memory_order_relaxed) ||
           atomic_load_explicit(&j->no_memory, memory_order_relaxed);
}

/* The fewest bits, at most `most`, by which n records fall into places of `each` or fewer. */
unsigned nd_join_bits(size_t n, size_t each, unsigned most);

/* Whether 32 bits, folded, tell too little at the distance. */
bool nd_join_is_weak(unsigned distance);

/* The parts that n records should have, and how many bits of keys choose one at most. */
unsigned nd_join_part_bits(size_t n);
/* Tables with so many bits in common may share a partition. */
unsigned nd_join_shared(unsigned part_bits);

/*
 * How a pass chooses parts, at most 2^part_bits.  And how a table chooses places in a part of n
 * records: by what its key adds to the pass, or, if that is nothing, by more of the same hash.
 */
void nd_join_pass_code(struct nd_join_pass *pass, size_t words, unsigned part_bits);
void nd_join_table_code(struct nd_record_code *code, size_t words, const uint64_t *key,
                        const struct nd_join_pass *pass, size_t n);

/* Of n rows of many words the values; of n values the parts; and the places above the filters. */
enum { ND_JOIN_BLOCK = 128, ND_JOIN_AHEAD = 1024 };
void nd_join_values(const struct nd_join *j, const uint64_t *key, const uint64_t *row, size_t n,
                    uint64_t *value);
void nd_join_parts(const struct nd_join *j, const struct nd_record_code *code,
                   const uint64_t *value, size_t n, uint32_t *part);
void nd_join_places(const struct nd_join *j, const struct nd_record_code *code,
                    const uint64_t *value, size_t n, uint64_t *place);

/* 64 bits, no farther apart than the rows are. */
static inline uint64_t nd_join_fold(const uint64_t *x, size_t words)
{
    uint64_t fold = x[0];

    for (size_t w = 1; w < words; w++)
        fold ^= x[w] << (5 * w) | x[w] >> (64 - 5 * w);
    return fold;
}

bool nd_join_partition_make(struct nd_join *j);
void nd_join_partition_release(struct nd_join *j);
/* Count the parts of all passes; then write all records to j->part in the order of those of one. */
void nd_join_count(struct nd_join *j);
void nd_join_partition(struct nd_join *j);

/* Join the n records of site->part: one part, or a whole bucket of the parent. */
void nd_join_part(const struct nd_join_site *site, size_t n);

/* The number in the part of the record that is at a place in the order of buckets. */
static inline uint32_t nd_join_number(const struct nd_join_scratch *s, size_t at)
{
    return (uint32_t)(s->record[at] >> 32);
}

/*
 * Compare the records [first, last) of site->s that have been put in order: each with the next few,
 * and return how few; each of a bucket with what comes `gap` after the next; each of ND_JOIN_CHUNK
 * from `from` on with all that follow, by value.
 */
size_t nd_join_compare_next(const struct nd_join_site *site, size_t first, size_t last);
void nd_join_compare_bucket(const struct nd_join_site *site, size_t first, size_t last, size_t gap);
void nd_join_compare_rest(const struct nd_join_site *site, size_t from, size_t last);
/* Whether this level and each above it is the first table of its design that sees two rows which
 * differ like this. */
bool nd_join_is_first(const struct nd_join *j, const struct nd_join_level *level,
                      const uint64_t *differ);
void nd_join_report_pair(const struct nd_join_site *site, size_t a, size_t b, unsigned distance);

/* Group n positions.  False: out of memory. */
bool nd_join_equals_make(struct nd_join_equals *equals, struct nd_join *j, const uint32_t *position,
                         size_t n);
/* Write one of each group to `position`, and report the pairs of equal ones, if the site's table is
 * the one to do so.  Returns how many groups there are. */
size_t nd_join_distinct(const struct nd_join_site *site, const struct nd_join_equals *equals,
                        uint32_t *position);
/* Report all that are equal to one with all that are equal to the other. */
void nd_join_report_copies(const struct nd_join_site *site, uint32_t a, uint32_t b,
                           unsigned distance);

/* Pass on what was found so far in the part. */
void nd_join_settle(const struct nd_join_site *site);
/* Have 64 bits of the records [first, last) in s->value. */
void nd_join_fetch(const struct nd_join_site *site, size_t first, size_t last);

#endif
