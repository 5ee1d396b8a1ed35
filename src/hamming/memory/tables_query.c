/* tables_query.c - tables of keys: look-ups, many lines under way
 *
 * A query reads a line of every table, and each is a cache miss.  One after the other they would
 * cost the latency of memory each; with some sixty under way they cost a tenth of that.
 *
 * Two rounds of look-ups alternate.  While the lines of one are compared, those of the other are on
 * their way from memory, so that memory and processor both have something to do.  What a round
 * finds, chained lines and rows, is prefetched one round before it is read:
 *
 *     begin     appends look-ups to a round: first in the inner tables of refined buckets, then of
 *               a block of queries in one table after the other;
 *     finish    compares the lines of a round.  Rows that pass the filter are candidates, chained
 *               lines stay in the round, refined buckets are noted;
 *     resolve   compares the rows of the candidates of the round before.
 */
#include <stdlib.h>

#include "hamming/memory/tables.h"
#include "simd/hamming/hamming_kernels.h"

enum {
    ROUND = 64,
    BLOCK = 16,      /* queries that go through one table after the other together */
    FEW = 4,         /* fewer are not worth the vectors */
    CANDIDATES = 256 /* a power of 2 */
};

/* Lines that are under way together, and what they are for. */
struct tables_round {
    const struct nd_hamming_line *line[ROUND + BLOCK];
    uint32_t value[ROUND + BLOCK];
    uint32_t query[ROUND + BLOCK];
    const struct nd_tables_node *node[ROUND + BLOCK];
    size_t n, prefetched; /* lines; those of them that were prefetched */
};

/* A row of a table that passed the filter for a query, or a refined bucket. */
struct meeting {
    uint32_t number; /* of the row, or of the inner table that is to be looked up next */
    uint32_t query;
    const struct nd_tables_node *node;
};

/* The next look-ups are those of the block of queries from `query` on in table `table`. */
struct tables_search {
    const struct nd_tables *tables;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *queries;
    size_t n, query;
    unsigned table, distance;
    uint64_t *fold; /* of the block's queries, if they have several words */
    struct nd_hamming_sink *sink;
    struct meeting *candidate;       /* rows, in a ring: number i stands at i % CANDIDATES */
    size_t n_resolved, n_candidates; /* all there have ever been */
    struct meeting *refined;         /* buckets whose inner tables are not all looked up */
    size_t n_refined, refined_capacity;
};

static inline void append(struct tables_round *w, const struct nd_hamming_line *line,
                          uint32_t value, uint32_t query, const struct nd_tables_node *node)
{
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->query[w->n] = query;
    w->node[w->n++] = node;
}

/* Append the lines of refined buckets. */
static void begin_inside(struct tables_search *s, struct tables_round *w)
{
    const struct nd_tables *tables = s->tables;

    while (w->n < ROUND && s->n_refined) {
        struct meeting *m = &s->refined[s->n_refined - 1];
        const uint64_t *x = s->queries + m->query * tables->words;
        uint64_t fold = nd_hamming_fold_words(x, tables->words);

        for (; m->number < m->node->n_inner && w->n < ROUND; m->number++) {
            const struct nd_tables_node *node = &m->node->inner[m->number];

            append(w, nd_hamming_lines_at(&node->lines, nd_tables_place(node, x)),
                   nd_tables_filter(node, fold), m->query, node);
        }
        s->n_refined -= m->number == m->node->n_inner;
    }
}

