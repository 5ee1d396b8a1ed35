/* hamming_tables.c - any design of keys: make, add, remove */
#include "index/hamming_tables.h"

#include <stdlib.h>

#include "index/hamming_plan.h"

enum { AHEAD = 8 };
#define ROWS_MAX (UINT32_MAX - 16)

void nd_tables_free(struct nd_tables *s)
{
    for (unsigned t = 0; s->table && t < s->n_tables; t++)
        nd_tables_node_release(&s->table[t]);
    nd_column_release(&s->rows);
    nd_hamming_ids_release(&s->own_ids);
    free(s->table);
    free(s);
}

static void destroy(void *self)
{
    nd_tables_free(self);
}

static bool make_tables(struct nd_tables *s, const struct nd_hamming_plan *plan)
{
    uint64_t *masks = nd_hamming_keys_new(plan);
    size_t n = 2 * (size_t)plan->tables, count = plan->problem.count;
    struct nd_column_wish *wish = nd_alloc_array(n + 1, sizeof *wish);
    bool made;

    s->table = calloc(plan->tables, sizeof *s->table);
    made = masks && wish && s->table && count < ROWS_MAX;
    for (unsigned t = 0; made && t < s->n_tables; t++) {
        s->table[t].number = t;
        nd_tables_node_init(s, &s->table[t], masks + t * s->words, (double)count, wish + 2 * t);
    }
    if (made) {
        wish[n] = (struct nd_column_wish){&s->rows, count * (s->words + 1) * sizeof(uint64_t)};
        made = nd_columns_make(wish, n + 1);
    }
    free(wish);
    free(masks);
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
    for (unsigned i = 0; i < plan->problem.bits; i++)
        s->all[i / 64] |= UINT64_C(1) << i % 64;
    if (make_tables(s, plan))
        return s;
    nd_tables_free(s);
    return NULL;
}

static void *make(const struct nd_hamming_plan *plan)
{
    return nd_tables_new(plan, NULL);
}

/* Of tables of one design the one with the fewest lines to look at. */
static const struct nd_tables_node *shortest(const struct nd_tables_node *node, unsigned n,
                                             const uint64_t *x)
{
    const struct nd_tables_node *best = node;
    uint32_t least = UINT32_MAX;

    for (unsigned t = 0; t < n && least; t++) {
        uint32_t chained = nd_hamming_lines_at(&node[t].lines, nd_tables_place(&node[t], x))
                               ->word[ND_TABLES_CHAINED];

        if (chained < least) {
            least = chained;
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
    filter = nd_tables_filter(&node->key, nd_tables_fold(x, s->words));
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
    *nd_tables_row_ids(s, row) = (struct nd_tables_ids){s->free_row, ND_TABLES_FREE};
    s->free_row = row + 1;
    s->n_used--;
}

/* A row for a new fingerprint, in no table yet.  False: out of memory. */
static bool new_row(struct nd_tables *s, const uint64_t *x, struct nd_tables_ids ids, uint32_t *row)
{
    if (s->free_row) {
        *row = s->free_row - 1;
        s->free_row = nd_tables_row_ids(s, *row)->id;
    } else {
        size_t n = (size_t)s->n_rows + 1;

        if (n > ROWS_MAX || !nd_column_reserve(&s->rows, n, (s->words + 1) * sizeof *x))
            return false;
        *row = s->n_rows++;
    }
    memcpy(nd_tables_row(s, *row), x, s->words * sizeof *x);
    *nd_tables_row_ids(s, *row) = ids;
    s->n_used++;
    return true;
}

bool nd_tables_add_id(struct nd_tables *s, uint32_t row, uint32_t id)
{
    struct nd_tables_ids *ids = nd_tables_row_ids(s, row);
    bool many = ids->state == ND_TABLES_MANY;
    uint32_t list = many ? ids->id : nd_hamming_ids_add(s->ids, 0, ids->id), longer;

    if (!list)
        return false;
    longer = nd_hamming_ids_add(s->ids, list, id);
    if (!longer) {
        if (!many)
            nd_hamming_ids_end(s->ids, list);
        return false;
    }
    *ids = (struct nd_tables_ids){longer, ND_TABLES_MANY};
    return true;
}

bool nd_tables_put(struct nd_tables *s, const uint64_t *x, struct nd_tables_ids ids)
{
    uint32_t row;
    unsigned t;

    if (!new_row(s, x, ids, &row))
        return false;
    for (t = 0; t < s->n_tables && nd_tables_node_put(s, &s->table[t], row); t++)
        ;
    if (t == s->n_tables)
        return true;
    while (t--)
        nd_tables_node_drop(s, &s->table[t], row);
    free_row(s, row);
    return false;
}

static bool add_one(struct nd_tables *s, const uint64_t *x, uint32_t id)
{
    int64_t known = nd_tables_find(s, x);

    if (known != ND_TABLES_NO_ROW)
        return nd_tables_add_id(s, (uint32_t)known, id);
    return nd_tables_put(s, x, (struct nd_tables_ids){id, ND_TABLES_ONE});
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct nd_tables *s = self;

    for (size_t start = 0; start < n; start += AHEAD) {
        size_t left = n - start < AHEAD ? n - start : AHEAD;

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

static bool drop_id(struct nd_tables *s, struct nd_tables_ids *ids, uint32_t id)
{
    bool only;

    if (!nd_hamming_ids_remove(s->ids, ids->id, id, &only))
        return false;
    if (only)
        *ids = (struct nd_tables_ids){nd_hamming_ids_end(s->ids, ids->id), ND_TABLES_ONE};
    return true;
}

bool nd_tables_take_id(struct nd_tables *s, uint32_t row, uint32_t id)
{
    struct nd_tables_ids *ids = nd_tables_row_ids(s, row);

    if (ids->state == ND_TABLES_MANY)
        return drop_id(s, ids, id);
    if (ids->id != id)
        return false;
    for (unsigned t = 0; t < s->n_tables; t++)
        nd_tables_node_drop(s, &s->table[t], row);
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
        sum += nd_tables_node_bytes(&s->table[t]);
    return sum;
}

static size_t bytes(const void *self)
{
    return nd_tables_bytes(self);
}

const struct nd_hamming_kind nd_hamming_tables_kind = {make, destroy,         add,
                                                       take, nd_tables_query, bytes};
