/* hamming_join.c - all pairs of a set within a distance
 *
 * For each table of a design: the fingerprints are partitioned by a hash of the table's key so that
 * a part fits in the cache, a part is divided again until few share a bucket, and neighbours in a
 * bucket are compared.  A pair is reported by the first table whose key agrees and by no other.
 *
 * A bucket that stays large (a cluster that agrees in the whole key) is joined in the same way by
 * the bits outside that key: the recurrence of 002, section 3.1.2, only where the data want it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "index/hamming_join.h"
#include "index/hamming_plan.h"
#include "index/hamming_tables.h"
#include "simd/hamming_kernels.h"

enum {
    PART = 8192,      /* fingerprints that a part should have: twice 12 bytes each in a cache */
    PART_BITS = 14,   /* and no more parts than this */
    BUCKET_BITS = 20, /* nor buckets in a part */
    LARGE = 4096,     /* a bucket that is joined by itself */
    AT_ONCE = 1024,
    WINDOW = 8,
    PADDING = 2 * WINDOW
};

/*
 * What is compared of a fingerprint: itself where it has one word, else 32 bits of a hash of the
 * key above 32 bits of all words folded, which are never farther apart than the fingerprints.
 */
struct record {
    uint64_t value;
    uint32_t position, unused;
};

/* One table of the join of all, or of a bucket of `parent`. */
struct level {
    const struct level *parent;
    struct nd_join_design design;
    uint64_t open[ND_HAMMING_WORDS_MAX]; /* bits not in any parent's key */
    unsigned table;
};

/* Room for the records of one part, in the order of their buckets. */
struct scratch {
    uint64_t *value;
    uint32_t *position, *end;
    size_t capacity;
};

struct worker {
    struct nd_join_buffer out;
    struct scratch scratch;
};

struct join {
    const uint64_t *row;
    size_t n, words;
    unsigned distance, n_threads, part_bits;
    struct nd_pool *pool;
    struct nd_join_output out;
    atomic_bool no_memory;
    struct level level;
    struct record *record;
    size_t *offset; /* of each thread and part, then where each part ends */
    size_t *start;  /* of each part */
    struct worker *worker;
};

static uint64_t *key_of(const struct level *level, size_t words)
{
    return level->design.keys + level->table * words;
}

static uint64_t value_of(const struct join *j, const struct level *level, size_t position)
{
    const uint64_t *x = j->row + position * j->words, *key = key_of(level, j->words);
    uint64_t hash = 0, fold;

    if (j->words == 1)
        return x[0];
    for (size_t w = 0; w < j->words; w++) {
        hash = (hash ^ (x[w] & key[w])) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    fold = nd_tables_fold(x, j->words);
    return hash << 32 | (uint32_t)(fold ^ fold >> 32);
}

/* What the parts and buckets of a level are chosen by: the top bits, as many as are wanted. */
static inline uint64_t place_of(const struct join *j, const struct level *level, uint64_t value)
{
    uint64_t mask = j->words == 1 ? key_of(level, 1)[0] : ~(uint64_t)UINT32_MAX;

    return (value & mask) * UINT64_C(0x9E3779B97F4A7C15);
}

static inline size_t top_bits(uint64_t place, unsigned bits)
{
    return (size_t)(place >> (63 - bits) >> 1);
}

static bool agrees(const struct join *j, const struct level *level, unsigned table,
                   const uint64_t *a, const uint64_t *b)
{
    const uint64_t *key = level->design.keys + table * j->words;
    uint64_t differ = 0;

    for (size_t w = 0; w < j->words; w++)
        differ |= (a[w] ^ b[w]) & key[w];
    return differ == 0;
}

/* Whether this level and each above it is the first table of its design that sees the pair. */
static bool is_first(const struct join *j, const struct level *level, const uint64_t *a,
                     const uint64_t *b)
{
    for (; level; level = level->parent) {
        if (level->design.tables == 0)
            continue; /* all were compared with all */
        for (unsigned t = 0; t < level->table; t++)
            if (agrees(j, level, t, a, b))
                return false;
        if (!agrees(j, level, level->table, a, b))
            return false;
    }
    return true;
}

static void emit(struct join *j, struct worker *w, const struct level *level, size_t a, size_t b)
{
    const uint64_t *x = j->row + a * j->words, *y = j->row + b * j->words;
    unsigned distance = 0;

    for (size_t i = 0; i < j->words; i++)
        distance += (unsigned)__builtin_popcountll(x[i] ^ y[i]);
    if (distance > j->distance || !is_first(j, level, x, y))
        return;
    w->out.pair[w->out.n++] = (struct nd_hamming_pair){a < b ? a : b, a < b ? b : a, distance};
    if (w->out.n == ND_JOIN_PAIRS)
        nd_join_flush(&j->out, &w->out);
}

/* Compare each of n records with the WINDOW ones that come `gap` after the next. */
static void compare_window(struct join *j, struct worker *w, const struct level *level,
                           const uint64_t *value, const uint32_t *position, size_t n, size_t gap)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    struct nd_hamming_found found[AT_ONCE];

    for (size_t start = 0; start + 1 + gap < n; start += AT_ONCE) {
        size_t left = n - start, some = left < AT_ONCE ? left : AT_ONCE;
        size_t count = kernels->next(value + start, some, left, gap, j->distance, found);

        if (atomic_load_explicit(&j->out.stop, memory_order_relaxed))
            return;
        for (size_t f = 0; f < count; f++)
            for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
                size_t i = start + found[f].line;

                emit(j, w, level, position[i],
                     position[i + 1 + gap + (unsigned)__builtin_ctz(slots)]);
            }
    }
}

