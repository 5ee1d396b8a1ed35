/* partition.c - the fingerprints as records in the order of their parts
 *
 * A table's key is hashed.  The first bits of the hash choose a part, the next ones a place in it:
 *
 *     hash of the key   | part_bits | place_bits | the rest |
 *
 * Parts and places are about as many (PART_ROOTS: each about the square root of n, over 5), so that
 * the places that either step writes to fit in a cache: neither the 2^12 parts nor the 2^20 places
 * are ever more.
 *
 * Each thread counts and then writes its share of every part, so that no two threads write to the
 * same place.  Records go to a buffer of sixteen for each part and from there, a whole buffer at a
 * time, past the caches: the memory of a part is touched once for sixteen records (Wassenberg
 * 2011).  Without the buffers nearly each record would miss the TLB.
 *
 * Memory: 8 bytes of value and 4 of position for each fingerprint.
 */
#include "hamming/join/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/c_functions.h"
#include "hamming/plan/fingerprint.h"
#include "simd/hamming/hamming_kernels.h"
#include "simd/hamming/hamming_move.h"

enum {
    PART_ROOTS = 5,      /* records of a part for each of the square root of all */
    PART_BITS_MAX = 12,  /* no more parts than this */
    BUCKET = 4,          /* records that share a place: the next few are compared in any case */
    PLACE_BITS_MAX = 20, /* no more places in a part than this */
    FILTER_BITS = 32,
    HASH_BITS = 32 /* of the key of many words */
};

/*
 * The share that a filter may let pass by chance: a look at the value costs as much as so many
 * others.
 */
#define WEAK (1.0 / 256)

/* The fewest bits, at most `max`, by which n records fall into places of `each` or fewer. */
static unsigned bits_for(size_t n, size_t each, unsigned max)
{
    unsigned bits = 0;

    while (bits < max && n >> bits > each)
        bits++;
    return bits;
}

/* The chance that two random filters are within the distance: a ball's volume over 2^32. */
bool nd_join_is_weak(unsigned distance)
{
    double ways = 1, sum = 1;

    for (unsigned d = 1; d <= distance; d++) {
        ways *= (double)(FILTER_BITS - d + 1) / d;
        sum += ways;
    }
    return ldexp(sum, -FILTER_BITS) > WEAK;
}

unsigned nd_join_part_bits(size_t n)
{
    return bits_for(n, (size_t)((double)PART_ROOTS * sqrt((double)n)), PART_BITS_MAX);
}

unsigned nd_join_shared_bits(unsigned part_bits)
{
    return part_bits < 2 ? 1 : part_bits - 1;
}

/* The runs of ones of a key: each is moved by a shift so that all stand side by side. */
static void find_runs(struct nd_record_code *code, uint64_t key)
{
    for (unsigned bit = 0; bit < 64; code->n_runs++) {
        unsigned first, len = 0;

        while (bit < 64 && !(key >> bit & 1))
            bit++;
        if (bit == 64)
            return;
        for (first = bit; bit < 64 && key >> bit & 1; bit++)
            len++;
        code->shift[code->n_runs] = first - code->key_bits;
        code->mask[code->n_runs] = (UINT64_MAX >> (64 - len)) << code->key_bits;
        code->key_bits += len;
    }
}

static void code_of(struct nd_record_code *code, size_t words, uint64_t key)
{
    *code = (struct nd_record_code){.key_bits = words == 1 ? 0 : HASH_BITS};
    if (words == 1)
        find_runs(code, key);
}

static unsigned at_most(unsigned bits, unsigned max)
{
    return bits < max ? bits : max;
}

void nd_join_pass_code(struct nd_join_pass *pass, size_t words, unsigned part_bits)
{
    code_of(&pass->code, words, pass->mask);
    pass->code.part_bits = at_most(part_bits, pass->code.key_bits);
}

/*
 * If the parts used up all bits of the pass's mask, only the bits that the key has beyond the mask
 * can divide a part. Otherwise the hash of the whole key divides it; if the key is the mask itself,
 * those bits of the hash that chose the part are left out.
 */
