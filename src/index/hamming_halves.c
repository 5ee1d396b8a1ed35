/* hamming_halves.c - two halves with perfect-code buckets: make, add, remove */
#include "index/hamming_halves.h"

#include <math.h>
#include <stdlib.h>

#include "index/hamming_plan.h"

enum { AHEAD = 16 };

/* Entries that a table of this many lines should hold. */
static size_t room(const struct nd_halves_table *t)
{
    return (size_t)((double)t->lines.n_main * t->fill);
}

/* Chained lines are expected too. */
static void init_table(struct nd_halves_table *t, enum nd_hamming_layout layout,
                       const struct nd_hamming_plan *plan, struct nd_column_wish wish[2])
{
    const size_t least = (size_t)1 << ND_HALVES_LOW_BITS, most = (size_t)1 << ND_HALVES_BUCKET_BITS;
    double entries = (double)plan->problem.count, lines, chained;
    size_t n;

    t->lines.layout = layout;
    t->fill = plan->fill * nd_hamming_slots(layout);
    lines = entries / t->fill;
    n = lines < (double)least ? least : lines > (double)most ? most : (size_t)lines;
    chained = entries < 1
                  ? 0
                  : nd_hamming_half_chain(entries, (double)n, nd_hamming_slots(layout)).size - 1;
    for (t->level = least; 2 * t->level <= n; t->level *= 2)
        ;
    chained *= (double)n;
    nd_hamming_lines_wish(&t->lines, n, (size_t)(1.01 * chained + 6 * sqrt(chained)), wish);
}

static void destroy(void *self)
{
    struct nd_halves *s = self;

    for (int h = 0; h < 2; h++)
        nd_hamming_lines_release(&s->table[h].lines);
    if (s->crowded)
        nd_tables_free(s->crowded);
    nd_hamming_ids_release(&s->ids);
    free(s);
}

static void *make(const struct nd_hamming_plan *plan)
{
    struct nd_halves *s = calloc(1, sizeof *s);
    struct nd_column_wish wish[4];

    if (!s)
        return NULL;
    s->distance = plan->problem.distance;
    nd_hamming_code_init(&s->code);
    init_table(&s->table[0], ND_HAMMING_LAYOUT_IDS, plan, wish);
    init_table(&s->table[1], ND_HAMMING_LAYOUT_OTHER, plan, wish + 2);
    if (nd_columns_make(wish, 4))
        return s;
    destroy(s);
    return NULL;
}

struct nd_hamming_line *nd_halves_find(const struct nd_halves_table *t,
                                       const struct nd_halves_place *place, unsigned *slot)
{
    struct nd_hamming_line *line =
        nd_hamming_lines_at(&t->lines, nd_halves_address(t, place->bucket));

    for (; line; line = nd_hamming_lines_next(&t->lines, line)) {
        unsigned n = nd_hamming_line_taken(line);

        for (unsigned i = 0; i < n; i++)
            if (line->word[i] == place->word &&
                (nd_hamming_line_get(t->lines.layout, line, i).rest & ~ND_HALVES_MANY) ==
                    place->rest) {
                *slot = i;
                return line;
            }
    }
    return NULL;
}

static bool has_chain(const struct nd_halves_table *t, const struct nd_halves_place *place)
{
    const struct nd_hamming_line *line =
        nd_hamming_lines_at(&t->lines, nd_halves_address(t, place->bucket));

    return line->word[15] > 15;
}

/*
 * Linear hashing: the bucket n - level is shared with the new bucket n.  An entry taken from the
 * chain gives back the room that it needs, so nothing is allocated on the way.
 */
static void split(struct nd_halves *s, struct nd_halves_table *t)
{
    struct nd_hamming_lines *lines = &t->lines;
    size_t old = lines->n_main - t->level;
    struct nd_hamming_line *line, copy;
    uint32_t bit = (uint32_t)t->level;

    if (lines->n_main >> ND_HALVES_BUCKET_BITS ||
        !nd_hamming_lines_resize(lines, lines->n_main + 1))
        return; /* the chains grow instead */
    line = nd_hamming_lines_at(lines, old);
    copy = *line;
    line->word[15] = 0;
    for (;;) {
        struct nd_hamming_line *next = nd_hamming_lines_next(lines, &copy);
        unsigned n = nd_hamming_line_taken(&copy);

        for (unsigned i = 0; i < n; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(lines->layout, &copy, i);
            uint32_t own = nd_halves_own(&s->code, (uint32_t)old, e.rest);
            unsigned syndrome = e.rest >> 9 & 31;

            own ^= s->code.error[syndrome];
            nd_hamming_lines_put(lines, nd_halves_bucket(own) & bit ? old + t->level : old, e);
        }
        if (!next)
            break;
        copy = *next;
        nd_hamming_lines_give_back(lines, next);
    }
    if (lines->n_main == 2 * t->level)
        t->level *= 2;
}

static void put(struct nd_halves *s, unsigned half, const struct nd_halves_place *place,
                uint32_t id)
{
    struct nd_halves_table *t = &s->table[half];
    struct nd_hamming_entry e = {.word = place->word, .rest = place->rest, .id = id};

    nd_hamming_lines_put(&t->lines, nd_halves_address(t, place->bucket), e);
    t->entries++;
    if (t->entries > room(t))
        split(s, t);
}