static void compare_all(struct join *j, struct worker *w, const struct level *level,
                        const uint64_t *value, const uint32_t *position, size_t n)
{
    for (size_t gap = 0; gap + 1 < n; gap += WINDOW)
        compare_window(j, w, level, value, position, n, gap);
}

static void release_scratch(struct scratch *s)
{
    nd_table_free(s->value, s->capacity * sizeof *s->value);
    nd_table_free(s->position, s->capacity * sizeof *s->position);
    nd_table_free(s->end, 2 * s->capacity * sizeof *s->end);
    *s = (struct scratch){.value = NULL};
}

static bool make_scratch(struct scratch *s, size_t n)
{
    *s = (struct scratch){.capacity = n + PADDING};
    s->value = nd_table_alloc(s->capacity * sizeof *s->value);
    s->position = nd_table_alloc(s->capacity * sizeof *s->position);
    s->end = nd_table_alloc(2 * s->capacity * sizeof *s->end);
    if (s->value && s->position && s->end)
        return true;
    release_scratch(s);
    return false;
}

static void join_part(struct join *j, struct worker *w, const struct level *level,
                      const struct record *record, size_t n, unsigned used, struct scratch *s);

/* A bucket of many that agree in the key: once more, by the bits outside it. */
static void join_bucket(struct join *j, struct worker *w, const struct level *level,
                        const uint64_t *value, const uint32_t *position, size_t n)
{
    struct level inner = {.parent = level};
    struct scratch scratch = {.value = NULL};
    struct record *record = nd_table_alloc(n * sizeof *record);
    const uint64_t *key = key_of(level, j->words);

    for (size_t i = 0; i < j->words; i++)
        inner.open[i] = level->open[i] & ~key[i];
    if (!record || !make_scratch(&scratch, n) ||
        !nd_join_design(&inner.design, inner.open, j->words, j->distance, n))
        atomic_store(&j->no_memory, true);
    else if (inner.design.tables == 0)
        compare_all(j, w, level, value, position, n);
    for (; inner.table < inner.design.tables; inner.table++) {
        for (size_t i = 0; i < n; i++)
            record[i] = (struct record){value_of(j, &inner, position[i]), position[i], 0};
        join_part(j, w, &inner, record, n, 0, &scratch);
    }
    free(inner.design.keys);
    nd_table_free(record, n * sizeof *record);
    release_scratch(&scratch);
}

