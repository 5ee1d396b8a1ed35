/* part_pairs.c - the pairs within one part
 *
 *     nd_join_part        the records of a part are put in the order of their places, which makes
 *                         places of equal hash a bucket;
 *     compare_buckets     32 bits of each record, its filter, are compared with those of the next
 *                         few, and with the whole bucket where that is longer;
 *     add_hit             what the filter lets pass is compared as a whole;
 *     flush_hits          pairs become positions among the rows, which were prefetched;
 *     join_bucket         a bucket of more than ND_JOIN_LARGE is joined once more, by itself.
 *
 * The filter folds a fingerprint to 32 bits, which differ in no more bits than the fingerprints do,
 * so it loses nothing.  Where it would let too much pass (nd_join_is_weak) 64 bits are compared.
 *
 * A record is compared with the next few in any case, whichever bucket those are of: a pair that
 * does not share the key is dropped when it is found, and there is no branch on where a bucket
 * ends.
 *
 * Equal fingerprints.  However many equal ones a large bucket has, one stands for all of them on
 * the levels below, and the pairs of the others cost no more than to be written.
 */
#include "hamming/join/part_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/c_functions.h"
#include "hamming/plan/fingerprint.h"

enum {
    SMALL = 24,                  /* larger buckets are compared one by one */
    PADDING = ND_HAMMING_PADDING /* kernels read so many words behind the last one */
};

/* The number in the part of the record that is at a place in the order of buckets. */
static inline uint32_t number_at(const struct nd_join_scratch *s, size_t place)
{
    return (uint32_t)(s->record[place] >> 32);
}

bool nd_join_scratch_make(struct nd_join_scratch *s, size_t n)
{
    size_t padded = n + PADDING;

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
    size_t padded = s->capacity + PADDING;

    nd_table_free(s->place, s->capacity * sizeof *s->place);
    nd_table_free(s->record, s->capacity * sizeof *s->record);
    nd_table_free(s->word, padded * sizeof *s->word);
    nd_table_free(s->value, padded * sizeof *s->value);
    nd_table_free(s->end, (s->capacity + 1) * sizeof *s->end);
    *s = (struct nd_join_scratch){.word = NULL};
}

void nd_join_flush(struct nd_join *j, struct nd_join_worker *worker)
{
    nd_pool_lock(j->pool);
    if (worker->n_out && !atomic_load(&j->stop) &&
        j->report(j->context, worker->out, worker->n_out) != 0)
        atomic_store(&j->stop, true);
    nd_pool_unlock(j->pool);
    worker->n_out = 0;
}

void nd_join_ask(struct nd_join *j, struct nd_join_worker *worker)
{
    nd_pool_lock(j->pool);
    if (!atomic_load(&j->stop) && j->report(j->context, worker->out, 0) != 0)
        atomic_store(&j->stop, true);
    nd_pool_unlock(j->pool);
}

static void report_pair(const struct nd_join_task *task, size_t a, size_t b, unsigned distance)
{
    struct nd_join_worker *w = task->worker;

    w->out[w->n_out++] = (struct nd_hamming_pair){a < b ? a : b, a < b ? b : a, distance};
    if (w->n_out == ND_JOIN_PAIRS)
        nd_join_flush(task->join, w);
}

/* Whether two rows that differ like this agree in a key. */
static inline bool agrees(const uint64_t *key, const uint64_t *differ, size_t words)
{
    uint64_t differ_in_key = 0;

    for (size_t w = 0; w < words; w++)
        differ_in_key |= differ[w] & key[w];
    return differ_in_key == 0;
}

enum { FEW = 8 };

/*
 * Whether the level's table is the first of its design whose key agrees.  Which table of a few is
 * the first is unpredictable, so the first few are looked at without a branch.
 */
static inline bool is_first_here(const struct nd_join_level *level, const uint64_t *differ,
                                 size_t words)
{
    const uint64_t *key = level->design.keys;
    bool is_earlier = false;

    for (unsigned t = 0; t < level->table && !(t >= FEW && is_earlier); t++, key += words)
        is_earlier |= agrees(key, differ, words);
    return !is_earlier & agrees(level->design.keys + level->table * words, differ, words);
}

