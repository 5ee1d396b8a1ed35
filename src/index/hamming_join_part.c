/* hamming_join_part.c - the pairs within one part: buckets, neighbours, large buckets once more */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_join.h"

enum { SMALL = 24 }; /* records of a bucket */

bool nd_join_scratch_make(struct nd_join_scratch *s, size_t n)
{
    size_t padded = n + ND_JOIN_PADDING;

    s->capacity = n;
    s->place = nd_table_alloc(n * sizeof *s->place);
    s->record = nd_table_alloc(n * sizeof *s->record);
    s->word = nd_table_alloc(padded * sizeof *s->word);
    s->value = nd_table_alloc(padded * sizeof *s->value);
    s->end = nd_table_alloc((n + 1) * sizeof *s->end); /* never more buckets than records */
    if (s->place && s->record && s->word && s->value && s->end)
        return true;
    nd_join_scratch_release(s);
    return false;
}

void nd_join_scratch_release(struct nd_join_scratch *s)
{
    size_t padded = s->capacity + ND_JOIN_PADDING;

    nd_table_free(s->place, s->capacity * sizeof *s->place);
    nd_table_free(s->record, s->capacity * sizeof *s->record);
    nd_table_free(s->word, padded * sizeof *s->word);
    nd_table_free(s->value, padded * sizeof *s->value);
    nd_table_free(s->end, (s->capacity + 1) * sizeof *s->end);
    *s = (struct nd_join_scratch){.word = NULL};
}

/* What is compared of the rows at n positions. */
static void fill_values(const struct nd_join_site *site, size_t n)
{
    const struct nd_join *j = site->join;
    const uint64_t *key = nd_join_key(j, site->level, site->level->table);

    for (size_t i = 0; i < n; i++) {
        const uint64_t *x = j->row + site->part.position[i] * j->words;

        if (j->words == 1)
            site->part.value[i] = x[0];
        else
            nd_join_values(j, key, x, 1, &site->part.value[i]);
    }
}

static void compare_all(const struct nd_join_site *site, size_t n)
{
    const struct nd_join *j = site->join;

    for (size_t i = 0; i < n; i++) {
        site->part.value[i] = j->row[site->part.position[i] * j->words];
        site->s->record[i] = (uint64_t)i << 32;
    }
    nd_join_fetch(site, 0, n);
    for (size_t from = 0; from < n; from += ND_JOIN_CHUNK)
        nd_join_compare_rest(site, from, n);
    nd_join_settle(site);
}

/* By the tables of an inner design, one after the other. */
static void join_again(struct nd_join_site *site, struct nd_join_level *inner, size_t n)
{
    struct nd_join *j = site->join;

    if (!nd_join_scratch_make(site->s, n) ||
        !nd_join_design(&inner->design, inner->open, j->words, j->distance, n, nd_join_cost))
        atomic_store(&j->no_memory, true);
    else if (inner->design.tables == 0)
        compare_all(site, n);
    for (; inner->table < inner->design.tables && !nd_join_is_over(j); inner->table++) {
        nd_join_table_code(&inner->code, j->words, nd_join_key(j, inner, inner->table), NULL, n);
        fill_values(site, n);
        nd_join_part(site, n);
    }
    free(inner->design.keys);
    nd_join_scratch_release(site->s);
}

/* A bucket of many that agree in the key: each distinct one once more, by the bits outside it. */
static void join_bucket(const struct nd_join_site *site, size_t first, size_t last)
{
    struct nd_join *j = site->join;
    const uint64_t *key = nd_join_key(j, site->level, site->level->table);
    size_t n = last - first;
    struct nd_join_level inner = {.parent = site->level};
    struct nd_join_scratch scratch = {.capacity = 0};
    struct nd_join_equals equals = {.member = NULL};
    struct nd_join_records part = {nd_table_alloc(n * sizeof *part.value),
                                   nd_table_alloc(n * sizeof *part.position)};
    struct nd_join_site within = {j, site->worker, &inner, part, &scratch, site->equals};

    for (size_t i = 0; i < j->words; i++)
        inner.open[i] = site->level->open[i] & ~key[i];
    for (size_t i = 0; part.position && i < n; i++)
        part.position[i] = site->part.position[nd_join_number(site->s, first + i)];
    if (part.position && !site->equals && nd_join_equals_make(&equals, j, part.position, n)) {
        n = nd_join_distinct(site, &equals, part.position);
        within.equals = &equals;
    }
    if (!part.value || !part.position || !within.equals)
        atomic_store(&j->no_memory, true);
    else
        join_again(&within, &inner, n);
    free(equals.member);
    nd_table_free(part.value, (last - first) * sizeof *part.value);
    nd_table_free(part.position, (last - first) * sizeof *part.position);
}

