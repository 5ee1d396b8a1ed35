/* hamming_join_partition.c - all fingerprints as records in the order of their parts
 *
 * Each thread writes its share of every part.  Records go to a buffer of a few lines for each part,
 * and from there past the caches, whole lines at a time: a part's place in memory is touched once
 * for sixteen records (Wassenberg and Sanders, 2011).
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_join.h"

/* What one thread has of its own. */
struct nd_join_share {
    struct nd_move move;
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

        s->move.first = nd_alloc_array(parts, sizeof *s->move.first);
        s->move.next = nd_alloc_array(parts, sizeof *s->move.next);
        s->move.group = aligned_alloc(64, parts * sizeof *s->move.group);
        s->move.value = j->part.value;
        s->move.position = j->part.position;
        s->count = nd_alloc_array(ND_JOIN_PASSES * parts, sizeof *s->count);
        if (!s->move.first || !s->move.next || !s->move.group || !s->count)
            return false;
    }
    return true;
}

void nd_join_partition_release(struct nd_join *j)
{
    for (unsigned t = 0; j->share && t < j->n_threads; t++) {
        free(j->share[t].move.first);
        free(j->share[t].move.next);
        free(j->share[t].move.group);
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

/* Ask for the rows of a block that comes later: a few at a time, more would have to wait. */
static void prefetch(const struct nd_join *j, size_t from)
{
    size_t begin = from + ND_JOIN_AHEAD, end = begin + ND_JOIN_BLOCK;

    if (end > j->n)
        return;
    for (size_t i = begin * j->words; i < end * j->words; i += 8)
        __builtin_prefetch(j->row + i, 0, 2);
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
        prefetch(j, from);
        for (unsigned p = 0; p < j->n_passes; p++, count += (size_t)1 << bits) {
            const struct nd_join_pass *pass = &j->pass[p];

            nd_join_parts(j, &pass->code, values_of(j, pass, from, some, value), some, part);
#pragma GCC unroll 4
            for (size_t i = 0; i < some; i++)
                count[part[i]]++;
        }
    }
}

static void move_share(void *context, size_t task, unsigned worker)
{
    struct nd_join *j = context;
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct nd_move *move = &j->share[task].move;
    const struct nd_join_pass *pass = &j->pass[j->now];
    uint64_t room[ND_JOIN_BLOCK];
    uint32_t part[ND_JOIN_BLOCK];
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    for (size_t some; from < to; from += some) {
        const uint64_t *value;

        some = to - from < ND_JOIN_BLOCK ? to - from : ND_JOIN_BLOCK;
        prefetch(j, from);
        value = values_of(j, pass, from, some, room);
        nd_join_parts(j, &pass->code, value, some, part);
        kernels->join_move(move, part, value, (uint32_t)from, some);
    }
    for (size_t p = 0; p < (size_t)1 << pass->code.part_bits; p++) {
        size_t next = move->next[p], base = next / ND_MOVE_GROUP * ND_MOVE_GROUP;

        nd_move_some(move, &move->group[p], base, move->first[p], next);
    }
    kernels->fence();
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
            j->share[t].move.first[p] = j->share[t].move.next[p] = sum;
            sum += j->share[t].count[((size_t)j->now << j->part_bits) + p];
        }
    }
    j->start[parts] = sum;
    nd_pool_run(j->pool, j->n_threads, move_share, j);
}
