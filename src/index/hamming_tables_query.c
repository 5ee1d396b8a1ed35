/* hamming_tables_query.c - any design of keys: look-ups, many lines under way */
#include <stdlib.h>

#include "index/hamming_tables.h"
#include "simd/hamming_kernels.h"

enum {
    WAVE = 64,
    BLOCK = 16,      /* queries that ask one table after the other together */
    FEW = 4,         /* fewer are not worth the vectors */
    CANDIDATES = 256 /* a power of 2 */
};

/* Lines that were asked for together, and on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE + BLOCK];
    uint32_t value[WAVE + BLOCK];
    uint32_t query[WAVE + BLOCK];
    const struct nd_tables_node *node[WAVE + BLOCK];
    size_t n, asked; /* lines; those of them that were asked for */
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

/* The next look-ups are those of the block of queries from `query` on in table `table`. */
struct search {
    const struct nd_tables *tables;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *queries;
    size_t n, query;
    unsigned table, distance;
    uint64_t *fold; /* of the block's queries, if they have several words */
    struct nd_hamming_sink *sink;
    struct candidate *candidate;     /* a ring: number i stands at i % CANDIDATES */
    size_t n_resolved, n_candidates; /* all there have ever been */
    struct todo *todo;
    size_t n_todo, todo_capacity;
};

static inline void append(struct wave *w, const struct nd_hamming_line *line, uint32_t value,
                          uint32_t query, const struct nd_tables_node *node)
{
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->query[w->n] = query;
    w->node[w->n++] = node;
}

/* Append the lines of refined buckets. */
static void begin_inside(struct search *s, struct wave *w)
{
    const struct nd_tables *tables = s->tables;

    while (w->n < WAVE && s->n_todo) {
        struct todo *todo = &s->todo[s->n_todo - 1];
        const uint64_t *x = s->queries + todo->query * tables->words;
        uint64_t fold = nd_tables_fold(x, tables->words);

        for (; todo->next < todo->node->n_inner && w->n < WAVE; todo->next++) {
            const struct nd_tables_node *node = &todo->node->inner[todo->next];

            append(w, nd_hamming_lines_at(&node->lines, nd_tables_place(node, x)),
                   nd_tables_filter(&node->key, fold), todo->query, node);
        }
        s->n_todo -= todo->next == todo->node->n_inner;
    }
}

