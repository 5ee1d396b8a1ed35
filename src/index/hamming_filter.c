/* hamming_filter.c - the set and the table of a batch of queries: make */
#include "index/hamming_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
    CODE_BITS = ND_HAMMING_DATA_BITS + 1,
    FULL_BITS = 32,
    BALL_MAX = ND_HAMMING_BALL + 1,
    AHEAD = 8,
    CROWD = 8 /* full lines behind one that are still looked at */
};

/* Entries of a line of 7 that a table is sized for. */
#define FILL 4.5

/* The places that the ball of one half of a query meets. */
struct ball {
    uint32_t place[BALL_MAX];
    unsigned n;
};

/* A half whose lowest bits are turned to where the code has its checks: the data are the upper
 * bits, so that a sorted stream goes through the set from one end to the other. */
static uint32_t turned(uint32_t half)
{
    const uint32_t checks = (1u << ND_FILTER_CHECKS) - 1;

    return (half & UINT32_C(1) << 31) | (half & checks) << ND_HAMMING_DATA_BITS |
           (half >> ND_FILTER_CHECKS & ND_HAMMING_DATA_MASK);
}

static void make_kernel_code(struct nd_hamming_filter *f)
{
    for (unsigned i = 0; i < 31; i++) {
        unsigned syndrome = nd_hamming_syndrome(&f->code, turned(UINT32_C(1) << i));

        f->kernel_code.error[syndrome] = UINT32_C(1) << i;
        for (unsigned j = 0; j < ND_FILTER_CHECKS; j++)
            f->kernel_code.check[j] |= (syndrome >> j & 1) << i;
    }
}

static uint32_t half_of(uint64_t x, unsigned half)
{
    return (uint32_t)(x >> (32 * half));
}

static void find_ball(const struct nd_hamming_filter *f, uint32_t half, struct ball *ball)
{
    uint32_t word = turned(half);
    unsigned syndrome = nd_hamming_syndrome(&f->code, word);
    uint32_t data = (word ^ f->code.error[syndrome]) & ND_HAMMING_DATA_MASK;
    uint32_t top = word >> 31 << ND_HAMMING_DATA_BITS;

    ball->n = 0;
    ball->place[ball->n++] = data | top;
    if (f->radius == 0)
        return;
    ball->place[ball->n++] = (data | top) ^ UINT32_C(1) << ND_HAMMING_DATA_BITS;
    for (unsigned i = 0; syndrome && i < ND_HAMMING_BALL; i++)
        if (f->code.ball[syndrome][i])
            ball->place[ball->n++] = (data ^ f->code.ball[syndrome][i]) | top;
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

/* Two places of a ball may share a line: the query stands there once. */
static bool put_ball(struct nd_hamming_filter_half *half, const struct ball *ball, uint32_t other,
                     uint32_t number)
{
    struct nd_hamming_entry e = {.word = other, .id = number};

    for (unsigned i = 0; i < ball->n; i++) {
        size_t bucket = nd_filter_bucket(&half->table, ball->place[i]);

        set_bit(half->set, ball->place[i]);
        if (last_in(&half->table, bucket) == number)
            continue;
        if (!nd_hamming_lines_ready(&half->table, 1))
            return false;
        nd_hamming_lines_put(&half->table, bucket, &e);
    }
    return true;
}

static void ask_for(const struct nd_hamming_filter_half *half, const struct ball *ball)
{
    for (unsigned i = 0; i < ball->n; i++) {
        __builtin_prefetch(&half->set[ball->place[i] / 32], 1);
        __builtin_prefetch(
            nd_hamming_lines_at(&half->table, nd_filter_bucket(&half->table, ball->place[i])), 1);
    }
}

static bool fill_half(struct nd_hamming_filter *f, const uint32_t *distinct, size_t n,
                      unsigned half)
{
    struct nd_hamming_filter_half *h = &f->half[half];
    struct ball ball[AHEAD];

    for (size_t start = 0; start < n; start += AHEAD) {
        size_t left = n - start < AHEAD ? n - start : AHEAD;

        for (size_t i = 0; i < left; i++) {
            find_ball(f, half_of(f->query[distinct[start + i]].value, half), &ball[i]);
            ask_for(h, &ball[i]);
        }
        for (size_t i = 0; i < left; i++) {
            uint32_t number = distinct[start + i];

            if (!put_ball(h, &ball[i], half_of(f->query[number].value, 1 - half), number))
                return false;
        }
    }
    return true;
}

/* Say in a line that very many are chained to it. */
static void mark_crowds(struct nd_hamming_filter *f, struct nd_hamming_lines *table)
{
    for (size_t b = 0; b < table->n_main; b++) {
        struct nd_hamming_line *main = nd_hamming_lines_at(table, b);
        const struct nd_hamming_line *line = main;
        unsigned length = 0;

        while ((line = nd_hamming_lines_next(table, line)) && length <= CROWD)
            length++;
        main->word[ND_FILTER_CROWDED] = length > CROWD;
        f->has_crowds |= length > CROWD;
    }
}

/*
 * The numbers of the distinct queries, each the first of its value; the others hang on to it.
 * Returns how many; `slot` is zeroed, a power of 2.
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
            mark_crowds(f, table);
    }
    free(distinct);
    return made;
}

static size_t set_bytes(const struct nd_hamming_filter *f)
{
    return ((size_t)1 << f->place_bits) / 8;
}

/* Every value of a half within the radius of a query's. */
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
    f->has_crowds = full;
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
