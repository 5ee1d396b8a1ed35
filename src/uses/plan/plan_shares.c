/* plan_shares.c - the shares of documents that a plan says are removed */
#include "uses/plan/planning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "uses/plan/cluster_estimate.h"

static enum nd_status estimate_level(struct nd_planning *p, int level, struct nd_error *err)
{
    struct nd_sampled_document *document = nd_alloc_array(p->n + 1, sizeof *document);
    struct nd_estimate estimate;
    enum nd_status status;
    size_t n = 0, n_old = 0;
    double old;

    if (!document)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < p->n; i++) {
        bool is_old = p->is_document[i] && p->kept[i] >= p->n && p->removed_by[i] <= level;
        bool is_removed = p->is_document[i] && p->kept[i] != i && p->removed_by[i] <= level;

        n_old += is_old;
        if (p->is_document[i] && !is_old)
            document[n++] = (struct nd_sampled_document){is_removed ? p->kept[i] : i, p->block[i]};
    }
    status = nd_estimate_duplicates(document, n, p->block_scale, &estimate, err);
    old = (double)n_old / fmax((double)(n + n_old), 1); /* those are seen as they are */
    p->share[level] =
        (struct nd_forecast){old + (1 - old) * estimate.value, old + (1 - old) * estimate.low,
                             old + (1 - old) * estimate.high};
    free(document);
    return status;
}

static struct nd_forecast difference(struct nd_forecast all, struct nd_forecast less)
{
    struct nd_forecast d = {all.value - less.value, all.low - less.high, all.high - less.low};

    d.value = fmax(d.value, 0);
    d.low = fmin(fmax(d.low, 0), d.value);
    d.high = fmax(d.high, d.value);
    return d;
}

/* From blocks spread over the inputs, of which a cluster may have documents in others. */
static enum nd_status shares_of_blocks(struct nd_planning *p, struct nd_error *err)
{
    struct nd_forecast *figure = p->plan->figure;
    enum nd_status status = ND_OK;

    for (int level = 0; level < ND_PLANNING_LEVELS && status == ND_OK; level++)
        status = estimate_level(p, level, err);
    if (status != ND_OK)
        return status;
    figure[ND_FIGURE_REMOVED] = p->share[ND_BY_NEARNESS];
    figure[ND_FIGURE_IDENTICAL_BYTES] = p->share[ND_BY_BYTES];
    figure[ND_FIGURE_IDENTICAL_TOKENS] = difference(p->share[ND_BY_TOKENS], p->share[ND_BY_BYTES]);
    figure[ND_FIGURE_NEAR] = difference(p->share[ND_BY_NEARNESS], p->share[ND_BY_TOKENS]);
    return ND_OK;
}

/* ---- Where all was read, and a slice of it compared ---- */

static bool counts_as(const struct nd_planning *p, size_t i, unsigned from, unsigned to)
{
    return p->kept[i] != i && p->removed_by[i] >= from && p->removed_by[i] <= to;
}

/*
 * The standard error of a share of documents in a slice: that of a ratio of two sums over the keys of
 * the slice (Cochran 1977, §6.4).  At least that of a share for which one document more, or less,
 * would do.  d: sorted.
 */
static double error_of_share(const struct nd_planning *p, const struct nd_numbered_value *d,
                             size_t n, unsigned from, unsigned to, double share)
{
    double squares = 0;

    for (size_t i = 0, next; i < n; i = next) {
        double off = 0;

        for (next = i; next < n && d[next].value == d[i].value; next++)
            off += counts_as(p, d[next].number, from, to) - share;
        squares += off * off;
    }
    return sqrt(fmax(squares, 1) * (1 - p->sliced)) / fmax((double)n, 1);
}

static enum nd_status share_of_levels(const struct nd_planning *p, unsigned from, unsigned to,
                                      struct nd_forecast *share, struct nd_error *err)
{
    struct nd_numbered_value *d = nd_alloc_array(p->n + 1, sizeof *d),
                             *other = nd_alloc_array(p->n + 1, sizeof *other);
    double removed = 0, ninety;
    size_t n = 0;

    for (size_t i = 0; d && other && i < p->n; i++)
        if (p->is_document[i]) {
            d[n++] = (struct nd_numbered_value){p->key[i], (uint32_t)i, 0};
            removed += counts_as(p, i, from, to);
        }
    if (d && other) {
        nd_sort_numbered(&d, &other, n);
        share->value = removed / fmax((double)n, 1);
        ninety = 1.645 * error_of_share(p, d, n, from, to, share->value);
        share->low = fmax(share->value - ninety, 0);
        share->high = fmin(share->value + ninety, 1);
    }
    free(d);
    free(other);
    return d && other ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

/* For how many near duplicates one of the slice stands, as some are torn apart (slice.h). */
static double torn_apart(const struct nd_planning *p)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double found = 0, all = 0;

