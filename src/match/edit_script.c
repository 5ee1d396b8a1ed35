/* edit_script.c - the edits that make one text of another, in linear memory */
#include <stdlib.h>

#include "base/memory.h"
#include "match/edit_bits.h"

/*
 * By halves (Hirschberg): the last row of the first half of a and the first row of its second half,
 * computed from the two ends, say where the cheapest script crosses the middle; then each side is
 * done in the same way.  Its cost being known, each stays in its own narrow band.
 */
struct scripting {
    struct nd_edit_costs costs;
    const uint64_t *a, *b; /* of the whole texts */
    uint32_t *forward, *backward;
    struct nd_edit_bits bits;
    struct nd_edit *edit;
    size_t n, capacity;
    bool failed;
};

/* A rectangle of the table. */
struct part {
    size_t at_a, n_a, at_b, n_b;
    uint64_t cost;
};

static void add(struct scripting *s, enum nd_edit_kind kind, size_t at_a, size_t at_b, size_t count)
{
    struct nd_edit *before = s->n ? &s->edit[s->n - 1] : NULL;
    void *edits = s->edit;

    if (count == 0)
        return;
    if (before && before->kind == kind) {
        before->count += count;
        return;
    }
    s->failed |= !nd_array_reserve(&edits, &s->capacity, s->n + 1, sizeof *s->edit);
    s->edit = edits;
    if (!s->failed)
        s->edit[s->n++] = (struct nd_edit){kind, at_a, at_b, count};
}

/* One token of a: keep it where it first stands in b, else replace the first of b. */
static void settle_one(struct scripting *s, struct part p)
{
    size_t at = 0;

    while (at < p.n_b && s->b[p.at_b + at] != s->a[p.at_a])
        at++;
    if (at == p.n_b) {
        add(s, ND_EDIT_REPLACE, p.at_a, p.at_b, 1);
        add(s, ND_EDIT_INSERT, p.at_a + 1, p.at_b + 1, p.n_b - 1);
        return;
    }
    add(s, ND_EDIT_INSERT, p.at_a, p.at_b, at);
    add(s, ND_EDIT_KEEP, p.at_a, p.at_b + at, 1);
    add(s, ND_EDIT_INSERT, p.at_a + 1, p.at_b + at + 1, p.n_b - at - 1);
}

/* Where the script crosses the middle row: *cost is that of the first half. */
static size_t crossing(struct scripting *s, struct part p, size_t half, uint64_t *cost)
{
    struct nd_edit_band band = nd_edit_band_of(p.n_a, p.n_b, &s->costs, p.cost);
    int64_t last = (int64_t)p.n_b - (int64_t)p.n_a;
    const struct nd_edit_band mirrored = {last - band.high, last - band.low};
    const struct nd_edit_pair front = {s->a + p.at_a, s->b + p.at_b, half, p.n_b, 1};
    const struct nd_edit_pair back = {s->a + p.at_a + p.n_a - 1, s->b + p.at_b + p.n_b - 1,
                                      p.n_a - half, p.n_b, -1};
    size_t best = 0;

    if (nd_edit_bits_pay(&s->costs, p.n_b, (uint64_t)(band.high - band.low) + 1)) {
        nd_edit_bits_last_row(&s->bits, &front, s->forward);
        nd_edit_bits_last_row(&s->bits, &back, s->backward);
    } else {
        nd_edit_last_row(&front, &s->costs, band, s->forward);
        nd_edit_last_row(&back, &s->costs, mirrored, s->backward);
    }
    for (size_t j = 1; j <= p.n_b; j++)
        if (s->forward[j] + s->backward[p.n_b - j] < s->forward[best] + s->backward[p.n_b - best])
            best = j;
    *cost = s->forward[best];
    return best;
}

static void settle(struct scripting *s, struct part p)
{
    size_t first, last, half, across;
    uint64_t cost;

    nd_edit_trim(s->a + p.at_a, p.n_a, s->b + p.at_b, p.n_b, &first, &last);
    add(s, ND_EDIT_KEEP, p.at_a, p.at_b, first);
    p = (struct part){p.at_a + first, p.n_a - first - last, p.at_b + first, p.n_b - first - last,
                      p.cost};
    if (p.n_a == 0)
        add(s, ND_EDIT_INSERT, p.at_a, p.at_b, p.n_b);
    else if (p.n_b == 0)
        add(s, ND_EDIT_REMOVE, p.at_a, p.at_b, p.n_a);
    else if (p.n_a == 1)
        settle_one(s, p);
    else if (!s->failed) {
        half = p.n_a / 2;
        across = crossing(s, p, half, &cost);
        settle(s, (struct part){p.at_a, half, p.at_b, across, cost});
        settle(s, (struct part){p.at_a + half, p.n_a - half, p.at_b + across, p.n_b - across,
                                p.cost - cost});
    }
    add(s, ND_EDIT_KEEP, p.at_a + p.n_a, p.at_b + p.n_b, last);
}

enum nd_status nd_edit_script(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                              const struct nd_edit_costs *costs, uint64_t limit, uint64_t *distance,
                              struct nd_edit **edits, size_t *n_edits, struct nd_error *err)
{
    static const uint64_t none;
    struct scripting s = {.costs = *costs, .a = n_a ? a : &none, .b = n_b ? b : &none};
    const struct nd_edit_pair pair = {s.a, s.b, n_a, n_b, 1};
    enum nd_status status = nd_edit_check(n_a, n_b, &s.costs, err);
    uint64_t found = ND_EDIT_BEYOND;

    if (status != ND_OK)
        return status;
    s.forward = nd_alloc_array(n_b + 1, sizeof *s.forward);
    s.backward = nd_alloc_array(n_b + 1, sizeof *s.backward);
    s.failed = !s.forward || !s.backward || !nd_edit_bits_init(&s.bits, n_a);
    if (!s.failed)
        status = nd_edit_distance(a, n_a, b, n_b, &s.costs, limit, &found, err);
    if (status == ND_OK && !s.failed && found != ND_EDIT_BEYOND)
        settle(&s, (struct part){0, pair.n_a, 0, pair.n_b, found});
    nd_edit_bits_release(&s.bits);
    free(s.forward);
    free(s.backward);
    if (status == ND_OK && s.failed)
        status = nd_fail(err, ND_ENOMEM, "out of memory for an edit script");
    if (status != ND_OK) {
        free(s.edit);
        return status;
    }
    *distance = found;
    *edits = s.edit;
    *n_edits = s.n;
    return ND_OK;
}
