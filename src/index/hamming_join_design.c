/* hamming_join_design.c - which tables to join by, and handing out the pairs */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/hamming_join.h"
#include "index/hamming_solver.h"

/* Nanoseconds for a fingerprint: to partition it, to divide a part once, and to compare it with
 * another. */
#define PARTITION_NS 12.0
#define DIVIDE_NS 8.0
#define COMPARE_NS 0.1

enum {
    SHARED_BITS = 10, /* in common are enough for parts */
    FEW_TABLES = 64
};

static unsigned count_bits(const uint64_t *x, size_t words)
{
    unsigned bits = 0;

    for (size_t w = 0; w < words; w++)
        bits += (unsigned)__builtin_popcountll(x[w]);
    return bits;
}

unsigned nd_join_group(const uint64_t *keys, unsigned tables, size_t words, bool *done,
                       unsigned *group, uint64_t *mask)
{
    unsigned t = 0, n = 0;

    while (done[t])
        t++;
    *mask = words == 1 ? keys[t] : 0;
    for (unsigned u = t; u < tables; u++) {
        uint64_t common = words == 1 ? *mask & keys[u] : 0;

        if (done[u] || (u != t && __builtin_popcountll(common) < SHARED_BITS))
            continue;
        *mask = common;
        group[n++] = u;
        done[u] = true;
    }
    return n;
}

/* How many times a design partitions. */
static unsigned count_groups(struct nd_hamming_solver *solver, unsigned bits, int key,
                             unsigned tables)
{
    uint64_t keys[FEW_TABLES];
    unsigned group[FEW_TABLES], groups = 0;
    bool done[FEW_TABLES] = {false};

    if (tables > FEW_TABLES || bits > 64)
        return tables;
    nd_hamming_solver_keys(solver, bits, key, keys);
    for (unsigned left = tables; left; groups++) {
        uint64_t mask;

        left -= nd_join_group(keys, tables, 1, done, group, &mask);
    }
    return groups;
}

/* The key length that should cost least; 0: compare all with all. */
static unsigned best_key(struct nd_hamming_solver *solver, unsigned bits, size_t n)
{
    double least = COMPARE_NS * (double)n / 2;
    unsigned best = 0;

    for (unsigned key = 1; key <= ND_HAMMING_KEY_MAX; key++) {
        unsigned tables = nd_hamming_solver_tables(solver, bits, (int)key);
        double cost = tables * (DIVIDE_NS + COMPARE_NS * ldexp((double)n, -(int)key));

        if (tables == ND_HAMMING_NO_TABLES)
            break;
        if (cost >= least)
            continue;
        cost += count_groups(solver, bits, (int)key, tables) * PARTITION_NS;
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
                    unsigned distance, size_t n)
{
    unsigned bits = count_bits(open, words), key_bits;
    size_t narrow = (bits + 63) / 64;
    struct nd_hamming_solver *solver = nd_hamming_solver_new(distance, true);
    uint64_t *keys = NULL;
    bool made = solver != NULL;

    *design = (struct nd_join_design){.tables = 0};
    key_bits = made ? best_key(solver, bits, n) : 0;
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
    while (atomic_flag_test_and_set_explicit(&out->busy, memory_order_acquire))
        ;
    if (buffer->n && !atomic_load(&out->stop) &&
        out->report(out->context, buffer->pair, buffer->n) != 0)
        atomic_store(&out->stop, true);
    atomic_flag_clear_explicit(&out->busy, memory_order_release);
    buffer->n = 0;
}
