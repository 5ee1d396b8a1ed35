/* hamming_halves.c - two halves, by the perfect code or by windows: make, add, remove */
#include "index/hamming_halves.h"

#include <math.h>
#include <stdlib.h>

enum { AHEAD = 16 };

/* Chained lines are expected too. */
static void init_group(struct nd_halves_group *g, unsigned first, unsigned n_tables,
                       const struct nd_hamming_plan *plan, struct nd_column_wish wish[2])
{
    unsigned slots, low_bits = nd_hamming_half_low_bits(plan, first);
    double entries = (double)plan->problem.count, chained = 0;

    g->first = first;
    g->n_tables = n_tables;
    g->lines.layout = first ? ND_HAMMING_LAYOUT_OTHER : ND_HAMMING_LAYOUT_IDS;
    slots = nd_hamming_slots(g->lines.layout);
    g->fill = plan->fill * slots;
    g->size = (size_t)nd_hamming_half_lines(plan, low_bits, slots);
    for (g->level = (size_t)1 << low_bits; 2 * g->level <= g->size; g->level *= 2)
        ;
    if (entries >= 1)
        chained = (double)(g->size * n_tables) *
                  (nd_hamming_half_chain(entries, (double)g->size, slots).size - 1);
    nd_hamming_lines_wish(&g->lines, g->size * n_tables,
                          (size_t)(1.01 * chained + 6 * sqrt(chained)), wish);
}

/* Table i of the tables of one half: its window leaves out `out` bits from i * out on. */
static void set_window(struct nd_halves_table *t, unsigned i, unsigned window_bits)
{
    unsigned out = 32 - window_bits, first = (i + 1) * out % 32;

    t->turn = (uint8_t)first;
    for (unsigned b = 0; b < window_bits; b++)
        t->window |= UINT64_C(1) << ((first + b) % 32 + 32 * t->half);
}

static void destroy(void *self)
{
    struct nd_halves *s = self;

    for (int g = 0; g < 2; g++)
        nd_hamming_lines_release(&s->group[g].lines);
    if (s->crowded)
        nd_tables_free(s->crowded);
    nd_hamming_ids_release(&s->ids);
    free(s);
}

static void *make(const struct nd_hamming_plan *plan)
{
    struct nd_halves *s = calloc(1, sizeof *s);
    struct nd_column_wish wish[4];
    unsigned each = plan->tables / 2; /* tables of a half */

    if (!s)
        return NULL;
    s->distance = plan->problem.distance;
    s->n_tables = plan->tables;
    s->window_bits = plan->family == ND_HAMMING_WINDOWS ? plan->key_bits : 0;
    s->most_lines = (size_t)nd_hamming_half_most(plan);
    s->most_chained = s->window_bits ? ND_HALVES_CHAIN_MOST : ND_HALVES_CHAIN_CODE;
    nd_hamming_code_init(&s->code);
    for (unsigned i = 0; i < s->n_tables; i++) {
        struct nd_halves_table *t = &s->table[i];

        t->half = (uint8_t)(i / each);
        t->low_bits = (uint8_t)nd_hamming_half_low_bits(plan, i);
        t->in_rest = s->window_bits && i ? UINT16_MAX : UINT16_MAX & ~ND_HALVES_MANY;
        if (s->window_bits)
            set_window(t, i % each, s->window_bits);
    }
    init_group(&s->group[0], 0, 1, plan, wish);
    init_group(&s->group[1], 1, s->n_tables - 1, plan, wish + 2);
    if (nd_columns_make(wish, 4))
        return s;
    destroy(s);
    return NULL;
}

