/* lab_verdict.c - the numbers of a series held against the paper's, and against those expected */
#include "lab/lab_verdict.h"

#include <math.h>
#include <string.h>

void lab_compare_order(const struct lab_series *s, const double *value, size_t *pairs,
                       size_t *agreeing)
{
    *pairs = *agreeing = 0;
    for (size_t i = 0; i < s->n_paper; i++)
        for (size_t j = 0; j < i; j++) {
            const double paper = s->paper[i] - s->paper[j], ours = value[i] - value[j];

            if (isnan(paper) || isnan(ours) || (!(paper < 0) && !(paper > 0)))
                continue;
            ++*pairs;
            *agreeing += (paper < 0 && ours < 0) || (paper > 0 && ours > 0);
        }
}

void lab_compare_size(const struct lab_series *s, const double *value, size_t *numbers,
                      size_t *near)
{
    *numbers = *near = 0;
    for (size_t i = 0; i < s->n_paper; i++)
        if (!isnan(s->paper[i]) && !isnan(value[i])) {
            ++*numbers;
            *near += fabs(value[i] - s->paper[i]) <= s->near * fabs(s->paper[i]) + 1e-12;
        }
}

bool lab_is_expected(const struct lab_series *s, size_t i, double value)
{
    return i >= s->n_expect || isnan(s->expect[i]) ||
           fabs(value - s->expect[i]) <= s->within + 1e-12;
}

bool lab_has_verdict(const struct lab_series *s, const double *value)
{
    size_t numbers, near;

    lab_compare_size(s, value, &numbers, &near);
    return numbers > 0;
}

void lab_put_verdict(FILE *out, const struct lab_series *s, const double *value)
{
    size_t pairs, agreeing, numbers, near;

    lab_compare_order(s, value, &pairs, &agreeing);
    lab_compare_size(s, value, &numbers, &near);
    if (pairs && agreeing == pairs)
        fputs("the same order; ", out);
    else if (pairs)
        fprintf(out, "the order agrees in %zu of %zu pairs; ", agreeing, pairs);
    fprintf(out, "%zu of %zu %s within %g%% of the paper's\n", near, numbers,
            numbers == 1 ? "number is" : "numbers are", 100 * s->near);
}

void lab_number_text(double value, char text[LAB_NUMBER_TEXT])
{
    if (isnan(value))
        strcpy(text, "-");
    else if (fabs(value) >= 1000)
        snprintf(text, LAB_NUMBER_TEXT, "%.0f", value);
    else
        snprintf(text, LAB_NUMBER_TEXT, "%.4g",
                 fabs(value) < 100 ? round(value * 1e4) / 1e4 : value);
}
