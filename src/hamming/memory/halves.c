/* halves.c - two families for 64 bits within 3: halves by the perfect code, halves by windows
 *
 * The layout is drawn in halves.h.  The order of this file: make; growing by linear hashing; add;
 * buckets that overflow too far; remove; query; the families.
 */
#include "hamming/memory/halves.h"

#include <math.h>
#include <stdlib.h>

#include "hamming/plan/family.h"
#include "hamming/plan/plan_checks.h"
#include "hamming/plan/predict.h"

enum {
    WINDOW_TABLES_MAX = ND_HALVES_TABLES,
    WINDOW_LINES_MAX = 8, /* lines that a table may have for each window */
    PREFETCH_DISTANCE = 16,

    /*
     * A bucket whose chain grows longer than so many lines moves to the overflow index.  A query
     * may meet 16 long chains in a table by the code, but one by a window.
     */
    CHAIN_MAX_CODE = 32,
    CHAIN_MAX_WINDOWS = 64,

    /* The overflow index. */
    OVERFLOW_TABLES = 8,      /* keys of 24 bits for a distance of 3 */
    OVERFLOW_EXPECTED = 1024, /* to begin with */
    BUCKET_MAX = 10 * (CHAIN_MAX_WINDOWS + 2)
};

/* plan->fill: the default, and fuller tables with fewer bytes and longer chains. */
#define FILL (2.0 / 3)
#define FILL_CROWDED 1.05
#define FILL_TIGHT 1.4
#define FILL_CHAINED 1.6

/* The bits of the data that no slot of a table holds, since every address has them. */
static unsigned low_bits_of(const struct nd_hamming_plan *plan, unsigned table)
{
    return plan->family == ND_HAMMING_HALVES || table == 0 ? 17 : 16;
}

/* The lines that a table has at most, chains not counted: one for each bucket of the code with
 * bit 31, or some for each window. */
static double max_lines(const struct nd_hamming_plan *plan)
{
    return plan->family == ND_HAMMING_HALVES ? ldexp(1, 27)
                                             : ldexp(WINDOW_LINES_MAX, (int)plan->key_bits);
}

/* The lines that a table begins with. */
static double first_lines(const struct nd_hamming_plan *plan, unsigned low_bits, unsigned slots)
{
    double lines = floor((double)plan->problem.count / (plan->fill * slots));
    double min = ldexp(1, (int)low_bits), max = max_lines(plan);

    return lines < min ? min : lines > max ? max : lines;
}

/* Request the lines, and those for the chains of uniform fingerprints with six deviations more. */
static void init_group(struct nd_halves_group *g, unsigned first, unsigned n_tables,
                       const struct nd_hamming_plan *plan, struct nd_column_request request[2])
{
    unsigned slots, low_bits = low_bits_of(plan, first);
    double entries = (double)plan->problem.count, chained = 0;

    g->first = first;
    g->n_tables = n_tables;
    g->lines.layout = first ? ND_HAMMING_LAYOUT_OTHER : ND_HAMMING_LAYOUT_IDS;
    slots = nd_hamming_slots(g->lines.layout);
    g->fill = plan->fill * slots;
    g->size = (size_t)first_lines(plan, low_bits, slots);
    for (g->level = (size_t)1 << low_bits; 2 * g->level <= g->size; g->level *= 2)
        ;
    if (entries >= 1)
        chained = (double)(g->size * n_tables) *
                  (nd_hamming_linear_chain(entries, (double)g->size, slots).size - 1);
    nd_hamming_lines_request(&g->lines, g->size * n_tables,
                             (size_t)(1.01 * chained + 6 * sqrt(chained)), request);
}

/* Table i of the tables of one half: its window leaves out `out` bits from i * out on. */
static void set_window(struct nd_halves_table *t, unsigned i, unsigned window_bits)
{
    unsigned out = 32 - window_bits, first = (i + 1) * out % 32;

    t->rotation = (uint8_t)first;
    for (unsigned b = 0; b < window_bits; b++)
        t->window |= UINT64_C(1) << ((first + b) % 32 + 32 * t->half);
}

static void destroy(void *self)
{
    struct nd_halves *s = self;

    for (int g = 0; g < 2 && !s->is_apart; g++)
        nd_hamming_lines_release(&s->group[g].lines);
    if (s->overflow)
        nd_tables_free(s->overflow);
    nd_hamming_ids_release(&s->ids);
    free(s);
}

/* An index without lines. */
static struct nd_halves *make_empty(const struct nd_hamming_plan *plan)
{
    struct nd_halves *s = calloc(1, sizeof *s);
    unsigned each = plan->tables / 2; /* tables of a half */