struct nd_hamming_line *nd_halves_find(const struct nd_halves *s, unsigned table,
                                       const struct nd_halves_place *place, unsigned *slot)
{
    const struct nd_hamming_lines *lines = &nd_halves_group(s, table)->lines;
    unsigned in_rest = s->table[table].in_rest;
    struct nd_hamming_line *line = nd_halves_line(s, table, place->data);

    for (; line; line = nd_hamming_lines_next(lines, line)) {
        unsigned n = nd_hamming_line_taken(line);

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

/*
 * Linear hashing: the bucket `old` is shared with the new one of address old + level.  An entry
 * taken from the chain gives back the room that it needs, so nothing is allocated on the way.
 */
static void split(struct nd_halves *s, unsigned table, uint32_t old)
{
    struct nd_halves_group *g = &s->group[table > 0];
    struct nd_hamming_lines *lines = &g->lines;
    size_t from = nd_halves_bucket(g, table, old), to = from + g->level * g->n_tables;
    struct nd_hamming_line *line = nd_hamming_lines_at(lines, from), copy = *line;

    line->word[15] = 0;
    for (;;) {
        struct nd_hamming_line *next = nd_hamming_lines_next(lines, &copy);
        unsigned n = nd_hamming_line_taken(&copy);

        for (unsigned i = 0; i < n; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(lines->layout, &copy, i);
            uint32_t data = nd_halves_data(s, &s->table[table], old, e.rest);

            nd_hamming_lines_put(lines, data & (uint32_t)g->level ? to : from, &e);
        }
        if (!next)
            break;
        copy = *next;
        nd_hamming_lines_give_back(lines, next);
    }
}

/* One line more for each table of a group; without memory the chains grow instead. */
static void grow(struct nd_halves *s, struct nd_halves_group *g)
{
    if (g->size >= s->most_lines ||
        !nd_hamming_lines_resize(&g->lines, (g->size + 1) * g->n_tables))
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
 * The entry in table 0 of a fingerprint that is there.  Where the way to it is long, another table
 * whose way is short says first whether it is.
 */
static struct nd_hamming_line *find_equal(const struct nd_halves *s,
                                          const struct nd_halves_place *place, unsigned *slot)
{
    if (has_chain(s, 0, &place[0]))
        for (unsigned t = 1; t < s->n_tables; t++)
            if (!has_chain(s, t, &place[t])) {
                if (!nd_halves_find(s, t, &place[t], slot))
                    return NULL;
                break;
            }
    return nd_halves_find(s, 0, &place[0], slot);
}

static bool add_id(struct nd_halves *s, struct nd_hamming_line *line, unsigned slot, uint32_t id)
{
    struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    bool many = e.rest & ND_HALVES_MANY;
    uint32_t list = many ? e.id : nd_hamming_ids_add(&s->ids, 0, e.id);

    if (!list)
        return false;
    e.id = nd_hamming_ids_add(&s->ids, list, id);
    if (!e.id) {
        if (!many)
            nd_hamming_ids_end(&s->ids, list);
        return false;
    }
    e.rest |= ND_HALVES_MANY;
    nd_hamming_line_set(ND_HAMMING_LAYOUT_IDS, line, slot, &e);
    return true;
}

/* Whether the bucket of an entry just put has a new line too many. */
static bool is_crowded(const struct nd_halves *s, unsigned table, uint32_t data)
{
    const struct nd_hamming_lines *lines = &nd_halves_group(s, table)->lines;
    const struct nd_hamming_line *line =
        nd_hamming_lines_next(lines, nd_halves_line(s, table, data));
    unsigned length = 0;

    if (!line || nd_hamming_line_taken(line) != 1)
        return false;
    while (line && length <= s->most_chained) {
        line = nd_hamming_lines_next(lines, line);
        length++;
    }
    return length > s->most_chained;
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
    if (s->crowded) {
        int64_t row = nd_tables_find(s->crowded, &x);

        if (row != ND_TABLES_NO_ROW)
            return nd_tables_add_id(s->crowded, (uint32_t)row, id);
    }
    put(s, place, id);
    for (unsigned t = 0; t < s->n_tables; t++)
        if (is_crowded(s, t, place[t].data))
            nd_halves_move_bucket(s, t, place[t].data);
    return true;
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct nd_halves *s = self;
    struct nd_halves_place place[AHEAD][ND_HALVES_TABLES];

    for (size_t start = 0; start < n; start += AHEAD) {
        size_t left = n - start < AHEAD ? n - start : AHEAD;

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

void nd_halves_drop(struct nd_halves *s, const struct nd_halves_place *place)
{
    for (unsigned t = 0; t < s->n_tables; t++) {
        struct nd_halves_group *g = &s->group[t > 0];
        unsigned slot = 0;
        struct nd_hamming_line *line = nd_halves_find(s, t, &place[t], &slot);

        nd_hamming_lines_take(
            &g->lines, nd_halves_bucket(g, t, nd_halves_address(g, place[t].data)), line, slot);
    }
    s->entries--;
}

/* An entry with a list loses one id; with one left it holds that itself again. */
static bool drop_id(struct nd_halves *s, struct nd_hamming_line *line, unsigned slot, uint32_t id)
{
    struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    bool only;

    if (!nd_hamming_ids_remove(&s->ids, e.id, id, &only))
        return false;
    if (only) {
        e.id = nd_hamming_ids_end(&s->ids, e.id);
        e.rest &= ~(uint32_t)ND_HALVES_MANY;
        nd_hamming_line_set(ND_HAMMING_LAYOUT_IDS, line, slot, &e);
    }
    return true;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    struct nd_halves *s = self;
    struct nd_halves_place place[ND_HALVES_TABLES];
    unsigned slot = 0;
    struct nd_hamming_line *line;
    struct nd_hamming_entry e;

    for (unsigned t = 0; t < s->n_tables; t++)
        place[t] = nd_halves_place(s, *fingerprint, t);
    line = find_equal(s, place, &slot);
    if (!line) {
        int64_t row = s->crowded ? nd_tables_find(s->crowded, fingerprint) : ND_TABLES_NO_ROW;

        return row != ND_TABLES_NO_ROW && nd_tables_take_id(s->crowded, (uint32_t)row, id);
    }
    e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    if (e.rest & ND_HALVES_MANY)
        return drop_id(s, line, slot, id);
    if (e.id != id)
        return false;
    nd_halves_drop(s, place);
    return true;
}

static size_t bytes(const void *self)
{
    const struct nd_halves *s = self;
    size_t sum = sizeof *s + nd_hamming_ids_bytes(&s->ids);

    for (int g = 0; g < 2; g++)
        sum += nd_hamming_lines_bytes(&s->group[g].lines);
    return sum + (s->crowded ? nd_tables_bytes(s->crowded) : 0);
}

const struct nd_hamming_kind nd_hamming_halves_kind = {make, destroy,         add,
                                                       take, nd_halves_query, bytes};
