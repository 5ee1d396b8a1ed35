/* query_filter.c - a set of queries, past which a block of a stream runs
 *
 * The first part makes the set and the table of each half (query_filter.h); the second, from
 * `struct filter_round` on, lets a block of fingerprints through them:
 *
 *     nd_hamming_filter_block   for each half, which fingerprints pass the set
 *     look_up                   of those the lines of the table, a round at a time; the next round
 *                               is prefetched before this one is compared
 *     finish                    one round: what is near in the other half is a candidate; the lines
 *                               that are chained to its lines come next
 *     check                     the whole fingerprint and the whole query decide
 *
 * A pair may be near in both halves.  It counts in the lower half only, so it is found once.
 */
#include "hamming/memory/query_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "simd/hamming/hamming_kernels.h"

enum {
    CODE_BITS = ND_HAMMING_DATA_BITS + 1,
    FULL_BITS = 32,
    BALL_MAX = ND_HAMMING_BALL + 1,
    PREFETCH_DISTANCE = 8,
    CHAIN_MAX = 8 /* full lines behind one that are still looked at */
};

/* Entries of a line of 7 that a table is sized for. */
#define FILL 4.5

/* A half whose lowest bits are rotated to where the code has its checks: the data are the upper
 * bits, so that a sorted stream goes through the set from one end to the other. */
static uint32_t rotated(uint32_t half)
{
    const uint32_t checks = (1u << ND_FILTER_CHECKS) - 1;

    return (half & UINT32_C(1) << 31) | (half & checks) << ND_HAMMING_DATA_BITS |
           (half >> ND_FILTER_CHECKS & ND_HAMMING_DATA_MASK);
}

static void make_kernel_code(struct nd_hamming_filter *f)
{
    for (unsigned i = 0; i < 31; i++) {
        unsigned syndrome = nd_hamming_syndrome(&f->code, rotated(UINT32_C(1) << i));

        f->kernel_code.error[syndrome] = UINT32_C(1) << i;
        for (unsigned j = 0; j < ND_FILTER_CHECKS; j++)
            f->kernel_code.check[j] |= (syndrome >> j & 1) << i;
    }
}

static uint32_t half_of(uint64_t x, unsigned half)
{
    return (uint32_t)(x >> (32 * half));
}

/* The places that the ball of one half of a query meets; returns how many. */
static unsigned find_ball(const struct nd_hamming_filter *f, uint32_t half,
                          uint32_t place[BALL_MAX])
{
    uint32_t word = rotated(half);
    unsigned syndrome = nd_hamming_syndrome(&f->code, word);
    uint32_t data = (word ^ f->code.error[syndrome]) & ND_HAMMING_DATA_MASK;
    uint32_t top = word >> 31 << ND_HAMMING_DATA_BITS;
    unsigned n = 0;

    place[n++] = data | top;
    if (f->radius == 0)
        return n;
    place[n++] = (data | top) ^ UINT32_C(1) << ND_HAMMING_DATA_BITS;
    for (unsigned i = 0; syndrome && i < ND_HAMMING_BALL; i++)
        if (f->code.ball[syndrome][i])
            place[n++] = (data ^ f->code.ball[syndrome][i]) | top;
    return n;
}

static void set_bit(uint32_t *set, uint32_t place)
{
    set[place / 32] |= UINT32_C(1) << place % 32;
}

/* The query that stood last in a bucket, or UINT32_MAX. */
static uint32_t last_in(const struct nd_hamming_lines *table, size_t bucket)
{
    const struct nd_hamming_line *line = nd_hamming_lines_at(table, bucket);
    const struct nd_hamming_line *next = nd_hamming_lines_next(table, line);

    line = next ? next : line;
    if (nd_hamming_line_taken(line) == 0)
        return UINT32_MAX;
    return nd_hamming_line_get(table->layout, line, nd_hamming_line_taken(line) - 1).id;
}

/* Enter a query at all places of its ball; once where two of them share a line. */
static bool put_ball(struct nd_hamming_filter_half *half, const uint32_t *place, unsigned n,
                     uint32_t other, uint32_t number)
{
    struct nd_hamming_entry e = {.word = other, .id = number};

    for (unsigned i = 0; i < n; i++) {
        size_t bucket = nd_filter_bucket(&half->table, place[i]);

        set_bit(half->set, place[i]);
        if (last_in(&half->table, bucket) == number)
            continue;
        if (!nd_hamming_lines_ready(&half->table, 1))
            return false;
        nd_hamming_lines_put(&half->table, bucket, &e);
    }
    return true;
}