    if (!s)
        return NULL;
    s->distance = plan->problem.distance;
    s->n_tables = plan->tables;
    s->window_bits = plan->family == ND_HAMMING_WINDOWS ? plan->key_bits : 0;
    s->max_lines = (size_t)max_lines(plan);
    s->max_chained = s->window_bits ? CHAIN_MAX_WINDOWS : CHAIN_MAX_CODE;
    nd_hamming_code_init(&s->code);
    for (unsigned i = 0; i < s->n_tables; i++) {
        struct nd_halves_table *t = &s->table[i];

        t->half = (uint8_t)(i / each);
        t->low_bits = (uint8_t)low_bits_of(plan, i);
        t->in_rest = s->window_bits && i ? UINT16_MAX : UINT16_MAX & ~ND_HALVES_MANY;
        if (s->window_bits)
            set_window(t, i % each, s->window_bits);
    }
    return s;
}

static void *make(const struct nd_hamming_plan *plan)
{
    struct nd_halves *s = make_empty(plan);
    struct nd_column_request request[4];

    if (!s)
        return NULL;
    init_group(&s->group[0], 0, 1, plan, request);
    init_group(&s->group[1], 1, s->n_tables - 1, plan, request + 2);
    if (nd_columns_make(request, 4))
        return s;
    destroy(s);
    return NULL;
}

/* So many buckets for the one table of a group. */
static void set_size(struct nd_halves_group *g, size_t size, unsigned low_bits)
{
    g->size = g->lines.n_main = size;
    for (g->level = (size_t)1 << low_bits; 2 * g->level <= size; g->level *= 2)
        ;
}

struct nd_halves *nd_halves_apart(const struct nd_hamming_plan *plan, struct nd_checked *checked)
{
    struct nd_halves *s = make_empty(plan);

    if (s)
        s->checked = checked;
    for (unsigned t = 0; s && t < s->n_tables; t++) {
        struct nd_halves_group *g = &s->group[t];

        g->first = t;
        g->n_tables = 1;
        g->lines.layout = t ? ND_HAMMING_LAYOUT_OTHER : ND_HAMMING_LAYOUT_IDS;
        set_size(g,
                 (size_t)first_lines(plan, s->table[t].low_bits, nd_hamming_slots(g->lines.layout)),
                 s->table[t].low_bits);
        s->is_apart = true;
    }
    return s;
}

void nd_halves_free(struct nd_halves *s)
{
    if (s)
        destroy(s);
}

/* Lines that are only read; columns do not say so. */
static void *as_column(const struct nd_hamming_line *line)
{
    return (void *)(uintptr_t)line;
}

bool nd_halves_set_lines(struct nd_halves *s, unsigned table, const struct nd_halves_lines *lines)
{
    struct nd_halves_group *g = &s->group[table];
    unsigned low_bits = s->table[table].low_bits;

    if (lines->n_main < (size_t)1 << low_bits || lines->n_main > s->max_lines)
        return false;
    set_size(g, lines->n_main, low_bits);
    g->lines.main.data = as_column(lines->main);
    g->lines.over.data = as_column(lines->over);
    g->lines.n_over = lines->n_over;
    return true;
}

static bool is_sound(const struct nd_halves *s, const struct nd_hamming_line *line)
{
    return !s->checked || nd_checked_is_sound(s->checked, line, sizeof *line);
}

/* Follow a chain of lines: in those of somebody else, only to what is there, and not in circles. */
static struct nd_hamming_line *follow(const struct nd_halves *s, unsigned table,
                                      const struct nd_hamming_line *line)
{
    const struct nd_hamming_lines *lines = &nd_halves_group(s, table)->lines;
    struct nd_hamming_line *next = nd_hamming_lines_next(lines, line);
    uintptr_t first = (uintptr_t)lines->over.data, at = (uintptr_t)line;

    if (!s->is_apart || !next)
        return next;
    if (line->word[15] >> 4 > lines->n_over)
        return NULL;
    return at >= first && at < first + lines->n_over * sizeof *line && next <= line ? NULL : next;
}

/* The slots of a line that are taken; of somebody else's lines no more than there are. */
static unsigned taken_of(const struct nd_halves *s, unsigned table,
                         const struct nd_hamming_line *line)
{
    unsigned n = nd_hamming_line_taken(line);
    unsigned most = nd_hamming_slots(nd_halves_group(s, table)->lines.layout);

    return n < most ? n : most;
}

