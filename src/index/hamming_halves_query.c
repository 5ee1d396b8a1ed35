/* hamming_halves_query.c - two halves: look-ups, many lines under way */
#include "index/hamming_halves.h"
#include "simd/hamming_kernels.h"

enum {
    WAVE = 64,
    LEFT = ND_HALVES_TABLES * ND_HAMMING_LOOKS, /* what one query more may add */
    HITS = 64                                   /* a power of 2 */
};

/* Lines that are looked at together, and on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE + LEFT];
    uint32_t value[WAVE + LEFT], address[WAVE + LEFT];
    uint32_t owner[WAVE + LEFT]; /* query * ND_HALVES_TABLES + table */
    size_t n, asked;             /* lines; those of them that were asked for */
};

/* A fingerprint found through another table, whose ids stand in table 0. */
struct hit {
    struct nd_halves_place place;
    uint32_t query, distance;
};

struct search {
    const struct nd_halves *halves;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *queries;
    size_t n, query; /* of which there are so many; the next one */
    unsigned distance, radius;
    unsigned n_tables, looks; /* windows: tables asked; lines of a query, without chains */
    struct nd_hamming_sink *sink;
    struct hit *hit;           /* a ring: number i stands at i % HITS */
    size_t n_resolved, n_hits; /* all there have ever been */
};

/* The bucket on the other side of bit 31 that a ball of radius 1 meets, where it is not one of the
 * others: there nothing else may differ. */
static size_t append_turned(const struct nd_halves_group *g, uint32_t bucket, uint32_t *address)
{
    *address = nd_halves_address(g, bucket ^ UINT32_C(1) << ND_HAMMING_DATA_BITS);
    return *address != nd_halves_address(g, bucket);
}

/* Append the lines of a query's ball in one half. */
static void append_ball(const struct search *search, size_t query, unsigned half, struct wave *w)
{
    const struct nd_halves *s = search->halves;
    const struct nd_halves_group *g = nd_halves_group(s, half);
    const struct nd_hamming_line *lines = nd_hamming_lines_at(&g->lines, 0);
    struct nd_halves_place p = nd_halves_place(s, search->queries[query], half);
    unsigned syndrome = search->radius ? p.rest >> 9 & 31 : 0; /* 0: a ball of one bucket */
    size_t at = w->n, end = at;

    end += search->kernels->ball(s->code.ball[syndrome], p.data, (uint32_t)g->level,
                                 (uint32_t)g->size, w->address + at);
    if (search->radius)
        end += append_turned(g, p.data, w->address + end);
    for (; at < end; at++) {
        w->line[at] = lines + w->address[at];
        w->value[at] = p.word;
        w->owner[at] = (uint32_t)query * ND_HALVES_TABLES + half;
    }
    w->n = end;
}

/* The lines of so many of the next queries in one table of windows. */
static void append_window(const struct search *search, unsigned table, size_t queries,
                          struct wave *w)
{
    const struct nd_halves_group *g = nd_halves_group(search->halves, table);
    const struct nd_halves_table t = search->halves->table[table]; /* what is written is not here */
    const struct nd_hamming_line *first = nd_hamming_lines_at(&g->lines, table - g->first);
    const uint64_t *x = search->queries + search->query;
    const size_t size = g->size, step = g->n_tables;
    const uint32_t windows = UINT32_C(1) << search->halves->window_bits;
    const uint32_t low = (uint32_t)(size > windows ? windows : g->level) - 1;
    const uint32_t more = size > windows ? low : 2 * low + 1;
    uint32_t owner = (uint32_t)search->query * ND_HALVES_TABLES + table;
    size_t at = w->n;

    for (size_t q = 0; q < queries; q++, owner += ND_HALVES_TABLES) {
        uint32_t data = nd_halves_turn((uint32_t)(x[q] >> (32 * t.half)), t.turn);
        uint32_t address = data & more;

        address -= (address >= size) * (low + 1); /* no branch: a coin */
        for (; address < size; address += windows, at++) {
            w->line[at] = first + address * step;
            w->value[at] = (uint32_t)(x[q] >> (32 * (1 - t.half)));
            w->address[at] = address;
            w->owner[at] = owner;
        }
    }
    w->n = at;
}

/* As many of the next queries as a wave takes, one at least, a table after the other. */
static void append_windows(struct search *search, struct wave *w)
{
    size_t queries = w->n + search->looks < WAVE ? (WAVE - w->n) / search->looks : 1;

    queries = queries < search->n - search->query ? queries : search->n - search->query;
    for (unsigned t = 0; t < search->n_tables; t++)
        append_window(search, t, queries, w);
    search->query += queries;
}

static void ask(struct wave *w)
{
    for (; w->asked < w->n; w->asked++)
        __builtin_prefetch(w->line[w->asked], 0, 2);
}

/* Append the lines of the next queries to those that a wave has.  at_once: they will be needed
 * soon. */
static void begin(struct search *search, struct wave *w, bool at_once)
{
    bool is_code = search->halves->window_bits == 0;

    while (search->query < search->n && w->n < WAVE) {
        for (unsigned half = 0; is_code && half < 2; half++) {
            append_ball(search, search->query, half, w);
            if (at_once)
                ask(w);
        }
        if (is_code)
            search->query++;
        else
            append_windows(search, w);
        if (at_once)
            ask(w);
    }
}

