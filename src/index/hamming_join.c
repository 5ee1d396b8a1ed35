/* hamming_join.c - all pairs of a set within a distance
 *
 * For each table of a design: the fingerprints are partitioned by a hash of the table's key so that
 * a part fits in the cache, a part is divided by more of that hash, and those in a bucket are
 * compared.  A pair is reported by the first table whose key agrees and by no other.
 *
 * A bucket that stays large (a cluster that agrees in the whole key) is joined in the same way by
 * the bits outside that key: the recurrence of 002, section 3.1.2, only where the data want it.
 */
#include "index/hamming_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_plan.h"

enum {
    SLACK = 4096,
    MORE_BITS = 1 /* shared by tables than choose parts otherwise: their parts are divided less */
};

static bool reserve(struct nd_join_scratch *s, size_t n)
{
    if (n <= s->capacity)
        return true;
    nd_join_scratch_release(s);
    return nd_join_scratch_make(s, n + n / 4 + SLACK);
}

/* One part, by every table of the pass. */
static void run_part(void *context, size_t task, unsigned worker)
{
    struct nd_join *j = context;
    struct nd_join_worker *w = &j->worker[worker];
    const struct nd_join_pass *pass = &j->pass[j->now];
    size_t start = j->start[task], n = j->start[task + 1] - start;
    struct nd_join_level level = j->level;
    const struct nd_join_site site = {
        j, w, &level, {j->part.value + start, j->part.position + start}, &w->scratch, NULL};

    if (!reserve(&w->scratch, n)) {
        atomic_store(&j->no_memory, true);
        return;
    }
    for (unsigned g = 0; g < pass->n; g++) {
        level.table = j->group[pass->first + g];
        nd_join_table_code(&level.code, j->words, nd_join_key(j, &level, level.table), pass, n);
        nd_join_part(&site, n);
    }
}

/* The next passes, of tables not done; returns how many tables they are for. */
static unsigned choose_passes(struct nd_join *j, unsigned left, bool *done)
{
    const struct nd_join_design *design = &j->level.design;
    unsigned chosen = 0, wanted = nd_join_part_bits(j->n);

    for (j->n_passes = 0; j->n_passes < ND_JOIN_PASSES && chosen < left; j->n_passes++) {
        struct nd_join_pass *pass = &j->pass[j->n_passes];

        pass->first = chosen;
        pass->n = nd_join_group(design->keys, design->tables, j->words, nd_join_shared(wanted),
                                done, j->group + chosen, &pass->mask);
        nd_join_pass_code(pass, j->words, pass->n > 1 ? j->part_bits : wanted);
        chosen += pass->n;
    }
    return chosen;
}

static void run_tables(struct nd_join *j)
{
    unsigned tables = j->level.design.tables, left = tables;
    bool *done = calloc(tables, sizeof *done);

    j->part_bits = nd_join_part_bits(j->n) + MORE_BITS;
    j->group = nd_alloc_array(tables, sizeof *j->group);
    if (!done || !j->group || !nd_join_partition_make(j))
        atomic_store(&j->no_memory, true);
    while (left && !nd_join_is_over(j)) {
        left -= choose_passes(j, left, done);
        nd_join_count(j);
        for (j->now = 0; j->now < j->n_passes && !nd_join_is_over(j); j->now++) {
            nd_join_partition(j);
            nd_pool_run(j->pool, (size_t)1 << j->pass[j->now].code.part_bits, run_part, j);
        }
    }
    free(done);
    free(j->group);
    nd_join_partition_release(j);
}

/* What some records meet among those behind them, where all are compared with all. */
static void scan_rest(void *context, size_t task, unsigned worker)
{
    struct nd_join *j = context;
    const struct nd_join_site site = {j,       &j->worker[worker],    &j->level,
                                      j->part, &j->worker[0].scratch, NULL};

    nd_join_compare_rest(&site, task * ND_JOIN_CHUNK, j->n);
    nd_join_settle(&site);
}

static void scan_all(struct nd_join *j)
{
    const struct nd_join_site site = {j,       &j->worker[0],         &j->level,
                                      j->part, &j->worker[0].scratch, NULL};

    for (size_t i = 0; i < j->n; i++) {
        j->part.value[i] = j->row[i * j->words];
        j->part.position[i] = (uint32_t)i;
        site.s->record[i] = (uint64_t)i << 32;
    }
    nd_join_fetch(&site, 0, j->n);
    nd_pool_run(j->pool, (j->n + ND_JOIN_CHUNK - 1) / ND_JOIN_CHUNK, scan_rest, j);
}

/* Too few for tables, or no table to be had: all with all. */
static void run_scan(struct nd_join *j)
{
    j->part.value = nd_alloc_array(j->n, sizeof *j->part.value);
    j->part.position = nd_alloc_array(j->n, sizeof *j->part.position);
    if (j->part.value && j->part.position && nd_join_scratch_make(&j->worker[0].scratch, j->n))
        scan_all(j);
    else
        atomic_store(&j->no_memory, true);
    free(j->part.value);
    free(j->part.position);
}

static void run(struct nd_join *j)
{
    j->worker = calloc(j->n_threads, sizeof *j->worker);
    if (!j->worker ||
        !nd_join_design(&j->level.design, j->level.open, j->words, j->distance, j->n, nd_join_cost))
        atomic_store(&j->no_memory, true);
    else if (j->level.design.tables == 0)
        run_scan(j);
    else
        run_tables(j);
    for (unsigned t = 0; j->worker && t < j->n_threads; t++) {
        nd_join_flush(&j->out, &j->worker[t].out);
        nd_join_scratch_release(&j->worker[t].scratch);
    }
    free(j->worker);
    free(j->level.design.keys);
}

static void open_bits(uint64_t *open, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++)
        open[i / 64] |= UINT64_C(1) << i % 64;
}

enum nd_status nd_hamming_pairs(const uint64_t *fingerprints, size_t n, unsigned bits,
                                unsigned distance, unsigned threads, nd_hamming_report *report,
                                void *context, struct nd_error *err)
{
    const struct nd_hamming_problem problem = {bits, distance, n};
    struct nd_join j = {.row = fingerprints, .n = n, .words = nd_hamming_words(bits)};
    enum nd_status status = nd_hamming_problem_check(&problem, err);

    if (status == ND_OK)
        status = nd_hamming_check_bits(fingerprints, n, bits, err);
    if (status == ND_OK && !report)
        status = nd_fail(err, ND_EINVAL, "there is no function that takes the pairs");
    if (status != ND_OK || n < 2)
        return status;
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "%zu fingerprints to join: 2^32 - 1 at most", n);
    j.distance = distance;
    j.is_weak = nd_join_is_weak(distance);
    j.out.report = report;
    j.out.context = context;
    open_bits(j.level.open, bits);
    j.pool = nd_pool_new(threads, err);
    if (!j.pool)
        return err ? err->status : ND_ENOMEM;
    j.out.pool = j.pool;
    j.n_threads = nd_pool_threads(j.pool);
    run(&j);
    nd_pool_free(j.pool);
    if (atomic_load(&j.no_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory for joining %zu fingerprints", n);
    if (atomic_load(&j.out.stop))
        return nd_fail(err, ND_ECANCELLED, "the join was stopped");
    return ND_OK;
}
