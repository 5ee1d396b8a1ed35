/* hamming_join_part.c - the pairs within one part: buckets, neighbours, large buckets once more */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_join.h"
#include "simd/hamming_kernels.h"

enum {
    BUCKET_BITS = 20, /* no more buckets than this */
    LARGE = 4096,     /* a bucket that is joined by itself */
    AT_ONCE = ND_JOIN_AT_ONCE,
    WINDOW = 8
};

unsigned nd_join_bits(size_t n, size_t each, unsigned most)
{
    unsigned bits = 0;

    while (bits < most && n >> bits > each)
        bits++;
    return bits;
}

bool nd_join_records_make(struct nd_join_records *r, size_t n)
{
    r->capacity = n + ND_JOIN_PADDING;
    r->value = nd_table_alloc(r->capacity * sizeof *r->value);
    r->position = nd_table_alloc(r->capacity * sizeof *r->position);
    if (r->value && r->position)
        return true;
    nd_join_records_release(r);
    return false;
}

void nd_join_records_release(struct nd_join_records *r)
{
    nd_table_free(r->value, r->capacity * sizeof *r->value);
    nd_table_free(r->position, r->capacity * sizeof *r->position);
    *r = (struct nd_join_records){.value = NULL};
}

bool nd_join_scratch_make(struct nd_join_scratch *s, size_t n)
{
    s->capacity = n;
    s->end = nd_table_alloc((n + 1) * sizeof *s->end); /* never more buckets than records */
    if (s->end && nd_join_records_make(&s->records, n))
        return true;
    nd_join_scratch_release(s);
    return false;
}

void nd_join_scratch_release(struct nd_join_scratch *s)
{
    nd_table_free(s->end, (s->capacity + 1) * sizeof *s->end);
    nd_join_records_release(&s->records);
    *s = (struct nd_join_scratch){.end = NULL};
}

static bool agrees(const uint64_t *key, size_t words, const uint64_t *a, const uint64_t *b)
{
    uint64_t differ = 0;

    for (size_t w = 0; w < words; w++)
        differ |= (a[w] ^ b[w]) & key[w];
    return differ == 0;
}

/* Whether this level and each above it is the first table of its design that sees the pair. */
static bool is_first(const struct nd_join *j, const struct nd_join_level *level, const uint64_t *a,
                     const uint64_t *b)
{
    for (; level; level = level->parent) {
        if (level->design.tables == 0)
            continue; /* all were compared with all */
        for (unsigned t = 0; t < level->table; t++)
            if (agrees(nd_join_key(j, level, t), j->words, a, b))
                return false;
        if (!agrees(nd_join_key(j, level, level->table), j->words, a, b))
            return false;
    }
    return true;
}

static void emit(struct nd_join *j, struct nd_join_worker *w, const struct nd_join_level *level,
                 const struct nd_join_records *r, size_t first, size_t second)
{
    size_t a = r->position[first], b = r->position[second];
    const uint64_t *x = j->words == 1 ? &r->value[first] : j->row + a * j->words;
    const uint64_t *y = j->words == 1 ? &r->value[second] : j->row + b * j->words;
    unsigned distance = 0;

    if (!is_first(j, level, x, y))
        return;
    for (size_t i = 0; i < j->words; i++)
        distance += (unsigned)__builtin_popcountll(x[i] ^ y[i]);
    if (distance > j->distance)
        return;
    w->out.pair[w->out.n++] = (struct nd_hamming_pair){a < b ? a : b, a < b ? b : a, distance};
    if (w->out.n == ND_JOIN_PAIRS)
        nd_join_flush(&j->out, &w->out);
}

/* Compare each of `some` records from `from` on with the WINDOW ones that come `gap` after the
 * next.
 */
static void compare_some(struct nd_join *j, struct nd_join_worker *w,
                         const struct nd_join_level *level, const struct nd_join_records *r,
                         size_t from, size_t some, size_t end, size_t gap)
{
    struct nd_hamming_found found[AT_ONCE];
    size_t n =
        nd_hamming_kernels()->next(r->value + from, some, end - from, gap, j->distance, found);

    for (size_t f = 0; f < n; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
            size_t i = from + found[f].line;

            emit(j, w, level, r, i, i + 1 + gap + (unsigned)__builtin_ctz(slots));
        }
}

static bool is_stopped(const struct nd_join *j)
{
    return atomic_load_explicit(&j->out.stop, memory_order_relaxed);
}

static void compare_window(struct nd_join *j, struct nd_join_worker *w,
                           const struct nd_join_level *level, const struct nd_join_records *r,
                           size_t from, size_t end, size_t gap)
{
    for (; from + 1 + gap < end && !is_stopped(j); from += AT_ONCE)
        compare_some(j, w, level, r, from, end - from < AT_ONCE ? end - from : AT_ONCE, end, gap);
}

