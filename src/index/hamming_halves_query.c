/* hamming_halves_query.c - two halves with perfect-code buckets: look-ups, many lines under way */
#include "index/hamming_halves.h"
#include "simd/hamming_kernels.h"

enum {
    WAVE = 64,
    LEFT = 2 * (ND_HAMMING_BALL + 1), /* what one query more may add */
    HITS = 64                         /* a power of 2 */
};

/* Lines that are looked at together, and on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE + LEFT];
    uint32_t value[WAVE + LEFT], address[WAVE + LEFT];
    uint32_t owner[WAVE + LEFT]; /* query * 2 + half */
    size_t n, asked;             /* lines; those of them that were asked for */
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
    size_t n, query; /* of which there are so many; the next one */
    unsigned distance, radius;
    struct nd_hamming_sink *sink;
    struct hit *hit;           /* a ring: number i stands at i % HITS */
    size_t n_resolved, n_hits; /* all there have ever been */
};

/* The bucket on the other side of bit 31 that a ball of radius 1 meets, where it is not one of the
 * others: there nothing else may differ. */
static size_t append_turned(const struct nd_halves_table *t, uint32_t bucket, uint32_t *address)
{
    *address = nd_halves_address(t, bucket ^ UINT32_C(1) << ND_HAMMING_DATA_BITS);
    return *address != nd_halves_address(t, bucket);
}

/* Append the lines of a query's ball in one half. */
static void append_ball(const struct search *search, size_t query, unsigned half, struct wave *w)
{
    const struct nd_halves *s = search->halves;
    const struct nd_halves_table *t = &s->table[half];
    const struct nd_hamming_line *lines = nd_hamming_lines_at(&t->lines, 0);
    struct nd_halves_place p = nd_halves_place(&s->code, search->queries[query], half);
    unsigned syndrome = search->radius ? p.rest >> 9 & 31 : 0; /* 0: a ball of one bucket */
    size_t at = w->n;

    w->n += search->kernels->ball(s->code.ball[syndrome], p.bucket, (uint32_t)t->level,
                                  (uint32_t)t->lines.n_main, w->address + at);
    if (search->radius)
        w->n += append_turned(t, p.bucket, w->address + w->n);
    for (; at < w->n; at++) {
        w->line[at] = lines + w->address[at];
        w->value[at] = p.word;
        w->owner[at] = (uint32_t)query * 2 + half;
    }
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
    for (; search->query < search->n && w->n < WAVE; search->query++)
        for (unsigned half = 0; half < 2; half++) {
            append_ball(search, search->query, half, w);
            if (at_once)
                ask(w);
        }
}

/* The ids of what was found through table 1, of the hits before number `end`. */
static void resolve(struct search *search, size_t end)
{
    const struct nd_halves *s = search->halves;

    for (; search->n_resolved < end; search->n_resolved++) {
        const struct hit *hit = &search->hit[search->n_resolved % HITS];
        unsigned slot = 0;
        const struct nd_hamming_line *line = nd_halves_find(&s->table[0], &hit->place, &slot);
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
    struct hit hit = {nd_halves_place(&s->code, x, 0), query, distance};
    const struct nd_halves_table *t = &s->table[0];

    __builtin_prefetch(nd_hamming_lines_at(&t->lines, nd_halves_address(t, hit.place.bucket)), 0,
                       2);
    if (search->n_hits - search->n_resolved == HITS)
        resolve(search, search->n_hits - HITS / 2);
    search->hit[search->n_hits++ % HITS] = hit;
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
    first = (unsigned)__builtin_popcountll(differ & UINT32_MAX);
    if (distance > search->distance || (first <= search->radius) == (half == 1))
        return;
    if (half)
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
        const struct nd_hamming_line *chained =
            nd_hamming_lines_next(&s->table[w->owner[i] & 1].lines, w->line[i]);

        __builtin_prefetch(chained, 0, 2);
        w->line[m] = chained;
        w->value[m] = w->value[i];
        w->address[m] = w->address[i];
        w->owner[m] = w->owner[i];
    }
    w->n = w->asked = seen.more;
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
