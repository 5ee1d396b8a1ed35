/* hamming_tables_query.c - any design of keys: look-ups, many lines under way */
#include "index/hamming_tables.h"
#include "simd/hamming_kernels.h"

enum { WAVE = 128, CANDIDATES = 128 };

/* Lines that were asked for together, and on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE];
    uint32_t value[WAVE];
    uint32_t query[WAVE];
    uint16_t table[WAVE];
    size_t n;
};

/* A row that passed the filter of a table. */
struct candidate {
    uint32_t row, query;
    uint16_t table;
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
};

static inline void ask(struct wave *w, const struct nd_hamming_line *line, uint32_t value,
                       uint32_t query, unsigned table)
{
    __builtin_prefetch(line, 0, 2);
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->query[w->n] = query;
    w->table[w->n++] = (uint16_t)table;
}

/* Ask for the next lines, as many as a wave holds. */
static void begin(struct search *s, struct wave *w)
{
    const struct nd_tables *tables = s->tables;

    w->n = 0;
    while (w->n < WAVE && s->query < s->n) {
        const uint64_t *x = s->queries + s->query * tables->words;

        if (s->table == 0)
            s->fold = nd_tables_fold(x, tables->words);
        for (; s->table < tables->n_tables && w->n < WAVE; s->table++) {
            const struct nd_tables_key *key = &tables->key[s->table];
            const struct nd_hamming_lines *lines = &tables->table[s->table];

            ask(w, nd_hamming_lines_at(lines, nd_tables_bucket(key, lines->n_main, x)),
                nd_tables_filter(key, s->fold), (uint32_t)s->query, s->table);
        }
        if (s->table == tables->n_tables) {
            s->table = 0;
            s->query++;
        }
    }
}

/* Reported by the first table whose key agrees, and by no other. */
static bool is_first(const struct nd_tables *s, const uint64_t *a, const uint64_t *b,
                     unsigned table)
{
    for (unsigned t = 0; t < table; t++)
        if (nd_tables_key_agrees(&s->key[t], a, b))
            return false;
    return nd_tables_key_agrees(&s->key[table], a, b);
}

/* Compare the rows of the first n candidates; their lines of memory were asked for before. */
static void resolve(struct search *s, size_t n)
{
    const struct nd_tables *tables = s->tables;

    for (size_t i = 0; i < n; i++) {
        const struct candidate *c = &s->candidate[i];
        const uint64_t *row = nd_tables_row(tables, c->row);
        const uint64_t *x = s->queries + c->query * tables->words;
        const struct nd_tables_ids *ids = nd_tables_row_ids(tables, c->row);
        unsigned distance = 0;

        for (size_t w = 0; w < tables->words; w++)
            distance += (unsigned)__builtin_popcountll(row[w] ^ x[w]);
        if (distance > s->distance || !is_first(tables, row, x, c->table))
            continue;
        if (ids->state == ND_TABLES_MANY)
            nd_hamming_sink_list(s->sink, c->query, &tables->ids, ids->id, distance);
        else
            nd_hamming_sink_id(s->sink, c->query, ids->id, distance);
    }
    s->n_candidates -= n;
    memmove(s->candidate, s->candidate + n, s->n_candidates * sizeof *s->candidate);
}

static void add_candidate(struct search *s, uint32_t row, uint32_t query, uint16_t table)
{
    __builtin_prefetch(nd_tables_row(s->tables, row));
    __builtin_prefetch(nd_tables_row_ids(s->tables, row));
    s->candidate[s->n_candidates++] = (struct candidate){row, query, table};
    if (s->n_candidates == CANDIDATES)
        resolve(s, CANDIDATES / 2);
}

/* Look at all lines of a wave, then at those chained to them, until none is left. */
static void finish(struct search *s, struct wave *w)
{
    struct nd_hamming_found found[WAVE];

    while (w->n) {
        size_t n = s->kernels->lines(w->line, w->value, w->n, s->distance, found);

        w->n = 0;
        for (size_t f = 0; f < n; f++) {
            uint32_t i = found[f].line;

            for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
                unsigned slot = (unsigned)__builtin_ctz(slots);

                add_candidate(s, nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, w->line[i], slot).id,
                              w->query[i], w->table[i]);
            }
            if (found[f].more)
                ask(w, nd_hamming_lines_next(&s->tables->table[w->table[i]], w->line[i]),
                    w->value[i], w->query[i], w->table[i]);
        }
    }
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
    }
    resolve(&s, s.n_candidates);
}
