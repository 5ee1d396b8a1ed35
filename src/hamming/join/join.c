/* join.c - all pairs of a set within a distance
 *
 * A design is a set of tables; whichever k bits are wrong, the key of at least one of its tables
 * holds none of them.  So any two fingerprints within the distance agree in some table's key, and
 * it suffices to compare those that do.  For each table
 *
 *     partition.c   deals the fingerprints into parts by a hash of the key, so that a part fits in
 *                   a cache;
 *     part_pairs.c  divides a part into buckets by more of that hash, compares those that share a
 *                   bucket, and reports a pair if this table is the first whose key agrees.  So
 *                   each pair comes once, and no list of the pairs already seen is needed.
 *
 * design.c chooses the tables by what they should cost; this file runs the threads.
 *
 * A bucket that stays large is a cluster that agrees in a whole key.  It is joined in the same way
 * by the bits outside that key: the recurrence of Manku 2007, §3.1.2, only where the data need it.
 * Each level takes at least the bits of one key away, so the levels are few.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "hamming/join/design.h"
#include "hamming/join/part_pairs.h"
#include "hamming/join/partition.h"
#include "hamming/plan/fingerprint.h"
#include "hamming/plan/plan_checks.h"

enum {
    SLACK = 4096,
    MORE_BITS = 1 /* shared by tables than choose parts otherwise: their parts are divided less */
};

/* The join of all fingerprints. */
struct join_run {
    struct nd_join join;
    struct nd_join_level level;
    struct nd_join_partition partition;
    struct nd_join_worker *worker;
};

static bool reserve(struct nd_join_scratch *s, size_t n)
{
    if (n <= s->capacity)
        return true;
    nd_join_scratch_release(s);
    return nd_join_scratch_make(s, n + n / 4 + SLACK);
}

/* One part, by every table of the pass. */
static void run_part(void *context, size_t part, unsigned worker)
{
    struct join_run *r = context;
    struct nd_join *j = &r->join;
    const struct nd_join_partition *p = &r->partition;
    const struct nd_join_pass *pass = p->current;
    size_t start = p->start[part], n = p->start[part + 1] - start;
    struct nd_join_worker *w = &r->worker[worker];
    struct nd_join_level level = r->level;
    const struct nd_join_task task = {
        j,           w,    &level, {p->records.value + start, p->records.position + start},
        &w->scratch, NULL, 0};

    if (worker == 0)
        nd_join_ask(j, w);
    if (nd_join_is_over(j))
        return;
    if (!reserve(&w->scratch, n)) {
        atomic_store(&j->no_memory, true);
        return;
    }
    for (unsigned g = 0; g < pass->n; g++) {
        level.table = p->group[pass->first + g];
        nd_join_table_code(&level.code, j->words, nd_join_key(j, &level, level.table), pass, n);
        nd_join_part(&task, n);
    }
}

/* Choose the next passes, of tables that are not done; returns how many tables they are for. */
static unsigned choose_passes(struct join_run *r, unsigned left, bool *done)
{
    const struct nd_join *j = &r->join;
    const struct nd_join_design *design = &r->level.design;
    struct nd_join_partition *p = &r->partition;
    unsigned chosen = 0, part_bits = nd_join_part_bits(j->n);

    for (p->n_passes = 0; p->n_passes < ND_JOIN_PASSES && chosen < left; p->n_passes++) {
        struct nd_join_pass *pass = &p->pass[p->n_passes];

        pass->first = chosen;
        pass->n =
            nd_join_group(design->keys, design->tables, j->words, nd_join_shared_bits(part_bits),
                          done, p->group + chosen, &pass->mask);
        nd_join_pass_code(pass, j->words, pass->n > 1 ? p->part_bits : part_bits);
        chosen += pass->n;
    }
    return chosen;
}

static void run_tables(struct join_run *r)
{
    struct nd_join *j = &r->join;
    struct nd_join_partition *p = &r->partition;
    unsigned tables = r->level.design.tables, left = tables;
    bool *done = calloc(tables, sizeof *done);

    *p = (struct nd_join_partition){.join = j,
                                    .keys = r->level.design.keys,
                                    .part_bits = nd_join_part_bits(j->n) + MORE_BITS,
                                    .group = nd_alloc_array(tables, sizeof *p->group)};
    if (!done || !p->group || !nd_join_partition_make(p))
        atomic_store(&j->no_memory, true);
    while (left && !nd_join_is_over(j)) {
        left -= choose_passes(r, left, done);
        nd_join_count_parts(p);
        nd_join_ask(j, r->worker);
        for (unsigned i = 0; i < p->n_passes && !nd_join_is_over(j); i++) {
            nd_join_partition_run(p, &p->pass[i]);
            nd_join_ask(j, r->worker);
            nd_pool_run(j->pool, (size_t)1 << p->pass[i].code.part_bits, run_part, r);
        }
    }
    free(done);
    free(p->group);
    nd_join_partition_release(p);
}

