/* hamming_tables_node.c - one table of a design, and the tables within it */
#include <stdlib.h>

#include "index/hamming_plan.h"
#include "index/hamming_tables.h"

enum {
    AHEAD = 8,
    LEAST_LINES = 16,
    REFINE = 256, /* entries of a bucket that is looked at, and again at each doubling */
    SLOTS = 7
};

/* The turn for which the fewest bits of the filter are made of the key alone, and so show nothing.
 */
static uint8_t best_turn(uint64_t mask)
{
    uint32_t low = (uint32_t)mask, high = (uint32_t)(mask >> 32);
    unsigned fewest = 33;
    uint8_t best = 0;

    for (unsigned turn = 0; turn < 32; turn++) {
        uint32_t dead = low & (high << turn | high >> (31 - turn) >> 1);

        if ((unsigned)__builtin_popcount(dead) < fewest) {
            fewest = (unsigned)__builtin_popcount(dead);
            best = (uint8_t)turn;
        }
    }
    return best;
}

static void set_key(struct nd_tables_key *key, const uint64_t *mask, size_t words)
{
    *key = (struct nd_tables_key){.first_word = (uint8_t)words};
    for (size_t w = 0; w < words; w++) {
        key->mask[w] = mask[w];
        if (!mask[w])
            continue;
        if (key->first_word == words)
            key->first_word = (uint8_t)w;
        key->end_word = (uint8_t)(w + 1);
    }
    if (words == 1)
        key->turn = best_turn(mask[0]);
}

size_t nd_tables_lines_for(double entries)
{
    double lines = entries / ND_HAMMING_FILL_TABLES;

    return lines < LEAST_LINES ? LEAST_LINES : (size_t)lines;
}

bool nd_tables_node_make(const struct nd_tables *s, struct nd_tables_node *node,
                         const uint64_t *mask, size_t lines)
{
    set_key(&node->key, mask, s->words);
    node->lines = (struct nd_hamming_lines){.layout = ND_HAMMING_LAYOUT_ROWS};
    return nd_hamming_lines_resize(&node->lines, lines);
}

void nd_tables_node_release(struct nd_tables_node *node)
{
    nd_hamming_lines_release(&node->lines);
    for (unsigned i = 0; i < node->n_inner; i++)
        nd_tables_node_release(&node->inner[i]);
    free(node->inner);
    node->inner = NULL;
    node->n_inner = 0;
}

size_t nd_tables_node_bytes(const struct nd_tables_node *node)
{
    size_t sum = sizeof *node + nd_hamming_lines_bytes(&node->lines);

    for (unsigned i = 0; i < node->n_inner; i++)
        sum += nd_tables_node_bytes(&node->inner[i]);
    return sum;
}

/* Into every inner table, or none. */
static bool put_inside(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    for (unsigned i = 0; i < node->n_inner; i++)
        if (!nd_tables_node_put(s, &node->inner[i], row)) {
            while (i--)
                nd_tables_node_drop(s, &node->inner[i], row);
            return false;
        }
    return true;
}

bool nd_tables_node_put(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    const uint64_t *x = nd_tables_row(s, row);
    struct nd_hamming_entry e = {.word = nd_tables_filter(&node->key, nd_tables_fold(x, s->words)),
                                 .id = row};
    struct nd_hamming_line *main;
    size_t bucket;
    uint32_t n;

    if (node->outer && nd_tables_lines_for((double)node->entries) > node->lines.n_main)
        (void)nd_tables_node_grow(s, node, nd_tables_lines_for((double)node->entries * 1.5));
    bucket = nd_tables_place(node, x);
    main = nd_hamming_lines_at(&node->lines, bucket);
    if (nd_tables_is_refined(main)) {
        if (!put_inside(s, node, row))
            return false;
        node->entries++;
        return true;
    }
    if (!nd_hamming_lines_ready(&node->lines))
        return false;
    n = nd_hamming_line_taken(main);
    nd_hamming_lines_put(&node->lines, bucket, e);
    node->entries++;
    if (n < SLOTS)
        return true;
    n = ++main->word[ND_TABLES_CHAINED] + SLOTS;
    if (n >= REFINE && (n & (n - 1)) == 0)
        nd_tables_refine(s, node, bucket);
    return true;
}

void nd_tables_node_drop(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    size_t bucket = nd_tables_place(node, nd_tables_row(s, row));
    struct nd_hamming_line *main = nd_hamming_lines_at(&node->lines, bucket);

    node->entries--;
    if (nd_tables_is_refined(main)) {
        for (unsigned i = 0; i < node->n_inner; i++)
            nd_tables_node_drop(s, &node->inner[i], row);
        return;
    }
    for (struct nd_hamming_line *line = main; line;
         line = nd_hamming_lines_next(&node->lines, line)) {
        unsigned n = nd_hamming_line_taken(line);

        for (unsigned i = 0; i < n; i++)
            if (nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id == row) {
                main->word[ND_TABLES_CHAINED] -= main->word[ND_TABLES_CHAINED] != 0;
                nd_hamming_lines_take(&node->lines, bucket, line, i);
                return;
            }
    }
}

/* The rows of all refined buckets are those of any inner table. */
static size_t list_rows(const struct nd_tables_node *node, uint32_t *row, size_t n)
{
    for (size_t b = 0; b < node->lines.n_main; b++) {
        const struct nd_hamming_line *line = nd_hamming_lines_at(&node->lines, b);

        for (; line && !nd_tables_is_refined(line);
             line = nd_hamming_lines_next(&node->lines, line))
            for (unsigned i = 0; i < nd_hamming_line_taken(line); i++)
                row[n++] = nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id;
    }
    return node->n_inner ? list_rows(node->inner, row, n) : n;
}

static bool fill(const struct nd_tables *s, struct nd_tables_node *node, const uint32_t *row,
                 size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            const uint64_t *later = nd_tables_row(s, row ? row[i + AHEAD] : (uint32_t)(i + AHEAD));

            __builtin_prefetch(nd_hamming_lines_at(&node->lines, nd_tables_place(node, later)), 1);
        }
        if (!row && nd_tables_row_ids(s, (uint32_t)i)->state == ND_TABLES_FREE)
            continue;
        if (!nd_tables_node_put(s, node, row ? row[i] : (uint32_t)i))
            return false;
    }
    return true;
}

/* A new table is filled from the rows; the old one stands until it is done. */
bool nd_tables_node_grow(const struct nd_tables *s, struct nd_tables_node *node, size_t lines)
{
    struct nd_tables_node made = {.outer = node->outer, .number = node->number};
    uint32_t *row = node->outer ? nd_alloc_array(node->entries, sizeof *row) : NULL;
    size_t n = s->n_rows;
    bool fits = (row || !node->outer) && nd_tables_node_make(s, &made, node->key.mask, lines);

    if (fits && row)
        n = list_rows(node, row, 0);
    fits = fits && fill(s, &made, row, n);
    free(row);
    if (!fits) {
        nd_tables_node_release(&made);
        return false;
    }
    nd_tables_node_release(node);
    *node = made;
    for (unsigned i = 0; i < node->n_inner; i++)
        node->inner[i].outer = node;
    return true;
}