    if (p->plan->sample.measured_by && strcmp(p->plan->sample.measured_by, "resemblance") == 0)
        for (size_t i = 0; i < s->n_measured; i++) {
            double n = (double)s->measured[i].documents, x = s->measured[i].from;

            found += n;
            all += n / (x + (1 - x) * p->sliced);
        }
    return found > 0 ? all / found : 1;
}

/*
 * The share of equal texts is known of all that was read.  Which part of them a run removes as equal,
 * and not as near to what is kept, the slice tells.
 */
static struct nd_forecast equal_bytes(const struct nd_planning *p)
{
    double in_slice = nd_run_figure(&p->plan->sample, ND_FIGURE_IDENTICAL_BYTES), part, error,
           n = fmax(p->read.sampled.text * (double)p->plan->sample_documents, 1);

    if (p->read.sampled.text <= 0)
        return (struct nd_forecast){p->read.all.text, 0, p->read.all.text};
    part = fmin(in_slice / p->read.sampled.text, 1);
    error = 1.645 * sqrt(part * (1 - part) / n) + 1 / n;
    return (struct nd_forecast){p->read.all.text * part, p->read.all.text * fmax(part - error, 0),
                                p->read.all.text * fmin(part + error, 1)};
}

/*
 * For how many documents that are removed, but not by their bytes, one of the slice stands: those
 * that are likely to be near are known of all that was read, and of the slice too.  A few say nothing.
 */
static double likely_near(const struct nd_planning *p)
{
    enum { FEW = 10 };
    double all = p->read.all.near - p->read.all.text,
           sampled = p->read.sampled.near - p->read.sampled.text,
           n = (double)p->plan->sample_documents;

    return all * n > FEW && sampled * n > FEW ? all / sampled : 1;
}

static struct nd_forecast times(struct nd_forecast f, double factor)
{
    return (struct nd_forecast){fmin(f.value * factor, 1), fmin(f.low * factor, 1),
                                fmin(f.high * factor, 1)};
}

static enum nd_status shares_of_slice(struct nd_planning *p, struct nd_error *err)
{
    struct nd_forecast *figure = p->plan->figure, both;
    const double torn = torn_apart(p), likely = likely_near(p);
    const struct nd_forecast equal = equal_bytes(p);
    enum nd_status status =
        share_of_levels(p, ND_BY_TOKENS, ND_BY_TOKENS, &figure[ND_FIGURE_IDENTICAL_TOKENS], err);

    if (status == ND_OK)
        status = share_of_levels(p, ND_BY_NEARNESS, ND_BY_NEARNESS, &figure[ND_FIGURE_NEAR], err);
    if (status == ND_OK)
        status = share_of_levels(p, ND_BY_TOKENS, ND_BY_NEARNESS, &both, err);
    if (status != ND_OK)
        return status;
    figure[ND_FIGURE_IDENTICAL_TOKENS] = times(figure[ND_FIGURE_IDENTICAL_TOKENS], likely);
    figure[ND_FIGURE_NEAR] = times(figure[ND_FIGURE_NEAR], torn * likely);
    both = times(both, (figure[ND_FIGURE_NEAR].value + figure[ND_FIGURE_IDENTICAL_TOKENS].value) /
                           fmax(both.value, 1e-9));
    figure[ND_FIGURE_IDENTICAL_BYTES] = equal;
    figure[ND_FIGURE_REMOVED] =
        (struct nd_forecast){fmin(equal.value + both.value, 1), fmin(equal.value + both.low, 1),
                             fmin(equal.value + both.high, 1)};
    return ND_OK;
}

/* Forecast by the slice only, if documents are removed for old ones, too. */
static enum nd_status shares_as_they_are(struct nd_planning *p, struct nd_error *err)
{
    struct nd_forecast *figure = p->plan->figure;
    enum nd_status status =
        share_of_levels(p, ND_BY_BYTES, ND_BY_BYTES, &figure[ND_FIGURE_IDENTICAL_BYTES], err);

    if (status == ND_OK)
        status = share_of_levels(p, ND_BY_TOKENS, ND_BY_TOKENS, &figure[ND_FIGURE_IDENTICAL_TOKENS],
                                 err);
    if (status == ND_OK)
        status = share_of_levels(p, ND_BY_NEARNESS, ND_BY_NEARNESS, &figure[ND_FIGURE_NEAR], err);
    return status == ND_OK
               ? share_of_levels(p, ND_BY_BYTES, ND_BY_NEARNESS, &figure[ND_FIGURE_REMOVED], err)
               : status;
}

enum nd_status nd_planning_shares(struct nd_planning *p, struct nd_error *err)
{
    if (p->plan->is_whole) {
        for (int i = ND_FIGURE_REMOVED; i <= ND_FIGURE_NEAR; i++)
            p->plan->figure[i] =
                nd_planning_exactly(nd_run_figure(&p->plan->sample, (enum nd_figure)i));
        return ND_OK;
    }
    if (!p->has_slice || p->block_scale > 1)
        return shares_of_blocks(p, err);
    return p->has_old ? shares_as_they_are(p, err) : shares_of_slice(p, err);
}
