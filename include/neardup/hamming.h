/* neardup/hamming.h - find all fingerprints within k bits: plan, index, join, stream
 *
 * Library: neardup.  An index of 64-bit fingerprints that are searched within 3 bits:
 *
 *     struct nd_hamming_problem problem = {.bits = 64, .distance = 3, .count = n};
 *     nd_hamming_choose(&problem, NULL, 0, &plan, NULL);
 *     nd_hamming_new(&index, &plan, NULL);
 *     nd_hamming_add(index, fingerprints, NULL, 0, n, NULL);
 *     nd_hamming_query(index, queries, n_queries, 3, &matches, NULL);
 */
#ifndef NEARDUP_HAMMING_H
#define NEARDUP_HAMMING_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The Hamming distance problem (Manku 2007, §3): of N fingerprints of f bits, find all that differ
 * from a given one in at most k bits.  The answers are exact: what comparing with each stored
 * fingerprint would give.
 *
 * A fingerprint is an array of (bits + 63) / 64 words.  Bit i is bit i % 64 of word i / 64, and the
 * bits above `bits` in the last word must be 0.  An array of n fingerprints holds them one after
 * the other.
 *
 * Every function that returns a status checks its arguments.  ND_EINVAL, and nothing is done: a
 * problem, plan or machine is out of range, or NULL where it must not be; there are fewer
 * fingerprints than n says (NULL); there is no place for the results, or no function to call.
 * Functions without a handle keep nothing, so any number of threads may call them at once.
 */
#define ND_HAMMING_BITS_MIN 32u
#define ND_HAMMING_BITS_MAX 512u
#define ND_HAMMING_WORDS_MAX 8u
#define ND_HAMMING_DISTANCE_MAX 16u
#define ND_HAMMING_TABLES_MAX 4096u
/* Room for every plan of nd_hamming_plans. */
#define ND_HAMMING_PLANS_MAX 160u

/* The words of one fingerprint. */
static inline size_t nd_hamming_words(unsigned bits)
{
    return (bits + 63u) / 64u;
}

/*
 * Families of designs, the ways to search.  A design of tables is exact when, whichever k bits are
 * wrong, the key of at least one table holds none of them.
 */
enum nd_hamming_family {
    /* Compare with all. */
    ND_HAMMING_SCAN,
    /* Keys are choices of blocks of bits; what they leave out is divided again (Manku 2007, §3.1).
     */
    ND_HAMMING_BLOCKS,
    /* Blocks with covering designs at each step: fewer tables for keys as long. */
    ND_HAMMING_COVERING,
    /* f = 64, k <= 3.  One half of 32 bits has at most one wrong bit.  Its low 31 bits fall into
     * the buckets of the perfect Hamming code, of which a ball meets 16. */
    ND_HAMMING_HALVES,
    /* Shards by number of ones, of which 2k + 1 matter (Seshasai 2009, §6.2). */
    ND_HAMMING_POPCOUNT,
    /* f = 64, k <= 3.  Of 2, 3 or 4 windows of that half, of 16, 21 or 24 bits, one holds no wrong
     * bit.  Buckets hold whole fingerprints. */
    ND_HAMMING_WINDOWS,
};

/* Families are numbered from 0 to one below this. */
#define ND_HAMMING_FAMILY_COUNT (ND_HAMMING_WINDOWS + 1)

/* The name of a family: "scan", "blocks", "covering", "halves", "popcount", "windows".  NULL: there
 * is no such family. */
ND_API const char *nd_hamming_family_name(enum nd_hamming_family family);

/* Whether the number of tables or the length of keys can be chosen (nd_hamming_design). */
ND_API int nd_hamming_family_has_sizes(enum nd_hamming_family family);

/* The problem of a search. */
struct nd_hamming_problem {
    /* f, the bits of a fingerprint: 32 … 512. */
    unsigned bits;
    /* k, the greatest distance that can be queried: 0 … 16. */
    unsigned distance;
    /* N, how many fingerprints are expected. */
    uint64_t count;
};

