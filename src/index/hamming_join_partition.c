/* hamming_join_partition.c - all records in the order of their parts
 *
 * Each thread writes its share of every part.  Records go to a buffer of a few lines for each part,
 * and from there past the caches, whole lines at a time: a part's place in memory is touched once
 * for sixteen records (Wassenberg and Sanders, 2011).
 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_join.h"
#include "simd/hamming_kernels.h"

enum {
    PART = 16384,   /* records that a part should have, so that it is joined in the cache */
    PART_BITS = 13, /* and no more parts than this */
    LINES = 16      /* records of a buffer: 2 lines of values, 1 of positions */
};

struct lines {
    alignas(64) uint64_t value[LINES];
    alignas(64) uint32_t position[LINES];
};

/* Of one thread and part: where its records begin, where the next goes, and those on their way. */
struct nd_join_share {
    size_t *first, *next;
    struct lines *lines;
    uint32_t *count; /* of each part, pass by pass */
};

bool nd_join_partition_make(struct nd_join *j)
{
    size_t parts;

    j->part_bits = nd_join_bits(j->n, PART, PART_BITS);
    parts = (size_t)1 << j->part_bits;
    j->start = nd_alloc_array(parts + 1, sizeof *j->start);
    j->share = calloc(j->n_threads, sizeof *j->share);
    if (!j->start || !j->share || !nd_join_records_make(&j->part, j->n))
        return false;
    for (unsigned t = 0; t < j->n_threads; t++) {
        struct nd_join_share *s = &j->share[t];

        s->first = nd_alloc_array(parts, sizeof *s->first);
        s->next = nd_alloc_array(parts, sizeof *s->next);
        s->lines = aligned_alloc(64, parts * sizeof *s->lines);
        s->count = nd_alloc_array(ND_JOIN_PASSES * parts, sizeof *s->count);
        if (!s->first || !s->next || !s->lines || !s->count)
            return false;
    }
    return true;
}

void nd_join_partition_release(struct nd_join *j)
{
    for (unsigned t = 0; j->share && t < j->n_threads; t++) {
        free(j->share[t].first);
        free(j->share[t].next);
        free(j->share[t].lines);
        free(j->share[t].count);
    }
    free(j->share);
    free(j->start);
    nd_join_records_release(&j->part);
}

/* The rows that a thread partitions. */
static void rows_of(const struct nd_join *j, size_t task, size_t *from, size_t *to)
{
    *from = j->n / j->n_threads * task;
    *to = task + 1 == j->n_threads ? j->n : j->n / j->n_threads * (task + 1);
}

static void count_share(void *context, size_t task, unsigned worker)
{
    struct nd_join *j = context;
    struct nd_join_level level = j->level;
    uint32_t *count = j->share[task].count;
    const unsigned bits = j->part_bits;
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    memset(count, 0, j->n_passes * sizeof *count << bits);
    if (j->words == 1) {
        for (size_t i = from; i < to; i++)
            for (unsigned p = 0; p < j->n_passes; p++)
                count[(size_t)p << bits | nd_join_place(j->row[i], j->pass[p].mask, 0, bits)]++;
        return;
    }
    for (unsigned p = 0; p < j->n_passes; p++, count += (size_t)1 << bits) {
        level.table = j->group[j->pass[p].first];
        for (size_t i = from; i < to; i++)
            count[nd_join_place(nd_join_value(j, &level, i), j->pass[p].mask, 0, bits)]++;
    }
}

/* Write [from, to) of a group of LINES records that begins at `base`. */
static void write_some(struct nd_join *j, const struct lines *l, size_t base, size_t from,
                       size_t to)
{
    if (from >= to)
        return;
    memcpy(j->part.value + from, l->value + (from - base), (to - from) * sizeof *l->value);
    memcpy(j->part.position + from, l->position + (from - base), (to - from) * sizeof *l->position);
}

static void move_share(void *context, size_t task, unsigned worker)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    struct nd_join *j = context;
    struct nd_join_share *s = &j->share[task];
    const uint64_t mask = j->pass[j->now].mask;
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    for (size_t i = from; i < to; i++) {
        uint64_t value = nd_join_value(j, &j->level, i);
        size_t p = nd_join_place(value, mask, 0, j->part_bits), at = s->next[p]++;
        size_t slot = at % LINES, base = at - slot;
        struct lines *l = &s->lines[p];

        l->value[slot] = value;
        l->position[slot] = (uint32_t)i;
        if (slot != LINES - 1)
            continue;
        if (base >= s->first[p]) {
            kernels->store_line(j->part.value + base, l->value);
            kernels->store_line(j->part.value + base + LINES / 2, l->value + LINES / 2);
            kernels->store_line(j->part.position + base, l->position);
        } else { /* the line begins with another thread's or part's */
            write_some(j, l, base, s->first[p], base + LINES);
        }
    }
    for (size_t p = 0; p < (size_t)1 << j->part_bits; p++) {
        size_t base = s->next[p] / LINES * LINES;

        write_some(j, &s->lines[p], base, base > s->first[p] ? base : s->first[p], s->next[p]);
    }
    kernels->fence();
}

void nd_join_count(struct nd_join *j)
{
    nd_pool_run(j->pool, j->n_threads, count_share, j);
}

void nd_join_partition(struct nd_join *j)
{
    size_t parts = (size_t)1 << j->part_bits, sum = 0;

    for (size_t p = 0; p < parts; p++) {
        j->start[p] = sum;
        for (unsigned t = 0; t < j->n_threads; t++) {
            j->share[t].first[p] = j->share[t].next[p] = sum;
            sum += j->share[t].count[j->now * parts + p];
        }
    }
    j->start[parts] = sum;
    nd_pool_run(j->pool, j->n_threads, move_share, j);
}