static void prefetch_ball(const struct nd_hamming_filter_half *half, const uint32_t *place,
                          unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        __builtin_prefetch(&half->set[place[i] / 32], 1);
        __builtin_prefetch(
            nd_hamming_lines_at(&half->table, nd_filter_bucket(&half->table, place[i])), 1);
    }
}

static bool fill_half(struct nd_hamming_filter *f, const uint32_t *distinct, size_t n,
                      unsigned half)
{
    struct nd_hamming_filter_half *h = &f->half[half];
    uint32_t place[PREFETCH_DISTANCE][BALL_MAX];
    unsigned places[PREFETCH_DISTANCE];

    for (size_t start = 0; start < n; start += PREFETCH_DISTANCE) {
        size_t left = n - start < PREFETCH_DISTANCE ? n - start : PREFETCH_DISTANCE;

        for (size_t i = 0; i < left; i++) {
            places[i] = find_ball(f, half_of(f->query[distinct[start + i]].value, half), place[i]);
            prefetch_ball(h, place[i], places[i]);
        }
        for (size_t i = 0; i < left; i++) {
            uint32_t number = distinct[start + i];

            if (!put_ball(h, place[i], places[i], half_of(f->query[number].value, 1 - half),
                          number))
                return false;
        }
    }
    return true;
}

/* Mark the lines that have too many chained to them. */
static void mark_overflows(struct nd_hamming_filter *f, struct nd_hamming_lines *table)
{
    for (size_t b = 0; b < table->n_main; b++) {
        struct nd_hamming_line *main = nd_hamming_lines_at(table, b);
        const struct nd_hamming_line *line = main;
        unsigned length = 0;

        while ((line = nd_hamming_lines_next(table, line)) && length <= CHAIN_MAX)
            length++;
        main->word[ND_FILTER_OVERFLOWS] = length > CHAIN_MAX;
        f->has_overflow |= length > CHAIN_MAX;
    }
}

/*
 * Find the distinct queries: write the number of the first one of each value, and link those that
 * are equal to it.  Returns how many.  `slot` is a hash table, zeroed, of a power of 2 slots.
 */
static size_t find_distinct(struct nd_hamming_filter *f, size_t n, uint32_t *slot, size_t slots,
                            uint32_t *distinct)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        struct nd_filter_query *query = &f->query[i];
        size_t at = (size_t)nd_mix64(query->value) & (slots - 1);

        while (slot[at] && f->query[slot[at] - 1].value != query->value)
            at = (at + 1) & (slots - 1);
        if (slot[at]) {
            query->next = f->query[slot[at] - 1].next;
            f->query[slot[at] - 1].next = (uint32_t)i + 1;
        } else {
            slot[at] = (uint32_t)i + 1;
            distinct[found++] = (uint32_t)i;
        }
    }
    return found;
}

static bool make_tables(struct nd_hamming_filter *f, size_t n)
{
    size_t slots = 16;
    uint32_t *slot, *distinct = nd_alloc_array(n, sizeof *distinct);
    bool made;

    while (slots < 2 * n)
        slots *= 2;
    slot = nd_table_alloc(slots * sizeof *slot);
    made = distinct && slot;
    n = made ? find_distinct(f, n, slot, slots, distinct) : 0;
    nd_table_free(slot, slots * sizeof *slot);
    for (unsigned h = 0; made && h < 2; h++) {
        struct nd_hamming_lines *table = &f->half[h].table;

        table->layout = ND_HAMMING_LAYOUT_ROWS;
        made = nd_hamming_lines_resize(
                   table, (size_t)((double)n * (f->radius ? BALL_MAX : 1) / FILL) + 1) &&
               fill_half(f, distinct, n, h);
        if (made)
            mark_overflows(f, table);
    }
    free(distinct);
    return made;
}

static size_t set_bytes(const struct nd_hamming_filter *f)
{
    return ((size_t)1 << f->place_bits) / 8;
}