static struct nd_hamming_line *find_entry(const struct nd_halves *s, unsigned table,
                                          const struct nd_halves_place *place, unsigned *slot)
{
    const struct nd_hamming_lines *lines = &nd_halves_group(s, table)->lines;
    unsigned in_rest = s->table[table].in_rest;
    struct nd_hamming_line *line = nd_halves_line(s, table, place->data);

    for (; line && is_sound(s, line); line = follow(s, table, line)) {
        unsigned n = taken_of(s, table, line);

        for (unsigned i = 0; i < n; i++)
            if (line->word[i] == place->word &&
                (nd_hamming_line_get(lines->layout, line, i).rest & in_rest) == place->rest) {
                *slot = i;
                return line;
            }
    }
    return NULL;
}

static bool has_chain(const struct nd_halves *s, unsigned table,
                      const struct nd_halves_place *place)
{
    return nd_halves_line(s, table, place->data)->word[15] > 15;
}

/* Linear hashing: divide the bucket `old` with the new one of address old + level, by the address
 * bit that now counts. */
static void split(struct nd_halves *s, unsigned table, uint32_t old)
{
    struct nd_halves_group *g = &s->group[table > 0];
    struct nd_hamming_lines *lines = &g->lines;
    size_t from = nd_halves_bucket(g, table, old), to = from + g->level * g->n_tables;
    struct nd_hamming_line *line = nd_hamming_lines_at(lines, from), copy = *line;

    line->word[15] = 0;
    do {
        unsigned n = nd_hamming_line_taken(&copy);

        for (unsigned i = 0; i < n; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(lines->layout, &copy, i);
            uint32_t data = nd_halves_data(s, &s->table[table], old, e.rest);

            nd_hamming_lines_put(lines, data & (uint32_t)g->level ? to : from, &e);
        }
    } while (nd_hamming_lines_unchain(lines, &copy));
}

/* Add one line to each table of a group.  Where memory is out, the chains grow instead. */
static void grow(struct nd_halves *s, struct nd_halves_group *g)
{
    if (g->size >= s->max_lines || !nd_hamming_lines_resize(&g->lines, (g->size + 1) * g->n_tables))
        return;
    for (unsigned t = g->first; t < g->first + g->n_tables; t++)
        split(s, t, (uint32_t)(g->size - g->level));
    g->size++;
    if (g->size == 2 * g->level)
        g->level *= 2;
}

/* Put a fingerprint into all tables. */
static void put(struct nd_halves *s, const struct nd_halves_place *place, uint32_t id)
{
    for (unsigned t = 0; t < s->n_tables; t++) {
        struct nd_halves_group *g = &s->group[t > 0];
        struct nd_hamming_entry e = {.word = place[t].word, .id = id, .rest = place[t].rest};

        nd_hamming_lines_put(&g->lines, nd_halves_bucket(g, t, nd_halves_address(g, place[t].data)),
                             &e);
    }
    s->entries++;
    for (int g = 0; g < 2; g++)
        if ((double)s->entries > (double)s->group[g].size * s->group[g].fill)
            grow(s, &s->group[g]);
}

/*
 * The entry of a fingerprint in table 0; NULL: it is not there.  Where its chain in table 0 is
 * long, a table in which it is short tells first whether the fingerprint is there at all.
 */
static struct nd_hamming_line *find_equal(const struct nd_halves *s,
                                          const struct nd_halves_place *place, unsigned *slot)
{
    if (has_chain(s, 0, &place[0]))
        for (unsigned t = 1; t < s->n_tables; t++)
            if (!has_chain(s, t, &place[t])) {
                if (!find_entry(s, t, &place[t], slot))
                    return NULL;
                break;
            }
    return find_entry(s, 0, &place[0], slot);
}

/* The ids of an entry of table 0, and back. */
static struct nd_hamming_id id_of(const struct nd_hamming_entry *e)
{
    return (struct nd_hamming_id){e->id, (e->rest & ND_HALVES_MANY) != 0};
}

static void set_id(struct nd_hamming_line *line, unsigned slot, struct nd_hamming_id own)
{
    struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);

    e.id = own.number;
    e.rest = (e.rest & ~(uint32_t)ND_HALVES_MANY) | (own.is_list ? ND_HALVES_MANY : 0);
    nd_hamming_line_set(ND_HAMMING_LAYOUT_IDS, line, slot, &e);
}

static bool add_id(struct nd_halves *s, struct nd_hamming_line *line, unsigned slot, uint32_t id)
{
    struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    struct nd_hamming_id own = id_of(&e);

    if (!nd_hamming_id_add(&s->ids, &own, id))
        return false;
    set_id(line, slot, own);
    return true;
}

/* Whether the entry that was just put made a new line, and the chain is too long by it. */
static bool is_chain_too_long(const struct nd_halves *s, unsigned table, uint32_t data)
{
    const struct nd_hamming_lines *lines = &nd_halves_group(s, table)->lines;
    const struct nd_hamming_line *line =
        nd_hamming_lines_next(lines, nd_halves_line(s, table, data));
    unsigned length = 0;

    if (!line || nd_hamming_line_taken(line) != 1)
        return false;
    while (line && length <= s->max_chained) {
        line = nd_hamming_lines_next(lines, line);
        length++;
    }
    return length > s->max_chained;
}

