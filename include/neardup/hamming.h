/* neardup/hamming.h - all fingerprints within k bits: plan, index, join */
#ifndef NEARDUP_HAMMING_H
#define NEARDUP_HAMMING_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The Hamming distance problem (002, section 3): of N fingerprints of f bits, find all that differ
 * from a given one in at most k bits.  Exact: every answer here is what comparing with each stored
 * fingerprint would give.
 *
 * A fingerprint is an array of (bits + 63) / 64 words, bit i being bit i % 64 of word i / 64; what
 * lies above `bits` in the last word must be 0.  An array of n fingerprints is n times as many
 * words, one fingerprint after the other.
 *
 * Every function that returns a status checks what it is given: a problem, plan or machine that is
 * NULL where it must not be or out of range, fewer fingerprints than said (NULL), no place for the
 * results and no function to call are ND_EINVAL, and nothing is done.  Functions without a handle
 * keep nothing, so any number of threads may call them at once.
 */
#define ND_HAMMING_BITS_MIN 32u
#define ND_HAMMING_BITS_MAX 512u
#define ND_HAMMING_WORDS_MAX 8u
#define ND_HAMMING_DISTANCE_MAX 16u
#define ND_HAMMING_TABLES_MAX 4096u
#define ND_HAMMING_PLANS_MAX 142u

/* Words of one fingerprint. */
static inline size_t nd_hamming_words(unsigned bits)
{
    return (bits + 63u) / 64u;
}

/*
 * Ways to search.  A design of tables is exact when whichever k bits are wrong, the key of at least
 * one table holds none of them.
 */
enum nd_hamming_family {
    ND_HAMMING_SCAN,   /* compare with all */
    ND_HAMMING_BLOCKS, /* 002, section 3.1: the keys are choices of blocks, again within the rest */
    ND_HAMMING_COVERING, /* the same with covering designs at each step: fewer tables for a key */
    ND_HAMMING_HALVES, /* f = 64, k <= 3: one half has at most one wrong bit; its 31 bits fall into
                          the buckets of the perfect Hamming code, of which a ball meets 16 */
    ND_HAMMING_POPCOUNT, /* 000, section 6.2: shards by number of ones, of which 2k + 1 matter */
    ND_HAMMING_WINDOWS,  /* f = 64, k <= 3: of 2, 3 or 4 windows of that half, 16, 21 or 24 bits
                            each, one holds no wrong bit; buckets that hold whole fingerprints */
};

/* The name of a family: "scan", "blocks", "covering", "halves", "popcount", "windows"; NULL: no
 * such family. */
ND_API const char *nd_hamming_family_name(enum nd_hamming_family family);

/* What is to be searched. */
struct nd_hamming_problem {
    unsigned bits;     /* f: 32 … 512 */
    unsigned distance; /* k: 0 … 16 */
    uint64_t count;    /* N: fingerprints expected */
};

/* What predictions rest on, nanoseconds on one core. */
#define ND_HAMMING_SIZES 4
struct nd_hamming_machine {
    /* a random cache line of a table of 2^20, 2^24, 2^27 and 2^29 bytes, many under way */
    double line_ns[ND_HAMMING_SIZES];
    double compare_ns;   /* one 64-bit word of a sequential scan */
    double fresh_ns;     /* the first write to 64 bytes that the system has just given */
    double table_ns;     /* the work beside the memory: a query in one table of keys or windows */
    double bucket_ns;    /* in one bucket of two halves */
    double table_add_ns; /* adding one fingerprint to one table of keys */
    double half_add_ns;  /* to one of two halves, or one table of windows */
};

/* Figures of one machine, for those who cannot measure (2.6 GHz, AVX-512, huge pages). */
ND_API struct nd_hamming_machine nd_hamming_machine_default(void);

/* Measure this machine: under a second and 600 MB; 160 MB where there are no more.  ND_ENOMEM. */
ND_API enum nd_status nd_hamming_calibrate(struct nd_hamming_machine *machine,
                                           struct nd_error *err);

/*
 * A measured machine as text, to be kept: a line "neardup-machine 1", then a line "name value..."
 * in picoseconds for each field.  _print writes at most ND_HAMMING_MACHINE_TEXT bytes with the
 * final 0 and returns how many without.  _parse takes `len` bytes of such text; every field must be
 * there once and above 0, else ND_EINVAL with the line's number.
 */
#define ND_HAMMING_MACHINE_TEXT 512
ND_API size_t nd_hamming_machine_print(const struct nd_hamming_machine *machine,
                                       char text[ND_HAMMING_MACHINE_TEXT]);
ND_API enum nd_status nd_hamming_machine_parse(const char *text, size_t len,
                                               struct nd_hamming_machine *machine,
                                               struct nd_error *err);