/* The buckets of [first, end) that are not large: neighbours, and what lies farther in a bucket. */
static void compare_buckets(struct join *j, struct worker *w, const struct level *level,
                            const struct scratch *s, size_t bucket, size_t end_bucket, size_t first)
{
    size_t end = end_bucket ? s->end[end_bucket - 1] : 0;

    compare_window(j, w, level, s->value + first, s->position + first, end - first, 0);
    for (; bucket < end_bucket; first = s->end[bucket++])
        for (size_t n = s->end[bucket] - first, gap = WINDOW; gap + 1 < n; gap += WINDOW)
            compare_window(j, w, level, s->value + first, s->position + first, n, gap);
}

static unsigned bits_for(size_t n, size_t each, unsigned most)
{
    unsigned bits = 0;

    while (bits < most && n >> bits > each)
        bits++;
    return bits;
}

/* Put the records of a part in the order of their buckets; s->end says where each bucket ends. */
static size_t divide(const struct join *j, const struct level *level, const struct record *record,
                     size_t n, unsigned used, struct scratch *s)
{
    unsigned bits = bits_for(n, 1, BUCKET_BITS);
    size_t buckets = (size_t)1 << bits, sum = 0;

    memset(s->end, 0, buckets * sizeof *s->end);
    for (size_t i = 0; i < n; i++)
        s->end[top_bits(place_of(j, level, record[i].value) << used, bits)]++;
    for (size_t b = 0; b < buckets; b++) {
        size_t count = s->end[b];

        s->end[b] = (uint32_t)sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = s->end[top_bits(place_of(j, level, record[i].value) << used, bits)]++;

        s->value[at] = record[i].value;
        s->position[at] = record[i].position;
    }
    return buckets;
}

/* The records agree in the first `used` bits of their place. */
static void join_part(struct join *j, struct worker *w, const struct level *level,
                      const struct record *record, size_t n, unsigned used, struct scratch *s)
{
    size_t buckets, first_bucket = 0, first = 0, start = 0;

    if (n < 2 || atomic_load(&j->out.stop) || atomic_load(&j->no_memory))
        return;
    buckets = divide(j, level, record, n, used, s);
    for (size_t b = 0; b < buckets; start = s->end[b++]) {
        size_t size = s->end[b] - start;

        if (size <= LARGE || level->design.tables == 0)
            continue;
        compare_buckets(j, w, level, s, first_bucket, b, first);
        join_bucket(j, w, level, s->value + start, s->position + start, size);
        first_bucket = b + 1;
        first = s->end[b];
    }
    compare_buckets(j, w, level, s, first_bucket, buckets, first);
}

/* The rows that thread `task` partitions. */
static void share_of(const struct join *j, size_t task, size_t *from, size_t *to)
{
    *from = j->n / j->n_threads * task;
    *to = task + 1 == j->n_threads ? j->n : j->n / j->n_threads * (task + 1);
}

static void count_share(void *context, size_t task, unsigned worker)
{
    struct join *j = context;
    size_t *count = j->offset + (task << j->part_bits), from, to;

    (void)worker;
    share_of(j, task, &from, &to);
    memset(count, 0, sizeof *count << j->part_bits);
    for (size_t i = from; i < to; i++)
        count[top_bits(place_of(j, &j->level, value_of(j, &j->level, i)), j->part_bits)]++;
}

static void move_share(void *context, size_t task, unsigned worker)
{
    struct join *j = context;
    size_t *offset = j->offset + (task << j->part_bits), from, to;

    (void)worker;
    share_of(j, task, &from, &to);
    for (size_t i = from; i < to; i++) {
        uint64_t value = value_of(j, &j->level, i);
        size_t part = top_bits(place_of(j, &j->level, value), j->part_bits);

        j->record[offset[part]++] = (struct record){value, (uint32_t)i, 0};
    }
}

static void run_part(void *context, size_t task, unsigned worker)
{
    struct join *j = context;
    struct worker *w = &j->worker[worker];
    size_t n = j->start[task + 1] - j->start[task];

    if (n > w->scratch.capacity - PADDING || !w->scratch.capacity) {
        release_scratch(&w->scratch);
        if (!make_scratch(&w->scratch, n + n / 4 + PART)) {
            atomic_store(&j->no_memory, true);
            return;
        }
    }
    join_part(j, w, &j->level, j->record + j->start[task], n, j->part_bits, &w->scratch);
}