void nd_join_table_code(struct nd_record_code *code, size_t words, const uint64_t *key,
                        const struct nd_join_pass *pass, size_t n)
{
    uint64_t beyond = words == 1 && pass ? key[0] & ~pass->mask : 0;
    bool is_used_up = pass && pass->code.part_bits == pass->code.key_bits;

    code_of(code, words, beyond && is_used_up ? beyond : key[0]);
    if (pass && !beyond)
        code->part_bits = pass->code.part_bits;
    code->place_bits =
        bits_for(n, BUCKET, at_most(code->key_bits - code->part_bits, PLACE_BITS_MAX));
}

/* The value of several words is a hash of the key above the filter. */
static uint64_t value_of(const uint64_t *x, size_t words, const uint64_t *key)
{
    uint64_t hash = 0;

    for (size_t w = 0; w < words; w++) {
        hash = (hash ^ (x[w] & key[w])) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash << 32 | nd_record_filter(nd_hamming_fold_words(x, words));
}

void nd_join_values(const struct nd_join *j, const uint64_t *key, const uint64_t *row, size_t n,
                    uint64_t *value)
{
    for (size_t i = 0; i < n; i++)
        value[i] = value_of(row + i * j->words, j->words, key);
}

static void find_parts(const struct nd_join *j, const struct nd_record_code *code,
                       const uint64_t *value, size_t n, uint32_t *part)
{
    if (j->words == 1)
        nd_hamming_kernels()->join_parts(code, value, n, part);
    else
        for (size_t i = 0; i < n; i++)
            part[i] = nd_record_high(value[i], code->part_bits);
}

void nd_join_places(const struct nd_join *j, const struct nd_record_code *code,
                    const uint64_t *value, size_t n, uint64_t *place)
{
    if (j->words == 1)
        nd_hamming_kernels()->join_places(code, value, n, place);
    else
        for (size_t i = 0; i < n; i++)
            place[i] = nd_record_place(code, value[i], (uint32_t)value[i]);
}

/* The counts of a thread for the passes from number `pass` on. */
static uint32_t *counts_of(const struct nd_join_partition *p, size_t thread, size_t pass)
{
    return p->count + ((thread * ND_JOIN_PASSES + pass) << p->part_bits);
}

bool nd_join_partition_make(struct nd_join_partition *p)
{
    const struct nd_join *j = p->join;
    size_t parts = (size_t)1 << p->part_bits;

    p->start = nd_alloc_array(parts + 1, sizeof *p->start);
    p->move = calloc(j->n_threads, sizeof *p->move);
    p->records.value = nd_table_alloc(j->n * sizeof *p->records.value);
    p->records.position = nd_table_alloc(j->n * sizeof *p->records.position);
    if (!p->start || !p->move || !p->records.value || !p->records.position)
        return false;
    for (unsigned t = 0; t < j->n_threads; t++) {
        struct nd_move *m = &p->move[t];

        m->first = nd_alloc_array(parts, sizeof *m->first);
        m->next = nd_alloc_array(parts, sizeof *m->next);
        m->group = nd_aligned_alloc(64, parts * sizeof *m->group);
        m->value = p->records.value;
        m->position = p->records.position;
        if (!m->first || !m->next || !m->group)
            return false;
    }
    p->count = nd_alloc_array(j->n_threads * ND_JOIN_PASSES * parts, sizeof *p->count);
    return p->count != NULL;
}

void nd_join_partition_release(struct nd_join_partition *p)
{
    const struct nd_join *j = p->join;

    for (unsigned t = 0; p->move && t < j->n_threads; t++) {
        free(p->move[t].first);
        free(p->move[t].next);
        nd_aligned_free(p->move[t].group);
    }
    free(p->move);
    free(p->count);
    free(p->start);
    nd_table_free(p->records.value, j->n * sizeof *p->records.value);
    nd_table_free(p->records.position, j->n * sizeof *p->records.position);
}

/* The rows that a thread partitions. */
static void rows_of(const struct nd_join *j, size_t task, size_t *from, size_t *to)
{
    *from = j->n / j->n_threads * task;
    *to = task + 1 == j->n_threads ? j->n : j->n / j->n_threads * (task + 1);
}

/* Prefetch the rows of a block that comes later: a few at a time, more would have to wait. */
static void prefetch_rows(const struct nd_join *j, size_t from)
{
    size_t begin = from + ND_JOIN_PREFETCH_DISTANCE, end = begin + ND_JOIN_BLOCK;

    if (end > j->n)
        return;
    for (size_t i = begin * j->words; i < end * j->words; i += 8)
        __builtin_prefetch(j->row + i, 0, 2);
}

/* The values of rows from `from` on for a pass: the rows themselves where they have one word. */
static const uint64_t *values_of(const struct nd_join_partition *p, const struct nd_join_pass *pass,
                                 size_t from, size_t some, uint64_t *scratch)
{
    const struct nd_join *j = p->join;

    if (j->words == 1)
        return j->row + from;
    nd_join_values(j, p->keys + p->group[pass->first] * j->words, j->row + from * j->words, some,
                   scratch);
    return scratch;
}

static void count_share(void *context, size_t task, unsigned worker)
{
    struct nd_join_partition *p = context;
    const struct nd_join *j = p->join;
    const unsigned bits = p->part_bits;
    uint64_t value[ND_JOIN_BLOCK];
    uint32_t part[ND_JOIN_BLOCK];
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    memset(counts_of(p, task, 0), 0, p->n_passes * sizeof(uint32_t) << bits);
    for (size_t some; from < to; from += some) {
        uint32_t *count = counts_of(p, task, 0);

        some = to - from < ND_JOIN_BLOCK ? to - from : ND_JOIN_BLOCK;
        prefetch_rows(j, from);
        for (unsigned i = 0; i < p->n_passes; i++, count += (size_t)1 << bits) {
            const struct nd_join_pass *pass = &p->pass[i];

            find_parts(j, &pass->code, values_of(p, pass, from, some, value), some, part);
#pragma GCC unroll 4
            for (size_t k = 0; k < some; k++)
                count[part[k]]++;
        }
    }
}

static void move_share(void *context, size_t task, unsigned worker)
{
    struct nd_join_partition *p = context;
    const struct nd_join *j = p->join;
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct nd_move *move = &p->move[task];
    const struct nd_join_pass *pass = p->current;
    uint64_t scratch[ND_JOIN_BLOCK];
    uint32_t part[ND_JOIN_BLOCK];
    size_t from, to;

    (void)worker;
    rows_of(j, task, &from, &to);
    for (size_t some; from < to; from += some) {
        const uint64_t *value;

        some = to - from < ND_JOIN_BLOCK ? to - from : ND_JOIN_BLOCK;
        prefetch_rows(j, from);
        value = values_of(p, pass, from, some, scratch);
        find_parts(j, &pass->code, value, some, part);
        kernels->join_move(move, part, value, (uint32_t)from, some);
    }
    /* what is left in buffers that did not fill */
    for (size_t i = 0; i < (size_t)1 << pass->code.part_bits; i++) {
        size_t next = move->next[i], base = next / ND_MOVE_GROUP * ND_MOVE_GROUP;

        nd_move_some(move, &move->group[i], base, move->first[i], next);
    }
    kernels->fence();
}

void nd_join_count_parts(struct nd_join_partition *p)
{
    nd_pool_run(p->join->pool, p->join->n_threads, count_share, p);
}

/* From the counts follows where each thread writes its first record of each part. */
void nd_join_partition_run(struct nd_join_partition *p, const struct nd_join_pass *pass)
{
    size_t parts = (size_t)1 << pass->code.part_bits, number = (size_t)(pass - p->pass);
    uint32_t sum = 0;

    p->current = pass;
    for (size_t i = 0; i < parts; i++) {
        p->start[i] = sum;
        for (unsigned t = 0; t < p->join->n_threads; t++) {
            p->move[t].first[i] = p->move[t].next[i] = sum;
            sum += counts_of(p, t, number)[i];
        }
    }
    p->start[parts] = sum;
    nd_pool_run(p->join->pool, p->join->n_threads, move_share, p);
}
