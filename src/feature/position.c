/* position.c - what a word's place in the document is worth: docs/format/weights.md */
#include "feature/position.h"

#include <neardup/ratio.h>

#include "feature/list.h"
#include "feature/weigh.h"
#include "feature/weight_tables.h"

enum { GREATEST = 255 }; /* weight of a corner */

static enum nd_status bad_table(const struct nd_view *entry, const char *why, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "position_table: \"%.*s\": %s", (int)entry->len, entry->data,
                   why);
}

static enum nd_status read_corner(struct nd_position_weights *p, const struct nd_view *entry,
                                  struct nd_error *err)
{
    struct nd_position_corner *corner = &p->corner[p->corners];
    struct nd_view rest = *entry, share, weight;
    struct nd_ratio at, worth;

    if (p->corners == ND_POSITION_CORNERS)
        return bad_table(entry, "there are more than 32 corners", err);
    if (!nd_list_part(&rest, &share) || !nd_list_part(&rest, &weight) || rest.data ||
        nd_ratio_parse(share.data, share.len, &at, NULL) != ND_OK ||
        nd_ratio_parse(weight.data, weight.len, &worth, NULL) != ND_OK)
        return bad_table(entry, "a corner is SHARE:WEIGHT, two numbers such as 0.5:0.2", err);
    if (at.p > at.q)
        return bad_table(entry, "a share of the length is 0 to 1", err);
    if (worth.p > (uint64_t)worth.q * GREATEST)
        return bad_table(entry, "a weight is 0 to 255", err);
    corner->share = ((uint64_t)at.p << 31) / at.q;
    corner->weight = (uint32_t)(((uint64_t)worth.p << 24) / worth.q);
    if (p->corners > 0 && corner->share <= corner[-1].share)
        return bad_table(entry, "shares must rise", err);
    p->corners++;
    return ND_OK;
}

static enum nd_status read_table(struct nd_position_weights *p, const char *list,
                                 struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_view entry;
    bool any = false;

    while (status == ND_OK && nd_list_next(&list, &entry))
        status = read_corner(p, &entry, err);
    for (unsigned i = 0; i < p->corners; i++)
        any = any || p->corner[i].weight > 0;
    if (status == ND_OK && !any)
        return nd_fail(err, ND_EINVAL, "position_table: no corner has a weight above 0");
    return status;
}

/* Where the length does not matter. */
static uint32_t by_number(enum nd_position kind, uint64_t i)
{
    switch (kind) {
    case ND_POSITION_LOG: return (uint32_t)(nd_ln(i + 1) / (i + 1) >> 16);
    case ND_POSITION_INVERSE: return (uint32_t)(ND_GAIN_ONE / i);
    case ND_POSITION_INVERSE_LOG: return (uint32_t)(UINT64_MAX / nd_ln(i < 3 ? 3 : i));
    default: return ND_GAIN_ONE;
    }
}

enum nd_status nd_position_init(struct nd_position_weights *p,
                                const struct nd_weight_params *params, struct nd_error *err)
{
    *p = (struct nd_position_weights){.kind = params->position};
    if (p->kind == ND_POSITION_TABLE)
        return read_table(p, params->position_table, err);
    for (unsigned i = 0; i < ND_POSITION_NEAR; i++)
        p->near[i] = by_number(p->kind, i + 1);
    return ND_OK;
}

bool nd_position_needs_length(const struct nd_position_weights *p)
{
    return p->kind == ND_POSITION_COSINE || p->kind == ND_POSITION_TABLE;
}

/* Level before the first corner and after the last, a straight line between two. */
static uint32_t by_table(const struct nd_position_weights *p, uint64_t share)
{
    const struct nd_position_corner *a, *b;
    unsigned i = 0;
    int64_t rise;

    while (i < p->corners && p->corner[i].share < share)
        i++;
    if (i == 0)
        return p->corner[0].weight;
    if (i == p->corners)
        return p->corner[i - 1].weight;
    a = &p->corner[i - 1];
    b = &p->corner[i];
    rise = (int64_t)b->weight - (int64_t)a->weight; /* below 255 * 2^24: the product fits */
    rise = rise * (int64_t)(share - a->share) / (int64_t)(b->share - a->share);
    return (uint32_t)((int64_t)a->weight + rise);
}

uint32_t nd_position_weight(const struct nd_position_weights *p, uint64_t i, uint64_t length)
{
    uint64_t share;

    if (!nd_position_needs_length(p))
        return i <= ND_POSITION_NEAR ? p->near[i - 1] : by_number(p->kind, i);
    share = (i << 31) / length;
    if (p->kind == ND_POSITION_COSINE)
        return nd_raised_cosine((uint32_t)(share << 1));
    return by_table(p, share);
}

/*
 * Shares of neighbours: the quotient rises by that of one step, and by one more where the remainder
 * overflows: no division for each.
 */
static void fill_cosine(uint64_t i, size_t n, uint64_t length, uint32_t *weight)
{
    const uint64_t step = (UINT64_C(1) << 31) / length, more = (UINT64_C(1) << 31) % length;
    uint64_t share = (i << 31) / length, rest = (i << 31) % length;

    for (size_t k = 0; k < n; k++) {
        uint64_t over;

        weight[k] = nd_raised_cosine((uint32_t)(share << 1));
        rest += more;
        over = rest >= length;
        share += step + over;
        rest -= length & (0 - over);
    }
}

void nd_position_fill(const struct nd_position_weights *p, uint64_t i, size_t n, uint64_t length,
                      uint32_t *weight)
{
    size_t k = 0;

    if (p->kind == ND_POSITION_COSINE) {
        fill_cosine(i, n, length, weight);
        return;
    }
    if (!nd_position_needs_length(p))
        for (; k < n && i + k <= ND_POSITION_NEAR; k++)
            weight[k] = p->near[i + k - 1];
    for (; k < n; k++)
        weight[k] = nd_position_weight(p, i + k, length);
}