/* One table: count, move, compare. */
static void run_table(struct join *j)
{
    size_t parts = (size_t)1 << j->part_bits, sum = 0;

    nd_pool_run(j->pool, j->n_threads, count_share, j);
    for (size_t part = 0; part < parts; part++) {
        j->start[part] = sum;
        for (unsigned t = 0; t < j->n_threads; t++) {
            size_t *at = &j->offset[(t << j->part_bits) + part], count = *at;

            *at = sum;
            sum += count;
        }
    }
    j->start[parts] = sum;
    nd_pool_run(j->pool, j->n_threads, move_share, j);
    nd_pool_run(j->pool, parts, run_part, j);
}

static bool allocate(struct join *j)
{
    size_t parts;

    j->part_bits = bits_for(j->n, PART, PART_BITS);
    parts = (size_t)1 << j->part_bits;
    j->record = nd_table_alloc(j->n * sizeof *j->record);
    j->offset = nd_alloc_array(parts * j->n_threads, sizeof *j->offset);
    j->start = nd_alloc_array(parts + 1, sizeof *j->start);
    j->worker = calloc(j->n_threads, sizeof *j->worker);
    return j->record && j->offset && j->start && j->worker;
}

static void release(struct join *j)
{
    for (unsigned t = 0; j->worker && t < j->n_threads; t++)
        release_scratch(&j->worker[t].scratch);
    nd_table_free(j->record, j->n * sizeof *j->record);
    free(j->offset);
    free(j->start);
    free(j->worker);
    free(j->level.design.keys);
    nd_pool_free(j->pool);
}

/* Too few for tables, or no table to be had: all with all. */
static void run_scan(struct join *j)
{
    struct scratch *s = &j->worker[0].scratch;
    struct level none = {.table = 0};
    uint64_t no_key[ND_HAMMING_WORDS_MAX] = {0};

    if (!make_scratch(s, j->n)) {
        atomic_store(&j->no_memory, true);
        return;
    }
    none.design.keys = no_key;
    for (size_t i = 0; i < j->n; i++) {
        s->value[i] = value_of(j, &none, i);
        s->position[i] = (uint32_t)i;
    }
    compare_all(j, &j->worker[0], &none, s->value, s->position, j->n);
}

static void run(struct join *j)
{
    if (j->level.design.tables == 0)
        run_scan(j);
    for (; j->level.table < j->level.design.tables; j->level.table++)
        if (!atomic_load(&j->out.stop) && !atomic_load(&j->no_memory))
            run_table(j);
    for (unsigned t = 0; t < j->n_threads; t++)
        nd_join_flush(&j->out, &j->worker[t].out);
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
    struct join j = {.row = fingerprints, .n = n, .words = nd_hamming_words(bits)};
    enum nd_status status = nd_hamming_problem_check(&problem, err);

    if (status == ND_OK)
        status = nd_hamming_check_bits(fingerprints, n, bits, err);
    if (status != ND_OK || n < 2)
        return status;
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "%zu fingerprints to join: 2^32 - 1 at most", n);
    j.distance = distance;
    j.out.report = report;
    j.out.context = context;
    atomic_flag_clear(&j.out.busy);
    open_bits(j.level.open, bits);
    j.pool = nd_pool_new(threads, err);
    if (!j.pool)
        return ND_ENOMEM;
    j.n_threads = nd_pool_threads(j.pool);
    if (nd_join_design(&j.level.design, j.level.open, j.words, distance, n) && allocate(&j))
        run(&j);
    else
        atomic_store(&j.no_memory, true);
    if (atomic_load(&j.no_memory))
        status = nd_fail(err, ND_ENOMEM, "out of memory for joining %zu fingerprints", n);
    else if (atomic_load(&j.out.stop))
        status = nd_fail(err, ND_ECANCELLED, "the join was stopped");
    release(&j);
    return status;
}