/* Whether this level and each above it is the first table of its design that sees two rows which
 * differ like this.  That one reports them, and no other does. */
static bool is_first(const struct nd_join *j, const struct nd_join_level *level,
                     const uint64_t *differ)
{
    for (; level; level = level->parent)
        if (level->design.tables && /* else all were compared with all */
            !is_first_here(level, differ, j->words))
            return false;
    return true;
}

/* As is_first, for rows of one word. */
static inline bool is_first_of_word(const struct nd_join *j, const struct nd_join_level *level,
                                    uint64_t differ)
{
    bool here = level->design.tables == 0 || is_first_here(level, &differ, 1);

    return level->parent ? here && is_first(j, level->parent, &differ) : here;
}

static int by_row(const void *a, const void *b, void *join)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct nd_join *j = join;
    int order = nd_hamming_compare(j->row + x * j->words, j->row + y * j->words, j->words);

    return order ? order : (x > y) - (x < y);
}

static bool is_equal(const struct nd_join *j, uint32_t a, uint32_t b)
{
    return nd_hamming_compare(j->row + a * j->words, j->row + b * j->words, j->words) == 0;
}

/* The end of the members that are equal to the one at `first`. */
static size_t end_of(const struct nd_join_task *task, size_t first)
{
    size_t end = first + 1;

    while (end < task->n_members && is_equal(task->join, task->member[first], task->member[end]))
        end++;
    return end;
}

/* The place of a member, by halving. */
static size_t find_member(const struct nd_join_task *task, uint32_t position)
{
    size_t from = 0, to = task->n_members;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (by_row(&task->member[middle], &position, task->join) <= 0)
            from = middle;
        else
            to = middle;
    }
    return from;
}

/* Report all that are equal to one with all that are equal to the other. */
static void report_copies(const struct nd_join_task *task, uint32_t a, uint32_t b,
                          unsigned distance)
{
    const uint32_t *member = task->member;
    size_t first_a = find_member(task, a), end_a = end_of(task, first_a);
    size_t first_b = find_member(task, b), end_b = end_of(task, first_b);

    for (size_t i = first_a; i < end_a && !nd_join_is_over(task->join); i++)
        for (size_t k = first_b; k < end_b; k++)
            report_pair(task, member[i], member[k], distance);
}

static void add_pair(const struct nd_join_task *task, uint32_t a, uint32_t b, unsigned distance)
{
    if (task->member)
        report_copies(task, a, b, distance);
    else
        report_pair(task, a, b, distance);
}

/* Two rows of several words whose filters are near. */
static void look_up(const struct nd_join_task *task, uint32_t a, uint32_t b)
{
    const struct nd_join *j = task->join;
    const uint64_t *x = j->row + a * j->words, *y = j->row + b * j->words;
    uint64_t differ[ND_HAMMING_WORDS_MAX];
    unsigned distance = 0;

    for (size_t w = 0; w < j->words; w++) {
        differ[w] = x[w] ^ y[w];
        distance += nd_count_ones(differ[w]);
    }
    if (distance <= j->distance && is_first(j, task->level, differ))
        add_pair(task, a, b, distance);
}

/* Turn the hits of the part into pairs of positions.  Their memory was prefetched. */
static void flush_hits(const struct nd_join_task *task)
{
    const uint32_t *position = task->part.position;
    struct nd_join_worker *w = task->worker;

    for (size_t h = 0; h < w->n_hits; h++) {
        uint32_t a = position[w->hit_a[h]], b = position[w->hit_b[h]];

        if (task->join->words > 1)
            look_up(task, a, b);
        else
            add_pair(task, a, b, w->hit_distance[h]);
    }
    w->n_hits = 0;
}

/* The filters of records `first` and `second` are near.  Of one word, the fingerprints themselves
 * are in the part and decide at once. */
