/* terms.c - the distinct terms of two documents, and what their numbers say */
#include <neardup/compare.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int by_hash(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

static uint64_t *sorted(const uint64_t *token, size_t n)
{
    uint64_t *copy = nd_alloc_array(n, sizeof *copy);

    if (copy && n) {
        memcpy(copy, token, n * sizeof *copy);
        qsort(copy, n, sizeof *copy, by_hash);
    }
    return copy;
}

/* How often the term at *i stands; go on to the next. */
static uint64_t take(const uint64_t *token, size_t n, size_t *i)
{
    size_t from = *i;

    while (*i < n && token[*i] == token[from])
        ++*i;
    return *i - from;
}

static void merge(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                  struct nd_term_overlap *out)
{
    for (size_t i = 0, j = 0; i < n_a || j < n_b;) {
        bool in_a = i < n_a && (j == n_b || a[i] <= b[j]);
        bool in_b = j < n_b && (i == n_a || b[j] <= a[i]);
        uint64_t tf_a = in_a ? take(a, n_a, &i) : 0, tf_b = in_b ? take(b, n_b, &j) : 0;

        out->distinct.a += in_a;
        out->distinct.b += in_b;
        out->distinct.shared += in_a && in_b;
        out->inner += tf_a * tf_b;
        out->squares_a += tf_a * tf_a;
        out->squares_b += tf_b * tf_b;
    }
}

enum nd_status nd_terms_compare(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                struct nd_term_overlap *out, struct nd_error *err)
{
    uint64_t *x, *y;
    bool ok;

    if (n_a > INT32_MAX || n_b > INT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than 2^31 tokens in a text");
    x = sorted(a, n_a);
    y = sorted(b, n_b);
    ok = x && y;
    if (ok) {
        *out = (struct nd_term_overlap){.tokens_a = n_a, .tokens_b = n_b};
        merge(x, n_a, y, n_b, out);
    }
    free(x);
    free(y);
    return ok ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for the terms of two texts");
}

/* part / whole >= ratio; counts are below 2^31. */
static bool reaches(uint64_t part, uint64_t whole, struct nd_ratio ratio)
{
    return part * ratio.q >= whole * ratio.p;
}

int nd_conrad_schriber(const struct nd_term_overlap *o, struct nd_ratio terms,
                       struct nd_ratio length)
{
    uint64_t most = o->distinct.a > o->distinct.b ? o->distinct.a : o->distinct.b;
    uint64_t longer = o->tokens_a > o->tokens_b ? o->tokens_a : o->tokens_b;
    uint64_t shorter = o->tokens_a > o->tokens_b ? o->tokens_b : o->tokens_a;

    return o->distinct.shared > 0 && reaches(o->distinct.shared, most, terms) &&
           reaches(shorter, longer, length);
}