static void drop_fingerprint(struct nd_halves *s, const struct nd_halves_place *place)
{
    for (unsigned t = 0; t < s->n_tables; t++) {
        struct nd_halves_group *g = &s->group[t > 0];
        unsigned slot = 0;
        struct nd_hamming_line *line = find_entry(s, t, &place[t], &slot);

        nd_hamming_lines_take(
            &g->lines, nd_halves_bucket(g, t, nd_halves_address(g, place[t].data)), line, slot);
    }
    s->entries--;
}

/*
 * A bucket that very many fingerprints share would make every query of it read a long chain.  It
 * moves to an index of keys, which refines what clusters there (tables.c), and which each query
 * reads as well from then on.  A fingerprint is either there or in the tables.
 */
static bool make_overflow(struct nd_halves *s)
{
    const struct nd_hamming_problem problem = {64, s->distance, OVERFLOW_EXPECTED};
    struct nd_hamming_plan plan;

    if (!s->overflow && nd_hamming_design(&problem, NULL, ND_HAMMING_COVERING, 0, OVERFLOW_TABLES,
                                          &plan, NULL) == ND_OK)
        s->overflow = nd_tables_new(&plan, &s->ids);
    return s->overflow != NULL;
}

/* The fingerprints of the bucket where data go. */
static size_t list_bucket(const struct nd_halves *s, unsigned table, uint32_t data, uint64_t *x)
{
    const struct nd_halves_group *g = nd_halves_group(s, table);
    const struct nd_hamming_line *line = nd_halves_line(s, table, data);
    size_t n = 0;

    for (; line; line = nd_hamming_lines_next(&g->lines, line))
        for (unsigned i = 0; i < nd_hamming_line_taken(line) && n < BUCKET_MAX; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(g->lines.layout, line, i);

            x[n++] = nd_halves_fingerprint(s, &s->table[table], nd_halves_address(g, data), &e);
        }
    return n;
}

/* Move one fingerprint to the overflow index.  False: out of memory, and it is where it was. */
static bool move(struct nd_halves *s, uint64_t x)
{
    struct nd_halves_place place[ND_HALVES_TABLES];
    unsigned slot = 0;
    const struct nd_hamming_line *line;
    struct nd_hamming_entry e;

    for (unsigned t = 0; t < s->n_tables; t++)
        place[t] = nd_halves_place(s, x, t);
    line = find_entry(s, 0, &place[0], &slot);
    e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    if (!nd_tables_put(s->overflow, &x, id_of(&e)))
        return false;
    drop_fingerprint(s, place);
    return true;
}

/* Rare, so kept out of the function that adds: the bucket takes 5 KB of stack. */
static __attribute__((noinline)) void move_bucket(struct nd_halves *s, unsigned table,
                                                  uint32_t data)
{
    uint64_t x[BUCKET_MAX];
    size_t n;

    if (!make_overflow(s))
        return;
    n = list_bucket(s, table, data, x);
    for (size_t i = 0; i < n && move(s, x[i]); i++)
        ;
}

static bool add_one(struct nd_halves *s, uint64_t x, const struct nd_halves_place *place,
                    uint32_t id)
{
    struct nd_hamming_line *line;
    unsigned slot = 0;

    for (int g = 0; g < 2; g++)
        if (!nd_hamming_lines_ready(&s->group[g].lines, s->group[g].n_tables))
            return false;
    line = find_equal(s, place, &slot);
    if (line)
        return add_id(s, line, slot, id);
    if (s->overflow) {
        int64_t row = nd_tables_find(s->overflow, &x);

        if (row != ND_TABLES_NO_ROW)
            return nd_tables_add_id(s->overflow, (uint32_t)row, id);
    }
    put(s, place, id);
    for (unsigned t = 0; t < s->n_tables; t++)
        if (is_chain_too_long(s, t, place[t].data))
            move_bucket(s, t, place[t].data);
    return true;
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct nd_halves *s = self;
    struct nd_halves_place place[PREFETCH_DISTANCE][ND_HALVES_TABLES];

    for (size_t start = 0; start < n; start += PREFETCH_DISTANCE) {
        size_t left = n - start < PREFETCH_DISTANCE ? n - start : PREFETCH_DISTANCE;

        for (size_t i = 0; i < left; i++)
            for (unsigned t = 0; t < s->n_tables; t++) {
                place[i][t] = nd_halves_place(s, fingerprints[start + i], t);
                __builtin_prefetch(nd_halves_line(s, t, place[i][t].data), 1);
            }
        for (size_t i = 0; i < left; i++)
            if (!add_one(s, fingerprints[start + i], place[i],
                         ids ? ids[start + i] : first_id + (uint32_t)(start + i)))
                return start + i;
    }
    return n;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    struct nd_halves *s = self;
    struct nd_halves_place place[ND_HALVES_TABLES];
    unsigned slot = 0;
    struct nd_hamming_line *line;
    struct nd_hamming_entry e;
    struct nd_hamming_id own;

    for (unsigned t = 0; t < s->n_tables; t++)
        place[t] = nd_halves_place(s, *fingerprint, t);
    line = find_equal(s, place, &slot);
    if (!line) {
        int64_t row = s->overflow ? nd_tables_find(s->overflow, fingerprint) : ND_TABLES_NO_ROW;

        return row != ND_TABLES_NO_ROW && nd_tables_take_id(s->overflow, (uint32_t)row, id);
    }
    e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    own = id_of(&e);
    if (own.is_list) {
        if (!nd_hamming_id_remove(&s->ids, &own, id))
            return false;
        set_id(line, slot, own);
        return true;
    }
    if (own.number != id)
        return false;
    drop_fingerprint(s, place);
    return true;
}