void nd_join_compare_rest(struct nd_join *j, struct nd_join_worker *w,
                          const struct nd_join_level *level, const struct nd_join_records *r,
                          size_t from, size_t n)
{
    size_t some = n - from < AT_ONCE ? n - from : AT_ONCE;

    for (size_t gap = 0; from + gap + 1 < n && !is_stopped(j); gap += WINDOW)
        compare_some(j, w, level, r, from, some, n, gap);
}

void nd_join_compare_all(struct nd_join *j, struct nd_join_worker *w,
                         const struct nd_join_level *level, const struct nd_join_records *records,
                         size_t n)
{
    for (size_t from = 0; from < n; from += AT_ONCE)
        nd_join_compare_rest(j, w, level, records, from, n);
}

/* A bucket of many that agree in the key: once more, by the bits outside it. */
static void join_bucket(struct nd_join *j, struct nd_join_worker *w,
                        const struct nd_join_level *level, const struct nd_join_records *bucket,
                        size_t n)
{
    const uint64_t *key = nd_join_key(j, level, level->table);
    struct nd_join_level inner = {.parent = level};
    struct nd_join_scratch scratch = {.end = NULL};
    struct nd_join_records records = {.value = NULL};

    for (size_t i = 0; i < j->words; i++)
        inner.open[i] = level->open[i] & ~key[i];
    if (!nd_join_records_make(&records, n) || !nd_join_scratch_make(&scratch, n) ||
        !nd_join_design(&inner.design, inner.open, j->words, j->distance, n))
        atomic_store(&j->no_memory, true);
    else if (inner.design.tables == 0)
        nd_join_compare_all(j, w, level, bucket, n);
    for (; inner.table < inner.design.tables; inner.table++) {
        inner.mask = nd_join_key_mask(j, &inner, inner.table);
        for (size_t i = 0; i < n; i++) {
            records.value[i] = nd_join_value(j, &inner, bucket->position[i]);
            records.position[i] = bucket->position[i];
        }
        nd_join_part(j, w, &inner, &records, n, &scratch);
    }
    free(inner.design.keys);
    nd_join_records_release(&records);
    nd_join_scratch_release(&scratch);
}

/* Buckets [bucket, end), none of them large: neighbours, and what lies farther in a bucket. */
static void compare_buckets(struct nd_join *j, struct nd_join_worker *w,
                            const struct nd_join_level *level, const struct nd_join_scratch *s,
                            size_t bucket, size_t end)
{
    size_t first = bucket ? s->end[bucket - 1] : 0, last = end ? s->end[end - 1] : 0;

    if (bucket == end)
        return;
    compare_window(j, w, level, &s->records, first, last, 0);
    for (; bucket < end; first = s->end[bucket++])
        for (size_t gap = WINDOW; first + gap + 1 < s->end[bucket]; gap += WINDOW)
            compare_window(j, w, level, &s->records, first, s->end[bucket], gap);
}

/* Put the records of a part in the order of their buckets; s->end says where each bucket ends. */
static size_t divide(const struct nd_join_level *level, const struct nd_join_records *part,
                     size_t n, struct nd_join_scratch *s)
{
    unsigned bits = nd_join_bits(n, 3, BUCKET_BITS), used = level->used;
    size_t buckets = (size_t)1 << bits;
    const uint64_t mask = level->mask;
    uint32_t sum = 0;

    memset(s->end, 0, buckets * sizeof *s->end);
    for (size_t i = 0; i < n; i++)
        s->end[nd_join_place(part->value[i], mask, used, bits)]++;
    for (size_t b = 0; b < buckets; b++) {
        uint32_t count = s->end[b];

        s->end[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = s->end[nd_join_place(part->value[i], mask, used, bits)]++;

        s->records.value[at] = part->value[i];
        s->records.position[at] = part->position[i];
    }
    return buckets;
}

void nd_join_part(struct nd_join *j, struct nd_join_worker *w, const struct nd_join_level *level,
                  const struct nd_join_records *part, size_t n, struct nd_join_scratch *s)
{
    size_t buckets, next = 0, start = 0;

    if (n < 2 || atomic_load(&j->out.stop) || atomic_load(&j->no_memory))
        return;
    buckets = divide(level, part, n, s);
    for (size_t b = 0; b < buckets; start = s->end[b++]) {
        struct nd_join_records bucket = {s->records.value + start, s->records.position + start, 0};

        if (s->end[b] - start <= LARGE)
            continue;
        compare_buckets(j, w, level, s, next, b);
        join_bucket(j, w, level, &bucket, s->end[b] - start);
        next = b + 1;
    }
    compare_buckets(j, w, level, s, next, buckets);
}
