/* hamming_join_partition.c - all fingerprints as records in the order of their parts
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

enum {
    LINES = 16 /* records of a buffer: 2 lines of values, 1 of positions */
};

struct lines {
    alignas(64) uint64_t value[LINES];
    alignas(64) uint32_t position[LINES];
};

/* Of one thread and part: where its records begin, where the next goes, and those on their way. */
struct nd_join_share {
    uint32_t *first, *next;
    struct lines *lines;
    uint32_t *count; /* of each part, pass by pass */
};

bool nd_join_partition_make(struct nd_join *j)
{
    size_t parts;

    parts = (size_t)1 << j->part_bits;
    j->start = nd_alloc_array(parts + 1, sizeof *j->start);
    j->share = calloc(j->n_threads, sizeof *j->share);
    j->part.value = nd_table_alloc(j->n * sizeof *j->part.value);
    j->part.position = nd_table_alloc(j->n * sizeof *j->part.position);
    if (!j->start || !j->share || !j->part.value || !j->part.position)
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
    nd_table_free(j->part.value, j->n * sizeof *j->part.value);
    nd_table_free(j->part.position, j->n * sizeof *j->part.position);
}

/* The rows that a thread partitions. */
static void rows_of(const struct nd_join *j, size_t task, size_t *from, size_t *to)
{
    *from = j->n / j->n_threads * task;
    *to = task + 1 == j->n_threads ? j->n : j->n / j->n_threads * (task + 1);
}

/* Ask for the rows of the next block. */
static void prefetch(const struct nd_join *j, size_t from)
{
    const uint64_t *row = j->row + from * j->words;
    size_t n = (j->n - from < ND_JOIN_BLOCK ? j->n - from : ND_JOIN_BLOCK) * j->words;

    for (size_t i = 0; i < n; i += 8)
        __builtin_prefetch(row + i);
}

/* The values of rows from `from` on for a pass: the rows themselves where they have one word. */
static const uint64_t *values_of(const struct nd_join *j, const struct nd_join_pass *pass,
                                 size_t from, size_t some, uint64_t *room)
{
    if (j->words == 1)
        return j->row + from;
    nd_join_values(j, nd_join_key(j, &j->level, j->group[pass->first]), j->row + from * j->words,
                   some, room);
    return room;
}

static void count_share(void *context, size_t task, unsigned worker)
{
    struct nd_join *j = context;
    const unsigned bits = j->part_bits;
    uint64_t value[ND_JOIN_BLOCK];
    uint32_t part[ND_JOIN_BLOCK];
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    memset(j->share[task].count, 0, j->n_passes * sizeof(uint32_t) << bits);
    for (size_t some; from < to; from += some) {
        uint32_t *count = j->share[task].count;

        some = to - from < ND_JOIN_BLOCK ? to - from : ND_JOIN_BLOCK;
        prefetch(j, from + some);
        for (unsigned p = 0; p < j->n_passes; p++, count += (size_t)1 << bits) {
            const struct nd_join_pass *pass = &j->pass[p];

            nd_join_parts(j, &pass->code, values_of(j, pass, from, some, value), some, part);
            for (size_t i = 0; i < some; i++)
                count[part[i]]++;
        }
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

static void write_lines(struct nd_join *j, const struct lines *l, size_t base,
                        const struct nd_hamming_kernels *kernels)
{
    kernels->store_line(j->part.value + base, l->value);
    kernels->store_line(j->part.value + base + LINES / 2, l->value + LINES / 2);
    kernels->store_line(j->part.position + base, l->position);
}

static void move_some(struct nd_join *j, struct nd_join_share *s, const uint32_t *part,
                      const uint64_t *value, size_t from, size_t some)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    struct lines *lines = s->lines;
    uint32_t *next = s->next;

    for (size_t i = 0; i < some; i++) {
        uint32_t p = part[i], at = next[p]++, slot = at % LINES;
        struct lines *l = &lines[p];

        l->value[slot] = value[i];
        l->position[slot] = (uint32_t)(from + i);
        if (slot != LINES - 1)
            continue;
        if (at - slot >= s->first[p])
            write_lines(j, l, at - slot, kernels);
        else /* the line begins with another thread's or part's */
            write_some(j, l, at - slot, s->first[p], (size_t)at + 1);
    }
}

static void move_share(void *context, size_t task, unsigned worker)
{
    struct nd_join *j = context;
    struct nd_join_share *s = &j->share[task];
    const struct nd_join_pass *pass = &j->pass[j->now];
    uint64_t room[ND_JOIN_BLOCK];
    uint32_t part[ND_JOIN_BLOCK];
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    for (size_t some; from < to; from += some) {
        const uint64_t *value;

        some = to - from < ND_JOIN_BLOCK ? to - from : ND_JOIN_BLOCK;
        prefetch(j, from + some);
        value = values_of(j, pass, from, some, room);
        nd_join_parts(j, &pass->code, value, some, part);
        move_some(j, s, part, value, from, some);
    }
    for (size_t p = 0; p < (size_t)1 << pass->code.part_bits; p++) {
        size_t base = s->next[p] / LINES * LINES;

        write_some(j, &s->lines[p], base, base > s->first[p] ? base : s->first[p], s->next[p]);
    }
    nd_hamming_kernels()->fence();
}

void nd_join_count(struct nd_join *j)
{
    nd_pool_run(j->pool, j->n_threads, count_share, j);
}

void nd_join_partition(struct nd_join *j)
{
    size_t parts = (size_t)1 << j->pass[j->now].code.part_bits;
    uint32_t sum = 0;

    for (size_t p = 0; p < parts; p++) {
        j->start[p] = sum;
        for (unsigned t = 0; t < j->n_threads; t++) {
            j->share[t].first[p] = j->share[t].next[p] = sum;
            sum += j->share[t].count[((size_t)j->now << j->part_bits) + p];
        }
    }
    j->start[parts] = sum;
    nd_pool_run(j->pool, j->n_threads, move_share, j);
}
