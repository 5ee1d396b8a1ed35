/* family.h - what the library must know of a family of designs: one row of memory/families.c
 *
 * A family is a way to lay out fingerprints so that those within the distance of a query are found.
 * Everything else goes through this row: nd_hamming_plans lists what `list` gives and takes the
 * fastest; nd_hamming_new makes an index by `make` and searches it by `query`.  A new family is a
 * value of enum nd_hamming_family, a row of the table in memory/families.c, and one file with these
 * functions (memory/shards.c is the shortest to learn from).
 */
#ifndef ND_HAMMING_PLAN_FAMILY_H
#define ND_HAMMING_PLAN_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

struct nd_hamming_sink;

struct nd_hamming_family_row {
    const char *name;
    bool has_sizes; /* `design` heeds key_bits and tables */
    bool has_keys;  /* its tables have keys that the solver finds (plan/key_plans.h) */
    bool has_fill;  /* a caller may set plan->fill between the bounds of plan/plan_checks.h */

    /*
     * Complete a plan of which problem, family and perhaps fill are set: the fewest tables with
     * keys of key_bits, or, key_bits 0, the longest keys of at most so many tables.  A family
     * without has_sizes ignores both.  Ends with what it should cost.  nd_hamming_new checks a
     * plan by calling this again with the plan's own key_bits and tables: it must then give the
     * same two.  ND_EINVAL: the family does not serve the problem, or has no such design.
     * ND_ENOMEM.
     */
    enum nd_status (*design)(const struct nd_hamming_machine *machine, unsigned key_bits,
                             unsigned tables, struct nd_hamming_plan *plan, struct nd_error *err);
    /* Append every design worth listing to the *n plans; `blank` has the problem and the family.
     * None, where the family does not serve the problem.  All families together list at most
     * ND_HAMMING_PLANS_MAX.  ND_ENOMEM. */
    enum nd_status (*list)(const struct nd_hamming_machine *machine,
                           const struct nd_hamming_plan *blank, struct nd_hamming_plan *plans,
                           size_t *n, struct nd_error *err);
    /* Fill in what a plan should cost: lines, candidates, bytes, seconds.  keys: of a family that
     * has_keys. */
    void (*predict)(const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                    const uint64_t *keys);

    /*
     * An empty index after a plan, which may reserve memory for problem.count; NULL: out of memory.
     * The rest is about what it returned.  Fingerprints are valid, and nobody else is in the index
     * while it is changed.
     */
    void *(*make)(const struct nd_hamming_plan *plan);
    void (*destroy)(void *self);
    /*
     * Add n fingerprints and return how many are in: fewer than n when memory ran out, or the
     * numbers of rows did where they have 32 bits.  nd_hamming_add makes ND_ENOMEM of both.  What is
     * in is whole, and more may be added than the plan was made for.  ids NULL: the numbers from
     * first_id on.
     */
    size_t (*add)(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n);
    /* Remove one pair of fingerprint and id.  False: there is none.  It cannot fail for want of
     * memory, and its space is given back or used by what is added next. */
    bool (*remove)(void *self, const uint64_t *fingerprint, uint32_t id);
    /* Give the sink every id within the distance of each query, once for each time it was added.
     * It changes nothing, since any number of threads query together. */
    void (*query)(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                  struct nd_hamming_sink *sink);
    /* Its memory. */
    size_t (*bytes)(const void *self);
};

/* NULL: there is no such family. */
const struct nd_hamming_family_row *nd_hamming_family_row(enum nd_hamming_family family);

#endif
