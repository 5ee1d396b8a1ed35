/* tables.c - two families: tables of keys, by blocks or by coverings
 *
 * Manku 2007, §3.1, in memory and changeable: where the paper sorts a table by its key and searches
 * it, a table here hashes the key to a bucket of one cache line, and grows by linear hashing.  The
 * order of this file: one table; buckets that are refined; rows and their ids; the family.
 *
 * Refining.  A cluster of n rows that agree in a table's key would make each query of it look at n
 * entries.  A bucket of 256, and again at each doubling, is looked at: would look-ups of some of
 * its own rows meet fewer than half of them among inner tables, whose keys add bits outside this
 * one's?  Then the rows move there.  A cluster so tight that no design tells its members apart
 * stays where it is.
 */
#include "hamming/memory/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "hamming/join/design.h"
#include "hamming/plan/key_plans.h"
#include "hamming/plan/predict.h"

enum {
    SLOTS = 7,
    LINES_MIN = 16,
    REFINE = 256, /* entries of a bucket that is looked at, and again at each doubling */
    PREFETCH_DISTANCE = 8,
    DEPTH_MAX = 2,          /* tables within tables */
    NODES_MAX = 4096,       /* tables of one depth that an index may come to have */
    DESIGNED_FOR = 1 << 16, /* entries of a bucket */
    SAMPLE = 16,
    COMPARED = 1024,
    LINE_COST = 16 /* a look at a random line, in entries that stand side by side */
};
#define ROWS_MAX (UINT32_MAX - 16)

/* Entries for each slot of the lines that a table has. */
#define FILL (4.5 / SLOTS)

/* Capacity for chained lines beside those of uniform fingerprints: others chain more. */
#define CHAINED_CAPACITY 1.1

/*
 * The rotation for which the fewest bits of the filter are made of two bits of the key: such a bit
 * is the same in the whole bucket and shows nothing.
 */
static uint8_t best_rotation(uint64_t mask)
{
    uint32_t low = (uint32_t)mask, high = (uint32_t)(mask >> 32);
    unsigned fewest = 33;
    uint8_t best = 0;

    for (unsigned rotation = 0; rotation < 32; rotation++) {
        uint32_t dead = low & (high << rotation | high >> (31 - rotation) >> 1);

        if (nd_count_ones(dead) < fewest) {
            fewest = nd_count_ones(dead);
            best = (uint8_t)rotation;
        }
    }
    return best;
}

static void set_key(struct nd_tables_node *node, const uint64_t *key, size_t words)
{
    node->first_word = (uint8_t)words;
    node->end_word = 0;
    for (size_t w = 0; w < words; w++) {
        node->key[w] = key[w];
        if (!key[w])
            continue;
        if (node->first_word == words)
            node->first_word = (uint8_t)w;
        node->end_word = (uint8_t)(w + 1);
    }
    node->key_bits = (uint16_t)nd_hamming_ones(key, words);
    node->rotation = words == 1 ? best_rotation(key[0]) : 0;
}

/* Lines of a table of keys of so many bits: by its fill, but two at most for each possible key. */
static double table_lines(double entries, unsigned bits)
{
    double lines = entries / (FILL * SLOTS), max = ldexp(2, (int)bits);

    return lines < max ? lines : max;
}

static size_t lines_for(const struct nd_tables_node *node, double entries)
{
    double lines = table_lines(entries, node->key_bits);

    return lines < LINES_MIN ? LINES_MIN : (size_t)lines;
}

/* Chained lines that should be needed. */
static size_t chained_for(const struct nd_tables_node *node, double entries, size_t lines)
{
    double each;

    if (entries < 1)
        return 0;
    each = nd_hamming_chain(entries, node->key_bits, (double)lines, SLOTS).size - 1;
    return (size_t)(CHAINED_CAPACITY * each * (double)lines);
}

static void init_node(const struct nd_tables *s, struct nd_tables_node *node, const uint64_t *key,
                      double entries, struct nd_column_request request[2])
{
    size_t lines;

    set_key(node, key, s->words);
    lines = lines_for(node, entries);
    node->lines = (struct nd_hamming_lines){.layout = ND_HAMMING_LAYOUT_ROWS};
    node->linear_hash = (struct nd_linear_hash){lines, (uint32_t)lines, 1};
    nd_hamming_lines_request(&node->lines, lines, chained_for(node, entries, lines), request);
}