static size_t bytes(const void *self)
{
    const struct nd_halves *s = self;
    size_t sum = sizeof *s + nd_hamming_ids_bytes(&s->ids);

    for (int g = 0; g < 2; g++)
        sum += nd_hamming_lines_bytes(&s->group[g].lines);
    return sum + (s->overflow ? nd_tables_bytes(s->overflow) : 0);
}

/*
 * Querying.  The lines that a query reads are at unrelated places, so each is a miss in the caches.
 * A round has some sixty of them under way, of as many queries as that takes:
 *
 *     begin     appends the lines of the next queries: by the code those of the ball around each
 *               half, by windows one bucket of each table;
 *     finish    compares the words of all lines with one call of a kernel, which prefetches the
 *               other round meanwhile.  What is near is checked.  Lines that are chained to those of
 *               the round stay in it;
 *     check     rebuilds the fingerprint from its slot and its address.  The first table that leads
 *               to it reports it;
 *     resolve   reads in table 0 the ids of what another table found.  That line was prefetched a
 *               round before (remember).
 *
 * Two such rounds alternate.
 */
enum {
    ROUND = 64,
    LEFT = ND_HALVES_TABLES * WINDOW_LINES_MAX, /* what one query more may add */
    HITS = 64                                   /* a power of 2 */
};

/* Lines that are under way together, and what they are for. */
struct halves_round {
    const struct nd_hamming_line *line[ROUND + LEFT];
    uint32_t value[ROUND + LEFT], address[ROUND + LEFT];
    uint32_t owner[ROUND + LEFT]; /* query * ND_HALVES_TABLES + table */
    size_t n, prefetched;         /* lines; those of them that were prefetched */
};

/* A fingerprint that was found through another table; its ids are in table 0. */
struct half_hit {
    struct nd_halves_place place;
    uint32_t query, distance;
};

struct halves_search {
    const struct nd_halves *halves;
    const struct nd_hamming_kernels *kernels;
    const uint64_t *queries;
    size_t n, query; /* of which there are so many; the next one */
    unsigned distance, radius;
    unsigned n_tables, looks; /* windows: tables needed; lines of a query, without chains */
    struct nd_hamming_sink *sink;
    struct half_hit *hit;      /* a ring: number i stands at i % HITS */
    size_t n_resolved, n_hits; /* all there have ever been */
};

/*
 * If bit 31 chooses the bucket too, a ball of radius 1 meets one bucket on its other side: if bit
 * 31 is the wrong bit, no other is, so it is the bucket of the same code word. Returns whether that
 * is another bucket.
 */
static size_t append_turned(const struct nd_halves_group *g, uint32_t bucket, uint32_t *address)
{
    *address = nd_halves_address(g, bucket ^ UINT32_C(1) << ND_HAMMING_DATA_BITS);
    return *address != nd_halves_address(g, bucket);
}

/* Append the lines of a query's ball in one half. */
static void append_ball(const struct halves_search *search, size_t query, unsigned half,
                        struct halves_round *w)
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
static void append_window(const struct halves_search *search, unsigned table, size_t queries,
                          struct halves_round *w)
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
        uint32_t data = nd_halves_rotate((uint32_t)(x[q] >> (32 * t.half)), t.rotation);
        uint32_t address = data & more;

        address -= (address >= size) * (low + 1); /* unpredictable, so branchless */
        for (; address < size; address += windows, at++) {
            w->line[at] = first + address * step;
            w->value[at] = (uint32_t)(x[q] >> (32 * (1 - t.half)));
            w->address[at] = address;
            w->owner[at] = owner;
        }
    }
    w->n = at;
}

