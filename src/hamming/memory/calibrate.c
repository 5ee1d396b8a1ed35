/* calibrate.c - measure the machine that predictions are for
 *
 * Memory is measured alone: random lines of tables of four sizes, many under way, with next to
 * nothing done to them.  The work of a family is what an index of it takes beyond the time that a
 * prediction gives to memory only.  Times are of the processor, not of the clock, and of several
 * repeats the lowest counts: other programs only make things slower.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/system/threads.h"
#include "hamming/plan/plan_checks.h"
#include "simd/hamming/hamming_kernels.h"

enum { ROUND = 256, ROUNDS = 512, SCAN = 1 << 16, REPEATS = 3, QUERIES = 50000, PIECES = 16 };
static const unsigned size_bits[ND_HAMMING_SIZES] = {20, 24, 27, 29};

static double seconds(void)
{
    return 1e-9 * (double)nd_thread_ns();
}

/* The seconds for a line at a random place of a table, with a round of lines under way. */
static double time_lines(const struct nd_hamming_line *table, size_t bytes)
{
    const struct nd_hamming_line *line[2][ROUND];
    uint64_t n = bytes / sizeof *table, at = 0;
    double best = 1;

    for (int repeat = 0; repeat < REPEATS; repeat++) {
        volatile uint32_t sum = 0;
        double start = seconds(), took;

        for (size_t i = 0; i < ROUND; i++)
            line[0][i] = table;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t of_round = 0;

            for (size_t i = 0; i < ROUND; i++) {
                uint64_t place = (uint64_t)(((unsigned __int128)nd_mix64(++at) * n) >> 64);

                line[~round & 1][i] = table + place;
                __builtin_prefetch(line[~round & 1][i], 0, 2);
            }
            for (size_t i = 0; i < ROUND; i++)
                of_round += line[round & 1][i]->word[0];
            sum = of_round;
        }
        (void)sum;
        took = (seconds() - start) / ROUNDS / ROUND;
        best = took < best ? took : best;
    }
    return best;
}

static double time_scan(const struct nd_hamming_line *table)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const uint64_t *row = (const uint64_t *)(const void *)table, query = UINT64_MAX;
    uint32_t found[1024];
    double best = 1;

    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = seconds(), took;

        for (size_t i = 0; i < SCAN; i += 1024)
            kernels->rows(row + i, 1024, 1, &query, 3, found);
        took = (seconds() - start) / SCAN;
        best = took < best ? took : best;
    }
    return best;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * Make the largest table that memory allows, and write each page.  *fresh becomes the seconds for a
 * new line, in the cheapest of some pieces: a virtual machine may first have to get what it gives.
 */
static struct nd_hamming_line *new_table(size_t *bytes, double *fresh)
{
    struct nd_hamming_line *table = NULL;
    double took[PIECES];

    for (unsigned i = ND_HAMMING_SIZES; i-- > 2 && !table;) {
        *bytes = (size_t)1 << size_bits[i];
        table = nd_table_alloc(*bytes);
    }
    for (size_t piece = 0; table && piece < PIECES; piece++) {
        size_t n = *bytes / sizeof *table / PIECES;
        double start = seconds();

        for (size_t i = piece * n; i < (piece + 1) * n; i++)
            table[i].word[0] = (uint32_t)i;
        took[piece] = (seconds() - start) / (double)n;
    }
    if (table) {
        qsort(took, PIECES, sizeof *took, by_value);
        *fresh = took[0];
    }
    return table;
}

/*
 * Seconds to add one of n random fingerprints after the plan, and to query; half of the queries
 * find one.
 */
static enum nd_status time_index(const struct nd_hamming_plan *plan, const uint64_t *row, size_t n,
                                 double *add, double *query, struct nd_error *err)
{
    struct nd_hamming_matches out = {.items = NULL};
    enum nd_status status = ND_OK;

    *add = *query = 1;
    for (int repeat = 0; repeat < REPEATS && status == ND_OK; repeat++) {
        struct nd_hamming *index;
        double start, took;

        status = nd_hamming_new(&index, plan, err);
        if (status != ND_OK)
            break;
        start = seconds();
        status = nd_hamming_add(index, row, NULL, 0, n, err);
        took = (seconds() - start) / (double)n;
        *add = took < *add ? took : *add;
        for (int again = 0; again < REPEATS && status == ND_OK; again++) {
            start = seconds();
            status = nd_hamming_query(index, row + n, QUERIES, 3, &out, err);
            took = (seconds() - start) / QUERIES;
            *query = took < *query ? took : *query;
        }
        nd_hamming_free(index);
    }
    nd_hamming_matches_release(&out);
    return status;
}

static double at_least(double min, double x)
{
    return x > min ? x : min;
}

/* The work of an index of a family beside its memory: what a prediction without that work falls
 * short of the measured time. */
static enum nd_status time_work(struct nd_hamming_machine *m, enum nd_hamming_family family,
                                unsigned tables, size_t n, struct nd_error *err)
{
    const double min = 0.1, nothing = 1e-12; /* a machine's figures are above 0 */
    struct nd_hamming_problem problem = {64, 3, n};
    struct nd_hamming_plan plan;
    uint64_t *row = nd_alloc_array(n + QUERIES, sizeof *row);
    double add = 0, query = 0;
    enum nd_status status = row ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory to measure with");

    for (size_t i = 0; row && i < n + QUERIES; i++)
        row[i] =
            i < n || i % 2 ? nd_mix64(i + 1) : row[nd_mix64(i) % n] ^ nd_mix64(i) >> 63 << i % 64;
    m->table_ns = m->bucket_ns = m->table_add_ns = m->half_add_ns = nothing;
    if (status == ND_OK)
        status = nd_hamming_design(&problem, m, family, 0, tables, &plan, err);
    if (status == ND_OK)
        status = time_index(&plan, row, n, &add, &query, err);
    if (status == ND_OK) {
        query = 1e9 * (query - plan.query_seconds) / plan.lines;
        add = 1e9 * (add - plan.build_seconds / (double)n);
        m->bucket_ns = m->table_ns = at_least(min, query);
        m->half_add_ns = at_least(min, add / 2);
        m->table_add_ns = at_least(min, (add - m->table_ns) / plan.tables);
    }
    free(row);
    return status;
}

enum nd_status nd_hamming_calibrate(struct nd_hamming_machine *machine, struct nd_error *err)
{
    struct nd_hamming_machine made = nd_hamming_machine_default(), halves;
    enum nd_status status;
    size_t bytes = 0;
    double fresh = 0;
    struct nd_hamming_line *table = new_table(&bytes, &fresh);

    if (!table)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu bytes to measure with", bytes);
    made.fresh_ns = 1e9 * fresh;
    for (unsigned i = 0; i < ND_HAMMING_SIZES; i++)
        made.line_ns[i] = (size_t)1 << size_bits[i] <= bytes
                              ? 1e9 * time_lines(table, (size_t)1 << size_bits[i])
                              : made.line_ns[i - 1] * 1.5;
    made.compare_ns = 1e9 * time_scan(table);
    nd_table_free(table, bytes);
    halves = made;
    status = time_work(&made, ND_HAMMING_COVERING, 8, 50000, err);
    if (status == ND_OK)
        status = time_work(&halves, ND_HAMMING_HALVES, 0, 400000, err);
    if (status != ND_OK)
        return status;
    made.bucket_ns = halves.bucket_ns;
    made.half_add_ns = halves.half_add_ns;
    *machine = made;
    return ND_OK;
}