static void add_hit(const struct nd_join_task *task, size_t first, size_t second)
{
    const struct nd_join *j = task->join;
    struct nd_join_worker *w = task->worker;
    uint32_t a = number_at(task->scratch, first), b = number_at(task->scratch, second);
    bool is_hit = true;

    __builtin_prefetch(task->part.position + a);
    __builtin_prefetch(task->part.position + b);
    w->hit_a[w->n_hits] = a;
    w->hit_b[w->n_hits] = b;
    if (j->words == 1) {
        uint64_t differ = task->part.value[a] ^ task->part.value[b];
        unsigned distance = nd_count_ones(differ);

        w->hit_distance[w->n_hits] = (uint8_t)distance;
        is_hit = (distance <= j->distance) & is_first_of_word(j, task->level, differ);
    }
    w->n_hits += is_hit; /* unpredictable, so branchless */
    if (w->n_hits == ND_JOIN_HITS)
        flush_hits(task);
}

/* Put 64 bits of the records [first, last) side by side, in order. */
static void fetch_values(const struct nd_join_task *task, size_t first, size_t last)
{
    const struct nd_join *j = task->join;

    for (size_t i = first; i < last; i++) {
        uint32_t number = number_at(task->scratch, i);

        task->scratch->value[i] =
            j->words == 1
                ? task->part.value[number]
                : nd_hamming_fold_words(j->row + task->part.position[number] * j->words, j->words);
    }
}

/* Compare each of `some` records from `from` on with the eight that come `gap` after the next. */
static void compare_values(const struct nd_join_task *task, size_t from, size_t some, size_t last,
                           size_t gap)
{
    struct nd_hamming_found *found = task->worker->found;
    size_t n = nd_hamming_kernels()->next(task->scratch->value + from, some, last - from, gap,
                                          task->join->distance, found);

    for (size_t f = 0; f < n; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
            size_t i = from + found[f].line;

            add_hit(task, i, i + 1 + gap + (unsigned)__builtin_ctz(slots));
        }
}

void nd_join_compare_rest(const struct nd_join_task *task, size_t from, size_t n)
{
    size_t some = n - from < ND_JOIN_CHUNK ? n - from : ND_JOIN_CHUNK;

    for (size_t gap = 0; from + gap + 1 < n && !nd_join_is_over(task->join); gap += 8)
        compare_values(task, from, some, n, gap);
    flush_hits(task);
}

/* Each of some words from `from` on with the few that follow. */
static void compare_words(const struct nd_join_task *task, size_t from, size_t some, size_t last)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    struct nd_hamming_words *pair = task->worker->pair;
    size_t n = kernels->words_next(task->scratch->word + from, some, last - from, kernels->reach,
                                   task->join->distance, pair);

    for (size_t i = 0; i < n; i++)
        add_hit(task, from + pair[i].a, from + pair[i].b);
}

/* Each of the records [first, last) with the next few, in whichever bucket; returns how few. */
static size_t compare_next(const struct nd_join_task *task, size_t first, size_t last)
{
    const bool is_weak = task->join->is_weak;

    for (; first + 1 < last && !nd_join_is_over(task->join); first += ND_JOIN_CHUNK) {
        size_t some = last - first < ND_JOIN_CHUNK ? last - first : ND_JOIN_CHUNK;

        if (!is_weak) {
            compare_words(task, first, some, last);
            continue;
        }
        compare_values(task, first, some, last, 0);
        compare_values(task, first, some, last, 8);
    }
    return is_weak ? 16 : nd_hamming_kernels()->reach;
}

static void compare_bucket_values(const struct nd_join_task *task, size_t first, size_t last,
                                  size_t gap)
{
    for (; first + gap + 1 < last; gap += 8)
        for (size_t from = first; from + gap + 1 < last; from += ND_JOIN_CHUNK) {
            size_t some = last - from < ND_JOIN_CHUNK ? last - from : ND_JOIN_CHUNK;

            if (nd_join_is_over(task->join))
                return;
            compare_values(task, from, some, last, gap);
        }
}

