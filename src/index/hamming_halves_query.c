/* hamming_halves_query.c - two halves with perfect-code buckets: look-ups, many lines under way */
#include "index/hamming_halves.h"
#include "simd/hamming_kernels.h"

enum { GROUP = 8, WAVE = GROUP * 2 * ND_HAMMING_BALL, HITS = 64 };

/* Lines that were asked for together, and on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE];
    uint32_t value[WAVE], address[WAVE];
    uint8_t owner[WAVE]; /* query of the group * 2 + half */
    size_t n;
};

/* A fingerprint found through table 1, whose ids stand in table 0. */
struct hit {
    struct nd_halves_place place;
    uint32_t query, distance;
};

struct search {
    const struct nd_halves *halves;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *queries;
    size_t first; /* the number of queries[0] */
    unsigned distance, radius;
    struct nd_hamming_sink *sink;
    struct hit hit[HITS];
    size_t n_hits;
};

static inline void ask(struct wave *w, const struct nd_hamming_line *line, uint32_t value,
                       uint32_t address, unsigned owner)
{
    __builtin_prefetch(line, 0, 2);
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->address[w->n] = address;
    w->owner[w->n++] = (uint8_t)owner;
}

/* Ask for the lines of n queries; addresses that coincide are neighbours in the ball. */
static void begin(const struct nd_halves *s, const uint64_t *queries, size_t n, unsigned radius,
                  struct wave *w)
{
    w->n = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned h = 0; h < 2; h++) {
            const struct nd_halves_table *t = &s->table[h];
            struct nd_halves_place p = nd_halves_place(&s->code, queries[i], h);
            unsigned syndrome = p.rest >> 9 & 31;
            unsigned size = radius && syndrome ? ND_HAMMING_BALL : 1;
            const uint32_t *ball = s->code.ball[size == 1 ? 0 : syndrome];
            uint32_t before = UINT32_MAX;

            for (unsigned j = 0; j < size; j++) {
                uint32_t a = nd_halves_address(t, p.data ^ ball[j]);

                if (a != before)
                    ask(w, nd_hamming_lines_at(&t->lines, a), p.word, a, i * 2 + h);
                before = a;
            }
        }
}

/* The ids of what was found through table 1. */
static void resolve(struct search *search)
{
    const struct nd_halves *s = search->halves;

    for (size_t i = 0; i < search->n_hits; i++) {
        const struct hit *hit = &search->hit[i];
        unsigned slot = 0;
        const struct nd_hamming_line *line = nd_halves_find(&s->table[0], &hit->place, &slot);
        struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);

        if (e.rest & ND_HALVES_MANY)
            nd_hamming_sink_list(search->sink, hit->query, &s->ids, e.id, hit->distance);
        else
            nd_hamming_sink_id(search->sink, hit->query, e.id, hit->distance);
    }
    search->n_hits = 0;
}

static void remember(struct search *search, uint64_t x, uint32_t query, unsigned distance)
{
    const struct nd_halves *s = search->halves;
    struct hit hit = {nd_halves_place(&s->code, x, 0), query, distance};
    const struct nd_halves_table *t = &s->table[0];

    __builtin_prefetch(nd_hamming_lines_at(&t->lines, nd_halves_address(t, hit.place.data)));
    search->hit[search->n_hits++] = hit;
    if (search->n_hits == HITS)
        resolve(search);
}

/*
 * A slot whose word is near.  What stands within the radius in the first half is reported by table
 * 0 and nowhere else.
 */
static void check(struct search *search, const struct wave *w, size_t i, unsigned slot)
{
    const struct nd_halves *s = search->halves;
    unsigned half = w->owner[i] & 1, number = w->owner[i] >> 1, distance, first;
    struct nd_hamming_entry e = nd_hamming_line_get(s->table[half].lines.layout, w->line[i], slot);
    uint32_t own = nd_halves_own(&s->code, w->address[i], e.rest);
    uint64_t x = half ? (uint64_t)own << 32 | e.word : (uint64_t)e.word << 32 | own;
    uint64_t differ = x ^ search->queries[number];

    distance = (unsigned)__builtin_popcountll(differ);
    first = (unsigned)__builtin_popcountll(differ & INT32_MAX);
    if (distance > search->distance || (first <= search->radius) == (half == 1))
        return;
    number += (unsigned)search->first;
    if (half)
        remember(search, x, number, distance);
    else if (e.rest & ND_HALVES_MANY)
        nd_hamming_sink_list(search->sink, number, &s->ids, e.id, distance);
    else
        nd_hamming_sink_id(search->sink, number, e.id, distance);
}

/* Look at all lines of a wave, then at those chained to them, until none is left. */
static void finish(struct search *search, struct wave *w)
{
    struct nd_hamming_found found[WAVE];
    uint32_t more[WAVE];
    const struct nd_halves *s = search->halves;

    while (w->n) {
        struct nd_hamming_seen seen =
            search->kernels->lines(w->line, w->value, w->n, search->distance, found, more);

        search->sink->lines += w->n;
        for (size_t f = 0; f < seen.found; f++)
            for (unsigned slots = found[f].slots; slots; slots &= slots - 1)
                check(search, w, found[f].line, (unsigned)__builtin_ctz(slots));
        w->n = 0;
        for (size_t m = 0; m < seen.more; m++) {
            uint32_t i = more[m]; /* not below w->n */

            ask(w, nd_hamming_lines_next(&s->table[w->owner[i] & 1].lines, w->line[i]), w->value[i],
                w->address[i], w->owner[i]);
        }
    }
    resolve(search);
}

void nd_halves_query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                     struct nd_hamming_sink *sink)
{
    const struct nd_halves *s = self;
    struct search search = {.halves = s,
                            .kernels = nd_hamming_kernels(),
                            .distance = distance,
                            .radius = distance > 1,
                            .sink = sink};
    struct wave wave[2];
    size_t now = 0;

    wave[0].n = 0;
    begin(s, queries, n < GROUP ? n : GROUP, search.radius, &wave[0]);
    for (size_t start = 0; start < n; start += GROUP, now ^= 1) {
        size_t next = start + GROUP;

        if (next < n)
            begin(s, queries + next, n - next < GROUP ? n - next : GROUP, search.radius,
                  &wave[now ^ 1]);
        search.queries = queries + start;
        search.first = start;
        finish(&search, &wave[now]);
    }
    if (s->crowded && s->crowded->n_used)
        nd_tables_query(s->crowded, queries, n, distance, sink);
}
