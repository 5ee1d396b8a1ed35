/* edit_distance.c - the edit distance of two runs of tokens, within a band of diagonals */
#include "match/edit_bits.h"

#include <stdlib.h>

#include "base/memory.h"

/*
 * Dynamic programming over the table of prefixes, one row kept.  A script that costs c leaves the
 * main diagonal by inserting or removing, and must come back to the last one: so it stays within a
 * band (Ukkonen).  The bound c is guessed and doubled until the result is within it, which makes
 * the whole time that of the last band, twice.  Where the band is wide and every edit costs 1, the
 * whole table in bits is less work (edit_bits.c).
 */

struct nd_edit_costs nd_edit_costs_default(void)
{
    return (struct nd_edit_costs){1, 1, 1};
}

enum nd_status nd_edit_check(size_t n_a, size_t n_b, struct nd_edit_costs *costs,
                             struct nd_error *err)
{
    const uint32_t each[] = {costs->insert, costs->remove, costs->replace};
    uint64_t most = 0;

    for (unsigned i = 0; i < 3; i++) {
        if (each[i] < 1 || each[i] > ND_EDIT_COST_MAX)
            return nd_fail(err, ND_EINVAL, "the cost of an edit must be from 1 to %u, not %u",
                           ND_EDIT_COST_MAX, each[i]);
        most = each[i] > most ? each[i] : most;
    }
    if (n_a > ND_EDIT_FAR || n_b > ND_EDIT_FAR || (n_a + n_b) * most >= ND_EDIT_FAR)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "texts of %zu and %zu tokens are too long for an edit distance", n_a, n_b);
    if (costs->replace > costs->insert + costs->remove)
        costs->replace = costs->insert + costs->remove;
    return ND_OK;
}

uint64_t nd_edit_least(size_t n_a, size_t n_b, const struct nd_edit_costs *costs)
{
    return n_b > n_a ? (n_b - n_a) * (uint64_t)costs->insert
                     : (n_a - n_b) * (uint64_t)costs->remove;
}

/*
 * To diagonal k >= 0 and then to the last one, D = n_b - n_a <= k, at least k tokens are inserted
 * and k - D removed: k (insert + remove) <= most + D remove.  Below 0 and D it is the mirror image.
 */
struct nd_edit_band nd_edit_band_of(size_t n_a, size_t n_b, const struct nd_edit_costs *costs,
                                    uint64_t most)
{
    int64_t last = (int64_t)n_b - (int64_t)n_a, both = (int64_t)costs->insert + costs->remove;
    int64_t widest = (int64_t)(n_a + n_b) * both, bound = (int64_t)most;

    if (most > (uint64_t)widest)
        bound = widest;
    return (struct nd_edit_band){-((bound - last * costs->insert) / both),
                                 (bound + last * costs->remove) / both};
}

static uint32_t least(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

void nd_edit_last_row(const struct nd_edit_pair *pair, const struct nd_edit_costs *costs,
                      struct nd_edit_band band, uint32_t *row)
{
    const ptrdiff_t step = pair->step;
    const int64_t n_b = (int64_t)pair->n_b;

    for (int64_t j = 0; j <= n_b; j++)
        row[j] = j <= band.high ? (uint32_t)j * costs->insert : ND_EDIT_FAR;
    for (int64_t i = 1; i <= (int64_t)pair->n_a; i++) {
        const uint64_t token = pair->a[(i - 1) * step];
        int64_t from = i + band.low, to = i + band.high;
        uint32_t corner, left; /* of the row before, and of this one, at j - 1 */

        to = to < n_b ? to : n_b;
        if (from > 0) {
            corner = row[from - 1]; /* low is at most n_b - n_a: it exists */
            left = row[from - 1] = ND_EDIT_FAR;
        } else {
            corner = row[0];
            left = row[0] = least(row[0] + costs->remove, ND_EDIT_FAR);
            from = 1;
        }
        for (int64_t j = from; j <= to; j++) {
            uint32_t by_pair = corner + (pair->b[(j - 1) * step] == token ? 0 : costs->replace);
            uint32_t by_one = least(row[j] + costs->remove, left + costs->insert);

            corner = row[j];
            left = least(least(by_pair, by_one), ND_EDIT_FAR);
            row[j] = left;
        }
    }
}

void nd_edit_trim(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t *first,
                  size_t *last)
{
    size_t most = n_a < n_b ? n_a : n_b;

    *first = *last = 0;
    while (*first < most && a[*first] == b[*first])
        ++*first;
    while (*last < most - *first && a[n_a - 1 - *last] == b[n_b - 1 - *last])
        ++*last;
}

static uint64_t distance_in(const struct nd_edit_pair *pair, const struct nd_edit_costs *costs,
                            uint64_t limit, struct nd_edit_bits *bits, uint32_t *row)
{
    uint64_t bound = nd_edit_least(pair->n_a, pair->n_b, costs), all;

    if (bound > limit)
        return ND_EDIT_BEYOND;
    all = (pair->n_a + pair->n_b) * (uint64_t)(costs->insert + costs->remove);
    bound += 16 * (uint64_t)(costs->insert + costs->remove);
    for (;; bound *= 2) {
        struct nd_edit_band band;

        bound = bound < limit ? bound : limit;
        band = nd_edit_band_of(pair->n_a, pair->n_b, costs, bound);
        if (nd_edit_bits_pay(costs, pair->n_b, (uint64_t)(band.high - band.low) + 1)) {
            nd_edit_bits_last_row(bits, pair, row);
            return row[pair->n_b] <= limit ? row[pair->n_b] : ND_EDIT_BEYOND;
        }
        nd_edit_last_row(pair, costs, band, row);
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
    enum nd_status status = nd_edit_check(n_a, n_b, &own, err);
    struct nd_edit_pair pair;
    struct nd_edit_bits bits;
    size_t first, last;
    uint32_t *row;

    if (status != ND_OK)
        return status;
    nd_edit_trim(a, n_a, b, n_b, &first, &last);
    pair = (struct nd_edit_pair){n_a ? a + first : &none, n_b ? b + first : &none,
                                 n_a - first - last, n_b - first - last, 1};
    row = nd_alloc_array(pair.n_b + 1, sizeof *row);
    if (!row || !nd_edit_bits_init(&bits, pair.n_a)) {
        free(row);
        return nd_fail(err, ND_ENOMEM, "out of memory for an edit distance");
    }
    *distance = distance_in(&pair, &own, limit, &bits, row);
    nd_edit_bits_release(&bits);
    free(row);
    return ND_OK;
}

uint64_t nd_edit_limit_for(size_t n_a, size_t n_b, const struct nd_edit_costs *costs,
                           uint64_t cells)
{
    uint64_t least_cost = nd_edit_least(n_a, n_b, costs), width = n_a ? cells / n_a : cells;
    uint64_t apart = n_a > n_b ? n_a - n_b : n_b - n_a;

    if (nd_edit_bits_pay(costs, n_b, width))
        return (uint64_t)n_a + n_b;
    if (width <= apart)
        return least_cost;
    return least_cost + (width - apart) / 2 * (costs->insert + costs->remove);
}
