/* edit_distance.c - the edit distance of two runs of tokens, and a script of that cost
 *
 * Dynamic programming over the table of prefixes: cell (i, j) is the lowest cost of making the first
 * j tokens of b of the first i tokens of a.  Two ways keep this below n m cells:
 *
 * A band of diagonals (Ukkonen 1985).  A script that costs c leaves the main diagonal by inserting
 * or removing, and must come back to the last one, so it stays within a band.  The bound c is
 * guessed and doubled until the result is within it; the whole then takes at most twice the time of
 * the last band, which is O(n d).
 *
 * The whole table in bits, for unit costs (Myers 1999; Hyyrö 2003 for the carries between blocks).
 * Neighbours in it differ by at most one, so a column is two bits a row: is the cell one more, or
 * one less, than the cell above it?  A column follows from the one before, 64 rows in some 15
 * instructions, and what the bottom cell gains or loses in each column adds up to the last row.  The
 * rows whose token equals the column's are found in a list sorted by token, so memory is linear in
 * the text and not in the text times its vocabulary.  Where the band is wide this is less work.
 *
 * nd_edit_script divides and conquers (Hirschberg 1975), in linear memory.
 */
#include <neardup/compare.h>

#include "base/memory.h"
#include "match/winnow.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FAR (UINT32_MAX / 2) /* a cell outside the band: more than any cost */

enum {
    WORD = 64,           /* rows of a block */
    CELLS_PER_STEP = 16, /* a block's step takes as long as so many single cells */
};

/* Two runs of tokens, read from their beginnings (step 1) or from their ends (step -1). */
struct edit_pair {
    const uint64_t *a, *b; /* the first token in the order of reading */
    size_t n_a, n_b;
    int step;
};

/* Diagonals low … high, a diagonal being the place in b minus that in a. */
struct band {
    int64_t low, high;
};

/* Scratch for texts a of up to n tokens: 24 bits and 16 bytes a token. */
struct bits {
    uint64_t *up, *down, *equal;   /* a bit a row: see `step` */
    struct nd_placed_value *place; /* of each token of a, by token */
};

struct nd_edit_costs nd_edit_costs_default(void)
{
    return (struct nd_edit_costs){1, 1, 1};
}

/* ND_EINVAL, ND_EUNSUPPORTED; *costs gets a cost of replacing that is never above the other two. */
static enum nd_status check(size_t n_a, size_t n_b, struct nd_edit_costs *costs,
                            struct nd_error *err)
{
    const uint32_t each[] = {costs->insert, costs->remove, costs->replace};
    uint64_t max = 0;

    for (unsigned i = 0; i < 3; i++) {
        if (each[i] < 1 || each[i] > ND_EDIT_COST_MAX)
            return nd_fail(err, ND_EINVAL, "the cost of an edit must be from 1 to %u, not %u",
                           ND_EDIT_COST_MAX, each[i]);
        max = each[i] > max ? each[i] : max;
    }
    if (n_a > FAR || n_b > FAR || (n_a + n_b) * max >= FAR)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "texts of %zu and %zu tokens are too long for an edit distance", n_a, n_b);
    if (costs->replace > costs->insert + costs->remove)
        costs->replace = costs->insert + costs->remove;
    return ND_OK;
}

/* The cost of the difference in length, which no script can undercut. */
static uint64_t min_cost(size_t n_a, size_t n_b, const struct nd_edit_costs *costs)
{
    return n_b > n_a ? (n_b - n_a) * (uint64_t)costs->insert
                     : (n_a - n_b) * (uint64_t)costs->remove;
}

/*
 * The diagonals of all scripts that cost at most `limit`, which is at least min_cost.
 *
 * To diagonal k >= 0 and then to the last one, D = n_b - n_a <= k, at least k tokens are inserted
 * and k - D removed: k (insert + remove) <= limit + D remove.  Below 0 and D it is the mirror image.
 */
static struct band band_of(size_t n_a, size_t n_b, const struct nd_edit_costs *costs,
                           uint64_t limit)
{
    int64_t last = (int64_t)n_b - (int64_t)n_a, both = (int64_t)costs->insert + costs->remove;
    int64_t widest = (int64_t)(n_a + n_b) * both, bound = (int64_t)limit;

    if (limit > (uint64_t)widest)
        bound = widest;
    return (struct band){-((bound - last * costs->insert) / both),
                         (bound + last * costs->remove) / both};
}

