/* hamming_filter_block.c - the set and the table of a batch of queries: a block of a stream */
#include <string.h>

#include "base/memory.h"
#include "index/hamming_filter.h"
#include "simd/hamming_kernels.h"

enum { WAVE = 128, SLOTS = 7, CANDIDATES = 2 * WAVE * SLOTS };

/* Lines that were asked for together, and the number in the block on whose behalf. */
struct wave {
    const struct nd_hamming_line *line[WAVE];
    uint32_t value[WAVE], number[WAVE];
    size_t n;
};

/* A query whose other half is near that of a fingerprint. */
struct candidate {
    uint32_t number, query;
};

struct pass {
    const struct nd_hamming_filter *f;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *x;
    unsigned half;
    struct nd_hamming_filtered *out;
    struct candidate candidate[CANDIDATES];
    size_t n_candidates;
    bool crowded[ND_FILTER_BLOCK];
    bool any_crowded, out_of_memory;
};

static inline void ask(struct wave *w, const struct nd_hamming_line *line, uint32_t value,
                       uint32_t number)
{
    __builtin_prefetch(line, 0, 2);
    w->line[w->n] = line;
    w->value[w->n] = value;
    w->number[w->n++] = number;
}

/* Ask for the lines of the next of those that passed. */
static void begin(const struct pass *p, const uint32_t *place, const uint32_t *passed, size_t n,
                  struct wave *w)
{
    const struct nd_hamming_lines *table = &p->f->half[p->half].table;

    w->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = passed[i];

        ask(w, nd_hamming_lines_at(table, nd_filter_bucket(table, place[number])),
            (uint32_t)(p->x[number] >> (32 * (1 - p->half))), number);
    }
}

static void add_match(struct pass *p, uint32_t number, uint32_t query, uint32_t distance)
{
    struct nd_hamming_matches *m = &p->out->matches;
    void *at = m->at;

    if (m->count == m->capacity &&
        !nd_array_reserve(&at, &m->capacity, m->count + 1, sizeof *m->at))
        p->out_of_memory = true;
    m->at = at;
    if (!p->out_of_memory)
        m->at[m->count++] = (struct nd_hamming_match){number, query, distance};
}

/* What stands within the radius in the lower half is reported from there and from nowhere else. */
static void check(struct pass *p, uint32_t number, uint32_t query)
{
    const struct nd_hamming_filter *f = p->f;
    uint64_t differ = p->x[number] ^ f->query[query].value;
    unsigned distance = (unsigned)__builtin_popcountll(differ);
    unsigned low = (unsigned)__builtin_popcountll(differ & UINT32_MAX);
    unsigned own = p->half ? distance - low : low;

    if (distance > f->distance || own > f->radius || (p->half && low <= f->radius))
        return;
    for (uint32_t next = query + 1; next; next = f->query[next - 1].next)
        add_match(p, number, next - 1, distance);
}

/* The candidates that there are: their queries were asked for before. */
static void check_all(struct pass *p)
{
    for (size_t c = 0; c < p->n_candidates; c++)
        check(p, p->candidate[c].number, p->candidate[c].query);
    p->n_candidates = 0;
}

/* The slots of a wave that are near. */
static void list_candidates(struct pass *p, const struct wave *w,
                            const struct nd_hamming_found *found, size_t n)
{
    if (p->n_candidates > CANDIDATES - WAVE * SLOTS)
        check_all(p);
    for (size_t f = 0; f < n; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
            uint32_t i = found[f].line, slot = (uint32_t)__builtin_ctz(slots);
            uint32_t query = nd_hamming_line_get(ND_HAMMING_LAYOUT_ROWS, w->line[i], slot).id;

            __builtin_prefetch(&p->f->query[query]);
            p->candidate[p->n_candidates++] = (struct candidate){w->number[i], query};
        }
}

/* Look at all lines of a wave, then at those chained to them, until none is left. */
static void finish(struct pass *p, struct wave *w)
{
    const struct nd_hamming_lines *table = &p->f->half[p->half].table;
    struct nd_hamming_found found[WAVE];
    uint32_t more[WAVE];

    for (bool is_main = true; w->n; is_main = false) {
        struct nd_hamming_look now = {w->line, w->value, w->n}, none = {NULL, NULL, 0};
        struct nd_hamming_seen seen = p->kernels->lines(&now, &none, p->f->distance, found, more);

        list_candidates(p, w, found, seen.found);
        w->n = 0;
        for (size_t m = 0; m < seen.more; m++) {
            const struct nd_hamming_line *line = w->line[more[m]]; /* not below w->n */
            uint32_t number = w->number[more[m]];

            if (is_main && line->word[ND_FILTER_CROWDED])
                p->crowded[number] = p->any_crowded = true;
            else
                ask(w, nd_hamming_lines_next(table, line), w->value[more[m]], number);
        }
    }
}

static void look_up(struct pass *p, const uint32_t *place, const uint32_t *passed, size_t n)
{
    struct wave wave[2];
    size_t now = 0;

    begin(p, place, passed, n < WAVE ? n : WAVE, &wave[0]);
    for (size_t start = 0; start < n; start += WAVE, now ^= 1) {
        size_t next = start + WAVE;

        if (next < n)
            begin(p, place, passed + next, n - next < WAVE ? n - next : WAVE, &wave[now ^ 1]);
        check_all(p); /* those of the wave before */
        finish(p, &wave[now]);
    }
    check_all(p);
}

/* Who met a crowd asks the index instead. */
static void set_crowded_apart(struct pass *p, size_t n)
{
    struct nd_hamming_filtered *out = p->out;
    size_t kept = 0;

    for (size_t i = 0; i < out->matches.count; i++)
        if (!p->crowded[out->matches.at[i].query])
            out->matches.at[kept++] = out->matches.at[i];
    out->matches.count = kept;
    for (uint32_t i = 0; i < n; i++)
        if (p->crowded[i])
            out->ask[out->n_ask++] = i;
}

static void find_places(const struct nd_hamming_filter *f, const uint64_t *x, size_t n,
                        unsigned half, uint32_t *place)
{
    if (f->query)
        nd_filter_kernels()->places(&f->kernel_code, x, n, half, place);
    else
        for (size_t i = 0; i < n; i++)
            place[i] = (uint32_t)(x[i] >> (32 * half));
}

bool nd_hamming_filter_block(const struct nd_hamming_filter *f, const uint64_t *x, size_t n,
                             struct nd_hamming_filtered *out)
{
    uint32_t place[ND_FILTER_BLOCK], passed[ND_FILTER_BLOCK];
    struct pass p;

    p.f = f;
    p.kernels = nd_hamming_kernels();
    p.x = x;
    p.out = out;
    p.n_candidates = 0;
    p.any_crowded = p.out_of_memory = false;
    out->matches.count = 0;
    out->n_ask = 0;
    memset(p.crowded, 0, n);
    for (p.half = 0; p.half < 2; p.half++) {
        size_t n_passed;

        find_places(f, x, n, p.half, place);
        n_passed = nd_filter_kernels()->marked(f->half[p.half].set, place, n, passed);
        if (f->query) {
            look_up(&p, place, passed, n_passed);
            continue;
        }
        for (size_t i = 0; i < n_passed; i++)
            p.crowded[passed[i]] = p.any_crowded = true;
    }
    if (p.any_crowded)
        set_crowded_apart(&p, n);
    return !p.out_of_memory;
}