/* The times that predictions rest on, in nanoseconds on one core.  Every figure is above 0. */
#define ND_HAMMING_SIZES 4
struct nd_hamming_machine {
    /* A random cache line of a table of 2^20, 2^24, 2^27 and 2^29 bytes, with many under way. */
    double line_ns[ND_HAMMING_SIZES];
    /* One 64-bit word of a sequential scan. */
    double compare_ns;
    /* The first write to 64 bytes that the system has just given. */
    double fresh_ns;
    /* The work beside the memory: of a query in one table of keys or windows, and in one bucket of
     * two halves. */
    double table_ns;
    double bucket_ns;
    /* The time to add one fingerprint: to one table of keys; to one of two halves or one table
     * of windows. */
    double table_add_ns;
    double half_add_ns;
};

/* Figures of one machine, for those who cannot measure (2.6 GHz, AVX-512, huge pages). */
ND_API struct nd_hamming_machine nd_hamming_machine_default(void);

/* Measure this machine: under a second and 600 MB; 160 MB where there are no more.  ND_ENOMEM. */
ND_API enum nd_status nd_hamming_calibrate(struct nd_hamming_machine *machine,
                                           struct nd_error *err);

/*
 * A measured machine as text (docs/format/machine.md): a line "neardup-machine 1", then for each
 * field a line "name value..." in whole picoseconds.
 */
#define ND_HAMMING_MACHINE_TEXT 512
/* Write at most ND_HAMMING_MACHINE_TEXT bytes with the final 0; returns how many without it. */
ND_API size_t nd_hamming_machine_print(const struct nd_hamming_machine *machine,
                                       char text[ND_HAMMING_MACHINE_TEXT]);
/* Read `len` bytes of such text.  ND_EINVAL with the number of the line: a field is missing, occurs
 * twice, or is not above 0. */
ND_API enum nd_status nd_hamming_machine_parse(const char *text, size_t len,
                                               struct nd_hamming_machine *machine,
                                               struct nd_error *err);

/* One way to search, and what it should cost at problem.count fingerprints. */
struct nd_hamming_plan {
    struct nd_hamming_problem problem;
    enum nd_hamming_family family;
    /* Blocks, coverings and windows: T.  Halves: 2.  Popcount: f + 1 shards, which are one table of a
     * file.  Scan: 0. */
    unsigned tables;
    /* The bits that a table is looked up by, p_i: the smallest (64 means 64 or more) and the
     * greatest of all tables. */
    unsigned key_bits;
    unsigned key_bits_max;
    /* Fingerprints for each slot in the first line of a bucket; 0: there are no buckets. */
    double fill;
    /* Expected for a query of uniform fingerprints: fingerprints that it meets in all tables, and
     * cache lines at random places that it reads. */
    double candidates;
    double lines;
    /* Memory of the index. */
    double bytes;
    /* On one core: to add all fingerprints, and for a query in a batch. */
    double build_seconds;
    double query_seconds;
};

/*
 * The name that a design is known by: "manku 4", "manku 10", "manku 16", "manku 20" (Manku 2007,
 * Example 3.1: 64 bits within 3), "henzinger" (384 bits within 11: 12 tables of 32 bits).  NULL: it
 * has none.
 */
ND_API const char *nd_hamming_plan_name(const struct nd_hamming_plan *plan);

/*
 * List every design worth having, by predicted time: those that no other of their family beats in
 * both memory and time, and all that have a name.  Halves are listed with free slots, crowded and
 * tight, windows also with chains.  machine NULL: the default figures.  Writes at most `capacity`
 * plans and sets *n to how many; ND_HAMMING_PLANS_MAX always suffice.  ND_EINVAL: the problem is out
 * of range, or a figure of the machine is not above 0.  ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_plans(const struct nd_hamming_problem *problem,
                                       const struct nd_hamming_machine *machine,
                                       struct nd_hamming_plan *plans, size_t capacity, size_t *n,
                                       struct nd_error *err);

/* A design at one end of the space of designs, which nobody builds. */
struct nd_hamming_extreme {
    /* "stored": every fingerprint within k bits of one of the set is in the table; a query makes one
     * probe.  "probed": the table has the set; a query probes every fingerprint within k bits. */
    const char *name;
    /* Entries of the table, and probes of a query. */
    double entries, probes;
    /* figures of a sorted table of fingerprints with their ids, on one core */
    double bytes, build_seconds, query_seconds;
};
#define ND_HAMMING_EXTREMES 2

/*
 * Estimate the cost of the two extreme designs of Manku 2007, §3: extremes[0] stores all neighbours
 * of each fingerprint, extremes[1] probes all neighbours of the query. ND_EINVAL: the problem is out of range, or a
 * figure of the machine is not above 0.
 */
