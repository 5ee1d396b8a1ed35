/* strata.c - pairs divided by a value, and how many of each part are drawn */
#include "uses/judging/strata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number/number.h"
#include "uses/judging/proportions.h"

void nd_strata_release(struct nd_strata *s)
{
    free(s->column);
    free(s->edge);
    free(s->at);
    *s = (struct nd_strata){.n = 0};
}

/* ---- What the option says -------------------------------------------------------------------- */

static enum nd_status read_edges(struct nd_strata *s, const char *text, struct nd_error *err)
{
    for (bool more = true; more;) {
        char *end;
        const double edge = nd_number_read(text, &end);

        if (end == text || (*end && *end != ',') || !isfinite(edge) ||
            (s->n_edges && !(edge > s->edge[s->n_edges - 1])))
            return nd_fail(err, ND_EINVAL,
                           "strata: '%.60s': a width, or rising numbers with commas between them, "
                           "stand behind the column",
                           text);
        if (!ND_RESERVE(s->edge, &s->edges_capacity, s->n_edges + 1))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        s->edge[s->n_edges++] = edge;
        more = *end == ',';
        text = end + 1;
    }
    if (s->n_edges > 1)
        return ND_OK;
    s->width = s->edge[0];
    s->n_edges = 0;
    return s->width > 0 ? ND_OK : nd_fail(err, ND_EINVAL, "strata: the width must be above 0");
}

enum nd_status nd_strata_parse(struct nd_strata *s, const char *option, struct nd_error *err)
{
    const char *colon = option ? strrchr(option, ':') : NULL;
    const size_t len = colon ? (size_t)(colon - option) : option ? strlen(option) : 0;

    if (!option)
        return ND_OK;
    if (!len)
        return nd_fail(err, ND_EINVAL, "strata: '%.60s' names no column", option);
    s->column = malloc(len + 1);
    if (!s->column)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(s->column, option, len);
    s->column[len] = '\0';
    return colon ? read_edges(s, colon + 1, err) : ND_OK;
}

/* ---- Dividing -------------------------------------------------------------------------------- */

/* The ends of the stratum that a value belongs to. */
static void find_ends(const struct nd_strata *s, double value, double *from, double *to)
{
    size_t i = 0;

    *from = -INFINITY;
    *to = INFINITY;
    if (!s->column)
        return;
    *from = *to = value;
    if (isnan(value))
        return;
    if (s->width > 0) {
        /* A value such as .3 is to begin at its own edge, though 3 times .1 is more. */
        const double step = floor(value / s->width + 1e-9);

        *from = step * s->width;
        *to = (step + 1) * s->width;
    } else if (s->n_edges) {
        while (i < s->n_edges && s->edge[i] <= value)
            i++;
        *from = i ? s->edge[i - 1] : -INFINITY;
        *to = i < s->n_edges ? s->edge[i] : INFINITY;
    }
}

/* A pair with the beginning of its stratum. */
struct stratum_place {
    double from;
    size_t pair;
    bool is_listed;
};

