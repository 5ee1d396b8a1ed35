/* hamming_halves_crowd.c - two halves: what crowds one bucket moves to an index of keys */
#include "index/hamming_halves.h"
#include "index/hamming_plan.h"

enum {
    TABLES = 8,      /* keys of 24 bits for a distance of 3 */
    EXPECTED = 1024, /* to begin with */
    MOST = 10 * (ND_HALVES_CHAIN + 2)
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

/* The fingerprints of a bucket. */
static size_t list_bucket(const struct nd_halves *s, unsigned half, uint32_t address, uint64_t *x)
{
    const struct nd_hamming_lines *lines = &s->table[half].lines;
    const struct nd_hamming_line *line = nd_hamming_lines_at(lines, address);
    size_t n = 0;

    for (; line; line = nd_hamming_lines_next(lines, line))
        for (unsigned i = 0; i < nd_hamming_line_taken(line) && n < MOST; i++) {
            struct nd_hamming_entry e = nd_hamming_line_get(lines->layout, line, i);
            uint64_t own = nd_halves_own(&s->code, address, e.rest);

            x[n++] = half ? own << 32 | e.word : (uint64_t)e.word << 32 | own;
        }
    return n;
}

/* False: out of memory, and it stands where it was. */
static bool move(struct nd_halves *s, uint64_t x)
{
    const struct nd_halves_place place[2] = {nd_halves_place(&s->code, x, 0),
                                             nd_halves_place(&s->code, x, 1)};
    unsigned slot = 0;
    const struct nd_hamming_line *line = nd_halves_find(&s->table[0], &place[0], &slot);
    struct nd_hamming_entry e = nd_hamming_line_get(ND_HAMMING_LAYOUT_IDS, line, slot);
    struct nd_tables_ids ids = {e.id, e.rest & ND_HALVES_MANY ? ND_TABLES_MANY : ND_TABLES_ONE};

    if (!nd_tables_put(s->crowded, &x, ids))
        return false;
    nd_halves_drop(s, place);
    return true;
}

void nd_halves_move_bucket(struct nd_halves *s, unsigned half, uint32_t address)
{
    uint64_t x[MOST];
    size_t n;

    if (!make_crowded(s))
        return;
    n = list_bucket(s, half, address, x);
    for (size_t i = 0; i < n && move(s, x[i]); i++)
        ;
}