/* Set the bits of all values within the radius of a half of a query. */
static void fill_full(struct nd_hamming_filter *f, const uint64_t *queries, size_t n, unsigned half)
{
    uint32_t *set = f->half[half].set;

    for (size_t i = 0; i < n; i++) {
        uint32_t x = half_of(queries[i], half);

        set_bit(set, x);
        for (unsigned b = 0; f->radius && b < 32; b++)
            set_bit(set, x ^ UINT32_C(1) << b);
    }
}

bool nd_hamming_filter_make(struct nd_hamming_filter *f, const uint64_t *queries, size_t n,
                            unsigned distance, bool full)
{
    f->distance = distance;
    f->radius = distance > 1;
    f->place_bits = full ? FULL_BITS : CODE_BITS;
    f->has_overflow = full;
    nd_hamming_code_init(&f->code);
    make_kernel_code(f);
    for (unsigned h = 0; h < 2; h++) {
        f->half[h].set = nd_table_alloc(set_bytes(f));
        if (!f->half[h].set)
            return false;
        if (full)
            fill_full(f, queries, n, h);
    }
    if (full)
        return true;
    f->query = nd_alloc_array(n, sizeof *f->query);
    if (!f->query)
        return false;
    for (size_t i = 0; i < n; i++)
        f->query[i] = (struct nd_filter_query){queries[i], 0};
    return make_tables(f, n);
}

void nd_hamming_filter_release(struct nd_hamming_filter *f)
{
    for (unsigned h = 0; f->place_bits && h < 2; h++) {
        nd_table_free(f->half[h].set, set_bytes(f));
        nd_hamming_lines_release(&f->half[h].table);
    }
    free(f->query);
}

enum { ROUND = 128, SLOTS = 7, CANDIDATES = 2 * ROUND * SLOTS };

/* Lines that were prefetched together, and the numbers in the block that they are for. */
struct filter_round {
    const struct nd_hamming_line *line[ROUND];
    uint32_t value[ROUND], number[ROUND];
    size_t n;
};

/* A block of fingerprints on its way through the filter of one half after the other. */
struct pass {
    const struct nd_hamming_filter *f;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *x;
    unsigned half;
    struct nd_hamming_matches *matches;
    /* Fingerprints, and queries whose other half is near theirs. */
    uint32_t number[CANDIDATES], query[CANDIDATES];
    size_t n_candidates;
    bool overflows[ND_FILTER_BLOCK];
    bool any_overflow, out_of_memory;
};

static inline void add_line(struct filter_round *w, const struct nd_hamming_line *line,
                            uint32_t value, uint32_t number)
{
    __builtin_prefetch(line, 0, 2);
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->number[w->n++] = number;
}

/* Prefetch the lines of the next of those that passed. */
static void begin(const struct pass *p, const uint32_t *place, const uint32_t *passed, size_t n,
                  struct filter_round *w)
{
    const struct nd_hamming_lines *table = &p->f->half[p->half].table;

    w->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = passed[i];

        add_line(w, nd_hamming_lines_at(table, nd_filter_bucket(table, place[number])),
                 (uint32_t)(p->x[number] >> (32 * (1 - p->half))), number);
    }
}

static void add_match(struct pass *p, uint32_t number, uint32_t query, uint32_t distance)
{
    struct nd_hamming_matches *m = p->matches;

    if (m->count == m->capacity && !ND_RESERVE(m->items, &m->capacity, m->count + 1))
        p->out_of_memory = true;
    if (!p->out_of_memory)
        m->items[m->count++] = (struct nd_hamming_match){number, query, distance};
}

/* A pair whose lower halves are within the radius is reported from there, and from nowhere else. */
static void check(struct pass *p, uint32_t number, uint32_t query)
{
    const struct nd_hamming_filter *f = p->f;
    uint64_t differ = p->x[number] ^ f->query[query].value;
    unsigned distance = (unsigned)__builtin_popcountll(differ);
    unsigned low = (unsigned)__builtin_popcountll(differ & UINT32_MAX);
    unsigned own = p->half ? distance - low : low;

    if (distance > f->distance || own > f->radius || (p->half && low <= f->radius))
        return;
    for (uint32_t next = query + 1; next; next = f->query[next - 1].next)
        add_match(p, number, next - 1, distance);
}

/* The candidates that there are: their queries were prefetched. */
static void check_all(struct pass *p)
{
    for (size_t c = 0; c < p->n_candidates; c++)
        check(p, p->number[c], p->query[c]);
    p->n_candidates = 0;
}