static int compare_numbers(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int by_stratum(const void *left, const void *right)
{
    const struct stratum_place *a = left, *b = right;
    const int order = compare_numbers(a->from, b->from);

    if (a->is_listed != b->is_listed)
        return a->is_listed ? -1 : 1;
    return order ? order : a->pair < b->pair ? -1 : a->pair > b->pair;
}

static struct nd_stratum *open_stratum(struct nd_strata *s, const struct stratum_place *place,
                                       double value, struct nd_error *err)
{
    struct nd_stratum *last = s->n ? &s->at[s->n - 1] : NULL;
    double from, to;

    if (last && last->is_listed == place->is_listed && !compare_numbers(last->from, place->from))
        return last;
    if (s->n == ND_STRATA_MAX) {
        nd_fail(err, ND_EINPUT,
                "the column '%.60s' gives more than %d strata: give it a width, as in %.60s:0.1",
                s->column, ND_STRATA_MAX, s->column);
        return NULL;
    }
    if (!ND_RESERVE(s->at, &s->capacity, s->n + 1)) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    find_ends(s, value, &from, &to);
    s->at[s->n] = (struct nd_stratum){from, to, value, place->is_listed, 0, 0};
    return &s->at[s->n++];
}

enum nd_status nd_strata_divide(struct nd_strata *s, const struct nd_relation *pairs, uint32_t *of,
                                struct nd_error *err)
{
    struct stratum_place *place = nd_alloc_array(pairs->n_pairs + 1, sizeof *place);
    enum nd_status status = ND_OK;

    if (!place)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu pairs", pairs->n_pairs);
    for (size_t i = 0; i < pairs->n_pairs; i++) {
        double to;

        find_ends(s, pairs->pair[i].value, &place[i].from, &to);
        place[i].pair = i;
        place[i].is_listed = pairs->pair[i].label == ND_LABEL_SAME;
    }
    qsort(place, pairs->n_pairs, sizeof *place, by_stratum);
    for (size_t i = 0; status == ND_OK && i < pairs->n_pairs; i++) {
        const double value = pairs->pair[place[i].pair].value;
        struct nd_stratum *at = open_stratum(s, &place[i], value, err);

        if (!at) {
            status = err ? err->status : ND_ENOMEM;
            break;
        }
        at->pairs++;
        at->most = value > at->most ? value : at->most;
        of[place[i].pair] = (uint32_t)(s->n - 1);
    }
    free(place);
    return status;
}

void nd_stratum_name(const struct nd_stratum *s, char out[ND_STRATUM_NAME])
{
    const char *before = s->is_listed ? "" : "near-miss ";

    if (isnan(s->from))
        snprintf(out, ND_STRATUM_NAME, "%snone", before);
    else if (isinf(s->from) && isinf(s->to))
        snprintf(out, ND_STRATUM_NAME, "%sall", before);
    else if (isinf(s->from))
        snprintf(out, ND_STRATUM_NAME, "%s<%.12g", before, s->to);
    else if (isinf(s->to))
        snprintf(out, ND_STRATUM_NAME, "%s>=%.12g", before, s->from);
    else if (!(s->most > s->from)) /* all have one value */
        snprintf(out, ND_STRATUM_NAME, "%s%.12g", before, s->from);
    else
        snprintf(out, ND_STRATUM_NAME, "%s%.12g-%.12g", before, s->from, s->to);
}

/* ---- How many are drawn ---------------------------------------------------------------------- */

/* Give each an equal part; what is more than a small one has goes to the others. */
static void allocate_equally(struct nd_strata *s, uint64_t size)
{
    uint64_t left = size, open = s->n, share, extra;
    bool is_settled = false;

    for (size_t i = 0; i < s->n; i++)
        s->at[i].drawn = 0;
    while (!is_settled && open) {
        is_settled = true;
        share = left / open;
        for (size_t i = 0; i < s->n; i++)
            if (!s->at[i].drawn && s->at[i].pairs <= share) {
                s->at[i].drawn = s->at[i].pairs;
                left -= s->at[i].pairs;
                open--;
                is_settled = false;
            }
    }
    share = open ? left / open : 0;
    extra = open ? left % open : 0;
    for (size_t i = 0; i < s->n; i++)
        if (!s->at[i].drawn) {
            s->at[i].drawn = share + (extra > 0);
            extra -= extra > 0;
        }
}

/* Give each one, and what is left in proportion to the others of each, by largest remainders. */
static void allocate_in_proportion(struct nd_strata *s, uint64_t size, uint64_t pairs)
{
    const uint64_t n = s->n, left = size - n;
    uint64_t given = n;
    double best[ND_STRATA_MAX];

    for (size_t i = 0; i < n; i++) {
        const unsigned __int128 part = (unsigned __int128)left * (s->at[i].pairs - 1);
        const uint64_t whole = pairs > n ? (uint64_t)(part / (pairs - n)) : 0;

        s->at[i].drawn = 1 + whole;
        given += whole;
        best[i] = pairs > n ? (double)(uint64_t)(part % (pairs - n)) : 0;
    }
    for (; given < size; given++) {
        size_t at = 0;

        for (size_t i = 1; i < n; i++)
            at = best[i] > best[at] ? i : at;
        s->at[at].drawn++;
        best[at] = -1;
    }
}

static uint64_t count_pairs(const struct nd_strata *s)
{
    uint64_t pairs = 0;

    for (size_t i = 0; i < s->n; i++)
        pairs += s->at[i].pairs;
    return pairs;
}

void nd_strata_allocate(struct nd_strata *s, uint64_t size, bool equally)
{
    const uint64_t pairs = count_pairs(s);

    if (size >= pairs || size < s->n) {
        for (size_t i = 0; i < s->n; i++)
            s->at[i].drawn = size < s->n ? i < size : s->at[i].pairs;
        return;
    }
    if (equally)
        allocate_equally(s, size);
    else
        allocate_in_proportion(s, size, pairs);
}

double nd_strata_half_width(const struct nd_strata *s, double expected)
{
    double listed = 0, below = 0, above = 0;

    for (size_t i = 0; i < s->n; i++)
        listed += s->at[i].is_listed ? (double)s->at[i].pairs : 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct nd_stratum *x = &s->at[i];
        const double n = (double)x->drawn, weight = (double)x->pairs / listed;
        double low, high, rest;

        if (!x->is_listed || x->drawn == x->pairs)
            continue;
        rest = weight * weight * (double)(x->pairs - x->drawn) / (double)(x->pairs - 1);
        nd_wilson(expected * n, n, &low, &high);
        below += rest * (expected - low) * (expected - low);
        above += rest * (high - expected) * (high - expected);
    }
    return sqrt(fmax(below, above));
}

uint64_t nd_strata_size_for(struct nd_strata *s, double *half, double expected, bool equally)
{
    uint64_t from = s->n, to = count_pairs(s);

    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;

        nd_strata_allocate(s, middle, equally);
        if (nd_strata_half_width(s, expected) <= *half)
            to = middle;
        else
            from = middle + 1;
    }
    nd_strata_allocate(s, from, equally);
    *half = nd_strata_half_width(s, expected);
    return from;
}