/* One way to search, and what it should cost at problem.count fingerprints. */
struct nd_hamming_plan {
    struct nd_hamming_problem problem;
    enum nd_hamming_family family;
    unsigned tables; /* blocks, covering, windows: T; halves: 2; popcount: f + 1 shards; scan: 0 */
    unsigned key_bits; /* the least p_i: bits that a table is looked up by; 64 means 64 at least */
    unsigned key_bits_most; /* the greatest p_i */
    double fill;          /* fingerprints for each place in a bucket's first line; 0: no buckets */
    double candidates;    /* expected a query on uniform fingerprints, over all tables */
    double lines;         /* cache lines at random places a query */
    double bytes;         /* memory of the index */
    double build_seconds; /* one core */
    double query_seconds; /* in batches, one core */
};

/*
 * What a design is known as: "manku 4", "manku 10", "manku 16", "manku 20" (002, example 3.1: 64
 * bits within 3), "henzinger" (384 bits within 11: 12 tables of 32 bits); NULL: it has no name.
 */
ND_API const char *nd_hamming_plan_name(const struct nd_hamming_plan *plan);

/*
 * Every design worth having: those that no other of its family beats in both memory and predicted
 * time, by predicted time.  Two halves come with room, crowded and tight, windows with chains too;
 * a design with a name always comes.  machine NULL: the default figures.  Writes at most `capacity`
 * plans and sets *n to how many; ND_HAMMING_PLANS_MAX always suffice.  ND_EINVAL: problem out of
 * range, or a figure of the machine is not above 0.  ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_plans(const struct nd_hamming_problem *problem,
                                       const struct nd_hamming_machine *machine,
                                       struct nd_hamming_plan *plans, size_t capacity, size_t *n,
                                       struct nd_error *err);

/*
 * The fastest plan whose index takes at most `memory` bytes (0: any).  Status as above; where none
 * fits, ND_EINVAL with the least memory that would do.
 */
ND_API enum nd_status nd_hamming_choose(const struct nd_hamming_problem *problem,
                                        const struct nd_hamming_machine *machine, double memory,
                                        struct nd_hamming_plan *plan, struct nd_error *err);

/*
 * The design of a family for a wish: `key_bits` != 0: the fewest tables whose least key has that
 * many bits (the paper's X(f, k, d) for p_min = key_bits); key_bits 0: the longest key for at most
 * `tables` tables.  Both are ignored by the families without a choice.  Of two halves and windows,
 * the one with room; a caller may set plan->fill from 0.25 to 2 before nd_hamming_new: fewer bytes,
 * longer chains.  ND_EINVAL: no design of at most ND_HAMMING_TABLES_MAX tables does it.  ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_design(const struct nd_hamming_problem *problem,
                                        const struct nd_hamming_machine *machine,
                                        enum nd_hamming_family family, unsigned key_bits,
                                        unsigned tables, struct nd_hamming_plan *plan,
                                        struct nd_error *err);

/*
 * The keys of a plan of blocks or coverings: plan->tables fingerprints, in which the bits of the
 * table's key are 1.  Other families: nothing is written.  ND_ENOMEM, ND_EINVAL: not a plan.
 */
ND_API enum nd_status nd_hamming_plan_keys(const struct nd_hamming_plan *plan, uint64_t *keys,
                                           struct nd_error *err);

/*
 * Percolation: how many other fingerprints one of `count` uniform ones meets by chance within the
 * distance, and how many such pairs there are.  Above a degree of ND_HAMMING_DEGREE_WARN, clusters
 * of chance begin to grow.  Not a number where the problem is out of range.
 */
#define ND_HAMMING_DEGREE_WARN 0.01
ND_API double nd_hamming_chance_degree(const struct nd_hamming_problem *problem);
ND_API double nd_hamming_chance_pairs(const struct nd_hamming_problem *problem);

/*
 * An index in memory: fingerprints with ids of 32 bits; the same fingerprint may stand there with
 * any number of ids.
 *
 * Threads: every function may be called at any time but _new and _free.  Adding and removing
 * exclude all others, 64 fingerprints at a time; any number of threads ask together; who waits
 * sleeps.  A batch of queries sees what is added meanwhile in some of its parts and not in others,
 * 1024 queries at a time.  An index calls no function of its user, so none can call it back.
 *
 * fork: the child may free an index if no thread was adding or removing at that moment, and may use
 * it if no thread was in any call of it; else its first call may wait for ever.
 */
struct nd_hamming;

/* One answer.  `query` is the number of the query in its batch. */
struct nd_hamming_match {
    uint32_t query, id, distance;
};

/* A list of answers that grows; the caller's.  Start from zeroes, release with _release. */
struct nd_hamming_matches {
    struct nd_hamming_match *at;
    size_t count, capacity;
};
ND_API void nd_hamming_matches_release(struct nd_hamming_matches *matches);
/* By query, then distance, then id. */
ND_API void nd_hamming_matches_sort(struct nd_hamming_matches *matches);

/* An empty index after a plan, with room for plan->problem.count before it must grow.
 * ND_EINVAL: not a plan.  ND_ENOMEM. */