/* As many of the next queries as a round takes, one at least, a table after the other. */
static void append_windows(struct halves_search *search, struct halves_round *w)
{
    size_t queries = w->n + search->looks < ROUND ? (ROUND - w->n) / search->looks : 1;

    queries = queries < search->n - search->query ? queries : search->n - search->query;
    for (unsigned t = 0; t < search->n_tables; t++)
        append_window(search, t, queries, w);
    search->query += queries;
}

static void prefetch_lines(struct halves_round *w)
{
    for (; w->prefetched < w->n; w->prefetched++)
        __builtin_prefetch(w->line[w->prefetched], 0, 2);
}

/* Append the lines of the next queries to those that a round has.  at_once: they will be needed
 * soon. */
static void begin(struct halves_search *search, struct halves_round *w, bool at_once)
{
    bool is_code = search->halves->window_bits == 0;

    while (search->query < search->n && w->n < ROUND) {
        for (unsigned half = 0; is_code && half < 2; half++) {
            append_ball(search, search->query, half, w);
            if (at_once)
                prefetch_lines(w);
        }
        if (is_code)
            search->query++;
        else
            append_windows(search, w);
        if (at_once)
            prefetch_lines(w);
    }
}

/* The ids of what was found through other tables than 0, of the hits before number `end`. */
static void resolve(struct halves_search *search, size_t end)
{
    const struct nd_halves *s = search->halves;

    for (; search->n_resolved < end; search->n_resolved++) {
        const struct half_hit *hit = &search->hit[search->n_resolved % HITS];
        unsigned slot = 0;
        const struct nd_hamming_line *line = find_entry(s, 0, &hit->place, &slot);
        struct nd_hamming_entry e;

        if (!line) {
            search->sink->is_damaged = true;
            continue;
        }
        e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
        nd_hamming_sink_ids(search->sink, hit->query, &s->ids, id_of(&e), hit->distance);
    }
}

static void remember(struct halves_search *search, uint64_t x, uint32_t query, unsigned distance)
{
    const struct nd_halves *s = search->halves;
    struct half_hit hit = {nd_halves_place(s, x, 0), query, distance};

    __builtin_prefetch(nd_halves_line(s, 0, hit.place.data), 0, 2);
    if (search->n_hits - search->n_resolved == HITS)
        resolve(search, search->n_hits - HITS / 2);
    search->hit[search->n_hits++ % HITS] = hit;
}

/* Whether this table is the first one that leads to a fingerprint which differs like this.  It
 * reports it, and no other does. */
static bool is_first(const struct halves_search *search, unsigned table, uint64_t differ)
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

/* Check a slot whose word is near. */
static void check(struct halves_search *search, const struct halves_round *w, size_t i,
                  unsigned slot)
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
    else
        nd_hamming_sink_ids(search->sink, number, &s->ids, id_of(&e), distance);
}

/* Check the lines of a round; where one is damaged, none is compared, as the answers are void. */
static void check_lines(struct halves_search *search, struct halves_round *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!is_sound(search->halves, w->line[i])) {
            search->sink->is_damaged = true;
            w->n = 0;
        }
}

/*
 * Compare the lines of a round while those of the next one are prefetched.  The lines that are
 * chained to them stay in the round, prefetched too.
 */
static void finish(struct halves_search *search, struct halves_round *w,
                   const struct halves_round *next)
{
    struct nd_hamming_found found[ROUND + LEFT];
    uint32_t more[ROUND + LEFT];
    const struct nd_halves *s = search->halves;
    struct nd_hamming_look now,
        later = {next->line + next->prefetched, NULL, next->n - next->prefetched};
    struct nd_hamming_seen seen;

    if (s->checked)
        check_lines(search, w);
    now = (struct nd_hamming_look){w->line, w->value, w->n};
    seen = search->kernels->lines(&now, &later, search->distance, found, more);

    search->sink->lines += w->n;
    for (size_t f = 0; f < seen.found; f++) {
        uint32_t i = found[f].line;
        unsigned taken = taken_of(s, w->owner[i] % ND_HALVES_TABLES, w->line[i]);

        for (unsigned slots = found[f].slots & ((1u << taken) - 1); slots; slots &= slots - 1)
            check(search, w, i, (unsigned)__builtin_ctz(slots));
    }
    w->n = w->prefetched = 0;
    for (size_t m = 0; m < seen.more; m++) {
        uint32_t i = more[m]; /* not below w->n */
        const struct nd_hamming_line *chained =
            follow(s, w->owner[i] % ND_HALVES_TABLES, w->line[i]);

        if (!chained) {
            search->sink->is_damaged = true;
            continue;
        }
        w->line[w->n] = chained;
        w->value[w->n] = w->value[i];
        w->address[w->n] = w->address[i];
        w->owner[w->n++] = w->owner[i];
    }
}