ND_API enum nd_status nd_hamming_extremes(const struct nd_hamming_problem *problem,
                                          const struct nd_hamming_machine *machine,
                                          struct nd_hamming_extreme extremes[ND_HAMMING_EXTREMES],
                                          struct nd_error *err);

/*
 * The fastest plan whose index takes at most `memory` bytes (0: any).  Status as above; where none
 * fits, ND_EINVAL with the least memory that would do.
 */
ND_API enum nd_status nd_hamming_choose(const struct nd_hamming_problem *problem,
                                        const struct nd_hamming_machine *machine, double memory,
                                        struct nd_hamming_plan *plan, struct nd_error *err);

/*
 * The design of a family with a given length of keys or number of tables.
 * With key_bits != 0: the fewest tables whose shortest key has that many bits (X(f, k, d) of Manku
 * 2007, §3.1.2, for p_min = key_bits).  With key_bits 0: the longest keys of at most `tables`
 * tables.  Families without sizes ignore both.  Halves and windows come with free slots; a
 * caller may set plan->fill from 0.25 to 2 before nd_hamming_new, for fewer bytes and longer chains.
 * ND_EINVAL: no design of at most ND_HAMMING_TABLES_MAX tables does it.  ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_design(const struct nd_hamming_problem *problem,
                                        const struct nd_hamming_machine *machine,
                                        enum nd_hamming_family family, unsigned key_bits,
                                        unsigned tables, struct nd_hamming_plan *plan,
                                        struct nd_error *err);

/*
 * The keys of a plan of blocks or coverings, as plan->tables fingerprints in which the bits of the
 * table's key are 1.  For other families nothing is written.  ND_ENOMEM; ND_EINVAL: not a plan.
 */
ND_API enum nd_status nd_hamming_plan_keys(const struct nd_hamming_plan *plan, uint64_t *keys,
                                           struct nd_error *err);

/*
 * How many other fingerprints one of `count` uniform ones meets by chance within the distance, its
 * degree; and how many such pairs there are.  Above a degree of ND_HAMMING_DEGREE_WARN, clusters of
 * chance begin to grow.  Not a number: the problem is out of range.
 */
#define ND_HAMMING_DEGREE_WARN 0.01
ND_API double nd_hamming_chance_degree(const struct nd_hamming_problem *problem);
ND_API double nd_hamming_chance_pairs(const struct nd_hamming_problem *problem);

/*
 * An index in memory: fingerprints with ids of 32 bits.  The same fingerprint may have any number of
 * ids.
 *
 * Threads: every function but _new and _free may be called at any time.  Any number of threads query
 * together; adding and removing exclude all others, for 64 fingerprints at a time.  A thread that
 * waits sleeps.  A batch of queries sees what is added meanwhile in some of its parts and not in
 * others, 1024 queries at a time.  An index calls no function of its user.
 *
 * fork: the child may free an index if no thread was adding or removing at that moment, and may use
 * it if no thread was in any call of it.  Otherwise its first call may wait for ever.
 */
struct nd_hamming;

/* One answer.  `query` is the number of the query in its batch. */
struct nd_hamming_match {
    uint32_t query, id, distance;
};

/* A list of answers that grows; the caller's.  It starts from zeroes and is given back by
 * _release. */
struct nd_hamming_matches {
    struct nd_hamming_match *items;
    size_t count, capacity;
};
ND_API void nd_hamming_matches_release(struct nd_hamming_matches *matches);
/* Sort by query, then distance, then id. */
ND_API void nd_hamming_matches_sort(struct nd_hamming_matches *matches);

/* An empty index after a plan, with memory for plan->problem.count before it must grow.  ND_EINVAL:
 * not a plan.  ND_ENOMEM. */
ND_API enum nd_status nd_hamming_new(struct nd_hamming **index, const struct nd_hamming_plan *plan,
                                     struct nd_error *err);
ND_API void nd_hamming_free(struct nd_hamming *index);

/* How many pairs of fingerprint and id it holds. */
ND_API size_t nd_hamming_count(const struct nd_hamming *index);
/* Its memory in bytes. */
ND_API size_t nd_hamming_bytes(const struct nd_hamming *index);