static bool make_node(const struct nd_tables *s, struct nd_tables_node *node, const uint64_t *key)
{
    struct nd_column_request request[2];

    init_node(s, node, key, 0, request);
    return nd_columns_make(request, 2);
}

static void release_node(struct nd_tables_node *node)
{
    nd_hamming_lines_release(&node->lines);
    for (unsigned i = 0; i < node->n_inner; i++)
        release_node(&node->inner[i]);
    free(node->inner);
    node->inner = NULL;
    node->n_inner = 0;
}

static size_t node_bytes(const struct nd_tables_node *node)
{
    size_t sum = sizeof *node + nd_hamming_lines_bytes(&node->lines);

    for (unsigned i = 0; i < node->n_inner; i++)
        sum += node_bytes(&node->inner[i]);
    return sum;
}

static bool put_entry(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row);
static void drop_entry(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row);
static void refine(const struct nd_tables *s, struct nd_tables_node *node, size_t bucket);

/* Put a row into every inner table, or into none. */
static bool put_inside(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    for (unsigned i = 0; i < node->n_inner; i++)
        if (!put_entry(s, &node->inner[i], row)) {
            while (i--)
                drop_entry(s, &node->inner[i], row);
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
    do {
        unsigned n = nd_hamming_line_taken(&copy);

        for (unsigned i = 0; i < n; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(lines->layout, &copy, i);
            bool moves = nd_tables_hash(node, nd_tables_row(s, e.id)) & node->linear_hash.groups;

            nd_hamming_lines_put(lines, moves ? new : old, &e);
            dealt[moves]++;
        }
    } while (nd_hamming_lines_unchain(lines, &copy));
    for (int i = 0; i < 2; i++)
        nd_hamming_lines_at(lines, i ? new : old)->word[ND_TABLES_CHAINED] =
            dealt[i] > SLOTS ? dealt[i] - SLOTS : 0;
}

/* Add one line to a table that is full (Litwin 1980).  Where memory is out, the chains grow
 * instead. */
static void grow(const struct nd_tables *s, struct nd_tables_node *node)
{
    size_t level = (size_t)node->linear_hash.first * node->linear_hash.groups,
           new = node->lines.n_main;
    size_t old = new - level;

    if ((double)node->entries <= (double)new *(SLOTS * FILL) ||
        lines_for(node, (double)node->entries) <= new || new >= UINT32_MAX / 2 ||
        !nd_hamming_lines_resize(&node->lines, new + 1))
        return;
    if (nd_tables_is_refined(nd_hamming_lines_at(&node->lines, old)))
        mark_refined(nd_hamming_lines_at(&node->lines, new)); /* the inner tables serve both */
    else
        deal(s, node, old, new);
    node->linear_hash.lines = node->lines.n_main;
    if (node->lines.n_main == 2 * level)
        node->linear_hash.groups *= 2;
}

static bool put_entry(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    const uint64_t *x = nd_tables_row(s, row);
    struct nd_hamming_entry e = {.word = nd_tables_filter(node, nd_hamming_fold_words(x, s->words)),
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
            refine(s, node, bucket);
    }
    grow(s, node);
    return true;
}

static void drop_entry(const struct nd_tables *s, struct nd_tables_node *node, uint32_t row)
{
    size_t bucket = nd_tables_place(node, nd_tables_row(s, row));
    struct nd_hamming_line *main = nd_hamming_lines_at(&node->lines, bucket), *line = main;

    for (unsigned i = 0; nd_tables_is_refined(main) && i < node->n_inner; i++)
        drop_entry(s, &node->inner[i], row);
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

static void empty_bucket(struct nd_tables_node *node, size_t bucket)
{
    struct nd_hamming_line *main = nd_hamming_lines_at(&node->lines, bucket), *line;

    node->entries -= main->word[ND_TABLES_CHAINED] + SLOTS;
    while ((line = nd_hamming_lines_next(&node->lines, main))) {
        main->word[15] = line->word[15];
        nd_hamming_lines_give_back(&node->lines, line);
    }
    mark_refined(main);
}

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
        if ((s->all[b / 64] & ~node->key[b / 64]) >> b % 64 & 1) {
            unsigned at = (unsigned)(nd_mix64(b) % (n + 1));

            if (at < n)
                bit[n] = bit[at];
            bit[at] = (uint16_t)b;
            n++;
        }
    return n;
}

/*
 * A design for the bits that are left.  They are dealt to the keys in a fixed disorder.  The bits
 * in which a cluster agrees are often side by side, as a block; in order, some keys would be made
 * of them alone and tell nothing apart.
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

        memcpy(key, node->key, s->words * sizeof *key);
        for (unsigned i = 0; i < n; i++)
            key[bit[i] / 64] |= (numbers[i / 64] >> i % 64 & 1) << bit[i] % 64;
        memcpy(numbers, key, s->words * sizeof *key);
    }
    return true;
}

/* The tables of this depth, if every table like this one had so many inside. */
static size_t nodes_with(const struct nd_tables *s, const struct nd_tables_node *node, size_t inner)
{
    for (; node; node = node->outer)
        inner *= node->outer ? node->outer->n_inner : s->n_tables;
    return inner;
}

/* Make the inner tables, empty.  False: there is no design, or no memory. */
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
        made = make_node(s, &inner[i], design.keys + i * s->words);
    }
    for (unsigned i = 0; inner && !made && i < design.tables; i++)
        release_node(&inner[i]);
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
                met += step * nd_tables_key_agrees(&node->inner[t], nd_tables_row(s, row[i]),
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

/* Move all of the rows inside, or none. */
static bool move_inside(const struct nd_tables *s, struct nd_tables_node *node, const uint32_t *row,
                        size_t n)
{
    for (unsigned t = 0; t < node->n_inner; t++)
        for (size_t i = 0; i < n; i++) {
            if (put_entry(s, &node->inner[t], row[i]))
                continue;
            while (i--)
                drop_entry(s, &node->inner[t], row[i]);
            while (t--)
                for (i = 0; i < n; i++)
                    drop_entry(s, &node->inner[t], row[i]);
            return false;
        }
    return true;
}

static void refine(const struct nd_tables *s, struct nd_tables_node *node, size_t bucket)
{
    size_t n = nd_hamming_lines_at(&node->lines, bucket)->word[ND_TABLES_CHAINED] +
               nd_hamming_slots(ND_HAMMING_LAYOUT_ROWS);
    uint32_t *row;

    if (node->is_last || depth_of(node) == DEPTH_MAX || (!node->inner && !make_inner(s, node)))
        return;
    row = nd_alloc_array(n, sizeof *row);
    if (!row)
        return;
    n = list_bucket(node, bucket, row);
    if (is_worth(s, node, row, n) && move_inside(s, node, row, n))
        empty_bucket(node, bucket);
    free(row);
}

void nd_tables_free(struct nd_tables *s)
{
    for (unsigned t = 0; s->table && t < s->n_tables; t++)
        release_node(&s->table[t]);
    nd_column_release(&s->rows);
    nd_hamming_ids_release(&s->own_ids);
    free(s->table);
    free(s);
}

static bool make_tables(struct nd_tables *s, const struct nd_hamming_plan *plan)
{
    uint64_t *keys = nd_hamming_keys_new(plan);
    size_t n = 2 * (size_t)plan->tables, count = plan->problem.count;
    struct nd_column_request *request = nd_alloc_array(n + 1, sizeof *request);
    bool made;

    s->table = calloc(plan->tables, sizeof *s->table);
    made = keys && request && s->table && count < ROWS_MAX;
    for (unsigned t = 0; made && t < s->n_tables; t++) {
        s->table[t].number = t;
        init_node(s, &s->table[t], keys + t * s->words, (double)count, request + 2 * t);
    }
    if (made) {
        request[n] =
            (struct nd_column_request){&s->rows, count * (s->words + 1) * sizeof(uint64_t)};
        made = nd_columns_make(request, n + 1);
    }
    free(request);
    free(keys);
    return made;
}

struct nd_tables *nd_tables_new(const struct nd_hamming_plan *plan, struct nd_hamming_ids *ids)
{
    struct nd_tables *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->words = nd_hamming_words(plan->problem.bits);
    s->distance = plan->problem.distance;
    s->n_tables = plan->tables;
    s->ids = ids ? ids : &s->own_ids;
    nd_hamming_fill_mask(s->all, plan->problem.bits);
    if (make_tables(s, plan))
        return s;
    nd_tables_free(s);
    return NULL;
}

/* The table of a design in which the bucket of a fingerprint has the fewest entries chained. */
static const struct nd_tables_node *shortest(const struct nd_tables_node *node, unsigned n,
                                             const uint64_t *x)
{
    const struct nd_tables_node *best = node;
    uint32_t fewest = UINT32_MAX;

    for (unsigned t = 0; t < n && fewest; t++) {
        uint32_t chained = nd_hamming_lines_at(&node[t].lines, nd_tables_place(&node[t], x))
                               ->word[ND_TABLES_CHAINED];

        if (chained < fewest) {
            fewest = chained;
            best = &node[t];
        }
    }
    return best;
}

int64_t nd_tables_find(const struct nd_tables *s, const uint64_t *x)
{
    const struct nd_tables_node *node = shortest(s->table, s->n_tables, x);
    const struct nd_hamming_line *line =
        nd_hamming_lines_at(&node->lines, nd_tables_place(node, x));
    uint32_t filter;

    while (nd_tables_is_refined(line)) {
        node = shortest(node->inner, node->n_inner, x);
        line = nd_hamming_lines_at(&node->lines, nd_tables_place(node, x));
    }
    filter = nd_tables_filter(node, nd_hamming_fold_words(x, s->words));
    for (; line; line = nd_hamming_lines_next(&node->lines, line)) {
        unsigned n = nd_hamming_line_taken(line);

        for (unsigned i = 0; i < n; i++) {
            uint32_t row = nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id;

            if (line->word[i] == filter && !memcmp(nd_tables_row(s, row), x, s->words * sizeof *x))
                return row;
        }
    }
    return ND_TABLES_NO_ROW;
}

static void free_row(struct nd_tables *s, uint32_t row)
{
    *nd_tables_row_id(s, row) = (struct nd_hamming_id){s->free_row, false};
    s->free_row = row + 1;
    s->n_used--;
}

/* A row for a new fingerprint, in no table yet.  False: out of memory. */
static bool new_row(struct nd_tables *s, const uint64_t *x, struct nd_hamming_id own, uint32_t *row)
{
    if (s->free_row) {
        *row = s->free_row - 1;
        s->free_row = nd_tables_row_id(s, *row)->number;
    } else {
        size_t n = (size_t)s->n_rows + 1;

        if (n > ROWS_MAX || !nd_column_reserve(&s->rows, n, (s->words + 1) * sizeof *x))
            return false;
        *row = s->n_rows++;
    }
    memcpy(nd_tables_row(s, *row), x, s->words * sizeof *x);
    *nd_tables_row_id(s, *row) = own;
    s->n_used++;
    return true;
}

bool nd_tables_add_id(struct nd_tables *s, uint32_t row, uint32_t id)
{
    return nd_hamming_id_add(s->ids, nd_tables_row_id(s, row), id);
}

bool nd_tables_put(struct nd_tables *s, const uint64_t *x, struct nd_hamming_id own)
{
    uint32_t row;
    unsigned t;

    if (!new_row(s, x, own, &row))
        return false;
    for (t = 0; t < s->n_tables && put_entry(s, &s->table[t], row); t++)
        ;
    if (t == s->n_tables)
        return true;
    while (t--)
        drop_entry(s, &s->table[t], row);
    free_row(s, row);
    return false;
}

static bool add_one(struct nd_tables *s, const uint64_t *x, uint32_t id)
{
    int64_t known = nd_tables_find(s, x);

    if (known != ND_TABLES_NO_ROW)
        return nd_tables_add_id(s, (uint32_t)known, id);
    return nd_tables_put(s, x, (struct nd_hamming_id){id, false});
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct nd_tables *s = self;

    for (size_t start = 0; start < n; start += PREFETCH_DISTANCE) {
        size_t left = n - start < PREFETCH_DISTANCE ? n - start : PREFETCH_DISTANCE;

        for (size_t i = 0; i < left; i++)
            for (unsigned t = 0; t < s->n_tables; t++)
                __builtin_prefetch(
                    nd_hamming_lines_at(
                        &s->table[t].lines,
                        nd_tables_place(&s->table[t], fingerprints + (start + i) * s->words)),
                    1);
        for (size_t i = start; i < start + left; i++)
            if (!add_one(s, fingerprints + i * s->words, ids ? ids[i] : first_id + (uint32_t)i))
                return i;
    }
    return n;
}

bool nd_tables_take_id(struct nd_tables *s, uint32_t row, uint32_t id)
{
    struct nd_hamming_id *own = nd_tables_row_id(s, row);

    if (own->is_list)
        return nd_hamming_id_remove(s->ids, own, id);
    if (own->number != id)
        return false;
    for (unsigned t = 0; t < s->n_tables; t++)
        drop_entry(s, &s->table[t], row);
    free_row(s, row);
    return true;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    int64_t row = nd_tables_find(self, fingerprint);

    return row != ND_TABLES_NO_ROW && nd_tables_take_id(self, (uint32_t)row, id);
}

size_t nd_tables_bytes(const struct nd_tables *s)
{
    size_t sum = sizeof *s + s->rows.bytes + nd_hamming_ids_bytes(&s->own_ids);

    for (unsigned t = 0; t < s->n_tables; t++)
        sum += node_bytes(&s->table[t]);
    return sum;
}

static void *make(const struct nd_hamming_plan *plan)
{
    return nd_tables_new(plan, NULL);
}

static void destroy(void *self)
{
    nd_tables_free(self);
}

static size_t bytes(const void *self)
{
    return nd_tables_bytes(self);
}

/*
 * Every line that is looked at costs its memory and the work of a table.  What is found costs a
 * look at its row and at its ids.  Adding writes a line in each table and, where it is full, the
 * first chained one, which is not known before; and it looks for an equal fingerprint first, in the
 * shortest chain that there is.
 */
static void predict(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                    const uint64_t *keys)
{
    const struct nd_hamming_problem *problem = &p->problem;
    size_t words = nd_hamming_words(problem->bits);
    double n = (double)(problem->count ? problem->count : 1), line;
    double full = 0, shortest = n; /* tables whose line is full; lines of the shortest chain */
    double found = ND_HAMMING_FINDING * ND_HAMMING_LATE_LINE / 2;
    struct nd_hamming_chain known[ND_HAMMING_BITS_MAX + 1] = {{0, 0}};

    p->candidates = p->lines = 0;
    p->bytes = nd_hamming_rows_bytes(problem);
    p->fill = FILL;
    for (unsigned t = 0; t < p->tables; t++) {
        unsigned bits = nd_hamming_ones(keys + t * words, words);
        double lines = table_lines(n, bits);

        if (known[bits].size == 0)
            known[bits] = nd_hamming_chain(n, bits, lines, SLOTS);
        p->candidates += ldexp(n, -(int)bits);
        p->lines += known[bits].look_up;
        p->bytes += 64 * lines * (1 + CHAINED_CAPACITY * (known[bits].size - 1));
        shortest = known[bits].look_up < shortest ? known[bits].look_up : shortest;
        full += known[bits].look_up > 2 ? 1 : known[bits].look_up - 1;
    }
    line = nd_hamming_line_seconds(m, p->bytes);
    p->build_seconds = n * (p->tables * (line + 1e-9 * m->table_add_ns) +
                            (full + shortest - 1) * ND_HAMMING_LATE_LINE * line) +
                       1e-9 * p->bytes / 64 * m->fresh_ns;
    found += p->candidates * nd_hamming_ball_fraction(32, problem->distance);
    p->query_seconds = p->lines * (line + 1e-9 * m->table_ns) + 2 * line * found;
}

#define TABLES(family_name)                                                                        \
    {                                                                                              \
        .name = (family_name), .has_sizes = true, .has_keys = true,                                \
        .design = nd_hamming_keys_design, .list = nd_hamming_keys_list, .predict = predict,        \
        .make = make, .destroy = destroy, .add = add, .remove = take, .query = nd_tables_query,    \
        .bytes = bytes                                                                             \
    }
const struct nd_hamming_family_row nd_hamming_blocks_family = TABLES("blocks");
const struct nd_hamming_family_row nd_hamming_covering_family = TABLES("covering");