static struct nd_join_task scan_task(struct join_run *r, unsigned worker)
{
    return (struct nd_join_task){.join = &r->join,
                                 .worker = &r->worker[worker],
                                 .level = &r->level,
                                 .part = r->partition.records,
                                 .scratch = &r->worker[0].scratch};
}

/* Compare some records with those behind them. */
static void scan_rest(void *context, size_t chunk, unsigned worker)
{
    struct join_run *r = context;
    const struct nd_join_task task = scan_task(r, worker);

    if (worker == 0)
        nd_join_ask(&r->join, task.worker);
    if (!nd_join_is_over(&r->join))
        nd_join_compare_rest(&task, chunk * ND_JOIN_CHUNK, r->join.n);
}

/* All with all: there are too few for tables, or there is no design. */
static void run_scan(struct join_run *r)
{
    struct nd_join *j = &r->join;
    struct nd_join_records *records = &r->partition.records;
    struct nd_join_task task;

    records->value = nd_alloc_array(j->n, sizeof *records->value);
    records->position = nd_alloc_array(j->n, sizeof *records->position);
    if (records->value && records->position && nd_join_scratch_make(&r->worker[0].scratch, j->n)) {
        for (size_t i = 0; i < j->n; i++)
            records->position[i] = (uint32_t)i;
        task = scan_task(r, 0);
        nd_join_list_all(&task, j->n);
        nd_pool_run(j->pool, (j->n + ND_JOIN_CHUNK - 1) / ND_JOIN_CHUNK, scan_rest, r);
    } else {
        atomic_store(&j->no_memory, true);
    }
    free(records->value);
    free(records->position);
}

static void run(struct join_run *r)
{
    struct nd_join *j = &r->join;

    r->worker = calloc(j->n_threads, sizeof *r->worker);
    if (!r->worker ||
        !nd_join_design(&r->level.design, r->level.open, j->words, j->distance, j->n, nd_join_cost))
        atomic_store(&j->no_memory, true);
    else if (r->level.design.tables == 0)
        run_scan(r);
    else
        run_tables(r);
    for (unsigned t = 0; r->worker && t < j->n_threads; t++) {
        nd_join_flush(j, &r->worker[t]);
        nd_join_scratch_release(&r->worker[t].scratch);
    }
    free(r->worker);
    free(r->level.design.keys);
}

enum nd_status nd_hamming_pairs(const uint64_t *fingerprints, size_t n, unsigned bits,
                                unsigned distance, unsigned threads, nd_hamming_report *report,
                                void *context, struct nd_error *err)
{
    const struct nd_hamming_problem problem = {bits, distance, n};
    struct join_run r = {.join = {.row = fingerprints,
                                  .n = n,
                                  .words = nd_hamming_words(bits),
                                  .distance = distance,
                                  .is_weak = nd_join_is_weak(distance),
                                  .report = report,
                                  .context = context}};
    enum nd_status status = nd_hamming_problem_check(&problem, err);

    if (status == ND_OK)
        status = nd_hamming_check_bits(fingerprints, n, bits, err);
    if (status == ND_OK && !report)
        status = nd_fail(err, ND_EINVAL, "no function that takes the pairs is given");
    if (status != ND_OK || n < 2)
        return status;
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "%zu fingerprints are too many to join: at most 2^32 - 1", n);
    nd_hamming_fill_mask(r.level.open, bits);
    r.join.pool = nd_pool_new(threads, err);
    if (!r.join.pool)
        return err ? err->status : ND_ENOMEM;
    r.join.n_threads = nd_pool_threads(r.join.pool);
    run(&r);
    nd_pool_free(r.join.pool);
    if (atomic_load(&r.join.no_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory for joining %zu fingerprints", n);
    if (atomic_load(&r.join.stop))
        return nd_fail(err, ND_ECANCELLED, "the join was stopped");
    return ND_OK;
}
