/* hamming_tables_query.c - any design of keys: look-ups, many lines under way */
#include <stdlib.h>

#include "index/hamming_tables.h"
#include "simd/hamming_kernels.h"

enum { WAVE = 128, CANDIDATES = 128 };

/* Lines that were asked for together, and on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE];
    uint32_t value[WAVE];
    uint32_t query[WAVE];
    const struct nd_tables_node *node[WAVE];
    size_t n;
};

/* A row that passed the filter of a table. */
struct candidate {
    uint32_t row, query;
    const struct nd_tables_node *node;
};

/* A refined bucket that a query met: the next look-up is inner table `next`. */
struct todo {
    const struct nd_tables_node *node;
    uint32_t query;
    unsigned next;
};

/* The next look-up is table `table` for query `query`. */
struct search {
    const struct nd_tables *tables;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *queries;
    size_t n, query;
    unsigned table, distance;
    uint64_t fold; /* of the query */
    struct nd_hamming_sink *sink;
    struct candidate candidate[CANDIDATES];
    size_t n_candidates;
    struct todo *todo;
    size_t n_todo, todo_capacity;
};

static inline void ask(struct wave *w, const struct nd_hamming_line *line, uint32_t value,
                       uint32_t query, const struct nd_tables_node *node)
{
    __builtin_prefetch(line);
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->query[w->n] = query;
    w->node[w->n++] = node;
}

static inline void ask_node(struct wave *w, const struct nd_tables_node *node, const uint64_t *x,
                            uint64_t fold, uint32_t query)
{
    ask(w, nd_hamming_lines_at(&node->lines, nd_tables_place(node, x)),
        nd_tables_filter(&node->key, fold), query, node);
}

/* Ask for the lines of refined buckets. */
static void begin_inside(struct search *s, struct wave *w)
{
    const struct nd_tables *tables = s->tables;

    while (w->n < WAVE && s->n_todo) {
        struct todo *todo = &s->todo[s->n_todo - 1];
        const uint64_t *x = s->queries + todo->query * tables->words;
        uint64_t fold = nd_tables_fold(x, tables->words);

        for (; todo->next < todo->node->n_inner && w->n < WAVE; todo->next++)
            ask_node(w, &todo->node->inner[todo->next], x, fold, todo->query);
        s->n_todo -= todo->next == todo->node->n_inner;
    }
}

/* Ask for the next lines, as many as a wave holds. */
static void begin(struct search *s, struct wave *w)
{
    const struct nd_tables *tables = s->tables;

    w->n = 0;
    begin_inside(s, w);
    while (w->n < WAVE && s->query < s->n) {
        const uint64_t *x = s->queries + s->query * tables->words;

        if (s->table == 0)
            s->fold = nd_tables_fold(x, tables->words);
        for (; s->table < tables->n_tables && w->n < WAVE; s->table++)
            ask_node(w, &tables->table[s->table], x, s->fold, (uint32_t)s->query);
        if (s->table == tables->n_tables) {
            s->table = 0;
            s->query++;
        }
    }
}

/* Reported by the first table of each design whose key agrees, and by no other. */
static bool is_first(const struct nd_tables *s, const uint64_t *a, const uint64_t *b,
                     const struct nd_tables_node *node)
{
    if (!nd_tables_key_agrees(&node->key, a, b))
        return false;
    for (; node; node = node->outer) {
        const struct nd_tables_node *first = node->outer ? node->outer->inner : s->table;

        for (unsigned t = 0; t < node->number; t++)
            if (nd_tables_key_agrees(&first[t].key, a, b))
                return false;
    }
    return true;
}

/* Compare the rows of the candidates; their lines of memory were asked for before. */
static void resolve(struct search *s)
{
    const struct nd_tables *tables = s->tables;

    for (size_t i = 0; i < s->n_candidates; i++) {
        const struct candidate *c = &s->candidate[i];
        const uint64_t *row = nd_tables_row(tables, c->row);
        const uint64_t *x = s->queries + c->query * tables->words;
        const struct nd_tables_ids *ids = nd_tables_row_ids(tables, c->row);
        unsigned distance = 0;

        for (size_t w = 0; w < tables->words; w++)
            distance += (unsigned)__builtin_popcountll(row[w] ^ x[w]);
        if (distance > s->distance || !is_first(tables, row, x, c->node))
            continue;
        if (ids->state == ND_TABLES_MANY)
            nd_hamming_sink_list(s->sink, c->query, tables->ids, ids->id, distance);
        else
            nd_hamming_sink_id(s->sink, c->query, ids->id, distance);
    }
    s->n_candidates = 0;
}

static void add_candidate(struct search *s, uint32_t row, uint32_t query,
                          const struct nd_tables_node *node)
{
    __builtin_prefetch(nd_tables_row(s->tables, row));
    __builtin_prefetch(nd_tables_row_ids(s->tables, row));
    s->candidate[s->n_candidates++] = (struct candidate){row, query, node};
    if (s->n_candidates == CANDIDATES)
        resolve(s);
}

static void add_todo(struct search *s, const struct nd_tables_node *node, uint32_t query)
{
    void *todo = s->todo;

    if (!nd_array_reserve(&todo, &s->todo_capacity, s->n_todo + 1, sizeof *s->todo)) {
        s->sink->out_of_memory = true;
        return;
    }
    s->todo = todo;
    s->todo[s->n_todo++] = (struct todo){node, query, 0};
}

/* Look at all lines of a wave, then at those chained to them, until none is left. */
static void finish(struct search *s, struct wave *w)
{
    struct nd_hamming_found found[WAVE];

    while (w->n) {
        size_t n = s->kernels->lines(w->line, w->value, w->n, s->distance, found);

        s->sink->lines += w->n;
        w->n = 0;
        for (size_t f = 0; f < n; f++) {
            uint32_t i = found[f].line;
            const struct nd_tables_node *node = w->node[i];

            for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
                unsigned slot = (unsigned)__builtin_ctz(slots);

                add_candidate(s, nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, w->line[i], slot).id,
                              w->query[i], node);
            }
            if (found[f].more && nd_tables_is_refined(w->line[i]))
                add_todo(s, node, w->query[i]);
            else if (found[f].more)
                ask(w, nd_hamming_lines_next(&node->lines, w->line[i]), w->value[i], w->query[i],
                    node);
        }
    }
    resolve(s);
}

void nd_tables_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink)
{
    struct search s = {.tables = self,
                       .kernels = nd_hamming_kernels(),
                       .queries = queries,
                       .n = n,
                       .distance = distance,
                       .sink = sink};
    struct wave wave[2];
    size_t now = 0;

    begin(&s, &wave[0]);
    for (; wave[now].n; now ^= 1) {
        begin(&s, &wave[now ^ 1]);
        finish(&s, &wave[now]);
        if (wave[now ^ 1].n == 0) /* the last wave may have met refined buckets */
            begin(&s, &wave[now ^ 1]);
    }
    free(s.todo);
}