/* A query within 1 needs but the windows of one half, a query within 0 but one of them. */
static unsigned windows_needed(unsigned tables, unsigned distance)
{
    return distance > 1 ? tables : distance ? tables / 2 : 1;
}

static unsigned tables_needed(const struct nd_halves *s, unsigned distance)
{
    return s->window_bits ? windows_needed(s->n_tables, distance) : s->n_tables;
}

/* Lines of a query in so many tables of windows, at most. */
static unsigned looks_in(const struct nd_halves *s, unsigned n_tables)
{
    unsigned sum = 0;

    for (unsigned t = 0; t < n_tables; t++)
        sum += (unsigned)((nd_halves_group(s, t)->size - 1) >> s->window_bits) + 1;
    return sum;
}

void nd_halves_query(const struct nd_halves *s, const uint64_t *queries, size_t n,
                     unsigned distance, struct nd_hamming_sink *sink)
{
    struct half_hit hit[HITS];
    struct halves_search search = {.halves = s,
                                   .kernels = nd_hamming_kernels(),
                                   .queries = queries,
                                   .n = n,
                                   .distance = distance,
                                   .radius = distance > 1,
                                   .n_tables = tables_needed(s, distance),
                                   .looks = looks_in(s, tables_needed(s, distance)),
                                   .sink = sink,
                                   .hit = hit};
    struct halves_round round[2];
    size_t now = 0, listed = 0;

    round[0].n = round[1].n = round[0].prefetched = round[1].prefetched = 0;
    begin(&search, &round[0], true);
    do {
        begin(&search, &round[now ^ 1], false);
        finish(&search, &round[now], &round[now ^ 1]);
        resolve(&search, listed); /* those of the round before */
        listed = search.n_hits;
        now ^= 1;
    } while (round[0].n || round[1].n);
    resolve(&search, search.n_hits);
}

static void query(const void *self, const uint64_t *queries, size_t n, unsigned distance,
                  struct nd_hamming_sink *sink)
{
    const struct nd_halves *s = self;

    nd_halves_query(s, queries, n, distance, sink);
    if (s->overflow && s->overflow->n_used)
        nd_tables_query(s->overflow, queries, n, distance, sink);
}

/* Whether the families serve a problem. */
static bool serves(const struct nd_hamming_problem *problem)
{
    return problem->bits == 64 && problem->distance <= 3;
}

/* Buckets of a table with so many lines that a query reads. */
static double buckets_read(const struct nd_hamming_plan *p, unsigned table, double lines)
{
    const double data = ldexp(1, 26); /* more: bit 31 is one more that may be wrong */
    double each;

    if (p->family == ND_HAMMING_HALVES)
        return p->problem.distance < 2 ? 1 : lines > data ? 15 + lines / data : 16;
    each = ldexp(lines, -(int)p->key_bits);
    return table >= windows_needed(p->tables, p->problem.distance) ? 0 : each > 1 ? each : 1;
}

/*
 * All tables of a plan together: its lines, candidates and bytes.  *buckets are those that a query
 * reads; *first the chained lines that adding writes, in all tables.
 */
static void add_tables(struct nd_hamming_plan *p, double n, double *buckets, double *first)
{
    *buckets = *first = p->lines = p->candidates = p->bytes = 0;
    for (unsigned t = 0; t < p->tables; t++) {
        unsigned slots = t ? 10 : 6;
        double lines = first_lines(p, low_bits_of(p, t), slots);
        struct nd_hamming_chain chain = nd_hamming_linear_chain(n, lines, slots);
        double read = buckets_read(p, t, lines);

        *buckets += read;
        *first += chain.look_up < 2 ? chain.look_up - 1 : 1;
        p->lines += read * chain.look_up;
        p->candidates += read * n / lines;
        p->bytes += 64 * lines * chain.size;
    }
}

/*
 * By the code, the work of a bucket is that of the ball.  By windows, the work of a table is that
 * of a table of keys, once; what is chained in several tables, or stands in further lines of a
 * window, is under way together, though known late: it costs two lines.
 */