ND_API enum nd_status nd_hamming_new(struct nd_hamming **index, const struct nd_hamming_plan *plan,
                                     struct nd_error *err);
ND_API void nd_hamming_free(struct nd_hamming *index);

/* Pairs of fingerprint and id in it, and its memory in bytes. */
ND_API size_t nd_hamming_count(const struct nd_hamming *index);
ND_API size_t nd_hamming_bytes(const struct nd_hamming *index);

/*
 * Add n fingerprints under the ids given; ids NULL: the numbers from first_id on.  What the index
 * already held it holds once more.  ND_ENOMEM: the first so many of them are in, nd_hamming_count
 * says how many, and the index is otherwise whole: every later call does what it says.  ND_EINVAL:
 * a fingerprint has a bit above `bits`, or the numbers pass 2^32 - 1; nothing is added.
 * ND_EUNSUPPORTED: more than 2^32 - 16 distinct fingerprints.
 */
ND_API enum nd_status nd_hamming_add(struct nd_hamming *index, const uint64_t *fingerprints,
                                     const uint32_t *ids, uint32_t first_id, size_t n,
                                     struct nd_error *err);

/* Remove one pair of fingerprint and id.  ND_EINVAL: there is none.  Takes no memory; popcount and
 * scan give some back, the others keep it for what is added next. */
ND_API enum nd_status nd_hamming_remove(struct nd_hamming *index, const uint64_t *fingerprint,
                                        uint32_t id, struct nd_error *err);

/*
 * Append to *out every id within `distance` bits of each of the n queries, each once for every pair
 * that was added, in no particular order (nd_hamming_matches_sort).  ND_ENOMEM: the list may hold
 * some, and the index is as it was.  ND_EINVAL: distance above the plan's.
 */
ND_API enum nd_status nd_hamming_query(const struct nd_hamming *index, const uint64_t *queries,
                                       size_t n, unsigned distance, struct nd_hamming_matches *out,
                                       struct nd_error *err);

/* Only how many there are: count[i] for query i. */
ND_API enum nd_status nd_hamming_query_count(const struct nd_hamming *index,
                                             const uint64_t *queries, size_t n, unsigned distance,
                                             uint64_t *count, struct nd_error *err);

/* One pair of a join: a < b for a self-join, else a is the query's number, b the fingerprint's. */
struct nd_hamming_pair {
    uint64_t a, b;
    uint32_t distance;
};

/* Takes pairs as they are found, in no particular order; another value than 0 stops the join, and
 * it is not called again.  It may call every function of this header. */
typedef int nd_hamming_report(void *context, const struct nd_hamming_pair *pairs, size_t n);

/*
 * All pairs of the n fingerprints within the distance, each once, by position.  Partition on each
 * key of a design, compare within, report in the first table only (002, section 3.1.2, for the
 * designs).  12 bytes a fingerprint beside the input, some more for those that share a key with
 * more than 4096 others.  threads 0: one a processor; report is called by one thread at a time,
 * which need not be the caller's. ND_EINVAL; ND_EUNSUPPORTED: 2^32 or more; ND_ENOMEM;
 * ND_ECANCELLED: report said so.
 */
ND_API enum nd_status nd_hamming_pairs(const uint64_t *fingerprints, size_t n, unsigned bits,
                                       unsigned distance, unsigned threads,
                                       nd_hamming_report *report, void *context,
                                       struct nd_error *err);

/*
 * Batch queries (002, section 3.3): tables over the queries, past which any number of fingerprints
 * stream.  For 64 bits within 3 a filter lets few of them through: 32 MB and about 550 bytes a
 * query (32 within 1), or, from 2 million queries on, 1 GB and an index of the queries.  The
 * queries may be freed after _new.
 *
 * Any number of threads may feed one batch.  The function that takes the pairs is called by the
 * thread that feeds; it may feed the batch again, and it may free it: the memory goes when the last
 * call that feeds returns.  fork: as of an index to which nothing is added.
 */
struct nd_hamming_batch;

/* ND_EINVAL, ND_ENOMEM; at most 2^32 - 16 queries. */
ND_API enum nd_status nd_hamming_batch_new(struct nd_hamming_batch **batch, const uint64_t *queries,
                                           size_t n, unsigned bits, unsigned distance,
                                           struct nd_error *err);
ND_API void nd_hamming_batch_free(struct nd_hamming_batch *batch);

/*
 * Report every pair of a query (a: its number) and one of the n fingerprints (b: `first` + its
 * number here) within the distance, in the order of the fingerprints.  ND_EINVAL; ND_ENOMEM,
 * ND_ECANCELLED (report said so): some were reported, and the batch is as it was.
 */
ND_API enum nd_status nd_hamming_batch_feed(const struct nd_hamming_batch *batch,
                                            const uint64_t *fingerprints, size_t n, uint64_t first,
                                            nd_hamming_report *report, void *context,
                                            struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
