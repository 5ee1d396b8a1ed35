/* hamming_halves_crowd.c - two halves: what crowds one bucket moves to an index of keys */
#include "index/hamming_halves.h"

enum {
    TABLES = 8,      /* keys of 24 bits for a distance of 3 */
    EXPECTED = 1024, /* to begin with */
    MOST = 10 * (ND_HALVES_CHAIN_MOST + 2)
};

static bool make_crowded(struct nd_halves *s)
{
    const struct nd_hamming_problem problem = {64, s->distance, EXPECTED};
    struct nd_hamming_plan plan;

    if (!s->crowded &&
        nd_hamming_design(&problem, NULL, ND_HAMMING_COVERING, 0, TABLES, &plan, NULL) == ND_OK)
        s->crowded = nd_tables_new(&plan, &s->ids);
    return s->crowded != NULL;
}

/* The fingerprints of the bucket where data go. */
static size_t list_bucket(const struct nd_halves *s, unsigned table, uint32_t data, uint64_t *x)
{
    const struct nd_halves_group *g = nd_halves_group(s, table);
    const struct nd_hamming_line *line = nd_halves_line(s, table, data);
    size_t n = 0;

    for (; line; line = nd_hamming_lines_next(&g->lines, line))
        for (unsigned i = 0; i < nd_hamming_line_taken(line) && n < MOST; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(g->lines.layout, line, i);

            x[n++] = nd_halves_fingerprint(s, &s->table[table], nd_halves_address(g, data), &e);
        }
    return n;
}

/* False: out of memory, and it stands where it was. */
static bool move(struct nd_halves *s, uint64_t x)
{
    struct nd_halves_place place[ND_HALVES_TABLES];
    unsigned slot = 0;
    const struct nd_hamming_line *line;
    struct nd_hamming_entry e;
    struct nd_tables_ids ids;

    for (unsigned t = 0; t < s->n_tables; t++)
        place[t] = nd_halves_place(s, x, t);
    line = nd_halves_find(s, 0, &place[0], &slot);
    e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    ids = (struct nd_tables_ids){e.id, e.rest & ND_HALVES_MANY ? ND_TABLES_MANY : ND_TABLES_ONE};
    if (!nd_tables_put(s->crowded, &x, ids))
        return false;
    nd_halves_drop(s, place);
    return true;
}

void nd_halves_move_bucket(struct nd_halves *s, unsigned table, uint32_t data)
{
    uint64_t x[MOST];
    size_t n;

    if (!make_crowded(s))
        return;
    n = list_bucket(s, table, data, x);
    for (size_t i = 0; i < n && move(s, x[i]); i++)
        ;
}