/*
 * Buckets [bucket, end), none of them large.  Where they are small, each record with the next few,
 * whichever bucket those are of, and then what lies farther in a bucket; else each bucket at once.
 */
static void compare_buckets(const struct nd_join_site *site, size_t bucket, size_t end)
{
    const uint32_t *ends = site->s->end;
    size_t first = bucket ? ends[bucket - 1] : 0, last = end ? ends[end - 1] : 0, gap = 0;

    if ((last - first) / SMALL < end - bucket)
        gap = nd_join_compare_next(site, first, last);
    if (site->s->largest <= gap + 1)
        return;
    for (; bucket < end; first = ends[bucket++])
        if (ends[bucket] - first > gap + 1)
            nd_join_compare_bucket(site, first, ends[bucket], gap);
}

/* Count the places of the records of a part, and find where each bucket begins. */
static void count_places(const struct nd_join_site *site, size_t n)
{
    const struct nd_record_code *code = &site->level->code;
    const size_t buckets = (size_t)1 << code->place_bits;
    struct nd_join_scratch *s = site->s;
    uint32_t sum = 0, largest = 0, *end = s->end;

    memset(end, 0, buckets * sizeof *end);
    for (size_t from = 0, some; from < n; from += some) {
        const uint64_t *place = s->place + from, *value = site->part.value + from;
        uintptr_t later = (uintptr_t)value + ND_JOIN_AHEAD * sizeof *value; /* or the next part */

        some = n - from < ND_JOIN_BLOCK ? n - from : ND_JOIN_BLOCK;
        for (size_t i = 0; i < ND_JOIN_BLOCK * sizeof *value; i += 64)
            __builtin_prefetch((const void *)(later + i), 0, 2);
        nd_join_places(site->join, code, value, some, s->place + from);
#pragma GCC unroll 4
        for (size_t i = 0; i < some; i++)
            end[place[i] >> 32]++;
    }
    for (size_t b = 0; b < buckets; b++) {
        uint32_t count = end[b];

        end[b] = sum;
        sum += count;
        largest = count > largest ? count : largest;
    }
    s->largest = largest;
}

/* Put the records of a part in the order of their places; s->end says where each bucket ends. */
static size_t divide(const struct nd_join_site *site, size_t n)
{
    struct nd_join_scratch *s = site->s;
    const uint64_t *place = s->place;
    uint32_t *end = s->end;
    uint64_t *record = s->record;

    count_places(site, n);
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        record[end[place[i] >> 32]++] = (uint64_t)i << 32 | (uint32_t)place[i];
    nd_hamming_kernels()->join_words(record, n, s->word);
    return (size_t)1 << site->level->code.place_bits;
}

void nd_join_part(const struct nd_join_site *site, size_t n)
{
    const uint32_t *end = site->s->end;
    size_t buckets, next = 0, start = 0;

    if (n < 2 || nd_join_is_over(site->join))
        return;
    buckets = divide(site, n);
    if (site->join->is_weak)
        nd_join_fetch(site, 0, n);
    for (size_t b = 0; site->s->largest > ND_JOIN_LARGE && b < buckets; start = end[b++]) {
        if (end[b] - start <= ND_JOIN_LARGE)
            continue;
        compare_buckets(site, next, b);
        nd_join_settle(site);
        join_bucket(site, start, end[b]);
        next = b + 1;
    }
    compare_buckets(site, next, buckets);
    nd_join_settle(site);
}