/* Places and filters of the next n queries in the next table. */
static void look_up(struct search *s, const struct nd_tables_node *node, size_t n, uint32_t *place,
                    uint32_t *value)
{
    size_t words = s->tables->words;
    const uint64_t *x = s->queries + s->query * words;

    if (words == 1) {
        const struct nd_hamming_kernels *kernels = n < FEW ? &nd_hamming_scalar : s->kernels;

        kernels->places(&node->spread, node->key.mask[0], node->key.turn, x, n, place, value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (s->table == 0)
            s->fold[i] = nd_tables_fold(x + i * words, words);
        place[i] = (uint32_t)nd_tables_place(node, x + i * words);
        value[i] = nd_tables_filter(&node->key, s->fold[i]);
    }
}

static void ask(struct wave *w)
{
    for (; w->asked < w->n; w->asked++)
        __builtin_prefetch(w->line[w->asked], 0, 2);
}

/* Append the next lines to those that a wave has.  at_once: they will be needed soon. */
static void begin(struct search *s, struct wave *w, bool at_once)
{
    const struct nd_tables *tables = s->tables;
    uint32_t place[BLOCK];

    begin_inside(s, w);
    while (s->query < s->n && w->n < WAVE) {
        const struct nd_tables_node *node = &tables->table[s->table];
        size_t n = s->n - s->query < BLOCK ? s->n - s->query : BLOCK, at = w->n;

        look_up(s, node, n, place, w->value + at);
        for (size_t i = 0; i < n; i++, at++) {
            w->line[at] = nd_hamming_lines_at(&node->lines, place[i]);
            w->query[at] = (uint32_t)(s->query + i);
            w->node[at] = node;
        }
        w->n = at;
        if (at_once)
            ask(w);
        if (++s->table == tables->n_tables) {
            s->table = 0;
            s->query += n;
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

/* Compare the rows of the candidates before number `end`: their memory was asked for before. */
static void resolve(struct search *s, size_t end)
{
    const struct nd_tables *tables = s->tables;

    for (; s->n_resolved < end; s->n_resolved++) {
        const struct candidate *c = &s->candidate[s->n_resolved % CANDIDATES];
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
}

static inline void add_candidate(struct search *s, uint32_t row, uint32_t query,
                                 const struct nd_tables_node *node)
{
    const uint64_t *at = nd_tables_row(s->tables, row);

    __builtin_prefetch(at, 0, 2);
    if (s->tables->words > 1) /* else it is the same line */
        __builtin_prefetch(at + s->tables->words, 0, 2);
    if (s->n_candidates - s->n_resolved == CANDIDATES)
        resolve(s, s->n_candidates - CANDIDATES / 2);
    s->candidate[s->n_candidates++ % CANDIDATES] = (struct candidate){row, query, node};
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

/* The slots of a wave that are near. */
static void list_candidates(struct search *s, const struct wave *w,
                            const struct nd_hamming_found *found, size_t n)
{
    for (size_t f = 0; f < n; f++) {
        uint32_t i = found[f].line, slots = found[f].slots;

        do {
            unsigned slot = (unsigned)__builtin_ctz(slots);

            add_candidate(s, nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, w->line[i], slot).id,
                          w->query[i], w->node[i]);
            slots &= slots - 1;
        } while (slots);
    }
}

/*
 * Look at the lines of a wave and ask for those of the next one; what is chained to them is what
 * remains, asked for.
 */
static void finish(struct search *s, struct wave *w, const struct wave *next)
{
    struct nd_hamming_found found[WAVE + BLOCK];
    uint32_t more[WAVE + BLOCK];
    struct nd_hamming_look now = {w->line, w->value, w->n};
    struct nd_hamming_look later = {next->line + next->asked, NULL, next->n - next->asked};
    struct nd_hamming_seen seen = s->kernels->lines(&now, &later, s->distance, found, more);

    s->sink->lines += w->n;
    list_candidates(s, w, found, seen.found);
    w->n = 0;
    for (size_t m = 0; m < seen.more; m++) {
        uint32_t i = more[m]; /* not below w->n */
        const struct nd_tables_node *node = w->node[i];
        const struct nd_hamming_line *chained = nd_hamming_lines_next(&node->lines, w->line[i]);

        if (nd_tables_is_refined(w->line[i])) {
            add_todo(s, node, w->query[i]);
            continue;
        }
        __builtin_prefetch(chained, 0, 2);
        append(w, chained, w->value[i], w->query[i], node);
    }
    w->asked = w->n;
}

/*
 * Two waves: while the lines of one are looked at, those of the other are on their way, and what
 * that brings up, chained lines and rows, is asked for a wave before it is looked at.
 */
void nd_tables_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink)
{
    struct candidate candidate[CANDIDATES];
    uint64_t fold[BLOCK];
    struct search s = {.tables = self,
                       .kernels = nd_hamming_kernels(),
                       .queries = queries,
                       .n = n,
                       .distance = distance,
                       .fold = fold,
                       .sink = sink,
                       .candidate = candidate};
    struct wave wave[2];
    size_t now = 0, listed = 0;

    wave[0].n = wave[1].n = wave[0].asked = wave[1].asked = 0;
    begin(&s, &wave[0], true);
    do {
        begin(&s, &wave[now ^ 1], false);
        finish(&s, &wave[now], &wave[now ^ 1]);
        resolve(&s, listed); /* those of the wave before */
        listed = s.n_candidates;
        now ^= 1;
    } while (wave[0].n || wave[1].n || s.n_todo);
    resolve(&s, s.n_candidates);
    free(s.todo);
}