static uint32_t min_of(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

/*
 * row[j] = the lowest cost, within the band, of making the first j tokens of b of all of a; FAR or
 * more outside the band.  row has n_b + 1 elements.
 */
static void last_row(const struct edit_pair *pair, const struct nd_edit_costs *costs,
                     struct band band, uint32_t *row)
{
    const ptrdiff_t step = pair->step;
    const int64_t n_b = (int64_t)pair->n_b;

    for (int64_t j = 0; j <= n_b; j++)
        row[j] = j <= band.high ? (uint32_t)j * costs->insert : FAR;
    for (int64_t i = 1; i <= (int64_t)pair->n_a; i++) {
        const uint64_t token = pair->a[(i - 1) * step];
        int64_t from = i + band.low, to = i + band.high;
        uint32_t corner, left; /* of the row before, and of this one, at j - 1 */

        to = to < n_b ? to : n_b;
        if (from > 0) {
            corner = row[from - 1]; /* low is at most n_b - n_a: it exists */
            left = row[from - 1] = FAR;
        } else {
            corner = row[0];
            left = row[0] = min_of(row[0] + costs->remove, FAR);
            from = 1;
        }
        for (int64_t j = from; j <= to; j++) {
            uint32_t by_pair = corner + (pair->b[(j - 1) * step] == token ? 0 : costs->replace);
            uint32_t by_one = min_of(row[j] + costs->remove, left + costs->insert);

            corner = row[j];
            left = min_of(min_of(by_pair, by_one), FAR);
            row[j] = left;
        }
    }
}

static void bits_release(struct bits *bits)
{
    free(bits->up);
    free(bits->down);
    free(bits->equal);
    free(bits->place);
    *bits = (struct bits){NULL, NULL, NULL, NULL};
}

static bool bits_init(struct bits *bits, size_t n)
{
    size_t blocks = n / WORD + 1;

    *bits = (struct bits){.up = nd_alloc_array(blocks, sizeof *bits->up),
                          .down = nd_alloc_array(blocks, sizeof *bits->down),
                          .equal = calloc(blocks, sizeof *bits->equal),
                          .place = nd_alloc_array(n, sizeof *bits->place)};
    if (bits->up && bits->down && bits->equal && bits->place)
        return true;
    bits_release(bits);
    return false;
}

static int by_token(const void *left, const void *right)
{
    const struct nd_placed_value *x = left, *y = right;

    return x->value < y->value ? -1 : x->value > y->value;
}

/*
 * One column of the table, from the one before; returns by how much its bottom cell differs from
 * that one's: 1, 0 or -1.  Of each block of 64 rows:
 *
 *     up, down              the cell is one more, or one less, than the cell above it
 *     gains, losses         the cell is one more, or one less, than the cell to its left
 *     equal                 the row's token is the column's token
 *     gain, loss            what the cell above the block gains; of the top row it is 1 a column
 *
 * (Myers 1999, §3 calls them Pv, Mv, Ph, Mh, Eq and hin.)  A cell equals its upper left neighbour
 * if the tokens are equal, or if the cell to its left (down) or the cell above it (a loss) is one
 * less than that neighbour.  Losses depend on one another: row i - 1 has a loss where it is `up` in
 * the column before and equals its own upper left neighbour, and then so does row i.  Equality thus
 * spreads downwards through a run of `up`, and one addition computes that: a carry that enters a
 * run of ones in `up` flips its bits to the end of the run, and the exclusive or shows which.
 */
static int step(struct bits *bits, size_t blocks, uint64_t bottom)
{
    uint64_t gain = 1, loss = 0; /* of the cell above the block: the top row counts up */

    for (size_t i = 0; i < blocks; i++) {
        const uint64_t up = bits->up[i], down = bits->down[i], same = bits->equal[i] | loss;
        const uint64_t vertical = bits->equal[i] | down;
        const uint64_t diagonal =
            (((same & up) + up) ^ up) | same; /* as its upper left neighbour */
        uint64_t gains = down | ~(diagonal | up), losses = up & diagonal;
        const uint64_t top = i + 1 < blocks ? UINT64_C(1) << (WORD - 1) : bottom;
        const uint64_t gain_out = (gains & top) != 0, loss_out = (losses & top) != 0;

        gains = gains << 1 | gain;
        losses = losses << 1 | loss;
        bits->up[i] = losses | ~(vertical | gains);
        bits->down[i] = gains & vertical;
        gain = gain_out;
        loss = loss_out;
    }
    return (int)gain - (int)loss;
}

static void last_row_in_bits(struct bits *bits, const struct edit_pair *pair, uint32_t *row)
{
    const size_t n = pair->n_a, blocks = (n + WORD - 1) / WORD;
    const uint64_t bottom = UINT64_C(1) << ((n + WORD - 1) % WORD);

    for (size_t i = 0; i < n; i++)
        bits->place[i] = (struct nd_placed_value){pair->a[(ptrdiff_t)i * pair->step], i};
    if (n)
        qsort(bits->place, n, sizeof *bits->place, by_token);
    for (size_t i = 0; i < blocks; i++) {
        bits->up[i] = ~UINT64_C(0);
        bits->down[i] = 0;
    }
    row[0] = (uint32_t)n;
    for (size_t j = 1; j <= pair->n_b; j++) {
        const uint64_t token = pair->b[(ptrdiff_t)(j - 1) * pair->step];
        const size_t first = nd_first_placed(bits->place, n, token);
        size_t end = first;

        for (; end < n && bits->place[end].value == token; end++)
            bits->equal[bits->place[end].place / WORD] |= UINT64_C(1)
                                                          << bits->place[end].place % WORD;
        row[j] = n ? (uint32_t)((int64_t)row[j - 1] + step(bits, blocks, bottom)) : (uint32_t)j;
        for (size_t k = first; k < end; k++)
            bits->equal[bits->place[k].place / WORD] = 0;
    }
}

/* Whether the table in bits is less work than a band of so many diagonals; it needs unit costs. */
static bool bits_pay(const struct nd_edit_costs *costs, size_t n_b, uint64_t diagonals)
{
    return costs->insert == 1 && costs->remove == 1 && costs->replace == 1 &&
           n_b < diagonals * CELLS_PER_STEP;
}

/* How many tokens both begin with, and how many of the rest both end with. */
static void trim(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t *first,
                 size_t *last)
{
    size_t max = n_a < n_b ? n_a : n_b;

    *first = *last = 0;
    while (*first < max && a[*first] == b[*first])
        ++*first;
    while (*last < max - *first && a[n_a - 1 - *last] == b[n_b - 1 - *last])
        ++*last;
}

/* The distance, or ND_EDIT_BEYOND: the bound is doubled until the result is within it. */
static uint64_t distance_in(const struct edit_pair *pair, const struct nd_edit_costs *costs,
                            uint64_t limit, struct bits *bits, uint32_t *row)
{
    uint64_t bound = min_cost(pair->n_a, pair->n_b, costs), all;

    if (bound > limit)
        return ND_EDIT_BEYOND;
    all = (pair->n_a + pair->n_b) * (uint64_t)(costs->insert + costs->remove);
    bound += 16 * (uint64_t)(costs->insert + costs->remove);
    for (;; bound *= 2) {
        struct band band;

        bound = bound < limit ? bound : limit;
        band = band_of(pair->n_a, pair->n_b, costs, bound);
        if (bits_pay(costs, pair->n_b, (uint64_t)(band.high - band.low) + 1)) {
            last_row_in_bits(bits, pair, row);
            return row[pair->n_b] <= limit ? row[pair->n_b] : ND_EDIT_BEYOND;
        }
        last_row(pair, costs, band, row);
        if (row[pair->n_b] <= bound)
            return row[pair->n_b];
        if (bound == limit || bound >= all)
            return ND_EDIT_BEYOND;
    }
}

enum nd_status nd_edit_distance(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                const struct nd_edit_costs *costs, uint64_t limit,
                                uint64_t *distance, struct nd_error *err)
{
    static const uint64_t none;
    struct nd_edit_costs own = *costs;
    enum nd_status status = check(n_a, n_b, &own, err);
    struct edit_pair pair;
    struct bits bits;
    size_t first, last;
    uint32_t *row;

    if (status != ND_OK)
        return status;
    trim(a, n_a, b, n_b, &first, &last);
    pair = (struct edit_pair){n_a ? a + first : &none, n_b ? b + first : &none, n_a - first - last,
                              n_b - first - last, 1};
    row = nd_alloc_array(pair.n_b + 1, sizeof *row);
    if (!row || !bits_init(&bits, pair.n_a)) {
        free(row);
        return nd_fail(err, ND_ENOMEM, "out of memory for an edit distance");
    }
    *distance = distance_in(&pair, &own, limit, &bits, row);
    bits_release(&bits);
    free(row);
    return ND_OK;
}

uint64_t nd_edit_limit_for(size_t n_a, size_t n_b, const struct nd_edit_costs *costs,
                           uint64_t cells)
{
    uint64_t min = min_cost(n_a, n_b, costs), width = n_a ? cells / n_a : cells;
    uint64_t apart = n_a > n_b ? n_a - n_b : n_b - n_a;

    if (bits_pay(costs, n_b, width))
        return (uint64_t)n_a + n_b;
    if (width <= apart)
        return min;
    return min + (width - apart) / 2 * (costs->insert + costs->remove);
}

struct scripting {
    struct nd_edit_costs costs;
    const uint64_t *a, *b; /* of the whole texts */
    uint32_t *forward, *backward;
    struct bits bits;
    struct nd_edit *edit;
    size_t n, capacity;
    bool failed;
};

/* A rectangle of the table, and the cost of the cheapest script through it. */
struct part {
    size_t at_a, n_a, at_b, n_b;
    uint64_t cost;
};

static void add(struct scripting *s, enum nd_edit_kind kind, size_t at_a, size_t at_b, size_t count)
{
    struct nd_edit *before = s->n ? &s->edit[s->n - 1] : NULL;

    if (count == 0)
        return;
    if (before && before->kind == kind) {
        before->count += count;
        return;
    }
    s->failed |= !ND_RESERVE(s->edit, &s->capacity, s->n + 1);
    if (!s->failed)
        s->edit[s->n++] = (struct nd_edit){kind, at_a, at_b, count};
}

/* Align one token of a: keep it where it first stands in b, else replace the first token of b. */
static void align_one(struct scripting *s, struct part p)
{
    size_t i = 0;

    while (i < p.n_b && s->b[p.at_b + i] != s->a[p.at_a])
        i++;
    if (i == p.n_b) {
        add(s, ND_EDIT_REPLACE, p.at_a, p.at_b, 1);
        add(s, ND_EDIT_INSERT, p.at_a + 1, p.at_b + 1, p.n_b - 1);
        return;
    }
    add(s, ND_EDIT_INSERT, p.at_a, p.at_b, i);
    add(s, ND_EDIT_KEEP, p.at_a, p.at_b + i, 1);
    add(s, ND_EDIT_INSERT, p.at_a + 1, p.at_b + i + 1, p.n_b - i - 1);
}

/* Return where the script crosses the middle row: *cost is that of the first half. */
static size_t crossing(struct scripting *s, struct part p, size_t half, uint64_t *cost)
{
    struct band band = band_of(p.n_a, p.n_b, &s->costs, p.cost);
    int64_t last = (int64_t)p.n_b - (int64_t)p.n_a;
    const struct band mirrored = {last - band.high, last - band.low};
    const struct edit_pair front = {s->a + p.at_a, s->b + p.at_b, half, p.n_b, 1};
    const struct edit_pair back = {s->a + p.at_a + p.n_a - 1, s->b + p.at_b + p.n_b - 1,
                                   p.n_a - half, p.n_b, -1};
    size_t best = 0;

    if (bits_pay(&s->costs, p.n_b, (uint64_t)(band.high - band.low) + 1)) {
        last_row_in_bits(&s->bits, &front, s->forward);
        last_row_in_bits(&s->bits, &back, s->backward);
    } else {
        last_row(&front, &s->costs, band, s->forward);
        last_row(&back, &s->costs, mirrored, s->backward);
    }
    for (size_t j = 1; j <= p.n_b; j++)
        if (s->forward[j] + s->backward[p.n_b - j] < s->forward[best] + s->backward[p.n_b - best])
            best = j;
    *cost = s->forward[best];
    return best;
}

/*
 * Hirschberg 1975: the last row of the first half of a, and that of its second half read backwards,
 * add up to the cost of the cheapest script through each column of the middle row.  The lowest sum
 * says where to cut b; then each half is aligned in the same way.  Since the cost of each half is
 * known, its rows are computed within a narrow band.
 */
static void align(struct scripting *s, struct part p)
{
    size_t first, last, half, across;
    uint64_t cost;

    trim(s->a + p.at_a, p.n_a, s->b + p.at_b, p.n_b, &first, &last);
    add(s, ND_EDIT_KEEP, p.at_a, p.at_b, first);
    p = (struct part){p.at_a + first, p.n_a - first - last, p.at_b + first, p.n_b - first - last,
                      p.cost};
    if (p.n_a == 0)
        add(s, ND_EDIT_INSERT, p.at_a, p.at_b, p.n_b);
    else if (p.n_b == 0)
        add(s, ND_EDIT_REMOVE, p.at_a, p.at_b, p.n_a);
    else if (p.n_a == 1)
        align_one(s, p);
    else if (!s->failed) {
        half = p.n_a / 2;
        across = crossing(s, p, half, &cost);
        align(s, (struct part){p.at_a, half, p.at_b, across, cost});
        align(s, (struct part){p.at_a + half, p.n_a - half, p.at_b + across, p.n_b - across,
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
    const struct edit_pair pair = {s.a, s.b, n_a, n_b, 1};
    enum nd_status status = check(n_a, n_b, &s.costs, err);
    uint64_t found = ND_EDIT_BEYOND;

    if (status != ND_OK)
        return status;
    s.forward = nd_alloc_array(n_b + 1, sizeof *s.forward);
    s.backward = nd_alloc_array(n_b + 1, sizeof *s.backward);
    s.failed = !s.forward || !s.backward || !bits_init(&s.bits, n_a);
    if (!s.failed)
        status = nd_edit_distance(a, n_a, b, n_b, &s.costs, limit, &found, err);
    if (status == ND_OK && !s.failed && found != ND_EDIT_BEYOND)
        align(&s, (struct part){0, pair.n_a, 0, pair.n_b, found});
    bits_release(&s.bits);
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
