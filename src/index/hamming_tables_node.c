/* hamming_tables_node.c - one table of a design, and the tables within it */
#include <stdlib.h>

#include "index/hamming_plan.h"
#include "index/hamming_tables.h"

enum {
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
        key->bits = (uint16_t)(key->bits + __builtin_popcountll(mask[w]));
        if (!mask[w])
            continue;
        if (key->first_word == words)
            key->first_word = (uint8_t)w;
        key->end_word = (uint8_t)(w + 1);
    }
    if (words == 1)
        key->turn = best_turn(mask[0]);
}

static size_t lines_for(const struct nd_tables_key *key, double entries)
{
    double lines = nd_hamming_table_lines(entries, key->bits);

    return lines < LEAST_LINES ? LEAST_LINES : (size_t)lines;
}

/* Room for chained lines. */
static size_t chained_for(const struct nd_tables_key *key, double entries, size_t lines)
{
    double each;

    if (entries < 1)
        return 0;
    each = nd_hamming_chain(entries, key->bits, (double)lines, SLOTS).size - 1;
    return (size_t)(ND_HAMMING_CHAINED_ROOM * each * (double)lines);
}

void nd_tables_node_init(const struct nd_tables *s, struct nd_tables_node *node,
                         const uint64_t *mask, double entries, struct nd_column_wish wish[2])
{
    size_t lines;

    set_key(&node->key, mask, s->words);
    lines = lines_for(&node->key, entries);
    node->lines = (struct nd_hamming_lines){.layout = ND_HAMMING_LAYOUT_ROWS};
    node->spread = (struct nd_hamming_spread){lines, (uint32_t)lines, 1};
    nd_hamming_lines_wish(&node->lines, lines, chained_for(&node->key, entries, lines), wish);
}

bool nd_tables_node_make(const struct nd_tables *s, struct nd_tables_node *node,
                         const uint64_t *mask)
{
    struct nd_column_wish wish[2];

    nd_tables_node_init(s, node, mask, 0, wish);
    return nd_columns_make(wish, 2);
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

static void mark_refined(struct nd_hamming_line *main)
{
    main->word[ND_TABLES_CHAINED] = ND_TABLES_REFINED;
    main->word[15] = 16; /* nothing here, and more elsewhere */
}

/* Deal the entries of a bucket out to itself and a new, empty one. */
static void deal(const struct nd_tables *s, struct nd_tables_node *node, size_t old, size_t new)
{
    struct nd_hamming_lines *lines = &node->lines;
    struct nd_hamming_line *line = nd_hamming_lines_at(lines, old), copy = *line;
    uint32_t dealt[2] = {0, 0};

    line->word[15] = 0;
    for (;;) {
        struct nd_hamming_line *next = nd_hamming_lines_next(lines, &copy);
        unsigned n = nd_hamming_line_taken(&copy);

        for (unsigned i = 0; i < n; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(lines->layout, &copy, i);
            bool moves = nd_tables_hash(&node->key, nd_tables_row(s, e.id)) & node->spread.groups;

            nd_hamming_lines_put(lines, moves ? new : old, &e);
            dealt[moves]++;
        }
        if (!next)
            break;
        copy = *next; /* its room serves the entries that it held */
        nd_hamming_lines_give_back(lines, next);
    }
    for (int i = 0; i < 2; i++)
        nd_hamming_lines_at(lines, i ? new : old)->word[ND_TABLES_CHAINED] =
            dealt[i] > SLOTS ? dealt[i] - SLOTS : 0;
}

/* One line more for a table that is full; where memory is out, the chains grow instead. */
static void grow(const struct nd_tables *s, struct nd_tables_node *node)
{
    size_t level = (size_t)node->spread.first * node->spread.groups, new = node->lines.n_main;
    size_t old = new - level;

    if ((double)node->entries <= (double)new *(SLOTS * ND_HAMMING_FILL_TABLES) ||
        lines_for(&node->key, (double)node->entries) <= new || new >= UINT32_MAX / 2 ||
        !nd_hamming_lines_resize(&node->lines, new + 1))
        return;
    if (nd_tables_is_refined(nd_hamming_lines_at(&node->lines, old)))
        mark_refined(nd_hamming_lines_at(&node->lines, new)); /* the inner tables serve both */
    else
        deal(s, node, old, new);
    node->spread.lines = node->lines.n_main;
    if (node->lines.n_main == 2 * level)
        node->spread.groups *= 2;
}

bool nd_tables_node_put(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    const uint64_t *x = nd_tables_row(s, row);
    struct nd_hamming_entry e = {.word = nd_tables_filter(&node->key, nd_tables_fold(x, s->words)),
                                 .id = row};
    size_t bucket = nd_tables_place(node, x);
    struct nd_hamming_line *main = nd_hamming_lines_at(&node->lines, bucket);
    uint32_t n = nd_hamming_line_taken(main);

    if (nd_tables_is_refined(main))
        return put_inside(s, node, row);
    if (!nd_hamming_lines_ready(&node->lines, 1))
        return false;
    nd_hamming_lines_put(&node->lines, bucket, &e);
    node->entries++;
    if (n == SLOTS) {
        n += ++main->word[ND_TABLES_CHAINED];
        if (n >= REFINE && (n & (n - 1)) == 0)
            nd_tables_refine(s, node, bucket);
    }
    grow(s, node);
    return true;
}

void nd_tables_node_drop(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    size_t bucket = nd_tables_place(node, nd_tables_row(s, row));
    struct nd_hamming_line *main = nd_hamming_lines_at(&node->lines, bucket), *line = main;

    for (unsigned i = 0; nd_tables_is_refined(main) && i < node->n_inner; i++)
        nd_tables_node_drop(s, &node->inner[i], row);
    if (nd_tables_is_refined(main))
        return;
    for (; line; line = nd_hamming_lines_next(&node->lines, line)) {
        unsigned n = nd_hamming_line_taken(line);

        for (unsigned i = 0; i < n; i++)
            if (nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id == row) {
                main->word[ND_TABLES_CHAINED] -= main->word[ND_TABLES_CHAINED] != 0;
                nd_hamming_lines_take(&node->lines, bucket, line, i);
                node->entries--;
                return;
            }
    }
}

void nd_tables_node_empty(struct nd_tables_node *node, size_t bucket)
{
    struct nd_hamming_line *main = nd_hamming_lines_at(&node->lines, bucket), *line;

    node->entries -= main->word[ND_TABLES_CHAINED] + SLOTS;
    while ((line = nd_hamming_lines_next(&node->lines, main))) {
        main->word[15] = line->word[15];
        nd_hamming_lines_give_back(&node->lines, line);
    }
    mark_refined(main);
}