/* The entry in table 0 of a fingerprint that is there; the shorter of two long ways says if it is.
 */
static struct nd_hamming_line *find_equal(const struct nd_halves *s,
                                          const struct nd_halves_place *place, unsigned *slot)
{
    if (has_chain(&s->table[0], &place[0]) && !has_chain(&s->table[1], &place[1]) &&
        !nd_halves_find(&s->table[1], &place[1], slot))
        return NULL;
    return nd_halves_find(&s->table[0], &place[0], slot);
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
    nd_hamming_line_set(ND_HAMMING_LAYOUT_IDS, line, slot, e);
    return true;
}

/* Whether the bucket of an entry just put has a new line too many. */
static bool is_crowded(const struct nd_halves_table *t, uint32_t address)
{
    const struct nd_hamming_line *line =
        nd_hamming_lines_next(&t->lines, nd_hamming_lines_at(&t->lines, address));
    unsigned length = 0;

    if (!line || nd_hamming_line_taken(line) != 1)
        return false;
    while (line && length <= ND_HALVES_CHAIN) {
        line = nd_hamming_lines_next(&t->lines, line);
        length++;
    }
    return length > ND_HALVES_CHAIN;
}

static bool add_one(struct nd_halves *s, uint64_t x, const struct nd_halves_place *place,
                    uint32_t id)
{
    struct nd_hamming_line *line;
    unsigned slot = 0;

    if (!nd_hamming_lines_ready(&s->table[0].lines) || !nd_hamming_lines_ready(&s->table[1].lines))
        return false;
    line = find_equal(s, place, &slot);
    if (line)
        return add_id(s, line, slot, id);
    if (s->crowded) {
        int64_t row = nd_tables_find(s->crowded, &x);

        if (row != ND_TABLES_NO_ROW)
            return nd_tables_add_id(s->crowded, (uint32_t)row, id);
    }
    for (unsigned h = 0; h < 2; h++)
        put(s, h, &place[h], h ? 0 : id);
    for (unsigned h = 0; h < 2; h++) {
        uint32_t address = nd_halves_address(&s->table[h], place[h].bucket);

        if (is_crowded(&s->table[h], address))
            nd_halves_move_bucket(s, h, address);
    }
    return true;
}

static size_t add(void *self, const uint64_t *fingerprints, const uint32_t *ids, uint32_t first_id,
                  size_t n)
{
    struct nd_halves *s = self;
    struct nd_halves_place place[AHEAD][2];

    for (size_t start = 0; start < n; start += AHEAD) {
        size_t left = n - start < AHEAD ? n - start : AHEAD;

        for (size_t i = 0; i < left; i++)
            for (unsigned h = 0; h < 2; h++) {
                const struct nd_halves_table *t = &s->table[h];

                place[i][h] = nd_halves_place(&s->code, fingerprints[start + i], h);
                __builtin_prefetch(
                    nd_hamming_lines_at(&t->lines, nd_halves_address(t, place[i][h].bucket)), 1);
            }
        for (size_t i = 0; i < left; i++)
            if (!add_one(s, fingerprints[start + i], place[i],
                         ids ? ids[start + i] : first_id + (uint32_t)(start + i)))
                return start + i;
    }
    return n;
}

static void drop_entry(struct nd_halves_table *t, const struct nd_halves_place *place,
                       struct nd_hamming_line *line, unsigned slot)
{
    nd_hamming_lines_take(&t->lines, nd_halves_address(t, place->bucket), line, slot);
    t->entries--;
}

void nd_halves_drop(struct nd_halves *s, const struct nd_halves_place *place)
{
    for (unsigned h = 0; h < 2; h++) {
        unsigned slot = 0;
        struct nd_hamming_line *line = nd_halves_find(&s->table[h], &place[h], &slot);

        drop_entry(&s->table[h], &place[h], line, slot);
    }
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
        e.rest = (uint16_t)(e.rest & ~ND_HALVES_MANY);
        nd_hamming_line_set(ND_HAMMING_LAYOUT_IDS, line, slot, e);
    }
    return true;
}

static bool take(void *self, const uint64_t *fingerprint, uint32_t id)
{
    struct nd_halves *s = self;
    struct nd_halves_place place[2] = {nd_halves_place(&s->code, *fingerprint, 0),
                                       nd_halves_place(&s->code, *fingerprint, 1)};
    unsigned slot = 0;
    struct nd_hamming_line *line = find_equal(s, place, &slot);
    struct nd_hamming_entry e;

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

    return sizeof *s + nd_hamming_lines_bytes(&s->table[0].lines) +
           nd_hamming_lines_bytes(&s->table[1].lines) + nd_hamming_ids_bytes(&s->ids) +
           (s->crowded ? nd_tables_bytes(s->crowded) : 0);
}

const struct nd_hamming_kind nd_hamming_halves_kind = {make, destroy,         add,
                                                       take, nd_halves_query, bytes};
