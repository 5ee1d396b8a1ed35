/* curve.c - precision and recall as pairs are listed, the best ones first */
#include "uses/eval/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A listed pair whose label is known. */
struct listed {
    double value;
    bool is_right;
};

char *nd_curve_column(const char *option, bool *is_ascending)
{
    static const char *const small_is_near[] = {"distance", "hamming", "bits", "terms", "edit"};
    const char *colon = strrchr(option, ':');
    size_t len = strlen(option);
    char *column;

    *is_ascending = false;
    if (colon && (strcmp(colon, ":asc") == 0 || strcmp(colon, ":desc") == 0)) {
        *is_ascending = colon[1] == 'a';
        len = (size_t)(colon - option);
    } else {
        for (unsigned i = 0; i < sizeof small_is_near / sizeof *small_is_near; i++)
            *is_ascending |= strcmp(option, small_is_near[i]) == 0;
    }
    column = malloc(len + 1);
    if (column) {
        memcpy(column, option, len);
        column[len] = '\0';
    }
    return column;
}

static int ascending(const void *left, const void *right)
{
    const double a = ((const struct listed *)left)->value,
                 b = ((const struct listed *)right)->value;

    return (a > b) - (a < b);
}

static int descending(const void *left, const void *right)
{
    return ascending(right, left);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* The sum of precisions, each weighted by the recall that its step adds. */
static double average(const struct nd_curve *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->n_steps; i++) {
        const struct nd_curve_step *s = &c->step[i];
        const uint64_t added = s->right - (i ? s[-1].right : 0);

        sum += (double)added * share(s->right, s->listed);
    }
    return c->same ? sum / (double)c->same : NAN;
}

/* Precision is above recall as long as less is listed than is the same. Between two steps, both are
 * taken to be straight. */
static double meet(const struct nd_curve *c)
{
    for (size_t i = 0; c->same && i < c->n_steps; i++) {
        const struct nd_curve_step *s = &c->step[i];
        const double p = share(s->right, s->listed), r = share(s->right, c->same);
        double before, gap, past;

        if (s->listed < c->same)
            continue;
        if (s->listed == c->same || !i)
            return s->listed == c->same ? p : NAN;
        before = share(s[-1].right, s[-1].listed);
        gap = before - share(s[-1].right, c->same);
        past = gap > 0 || p < r ? gap / (gap - (p - r)) : 1;
        return before + past * (p - before);
    }
    return NAN;
}

static void add_steps(struct nd_curve *c, const struct listed *listed, size_t n)
{
    uint64_t right = 0;

    for (size_t i = 0; i < n; i++) {
        right += listed[i].is_right;
        if (i + 1 == n || listed[i + 1].value < listed[i].value ||
            listed[i + 1].value > listed[i].value)
            c->step[c->n_steps++] = (struct nd_curve_step){listed[i].value, right, i + 1};
    }
}

enum nd_status nd_curve_make(struct nd_curve *curve, const struct nd_relation *truth,
                             const struct nd_relation *result, const struct nd_scores *scores,
                             size_t n, bool all, bool is_ascending, struct nd_error *err)
{
    struct listed *listed = calloc(result->n_pairs + 1, sizeof *listed);
    size_t n_listed = 0;
    enum nd_label label;

    curve->step = nd_alloc_array(result->n_pairs + 1, sizeof *curve->step);
    curve->same = scores->sum.pairs.same;
    if (!listed || !curve->step) {
        free(listed);
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu pairs", result->n_pairs);
    }
    for (size_t i = 0; i < result->n_pairs; i++)
        if (nd_scores_judge(truth, n, all, result->pair[i].ids, &label) && label != ND_LABEL_UNSURE)
            listed[n_listed++] = (struct listed){result->pair[i].value, label == ND_LABEL_SAME};
    qsort(listed, n_listed, sizeof *listed, is_ascending ? ascending : descending);
    add_steps(curve, listed, n_listed);
    curve->average_precision = scores->has_negatives ? average(curve) : NAN;
    curve->break_even = scores->has_negatives ? meet(curve) : NAN;
    free(listed);
    return ND_OK;
}

void nd_curve_release(struct nd_curve *curve)
{
    free(curve->step);
    *curve = (struct nd_curve){.n_steps = 0};
}
