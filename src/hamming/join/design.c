/* design.c - the choice of the tables that a join goes through
 *
 * For uniform fingerprints a table of p bits costs a partition and, for each fingerprint, n / 2^p
 * comparisons.  More tables have longer keys, so fewer comparisons.  The costs of every key length
 * are added up, and the cheapest is taken.  What is found depends on no design.
 *
 * Tables that have enough bits in common go through one partition by those bits.  For 64 bits
 * within 3 the six tables of a covering design then take four partitions.
 */
#include "hamming/join/design.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "hamming/join/partition.h"
#include "hamming/plan/fingerprint.h"
#include "hamming/plan/solver.h"
#include "simd/hamming/hamming_kernels.h"

/* Nanoseconds for a fingerprint: to partition it, and to divide its part by a table. */
#define PARTITION_NS 4.0
#define DIVIDE_NS 2.3
/* To compare it with another one.  For a bucket that is not done with those next to each. */
#define COMPARE_NS 0.1
#define BUCKET_NS 25.0
/*
 * To move an entry of an index to inner tables: for each table, and each group, that a query meets.
 */
#define INNER_TABLE_NS 8.0
#define INNER_GROUP_NS 12.0

enum {
    FEW_TABLES = 64,
    INNER_SHARED = 10 /* bits in common that spare an inner table the half of its cost */
};

unsigned nd_join_group(const uint64_t *keys, unsigned tables, size_t words, unsigned shared,
                       bool *done, unsigned *group, uint64_t *mask)
{
    unsigned t = 0, n = 0;

    while (done[t])
        t++;
    *mask = words == 1 ? keys[t] : 0;
    for (unsigned u = t; u < tables; u++) {
        uint64_t common = words == 1 ? *mask & keys[u] : 0;

        if (done[u] || (u != t && nd_count_ones(common) < shared))
            continue;
        *mask = common;
        group[n++] = u;
        done[u] = true;
    }
    return n;
}

/* The cost of comparing a fingerprint within a bucket with so many others. */
static double compare_cost(unsigned distance, double others)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    double word = nd_join_is_weak(distance) ? COMPARE_NS : kernels->word_ns;
    double far = others > kernels->reach ? others - kernels->reach : 0;

    /* half of those that are farther than the next, and half a block at the end */
    return kernels->next_ns + (far > 0 ? BUCKET_NS / others : 0) +
           word * (far * far / (2 * others + 1) + far * (double)ND_HAMMING_WINDOW / (2 * far + 32));
}

/* How many partitions tables go through, or groups of inner ones. */
static unsigned count_groups(const uint64_t *keys, unsigned tables, unsigned shared)
{
    unsigned group[FEW_TABLES], groups = 0;
    bool done[FEW_TABLES] = {false};

    for (unsigned left = tables; left; groups++) {
        uint64_t mask;

        left -= nd_join_group(keys, tables, 1, shared, done, group, &mask);
    }
    return groups;
}

double nd_join_cost(size_t n, unsigned distance, unsigned key_bits, unsigned tables,
                    const uint64_t *keys)
{
    double cost = 0;

    if (!keys)
        return tables * (PARTITION_NS + DIVIDE_NS +
                         compare_cost(distance, ldexp((double)n, -(int)key_bits)));
    for (unsigned t = 0; t < tables; t++)
        cost += DIVIDE_NS + compare_cost(distance, ldexp((double)n, -(int)nd_count_ones(keys[t])));
    return cost +
           PARTITION_NS * count_groups(keys, tables, nd_join_shared_bits(nd_join_part_bits(n)));
}

double nd_join_inner_cost(size_t n, unsigned distance, unsigned key_bits, unsigned tables,
                          const uint64_t *keys)
{
    unsigned groups = keys ? count_groups(keys, tables, INNER_SHARED) : tables;

    (void)distance;
    return tables * (INNER_TABLE_NS + COMPARE_NS * ldexp((double)n, -(int)key_bits)) +
           groups * INNER_GROUP_NS;
}

/* The key length that should cost least; 0: compare all with all. */
static unsigned best_key(struct nd_hamming_solver *solver, unsigned bits, unsigned distance,
                         size_t n, nd_join_cost_of *cost_of)
{
    double lowest = COMPARE_NS * (double)n / 2;
    unsigned best = 0;

    for (unsigned key = 1; key <= ND_HAMMING_KEY_MAX; key++) {
        unsigned tables = nd_hamming_solver_tables(solver, bits, (int)key);
        bool is_narrow = tables <= FEW_TABLES && bits <= 64;
        uint64_t keys[FEW_TABLES];
        double cost;

        if (tables == ND_HAMMING_NO_TABLES)
            break;
        if (is_narrow)
            nd_hamming_solver_keys(solver, bits, (int)key, keys);
        cost = cost_of(n, distance, key, tables, is_narrow ? keys : NULL);
        if (cost < lowest) {
            lowest = cost;
            best = key;
        }
    }
    return best;
}

/* The solver knows the bits that are open as 0, 1, 2 …: put its bit i on the i-th open one. */
static void place_bits(const uint64_t *key, const uint64_t *open, size_t words, uint64_t *out)
{
    unsigned i = 0;

    for (size_t w = 0; w < words; w++) {
        out[w] = 0;
        for (uint64_t left = open[w]; left; left &= left - 1, i++)
            if (key[i / 64] >> i % 64 & 1)
                out[w] |= left & -left;
    }
}

bool nd_join_design(struct nd_join_design *design, const uint64_t *open, size_t words,
                    unsigned distance, size_t n, nd_join_cost_of *cost_of)
{
    unsigned bits = nd_hamming_ones(open, words), key_bits;
    size_t narrow = (bits + 63) / 64;
    struct nd_hamming_solver *solver = nd_hamming_solver_new(distance, true);
    uint64_t *keys = NULL;
    bool made = solver != NULL;

    *design = (struct nd_join_design){.tables = 0};
    key_bits = made ? best_key(solver, bits, distance, n, cost_of) : 0;
    if (key_bits) {
        design->tables = nd_hamming_solver_tables(solver, bits, (int)key_bits);
        keys = nd_alloc_array(design->tables * narrow, sizeof *keys);
        design->keys = nd_alloc_array(design->tables * words, sizeof *keys);
        made = keys && design->keys;
        if (made)
            nd_hamming_solver_keys(solver, bits, (int)key_bits, keys);
        for (unsigned t = 0; made && t < design->tables; t++)
            place_bits(keys + t * narrow, open, words, design->keys + t * words);
    }
    if (!made) {
        free(design->keys);
        *design = (struct nd_join_design){.tables = 0};
    }
    free(keys);
    nd_hamming_solver_free(solver);
    return made;
}