static void predict(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                    const uint64_t *keys)
{
    bool is_code = p->family == ND_HAMMING_HALVES;
    double n = (double)(p->problem.count ? p->problem.count : 1), buckets, first, line;
    double late = is_code ? ND_HAMMING_LATE_LINE : 2;
    double found = ND_HAMMING_FINDING * ND_HAMMING_LATE_LINE / 2;
    double tables = windows_needed(p->tables, p->problem.distance);

    (void)keys;
    add_tables(p, n, &buckets, &first);
    line = nd_hamming_line_seconds(m, p->bytes);
    p->build_seconds = n * (p->tables * (line + 1e-9 * m->half_add_ns) + first * late * line) +
                       1e-9 * p->bytes / 64 * m->fresh_ns;
    if (is_code)
        p->query_seconds =
            p->lines * (line + 1e-9 * m->bucket_ns) + (p->lines - buckets + found) * line;
    else
        p->query_seconds =
            tables * (line + 1e-9 * m->table_ns) + (2 * (p->lines - tables) + found) * line;
}

static enum nd_status design_code(const struct nd_hamming_machine *machine, unsigned key_bits,
                                  unsigned tables, struct nd_hamming_plan *plan,
                                  struct nd_error *err)
{
    (void)key_bits;
    (void)tables;
    if (!serves(&plan->problem))
        return nd_fail(err, ND_EINVAL, "two halves serve 64 bits within 3, not %u within %u",
                       plan->problem.bits, plan->problem.distance);
    plan->fill = plan->fill > 0 ? plan->fill : FILL;
    plan->tables = 2;
    plan->key_bits = plan->key_bits_max = ND_HAMMING_DATA_BITS;
    predict(machine, plan, NULL);
    return ND_OK;
}

/* Each of m windows of a half leaves out an m-th of its bits. */
static unsigned window_bits(unsigned tables)
{
    unsigned m = tables / 2;

    return 32 - (32 + m - 1) / m;
}

/* The fewest tables whose windows have key_bits, or, 0, as many as there may be. */
static enum nd_status design_windows(const struct nd_hamming_machine *machine, unsigned key_bits,
                                     unsigned tables, struct nd_hamming_plan *plan,
                                     struct nd_error *err)
{
    const unsigned max = WINDOW_TABLES_MAX;

    if (!serves(&plan->problem))
        return design_code(machine, key_bits, tables, plan, err);
    if (key_bits)
        for (tables = 4; tables < max && window_bits(tables) < key_bits; tables += 2)
            ;
    tables = tables < max ? tables & ~1u : max;
    if (tables < 4 || window_bits(tables) < key_bits)
        return nd_fail(err, ND_EINVAL, "windows have 4 to %u tables and keys of 16 to %u bits", max,
                       window_bits(max));
    plan->fill = plan->fill > 0 ? plan->fill : FILL;
    plan->tables = tables;
    plan->key_bits = plan->key_bits_max = window_bits(tables);
    predict(machine, plan, NULL);
    return ND_OK;
}

/* With free slots, crowded and tight. */
static enum nd_status list_code(const struct nd_hamming_machine *machine,
                                const struct nd_hamming_plan *blank, struct nd_hamming_plan *plans,
                                size_t *n, struct nd_error *err)
{
    static const double fill[] = {FILL, FILL_CROWDED, FILL_TIGHT};
    enum nd_status status = ND_OK;

    for (size_t i = 0; serves(&blank->problem) && i < 3 && status == ND_OK; i++) {
        plans[*n] = *blank;
        plans[*n].fill = fill[i];
        status = design_code(machine, 0, 0, &plans[(*n)++], err);
    }
    return status;
}

/* Every number of tables, with free slots, crowded and with chains. */
static enum nd_status list_windows(const struct nd_hamming_machine *machine,
                                   const struct nd_hamming_plan *blank,
                                   struct nd_hamming_plan *plans, size_t *n, struct nd_error *err)
{
    static const double fill[] = {FILL, FILL_CROWDED, FILL_CHAINED};
    enum nd_status status = ND_OK;

    for (unsigned tables = 4; serves(&blank->problem) && tables <= WINDOW_TABLES_MAX; tables += 2)
        for (size_t i = 0; i < 3 && status == ND_OK; i++) {
            plans[*n] = *blank;
            plans[*n].fill = fill[i];
            status = design_windows(machine, 0, tables, &plans[(*n)++], err);
        }
    return status;
}

#define HALVES(family_name, sizes, family_design, family_list)                                     \
    {                                                                                              \
        .name = (family_name), .has_sizes = (sizes), .has_fill = true, .design = (family_design),  \
        .list = (family_list), .predict = predict, .make = make, .destroy = destroy, .add = add,   \
        .remove = take, .query = query, .bytes = bytes                                             \
    }
const struct nd_hamming_family_row nd_hamming_halves_family =
    HALVES("halves", false, design_code, list_code);
const struct nd_hamming_family_row nd_hamming_windows_family =
    HALVES("windows", true, design_windows, list_windows);
