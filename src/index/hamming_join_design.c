/* hamming_join_design.c - which tables to join by, and handing out the pairs */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/hamming_join.h"
#include "index/hamming_solver.h"
#include "simd/hamming_kernels.h"

/* Nanoseconds for a fingerprint: to partition it, and to divide its part by a table. */
#define PARTITION_NS 4.0
#define DIVIDE_NS 2.3
/* To compare it with another one.  For a bucket that is not done with those next to each. */
#define COMPARE_NS 0.1
#define BUCKET_NS 25.0
/* The same of entries of an index that move to inner tables: by what a query meets there. */
#define INNER_TABLE_NS 8.0
#define INNER_GROUP_NS 12.0

enum {
    FEW_TABLES = 64,
    INNER_SHARED = 10 /* bits in common that spare an inner table the half of its cost */
};

static unsigned count_bits(const uint64_t *x, size_t words)
{
    unsigned bits = 0;

    for (size_t w = 0; w < words; w++)
        bits += (unsigned)__builtin_popcountll(x[w]);
    return bits;
}

unsigned nd_join_group(const uint64_t *keys, unsigned tables, size_t words, unsigned shared,
                       bool *done, unsigned *group, uint64_t *mask)
{
    unsigned t = 0, n = 0;

    while (done[t])
        t++;
    *mask = words == 1 ? keys[t] : 0;
    for (unsigned u = t; u < tables; u++) {
        uint64_t common = words == 1 ? *mask & keys[u] : 0;

        if (done[u] || (u != t && (unsigned)__builtin_popcountll(common) < shared))
            continue;
        *mask = common;
        group[n++] = u;
        done[u] = true;
    }
    return n;
}

unsigned nd_join_shared(unsigned part_bits)
{
    return part_bits < 2 ? 1 : part_bits - 1;
}

/* To compare a fingerprint within a bucket with so many others. */
static double compare_cost(unsigned distance, double others)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    double word = nd_join_is_weak(distance) ? COMPARE_NS : kernels->word_ns;
    double far = others > ND_HAMMING_NEXT ? others - ND_HAMMING_NEXT : 0;

    /* half of those that are farther than the next, and half a block at the end */
    return kernels->next_ns + (far > 0 ? BUCKET_NS / others : 0) +
           word * (far * far / (2 * others + 1) + far * ND_HAMMING_WINDOW / (2 * far + 32));
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

double nd_join_cost(const struct nd_join_wish *wish)
{
    double n = (double)wish->n, cost = 0;

    if (!wish->keys)
        return wish->tables * (PARTITION_NS + DIVIDE_NS +
                               compare_cost(wish->distance, ldexp(n, -(int)wish->key_bits)));
    for (unsigned t = 0; t < wish->tables; t++)
        cost += DIVIDE_NS +
                compare_cost(wish->distance, ldexp(n, -__builtin_popcountll(wish->keys[t])));
    return cost + PARTITION_NS * count_groups(wish->keys, wish->tables,
                                              nd_join_shared(nd_join_part_bits(wish->n)));
}

double nd_join_inner_cost(const struct nd_join_wish *wish)
{
    unsigned groups =
        wish->keys ? count_groups(wish->keys, wish->tables, INNER_SHARED) : wish->tables;

    return wish->tables *
               (INNER_TABLE_NS + COMPARE_NS * ldexp((double)wish->n, -(int)wish->key_bits)) +
           groups * INNER_GROUP_NS;
}

/* The key length that should cost least; 0: compare all with all. */
static unsigned best_key(struct nd_hamming_solver *solver, unsigned bits, unsigned distance,
                         size_t n, nd_join_cost_of *cost_of)
{
    double least = COMPARE_NS * (double)n / 2;
    unsigned best = 0;

    for (unsigned key = 1; key <= ND_HAMMING_KEY_MAX; key++) {
        uint64_t keys[FEW_TABLES];
        struct nd_join_wish wish = {n, distance, key, 0, NULL};
        double cost;

        wish.tables = nd_hamming_solver_tables(solver, bits, (int)key);
        if (wish.tables == ND_HAMMING_NO_TABLES)
            break;
        if (wish.tables <= FEW_TABLES && bits <= 64) {
            nd_hamming_solver_keys(solver, bits, (int)key, keys);
            wish.keys = keys;
        }
        cost = cost_of(&wish);
        if (cost < least) {
            least = cost;
            best = key;
        }
    }
    return best;
}

/* Bit i of a key stands for the i-th open bit. */
static void spread(const uint64_t *key, const uint64_t *open, size_t words, uint64_t *out)
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
    unsigned bits = count_bits(open, words), key_bits;
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
            spread(keys + t * narrow, open, words, design->keys + t * words);
    }
    if (!made) {
        free(design->keys);
        *design = (struct nd_join_design){.tables = 0};
    }
    free(keys);
    nd_hamming_solver_free(solver);
    return made;
}

void nd_join_flush(struct nd_join_output *out, struct nd_join_buffer *buffer)
{
    nd_pool_lock(out->pool);
    if (buffer->n && !atomic_load(&out->stop) &&
        out->report(out->context, buffer->pair, buffer->n) != 0)
        atomic_store(&out->stop, true);
    nd_pool_unlock(out->pool);
    buffer->n = 0;
}