/*
 * Add n fingerprints with the ids given; ids NULL: the numbers from first_id on.  A pair that the
 * index already holds it then holds once more.  ND_ENOMEM: memory ran out, or the numbers
 * that the family gives its rows did, 2^32 - 16 of them in blocks and coverings.  The first so many
 * are in (compare nd_hamming_count), and the index is whole.  ND_EINVAL: a fingerprint has a bit
 * above `bits`, or the numbers pass 2^32 - 1; nothing is added.
 */
ND_API enum nd_status nd_hamming_add(struct nd_hamming *index, const uint64_t *fingerprints,
                                     const uint32_t *ids, uint32_t first_id, size_t n,
                                     struct nd_error *err);

/* Remove one pair of fingerprint and id.  Needs no memory.  Popcount and scan give memory back, the
 * other families keep it for what is added next.  ND_EINVAL: there is no such pair. */
ND_API enum nd_status nd_hamming_remove(struct nd_hamming *index, const uint64_t *fingerprint,
                                        uint32_t id, struct nd_error *err);

/*
 * Append to *out every id within `distance` bits of each of the n queries, once for every pair that
 * was added, in no particular order (nd_hamming_matches_sort).  ND_ENOMEM: the list may hold some,
 * and the index is as it was.  ND_EINVAL: the distance is above the plan's.
 */
ND_API enum nd_status nd_hamming_query(const struct nd_hamming *index, const uint64_t *queries,
                                       size_t n, unsigned distance, struct nd_hamming_matches *out,
                                       struct nd_error *err);

/* Only count the matches: count[i] answers for query i. */
ND_API enum nd_status nd_hamming_query_count(const struct nd_hamming *index,
                                             const uint64_t *queries, size_t n, unsigned distance,
                                             uint64_t *count, struct nd_error *err);

/* One pair of a join.  Of a self-join a < b; else a is the number of the query, b that of the
 * fingerprint. */
struct nd_hamming_pair {
    uint64_t a, b;
    uint32_t distance;
};

/* Takes pairs as they are found, in no particular order.  Any value but 0 stops the join, and the
 * function is not called again.  It may call every function of this header.  nd_hamming_pairs also
 * calls it with n = 0, many times a second and in the thread of the caller, so that it may stop. */
typedef int nd_hamming_report(void *context, const struct nd_hamming_pair *pairs, size_t n);

/*
 * Report all pairs of the n fingerprints within the distance, each once, by position.  threads 0:
 * one a processor.  One thread at a time calls `report`, and it need not be the caller's.  Needs 12
 * bytes a fingerprint beside the input, and some more for those that share a key with more than 4096
 * others.  ND_EINVAL; ND_EUNSUPPORTED: 2^32 fingerprints or more; ND_ENOMEM; ND_ECANCELLED: `report`
 * stopped it.
 */
ND_API enum nd_status nd_hamming_pairs(const uint64_t *fingerprints, size_t n, unsigned bits,
                                       unsigned distance, unsigned threads,
                                       nd_hamming_report *report, void *context,
                                       struct nd_error *err);

/*
 * Batch queries (Manku 2007, §3.3): a set of queries in memory, past which any number of
 * fingerprints stream.  For 64 bits within 3 a filter lets few of them through.  It takes 32 MB and
 * about 550 bytes a query (32 within 1), or, from 2 million queries on, 1 GB and an index of the
 * queries.  The caller may free the queries after _new.
 *
 * Threads: any number may feed one batch.  The thread that feeds calls `report`, which may feed the
 * batch again and may free it: the memory goes when the last call that feeds returns.  fork: as of
 * an index to which nothing is added.
 */
struct nd_hamming_batch;

/* A batch of n queries, 2^32 - 16 at most.  ND_EINVAL, ND_ENOMEM. */
ND_API enum nd_status nd_hamming_batch_new(struct nd_hamming_batch **batch, const uint64_t *queries,
                                           size_t n, unsigned bits, unsigned distance,
                                           struct nd_error *err);
ND_API void nd_hamming_batch_free(struct nd_hamming_batch *batch);

/*
 * Report every pair of a query (a: its number) and one of the n fingerprints (b: `first` + its
 * number here) within the distance, in the order of the fingerprints.  ND_EINVAL.  ND_ENOMEM,
 * ND_ECANCELLED (`report` stopped it): some were reported, and the batch is as it was.
 */
ND_API enum nd_status nd_hamming_batch_feed(const struct nd_hamming_batch *batch,
                                            const uint64_t *fingerprints, size_t n, uint64_t first,
                                            nd_hamming_report *report, void *context,
                                            struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