/* The ids of what was found through other tables than 0, of the hits before number `end`. */
static void resolve(struct search *search, size_t end)
{
    const struct nd_halves *s = search->halves;

    for (; search->n_resolved < end; search->n_resolved++) {
        const struct hit *hit = &search->hit[search->n_resolved % HITS];
        unsigned slot = 0;
        const struct nd_hamming_line *line = nd_halves_find(s, 0, &hit->place, &slot);
        struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);

        if (e.rest & ND_HALVES_MANY)
            nd_hamming_sink_list(search->sink, hit->query, &s->ids, e.id, hit->distance);
        else
            nd_hamming_sink_id(search->sink, hit->query, e.id, hit->distance);
    }
}

static void remember(struct search *search, uint64_t x, uint32_t query, unsigned distance)
{
    const struct nd_halves *s = search->halves;
    struct hit hit = {nd_halves_place(s, x, 0), query, distance};

    __builtin_prefetch(nd_halves_line(s, 0, hit.place.data), 0, 2);
    if (search->n_hits - search->n_resolved == HITS)
        resolve(search, search->n_hits - HITS / 2);
    search->hit[search->n_hits++ % HITS] = hit;
}

/* Whether what differs so is reported by this table: the first one that leads to it, no other. */
static bool is_first(const struct search *search, unsigned table, uint64_t differ)
{
    const struct nd_halves *s = search->halves;

    if (s->window_bits == 0)
        return ((unsigned)__builtin_popcountll(differ & UINT32_MAX) <= search->radius) ==
               (table == 0);
    for (unsigned t = 0; t < table; t++)
        if (!(differ & s->table[t].window))
            return false;
    return !(differ & s->table[table].window);
}

/* A slot whose word is near. */
static void check(struct search *search, const struct wave *w, size_t i, unsigned slot)
{
    const struct nd_halves *s = search->halves;
    unsigned table = w->owner[i] % ND_HALVES_TABLES, number = w->owner[i] / ND_HALVES_TABLES;
    struct nd_hamming_entry e =
        nd_hamming_line_get(nd_halves_group(s, table)->lines.layout, w->line[i], slot);
    uint64_t x = nd_halves_fingerprint(s, &s->table[table], w->address[i], &e);
    uint64_t differ = x ^ search->queries[number];
    unsigned distance = (unsigned)__builtin_popcountll(differ);

    if (distance > search->distance || !is_first(search, table, differ))
        return;
    if (table)
        remember(search, x, number, distance);
    else if (e.rest & ND_HALVES_MANY)
        nd_hamming_sink_list(search->sink, number, &s->ids, e.id, distance);
    else
        nd_hamming_sink_id(search->sink, number, e.id, distance);
}

/*
 * Look at the lines of a wave and ask for those of the next one; what is chained to them is what
 * remains, asked for.
 */
static void finish(struct search *search, struct wave *w, const struct wave *next)
{
    struct nd_hamming_found found[WAVE + LEFT];
    uint32_t more[WAVE + LEFT];
    const struct nd_halves *s = search->halves;
    struct nd_hamming_look now = {w->line, w->value, w->n};
    struct nd_hamming_look later = {next->line + next->asked, NULL, next->n - next->asked};
    struct nd_hamming_seen seen =
        search->kernels->lines(&now, &later, search->distance, found, more);

    search->sink->lines += w->n;
    for (size_t f = 0; f < seen.found; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1)
            check(search, w, found[f].line, (unsigned)__builtin_ctz(slots));
    for (size_t m = 0; m < seen.more; m++) {
        uint32_t i = more[m]; /* not below m */
        const struct nd_hamming_line *chained = nd_hamming_lines_next(
            &nd_halves_group(s, w->owner[i] % ND_HALVES_TABLES)->lines, w->line[i]);

        w->line[m] = chained;
        w->value[m] = w->value[i];
        w->address[m] = w->address[i];
        w->owner[m] = w->owner[i];
    }
    w->n = seen.more;
    w->asked = 0;
}

/* A query within 1 needs but the windows of one half, a query within 0 but one of them. */
static unsigned tables_asked(const struct nd_halves *s, unsigned distance)
{
    if (s->window_bits == 0 || distance > 1)
        return s->n_tables;
    return distance ? s->n_tables / 2 : 1;
}

/* Lines of a query in so many tables of windows, at most. */
static unsigned looks_in(const struct nd_halves *s, unsigned n_tables)
{
    unsigned sum = 0;

    for (unsigned t = 0; t < n_tables; t++)
        sum += (unsigned)((nd_halves_group(s, t)->size - 1) >> s->window_bits) + 1;
    return sum;
}

/* Two waves, as in nd_tables_query. */
void nd_halves_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink)
{
    const struct nd_halves *s = self;
    struct hit hit[HITS];
    struct search search = {.halves = s,
                            .kernels = nd_hamming_kernels(),
                            .queries = queries,
                            .n = n,
                            .distance = distance,
                            .radius = distance > 1,
                            .n_tables = tables_asked(s, distance),
                            .looks = looks_in(s, tables_asked(s, distance)),
                            .sink = sink,
                            .hit = hit};
    struct wave wave[2];
    size_t now = 0, listed = 0;

    wave[0].n = wave[1].n = wave[0].asked = wave[1].asked = 0;
    begin(&search, &wave[0], true);
    do {
        begin(&search, &wave[now ^ 1], false);
        finish(&search, &wave[now], &wave[now ^ 1]);
        resolve(&search, listed); /* those of the wave before */
        listed = search.n_hits;
        now ^= 1;
    } while (wave[0].n || wave[1].n);
    resolve(&search, search.n_hits);
    if (s->crowded && s->crowded->n_used)
        nd_tables_query(s->crowded, queries, n, distance, sink);
}