/* Each record of a bucket with what comes `gap` after the next. */
static void compare_bucket(const struct nd_join_task *task, size_t first, size_t last, size_t gap)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    struct nd_hamming_near *near = task->worker->near;
    const uint32_t *word = task->scratch->word + first;
    size_t size = last - first, rows = size <= ND_JOIN_WHOLE ? ND_JOIN_WHOLE : ND_JOIN_ROWS;

    if (task->join->is_weak) {
        compare_bucket_values(task, first, last, gap);
        return;
    }
    for (size_t from = 0; from + gap + 1 < size; from += rows) {
        size_t n = kernels->words_in(word, from, rows, size, gap, task->join->distance, near);

        if (n && nd_join_is_over(task->join))
            return;
        for (size_t f = 0; f < n; f++)
            for (unsigned slots = near[f].slots; slots; slots &= slots - 1) {
                size_t i = near[f].line, k = i / ND_HAMMING_GROUP * ND_HAMMING_GROUP + 1 + gap +
                                             near[f].more * (size_t)ND_HAMMING_WINDOW;

                add_hit(task, first + i, first + k + (unsigned)__builtin_ctz(slots));
            }
    }
}

void nd_join_list_all(const struct nd_join_task *task, size_t n)
{
    const struct nd_join *j = task->join;

    for (size_t i = 0; i < n; i++) {
        task->part.value[i] = j->row[task->part.position[i] * j->words];
        task->scratch->record[i] = (uint64_t)i << 32;
    }
    fetch_values(task, 0, n);
}

/*
 * Buckets [bucket, end), none of them large.  Where they are small, each record with the next few,
 * whichever bucket those are of, and then what lies farther in a bucket; else each bucket at once.
 */
static void compare_buckets(const struct nd_join_task *task, size_t bucket, size_t end)
{
    const uint32_t *ends = task->scratch->end;
    size_t first = bucket ? ends[bucket - 1] : 0, last = end ? ends[end - 1] : 0, gap = 0;

    if ((last - first) / SMALL < end - bucket)
        gap = compare_next(task, first, last);
    if (task->scratch->largest <= gap + 1)
        return;
    for (; bucket < end; first = ends[bucket++])
        if (ends[bucket] - first > gap + 1)
            compare_bucket(task, first, ends[bucket], gap);
}

/* Fill in what is compared of the rows at n positions. */
static void fill_values(const struct nd_join_task *task, size_t n)
{
    const struct nd_join *j = task->join;
    const uint64_t *key = nd_join_key(j, task->level, task->level->table);

    for (size_t i = 0; i < n; i++) {
        const uint64_t *x = j->row + task->part.position[i] * j->words;

        if (j->words == 1)
            task->part.value[i] = x[0];
        else
            nd_join_values(j, key, x, 1, &task->part.value[i]);
    }
}

/* A copy of n positions, from malloc, those of equal rows side by side.  NULL: out of memory. */
static uint32_t *group_equal(struct nd_join *j, const uint32_t *position, size_t n)
{
    uint32_t *member = nd_alloc_array(n, sizeof *member);

    if (member) {
        memcpy(member, position, n * sizeof *position);
        nd_sort_with(member, n, sizeof *member, by_row, j);
    }
    return member;
}

/*
 * Write one of each group of the task's members to its positions.  Report the pairs of equal ones
 * if the table of `level` is the one to do so.  Returns how many groups there are.
 */
static size_t list_distinct(const struct nd_join_task *task, const struct nd_join_level *level)
{
    static const uint64_t no_difference[ND_HAMMING_WORDS_MAX];
    const struct nd_join *j = task->join;
    bool reports = is_first(j, level, no_difference);
    size_t n = 0;

    for (size_t first = 0, end; first < task->n_members; first = end) {
        end = end_of(task, first);
        task->part.position[n++] = task->member[first];
        for (size_t a = first; reports && a < end && !nd_join_is_over(j); a++)
            for (size_t b = a + 1; b < end; b++)
                report_pair(task, task->member[a], task->member[b], 0);
    }
    return n;
}

static void compare_all(const struct nd_join_task *task, size_t n)
{
    nd_join_list_all(task, n);
    for (size_t from = 0; from < n; from += ND_JOIN_CHUNK)
        nd_join_compare_rest(task, from, n);
}

/* Join a bucket by the tables of an inner design, one after the other. */
static void join_again(struct nd_join_task *task, struct nd_join_level *inner, size_t n)
{
    struct nd_join *j = task->join;

    if (!nd_join_scratch_make(task->scratch, n) ||
        !nd_join_design(&inner->design, inner->open, j->words, j->distance, n, nd_join_cost))
        atomic_store(&j->no_memory, true);
    else if (inner->design.tables == 0)
        compare_all(task, n);
    for (; inner->table < inner->design.tables && !nd_join_is_over(j); inner->table++) {
        nd_join_table_code(&inner->code, j->words, nd_join_key(j, inner, inner->table), NULL, n);
        fill_values(task, n);
        nd_join_part(task, n);
    }
    free(inner->design.keys);
    nd_join_scratch_release(task->scratch);
}