/* Places and filters of the next n queries in the next table. */
static void look_up(struct tables_search *s, const struct nd_tables_node *node, size_t n,
                    uint32_t *place, uint32_t *value)
{
    size_t words = s->tables->words;
    const uint64_t *x = s->queries + s->query * words;

    if (words == 1) {
        const struct nd_hamming_kernels *kernels = n < FEW ? &nd_hamming_scalar : s->kernels;

        kernels->places(&node->linear_hash, node->key[0], node->rotation, x, n, place, value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (s->table == 0)
            s->fold[i] = nd_hamming_fold_words(x + i * words, words);
        place[i] = (uint32_t)nd_tables_place(node, x + i * words);
        value[i] = nd_tables_filter(node, s->fold[i]);
    }
}

static void prefetch_lines(struct tables_round *w)
{
    for (; w->prefetched < w->n; w->prefetched++)
        __builtin_prefetch(w->line[w->prefetched], 0, 2);
}

/* Append the next lines to those that a round has.  at_once: they will be needed soon. */
static void begin(struct tables_search *s, struct tables_round *w, bool at_once)
{
    const struct nd_tables *tables = s->tables;
    uint32_t place[BLOCK];

    begin_inside(s, w);
    while (s->query < s->n && w->n < ROUND) {
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
            prefetch_lines(w);
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
    if (!nd_tables_key_agrees(node, a, b))
        return false;
    for (; node; node = node->outer) {
        const struct nd_tables_node *first = node->outer ? node->outer->inner : s->table;

        for (unsigned t = 0; t < node->number; t++)
            if (nd_tables_key_agrees(&first[t], a, b))
                return false;
    }
    return true;
}

/* Compare the rows of the candidates before number `end`: their memory was prefetched. */
static void resolve(struct tables_search *s, size_t end)
{
    const struct nd_tables *tables = s->tables;

    for (; s->n_resolved < end; s->n_resolved++) {
        const struct meeting *c = &s->candidate[s->n_resolved % CANDIDATES];
        const uint64_t *row = nd_tables_row(tables, c->number);
        const uint64_t *x = s->queries + c->query * tables->words;
        unsigned distance = nd_hamming_distance(row, x, tables->words);

        if (distance <= s->distance && is_first(tables, row, x, c->node))
            nd_hamming_sink_ids(s->sink, c->query, tables->ids,
                                *nd_tables_row_id(tables, c->number), distance);
    }
}

static inline void add_candidate(struct tables_search *s, uint32_t row, uint32_t query,
                                 const struct nd_tables_node *node)
{
    const uint64_t *at = nd_tables_row(s->tables, row);

    __builtin_prefetch(at, 0, 2);
    if (s->tables->words > 1) /* else it is the same line */
        __builtin_prefetch(at + s->tables->words, 0, 2);
    if (s->n_candidates - s->n_resolved == CANDIDATES)
        resolve(s, s->n_candidates - CANDIDATES / 2);
    s->candidate[s->n_candidates++ % CANDIDATES] = (struct meeting){row, query, node};
}

static void add_refined(struct tables_search *s, const struct nd_tables_node *node, uint32_t query)
{
    if (ND_RESERVE(s->refined, &s->refined_capacity, s->n_refined + 1))
        s->refined[s->n_refined++] = (struct meeting){0, query, node};
    else
        s->sink->out_of_memory = true;
}

/* The slots of a round that are near. */
static void list_candidates(struct tables_search *s, const struct tables_round *w,
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
 * Compare the lines of a round while those of the next one are prefetched.  The lines that are
 * chained to them stay in the round, prefetched too.
 */
static void finish(struct tables_search *s, struct tables_round *w, const struct tables_round *next)
{
    struct nd_hamming_found found[ROUND + BLOCK];
    uint32_t more[ROUND + BLOCK];
    struct nd_hamming_look now = {w->line, w->value, w->n};
    struct nd_hamming_look later = {next->line + next->prefetched, NULL,
                                    next->n - next->prefetched};
    struct nd_hamming_seen seen = s->kernels->lines(&now, &later, s->distance, found, more);

    s->sink->lines += w->n;
    list_candidates(s, w, found, seen.found);
    w->n = 0;
    for (size_t m = 0; m < seen.more; m++) {
        uint32_t i = more[m]; /* not below w->n */
        const struct nd_tables_node *node = w->node[i];
        const struct nd_hamming_line *chained = nd_hamming_lines_next(&node->lines, w->line[i]);

        if (nd_tables_is_refined(w->line[i])) {
            add_refined(s, node, w->query[i]);
            continue;
        }
        __builtin_prefetch(chained, 0, 2);
        append(w, chained, w->value[i], w->query[i], node);
    }
    w->prefetched = w->n;
}

void nd_tables_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink)
{
    struct meeting candidate[CANDIDATES];
    uint64_t fold[BLOCK];
    struct tables_search s = {.tables = self,
                              .kernels = nd_hamming_kernels(),
                              .queries = queries,
                              .n = n,
                              .distance = distance,
                              .fold = fold,
                              .sink = sink,
                              .candidate = candidate};
    struct tables_round round[2];
    size_t now = 0, listed = 0;

    round[0].n = round[1].n = round[0].prefetched = round[1].prefetched = 0;
    begin(&s, &round[0], true);
    do {
        begin(&s, &round[now ^ 1], false);
        finish(&s, &round[now], &round[now ^ 1]);
        resolve(&s, listed); /* those of the round before */
        listed = s.n_candidates;
        now ^= 1;
    } while (round[0].n || round[1].n || s.n_refined);
    resolve(&s, s.n_candidates);
    free(s.refined);
}