/* The slots of a round that are near. */
static void list_candidates(struct pass *p, const struct filter_round *w,
                            const struct nd_hamming_found *found, size_t n)
{
    if (p->n_candidates > CANDIDATES - ROUND * SLOTS)
        check_all(p);
    for (size_t f = 0; f < n; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
            uint32_t i = found[f].line, slot = (uint32_t)__builtin_ctz(slots);
            uint32_t query = nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, w->line[i], slot).id;

            __builtin_prefetch(&p->f->query[query]);
            p->number[p->n_candidates] = w->number[i];
            p->query[p->n_candidates++] = query;
        }
}

/* Look at all lines of a round, then at those chained to them, until none is left. */
static void finish(struct pass *p, struct filter_round *w)
{
    const struct nd_hamming_lines *table = &p->f->half[p->half].table;
    struct nd_hamming_found found[ROUND];
    uint32_t more[ROUND];

    for (bool is_main = true; w->n; is_main = false) {
        struct nd_hamming_look now = {w->line, w->value, w->n}, none = {NULL, NULL, 0};
        struct nd_hamming_seen seen = p->kernels->lines(&now, &none, p->f->distance, found, more);

        list_candidates(p, w, found, seen.found);
        w->n = 0;
        for (size_t m = 0; m < seen.more; m++) {
            const struct nd_hamming_line *line = w->line[more[m]]; /* not below w->n */
            uint32_t number = w->number[more[m]];

            if (is_main && line->word[ND_FILTER_OVERFLOWS])
                p->overflows[number] = p->any_overflow = true;
            else
                add_line(w, nd_hamming_lines_next(table, line), w->value[more[m]], number);
        }
    }
}

static void look_up(struct pass *p, const uint32_t *place, const uint32_t *passed, size_t n)
{
    struct filter_round round[2];
    size_t now = 0;

    begin(p, place, passed, n < ROUND ? n : ROUND, &round[0]);
    for (size_t start = 0; start < n; start += ROUND, now ^= 1) {
        size_t next = start + ROUND;

        if (next < n)
            begin(p, place, passed + next, n - next < ROUND ? n - next : ROUND, &round[now ^ 1]);
        check_all(p); /* those of the round before */
        finish(p, &round[now]);
    }
    check_all(p);
}

/* Fingerprints that met an overflowing place query the index instead; returns how many. */
static size_t set_overflows_apart(const struct pass *p, size_t n, uint32_t *open)
{
    struct nd_hamming_matches *m = p->matches;
    size_t kept = 0, n_open = 0;

    for (size_t i = 0; i < m->count; i++)
        if (!p->overflows[m->items[i].query])
            m->items[kept++] = m->items[i];
    m->count = kept;
    for (uint32_t i = 0; i < n; i++)
        if (p->overflows[i])
            open[n_open++] = i;
    return n_open;
}

static void find_places(const struct nd_hamming_filter *f, const uint64_t *x, size_t n,
                        unsigned half, uint32_t *place)
{
    if (f->query)
        nd_filter_kernels()->places(&f->kernel_code, x, n, half, place);
    else
        for (size_t i = 0; i < n; i++)
            place[i] = (uint32_t)(x[i] >> (32 * half));
}

bool nd_hamming_filter_block(const struct nd_hamming_filter *f, const uint64_t *x, size_t n,
                             struct nd_hamming_matches *matches, uint32_t *open, size_t *n_open)
{
    uint32_t place[ND_FILTER_BLOCK], passed[ND_FILTER_BLOCK];
    struct pass p;

    p.f = f;
    p.kernels = nd_hamming_kernels();
    p.x = x;
    p.matches = matches;
    p.n_candidates = 0;
    p.any_overflow = p.out_of_memory = false;
    matches->count = 0;
    memset(p.overflows, 0, n);
    for (p.half = 0; p.half < 2; p.half++) {
        size_t n_passed;

        find_places(f, x, n, p.half, place);
        n_passed = nd_filter_kernels()->marked(f->half[p.half].set, place, n, passed);
        if (f->query) {
            look_up(&p, place, passed, n_passed);
            continue;
        }
        for (size_t i = 0; i < n_passed; i++)
            p.overflows[passed[i]] = p.any_overflow = true;
    }
    *n_open = p.any_overflow ? set_overflows_apart(&p, n, open) : 0;
    return !p.out_of_memory;
}