/*
 * A bucket of more than ND_JOIN_LARGE: its fingerprints agree in the whole key, or nearly, since
 * the places take as many bits of it as there are records.  Join the distinct ones by the bits
 * outside the key.
 */
static void join_bucket(const struct nd_join_task *task, size_t first, size_t last)
{
    struct nd_join *j = task->join;
    const uint64_t *key = nd_join_key(j, task->level, task->level->table);
    size_t n = last - first;
    struct nd_join_level inner = {.parent = task->level};
    struct nd_join_scratch scratch = {.capacity = 0};
    uint32_t *member = NULL;
    struct nd_join_records part = {nd_table_alloc(n * sizeof *part.value),
                                   nd_table_alloc(n * sizeof *part.position)};
    struct nd_join_task within = {j,        task->worker, &inner,         part,
                                  &scratch, task->member, task->n_members};

    for (size_t i = 0; i < j->words; i++)
        inner.open[i] = task->level->open[i] & ~key[i];
    for (size_t i = 0; part.position && i < n; i++)
        part.position[i] = task->part.position[number_at(task->scratch, first + i)];
    if (part.position && !task->member && (member = group_equal(j, part.position, n))) {
        within.member = member;
        within.n_members = n;
        n = list_distinct(&within, task->level);
    }
    if (!part.value || !part.position || !within.member)
        atomic_store(&j->no_memory, true);
    else
        join_again(&within, &inner, n);
    free(member);
    nd_table_free(part.value, (last - first) * sizeof *part.value);
    nd_table_free(part.position, (last - first) * sizeof *part.position);
}

/* Count the places of the records of a part, and find where each bucket begins. */
static void count_places(const struct nd_join_task *task, size_t n)
{
    const struct nd_record_code *code = &task->level->code;
    const size_t buckets = (size_t)1 << code->place_bits;
    struct nd_join_scratch *s = task->scratch;
    uint32_t sum = 0, largest = 0, *end = s->end;

    memset(end, 0, buckets * sizeof *end);
    for (size_t from = 0, some; from < n; from += some) {
        const uint64_t *place = s->place + from, *value = task->part.value + from;
        uintptr_t later =
            (uintptr_t)value + ND_JOIN_PREFETCH_DISTANCE * sizeof *value; /* or the next part */

        some = n - from < ND_JOIN_BLOCK ? n - from : ND_JOIN_BLOCK;
        for (size_t i = 0; i < ND_JOIN_BLOCK * sizeof *value; i += 64)
            __builtin_prefetch((const void *)(later + i), 0, 2);
        nd_join_places(task->join, code, value, some, s->place + from);
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
static size_t divide(const struct nd_join_task *task, size_t n)
{
    struct nd_join_scratch *s = task->scratch;
    const uint64_t *place = s->place;
    uint32_t *end = s->end;
    uint64_t *record = s->record;

    count_places(task, n);
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        record[end[place[i] >> 32]++] = (uint64_t)i << 32 | (uint32_t)place[i];
    nd_hamming_kernels()->join_words(record, n, s->word);
    return (size_t)1 << task->level->code.place_bits;
}

void nd_join_part(const struct nd_join_task *task, size_t n)
{
    const uint32_t *end = task->scratch->end;
    size_t buckets, next = 0, start = 0;

    if (n < 2 || nd_join_is_over(task->join))
        return;
    buckets = divide(task, n);
    if (task->join->is_weak)
        fetch_values(task, 0, n);
    for (size_t b = 0; task->scratch->largest > ND_JOIN_LARGE && b < buckets; start = end[b++]) {
        if (end[b] - start <= ND_JOIN_LARGE)
            continue;
        compare_buckets(task, next, b);
        flush_hits(task);
        join_bucket(task, start, end[b]);
        next = b + 1;
    }
    compare_buckets(task, next, buckets);
    flush_hits(task);
}
