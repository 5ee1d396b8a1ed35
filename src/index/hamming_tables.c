/* hamming_tables.c - any design of keys: make, add, remove */
#include "index/hamming_tables.h"

#include <stdlib.h>

#include "index/hamming_plan.h"

enum { AHEAD = 8, LEAST_LINES = 16, NO_ROW = -1 };
#define ROWS_MAX (UINT32_MAX - 16)

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

static void destroy(void *self)
{
    struct nd_tables *s = self;

    for (unsigned t = 0; s->table && t < s->n_tables; t++)
        nd_hamming_lines_release(&s->table[t]);
    nd_column_release(&s->rows);
    nd_column_release(&s->row_ids);
    nd_hamming_ids_release(&s->ids);
    free(s->table);
    free(s->key);
    free(s);
}

static size_t lines_for(const struct nd_tables_key *key, double entries)
{
    double lines = nd_hamming_table_lines(entries, key->bits);

    return lines < LEAST_LINES ? LEAST_LINES : (size_t)lines;
}

/* Chained lines are expected too; what is never used takes no memory. */
static bool make_table(struct nd_tables *s, unsigned t, double entries)
{
    size_t lines = lines_for(&s->key[t], entries), chained = 0;
    unsigned slots = nd_hamming_slots(ND_HAMMING_LAYOUT_ROWS);

    if (entries >= 1)
        chained =
            (size_t)((nd_hamming_chain(entries, s->key[t].bits, (double)lines, slots).size - 1) *
                     (double)lines);
    return nd_hamming_lines_resize(&s->table[t], lines) &&
           nd_hamming_lines_reserve(&s->table[t], chained);
}

static bool make_tables(struct nd_tables *s, const struct nd_hamming_plan *plan)
{
    uint64_t *masks = nd_hamming_keys_new(plan);
    bool made = masks != NULL;

    s->key = malloc(plan->tables * sizeof *s->key);
    s->table = calloc(plan->tables, sizeof *s->table);
    made = made && s->key && s->table;
    for (unsigned t = 0; made && t < s->n_tables; t++) {
        set_key(&s->key[t], masks + t * s->words, s->words);
        s->table[t].layout = ND_HAMMING_LAYOUT_ROWS;
        made = make_table(s, t, (double)plan->problem.count);
    }
    free(masks);
    return made && plan->problem.count < ROWS_MAX &&
           nd_column_reserve(&s->rows, plan->problem.count, s->words * sizeof(uint64_t)) &&
           nd_column_reserve(&s->row_ids, plan->problem.count, sizeof(struct nd_tables_ids));
}

static void *make(const struct nd_hamming_plan *plan)
{
    struct nd_tables *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->words = nd_hamming_words(plan->problem.bits);
    s->n_tables = plan->tables;
    if (make_tables(s, plan))
        return s;
    destroy(s);
    return NULL;
}

static size_t bucket_of(const struct nd_tables *s, unsigned t, const uint64_t *x)
{
    return nd_tables_bucket(&s->key[t], s->table[t].n_main, x);
}

static bool put(const struct nd_tables *s, struct nd_hamming_lines *table, unsigned t, uint32_t row)
{
    const uint64_t *x = nd_tables_row(s, row);
    struct nd_hamming_entry e = {.word = nd_tables_filter(&s->key[t], nd_tables_fold(x, s->words)),
                                 .id = row};

    if (!nd_hamming_lines_ready(table))
        return false;
    nd_hamming_lines_put(table, nd_tables_bucket(&s->key[t], table->n_main, x), e);
    return true;
}

/* Fill a new table of so many lines from the rows; the old one stands until it is done. */
static bool rebuild(struct nd_tables *s, unsigned t, size_t lines)
{
    struct nd_hamming_lines made = {.layout = ND_HAMMING_LAYOUT_ROWS};
    bool fits = nd_hamming_lines_resize(&made, lines);

    for (uint32_t row = 0; fits && row < s->n_rows; row++) {
        uint32_t later = row + AHEAD;

        if (later < s->n_rows)
            __builtin_prefetch(
                nd_hamming_lines_at(&made,
                                    nd_tables_bucket(&s->key[t], lines, nd_tables_row(s, later))),
                1);
        if (nd_tables_row_ids(s, row)->state != ND_TABLES_FREE)
            fits = put(s, &made, t, row);
    }
    if (!fits) {
        nd_hamming_lines_release(&made);
        return false;
    }
    nd_hamming_lines_release(&s->table[t]);
    s->table[t] = made;
    return true;
}

/* Grow by half where a table is too full.  Where memory is out, its chains grow instead. */
static void grow(struct nd_tables *s, size_t entries)
{
    for (unsigned t = 0; t < s->n_tables; t++) {
        size_t lines = s->table[t].n_main;

        if (lines_for(&s->key[t], (double)entries) > lines &&
            !rebuild(s, t, lines_for(&s->key[t], (double)entries + (double)s->n_used / 2)))
            return;
    }
}

/* The row of a fingerprint, or NO_ROW; looked for where no chain is long, if there is such a table.
 */
static int64_t find_row(const struct nd_tables *s, const uint64_t *x)
{
    unsigned t = 0;
    const struct nd_hamming_line *line;
    uint32_t filter;

    while (t + 1 < s->n_tables &&
           nd_hamming_lines_at(&s->table[t], bucket_of(s, t, x))->word[15] > 15)
        t++;
    filter = nd_tables_filter(&s->key[t], nd_tables_fold(x, s->words));
    line = nd_hamming_lines_at(&s->table[t], bucket_of(s, t, x));
    for (; line; line = nd_hamming_lines_next(&s->table[t], line)) {
        unsigned n = nd_hamming_line_taken(line);

        for (unsigned i = 0; i < n; i++) {
            uint32_t row = nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id;

            if (line->word[i] == filter && !memcmp(nd_tables_row(s, row), x, s->words * sizeof *x))
                return row;
        }
    }
    return NO_ROW;
}

