/* hamming_tables_refine.c - a crowded bucket is divided again by the bits outside its key */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "index/hamming_join.h"
#include "index/hamming_tables.h"

enum {
    DEEP = 2,               /* tables within tables */
    NODES_MAX = 4096,       /* tables of one depth that an index may come to have */
    DESIGNED_FOR = 1 << 16, /* entries of a bucket */
    SAMPLE = 16,
    COMPARED = 1024,
    LINE_COST = 16 /* a look at a random line, in entries that stand side by side */
};

static unsigned depth_of(const struct nd_tables_node *node)
{
    unsigned depth = 0;

    while ((node = node->outer))
        depth++;
    return depth;
}

/* The bits outside a key in a fixed disorder; returns how many. */
static unsigned list_open_bits(const struct nd_tables *s, const struct nd_tables_node *node,
                               uint16_t *bit)
{
    unsigned n = 0;

    for (unsigned b = 0; b < s->words * 64; b++)
        if ((s->all[b / 64] & ~node->key.mask[b / 64]) >> b % 64 & 1) {
            unsigned at = (unsigned)(nd_mix64(b) % (n + 1));

            if (at < n)
                bit[n] = bit[at];
            bit[at] = (uint16_t)b;
            n++;
        }
    return n;
}

/*
 * A design for the bits that are left.  They are taken in disorder: of those in which a cluster
 * agrees, which are often side by side, each key then has its share and none has all.
 */
static bool find_design(const struct nd_tables *s, const struct nd_tables_node *node,
                        struct nd_join_design *design)
{
    uint16_t bit[64 * ND_HAMMING_WORDS_MAX];
    unsigned n = list_open_bits(s, node, bit);
    uint64_t open[ND_HAMMING_WORDS_MAX] = {0}, key[ND_HAMMING_WORDS_MAX];

    for (unsigned i = 0; i < n; i++)
        open[i / 64] |= UINT64_C(1) << i % 64;
    *design = (struct nd_join_design){.tables = 0};
    if (n && !nd_join_design(design, open, s->words, s->distance, DESIGNED_FOR, nd_join_inner_cost))
        return false;
    for (unsigned t = 0; t < design->tables; t++) {
        uint64_t *numbers = design->keys + t * s->words;

        memcpy(key, node->key.mask, s->words * sizeof *key);
        for (unsigned i = 0; i < n; i++)
            key[bit[i] / 64] |= (numbers[i / 64] >> i % 64 & 1) << bit[i] % 64;
        memcpy(numbers, key, s->words * sizeof *key);
    }
    return true;
}

/* Tables there were if every table like this one had so many inside. */
static size_t nodes_with(const struct nd_tables *s, const struct nd_tables_node *node, size_t inner)
{
    for (; node; node = node->outer)
        inner *= node->outer ? node->outer->n_inner : s->n_tables;
    return inner;
}

/* Empty inner tables.  False: there is no design, or no memory. */
static bool make_inner(const struct nd_tables *s, struct nd_tables_node *node)
{
    struct nd_join_design design;
    struct nd_tables_node *inner;
    bool made = true;

    if (!find_design(s, node, &design))
        return false;
    if (design.tables == 0 || nodes_with(s, node, design.tables) > NODES_MAX) {
        node->is_last = true;
        free(design.keys);
        return false;
    }
    inner = calloc(design.tables, sizeof *inner);
    for (unsigned i = 0; inner && made && i < design.tables; i++) {
        inner[i].outer = node;
        inner[i].number = i;
        made = nd_tables_node_make(s, &inner[i], design.keys + i * s->words);
    }
    for (unsigned i = 0; inner && !made && i < design.tables; i++)
        nd_tables_node_release(&inner[i]);
    free(design.keys);
    if (!inner || !made) {
        free(inner);
        return false;
    }
    node->inner = inner;
    node->n_inner = design.tables;
    return true;
}

/* Whether a look-up of some of the rows themselves would meet less than half of them inside. */
static bool is_worth(const struct nd_tables *s, const struct nd_tables_node *node,
                     const uint32_t *row, size_t n)
{
    size_t step = n / COMPARED + 1, met = 0, looks = 0;

    for (size_t i = 0; i < n; i += n / SAMPLE + 1, looks++)
        for (unsigned t = 0; t < node->n_inner; t++)
            for (size_t j = 0; j < n; j += step)
                met += step * nd_tables_key_agrees(&node->inner[t].key, nd_tables_row(s, row[i]),
                                                   nd_tables_row(s, row[j]));
    return met / looks + (size_t)node->n_inner * LINE_COST < n / 2;
}

static size_t list_bucket(const struct nd_tables_node *node, size_t bucket, uint32_t *row)
{
    const struct nd_hamming_line *line = nd_hamming_lines_at(&node->lines, bucket);
    size_t n = 0;

    for (; line; line = nd_hamming_lines_next(&node->lines, line))
        for (unsigned i = 0; i < nd_hamming_line_taken(line); i++)
            row[n++] = nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id;
    return n;
}

/* All or none of the rows. */
static bool move_inside(const struct nd_tables *s, struct nd_tables_node *node, const uint32_t *row,
                        size_t n)
{
    for (unsigned t = 0; t < node->n_inner; t++)
        for (size_t i = 0; i < n; i++) {
            if (nd_tables_node_put(s, &node->inner[t], row[i]))
                continue;
            while (i--)
                nd_tables_node_drop(s, &node->inner[t], row[i]);
            while (t--)
                for (i = 0; i < n; i++)
                    nd_tables_node_drop(s, &node->inner[t], row[i]);
            return false;
        }
    return true;
}

void nd_tables_refine(const struct nd_tables *s, struct nd_tables_node *node, size_t bucket)
{
    size_t n = nd_hamming_lines_at(&node->lines, bucket)->word[ND_TABLES_CHAINED] +
               nd_hamming_slots(ND_HAMMING_LAYOUT_ROWS);
    uint32_t *row;

    if (node->is_last || depth_of(node) == DEEP || (!node->inner && !make_inner(s, node)))
        return;
    row = nd_alloc_array(n, sizeof *row);
    if (!row)
        return;
    n = list_bucket(node, bucket, row);
    if (is_worth(s, node, row, n) && move_inside(s, node, row, n))
        nd_tables_node_empty(node, bucket);
    free(row);
}
