/* hamming_calibrate.c - measure the machine that predictions are for */
#define _GNU_SOURCE
#include <time.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/hamming_plan.h"
#include "simd/hamming_kernels.h"

enum { LARGE_LINES = 1 << 21, SMALL_LINES = 1 << 14, WAVE = 128, ROUNDS = 4096, SCAN = 1 << 16 };

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lines of a table at random places, a wave under way at a time; the least of three goes. */
static double time_lines(const struct nd_hamming_line *table, size_t n)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct nd_hamming_line *line[2][WAVE];
    struct nd_hamming_found found[WAVE];
    uint32_t value[WAVE] = {0};
    double best = 1;
    uint64_t at = 0;

    for (int go = 0; go < 3; go++) {
        double start = seconds(), took;

        for (size_t i = 0; i < WAVE; i++)
            line[0][i] = table;
        for (unsigned round = 0; round < ROUNDS; round++) {
            for (size_t i = 0; i < WAVE; i++) {
                line[~round & 1][i] = table + nd_mix64(++at) % n;
                __builtin_prefetch(line[~round & 1][i]);
            }
            kernels->lines(line[round & 1], value, WAVE, 0, found);
        }
        took = (seconds() - start) / ROUNDS / WAVE;
        best = took < best ? took : best;
    }
    return best;
}

static double time_writes(struct nd_hamming_line *table, size_t n)
{
    double start = seconds();
    uint64_t at = 0;

    for (size_t i = 0; i < (size_t)ROUNDS * WAVE; i++) {
        __builtin_prefetch(table + nd_mix64(at + 16) % n, 1);
        table[nd_mix64(at++) % n].word[0]++;
    }
    return (seconds() - start) / ROUNDS / WAVE;
}

static double time_scan(const struct nd_hamming_line *table)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const uint64_t *row = (const uint64_t *)(const void *)table, query = UINT64_MAX;
    uint32_t found[1024];
    double best = 1;

    for (int go = 0; go < 3; go++) {
        double start = seconds(), took;

        for (size_t i = 0; i < SCAN; i += 1024)
            kernels->rows(row + i, 1024, 1, &query, 3, found);
        took = (seconds() - start) / SCAN;
        best = took < best ? took : best;
    }
    return best;
}

enum nd_status nd_hamming_calibrate(struct nd_hamming_machine *machine, struct nd_error *err)
{
    size_t bytes = LARGE_LINES * sizeof(struct nd_hamming_line);
    struct nd_hamming_line *table = nd_table_alloc(bytes);
    struct nd_hamming_machine made = nd_hamming_machine_default();

    if (!table)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu bytes to measure with", bytes);
    for (size_t i = 0; i < LARGE_LINES; i++)
        table[i].word[0] = (uint32_t)i; /* every page is there */
    made.line_ns = 1e9 * time_lines(table, LARGE_LINES);
    made.cached_ns = 1e9 * time_lines(table, SMALL_LINES);
    made.insert_ns = 1e9 * time_writes(table, LARGE_LINES);
    made.compare_ns = 1e9 * time_scan(table);
    nd_table_free(table, bytes);
    *machine = made;
    return ND_OK;
}