static bool remove_entry(struct nd_tables *s, unsigned t, uint32_t row)
{
    size_t bucket = bucket_of(s, t, nd_tables_row(s, row));
    struct nd_hamming_line *line = nd_hamming_lines_at(&s->table[t], bucket);

    for (; line; line = nd_hamming_lines_next(&s->table[t], line)) {
        unsigned n = nd_hamming_line_taken(line);

        for (unsigned i = 0; i < n; i++)
            if (nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, line, i).id == row) {
                nd_hamming_lines_take(&s->table[t], bucket, line, i);
                return true;
            }
    }
    return false;
}

static void free_row(struct nd_tables *s, uint32_t row)
{
    *nd_tables_row_ids(s, row) = (struct nd_tables_ids){s->free_row, ND_TABLES_FREE};
    s->free_row = row + 1;
    s->n_used--;
}

/* A row for a new fingerprint, in no table yet.  False: out of memory. */
static bool new_row(struct nd_tables *s, const uint64_t *x, uint32_t id, uint32_t *row)
{
    if (s->free_row) {
        *row = s->free_row - 1;
        s->free_row = nd_tables_row_ids(s, *row)->id;
    } else {
        size_t n = (size_t)s->n_rows + 1;

        if (n > ROWS_MAX || !nd_column_reserve(&s->rows, n, s->words * sizeof *x) ||
            !nd_column_reserve(&s->row_ids, n, sizeof(struct nd_tables_ids)))
            return false;
        *row = s->n_rows++;
    }
    memcpy(nd_tables_row(s, *row), x, s->words * sizeof *x);
    *nd_tables_row_ids(s, *row) = (struct nd_tables_ids){id, ND_TABLES_ONE};
    s->n_used++;
    return true;
}

static bool add_id(struct nd_tables *s, uint32_t row, uint32_t id)
{
    struct nd_tables_ids *ids = nd_tables_row_ids(s, row);
    bool many = ids->state == ND_TABLES_MANY;
    uint32_t first = many ? ids->id : nd_hamming_ids_add(&s->ids, 0, ids->id), list;

    if (!first)
        return false;
    list = nd_hamming_ids_add(&s->ids, first, id);
    if (!list) {
        if (!many)
            nd_hamming_ids_remove(&s->ids, &first, ids->id);
        return false;
    }
    *ids = (struct nd_tables_ids){list, ND_TABLES_MANY};
    return true;
}

static bool add_one(struct nd_tables *s, const uint64_t *x, uint32_t id)
{
    int64_t known = find_row(s, x);
    uint32_t row;
    unsigned t;

    if (known != NO_ROW)
        return add_id(s, (uint32_t)known, id);
    if (!new_row(s, x, id, &row))
        return false;
    for (t = 0; t < s->n_tables && put(s, &s->table[t], t, row); t++)
        ;
    if (t == s->n_tables)
        return true;
    while (t--)
        remove_entry(s, t, row);
    free_row(s, row);
    return false;
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct nd_tables *s = self;

    for (size_t start = 0; start < n; start += AHEAD) {
        size_t left = n - start < AHEAD ? n - start : AHEAD;

        grow(s, s->n_used + left);
        for (size_t i = 0; i < left; i++)
            for (unsigned t = 0; t < s->n_tables; t++)
                __builtin_prefetch(
                    nd_hamming_lines_at(&s->table[t],
                                        bucket_of(s, t, fingerprints + (start + i) * s->words)),
                    1);
        for (size_t i = start; i < start + left; i++)
            if (!add_one(s, fingerprints + i * s->words, ids ? ids[i] : first_id + (uint32_t)i))
                return i;
    }
    return n;
}

static bool drop_id(struct nd_tables *s, struct nd_tables_ids *ids, uint32_t id)
{
    uint32_t list = ids->id, only;

    if (!nd_hamming_ids_remove(&s->ids, &list, id))
        return false;
    ids->id = list;
    if (!nd_hamming_ids_node(&s->ids, list)->next) {
        only = nd_hamming_ids_node(&s->ids, list)->id;
        nd_hamming_ids_remove(&s->ids, &list, only);
        *ids = (struct nd_tables_ids){only, ND_TABLES_ONE};
    }
    return true;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    struct nd_tables *s = self;
    int64_t row = find_row(s, fingerprint);
    struct nd_tables_ids *ids;

    if (row == NO_ROW)
        return false;
    ids = nd_tables_row_ids(s, (uint32_t)row);
    if (ids->state == ND_TABLES_MANY)
        return drop_id(s, ids, id);
    if (ids->id != id)
        return false;
    for (unsigned t = 0; t < s->n_tables; t++)
        remove_entry(s, t, (uint32_t)row);
    free_row(s, (uint32_t)row);
    return true;
}

static size_t bytes(const void *self)
{
    const struct nd_tables *s = self;
    size_t sum = sizeof *s + s->rows.bytes + s->row_ids.bytes + s->ids.nodes.bytes;

    for (unsigned t = 0; t < s->n_tables; t++)
        sum += sizeof *s->key + nd_hamming_lines_bytes(&s->table[t]);
    return sum;
}

const struct nd_hamming_kind nd_hamming_tables_kind = {make, destroy,         add,
                                                       take, nd_tables_query, bytes};
