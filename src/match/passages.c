/* passages.c - copied passages: equal runs of tokens, found by winnowing */
#include <neardup/compare.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "match/winnow.h"

struct nd_passage_params nd_passage_params_default(void)
{
    return (struct nd_passage_params){.shingle = 3, .least = 8, .gap = 0};
}

struct searching {
    const uint64_t *a, *b;
    size_t n_a, n_b;
    const struct nd_passage_params *params;
    struct nd_winnowed *in_a, *in_b;
    struct nd_passage *at; /* what was found; while it is, count_b is count_a */
    size_t n, capacity;
    size_t last; /* the one that reaches farthest in b */
};

static enum nd_status check(size_t n_a, size_t n_b, const struct nd_passage_params *p,
                            struct nd_error *err)
{
    if (p->shingle < 1 || p->least < p->shingle)
        return nd_fail(err, ND_EINVAL,
                       "passages of %u tokens cannot be found by shingles of %u: it must be from 1 "
                       "to that",
                       p->least, p->shingle);
    if (n_a > INT32_MAX || n_b > INT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than 2^31 tokens in a text");
    return ND_OK;
}

/* Whether the tokens just outside of the passage that reaches farthest say that this one may be no
 * part of it: `place_a` and `place_b` are equal shingles. */
static bool may_be_new(const struct searching *s, size_t place_a, size_t place_b)
{
    const struct nd_passage *p = s->n ? &s->at[s->last] : NULL;
    size_t to_end, to_begin;

    if (!p || place_b + s->params->shingle > p->at_b + p->count_b)
        return true;
    to_end = p->at_b + p->count_b - place_b; /* of the token behind it */
    to_begin = place_b - p->at_b + 1;        /* of the one before it */
    if (place_b + to_end < s->n_b && place_a + to_end < s->n_a &&
        s->b[place_b + to_end] == s->a[place_a + to_end])
        return true;
    return place_b >= to_begin && place_a >= to_begin &&
           s->b[place_b - to_begin] == s->a[place_a - to_begin];
}

/* As far as the tokens agree, to both sides. */
static struct nd_passage extend(const struct searching *s, size_t place_a, size_t place_b)
{
    size_t before = 0, count = 0;

    while (before < place_a && before < place_b &&
           s->a[place_a - before - 1] == s->b[place_b - before - 1])
        before++;
    while (place_a + count < s->n_a && place_b + count < s->n_b &&
           s->a[place_a + count] == s->b[place_b + count])
        count++;
    count += before;
    return (struct nd_passage){place_a - before, count, place_b - before, count, count};
}

static bool note(struct searching *s, struct nd_passage p)
{
    void *list = s->at;
    bool ok;

    if (p.count_b < s->params->least)
        return true;
    ok = nd_array_reserve(&list, &s->capacity, s->n + 1, sizeof p);
    s->at = list;
    if (!ok)
        return false;
    s->at[s->n] = p;
    if (s->n == 0 || p.at_b + p.count_b >= s->at[s->last].at_b + s->at[s->last].count_b)
        s->last = s->n;
    s->n++;
    return true;
}

static int by_value(const void *left, const void *right)
{
    const struct nd_winnowed *x = left, *y = right;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool match_all(struct searching *s, size_t n_in_a, size_t n_in_b)
{
    for (size_t i = 0; i < n_in_b; i++) {
        size_t low = 0, high = n_in_a;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (s->in_a[middle].value < s->in_b[i].value)
                low = middle + 1;
            else
                high = middle;
        }
        for (size_t k = low;
             k < n_in_a && k - low < ND_PASSAGE_PLACES_MAX && s->in_a[k].value == s->in_b[i].value;
             k++)
            if (may_be_new(s, s->in_a[k].place, s->in_b[i].place) &&
                !note(s, extend(s, s->in_a[k].place, s->in_b[i].place)))
                return false;
    }
    return true;
}

/* In b, the longer first where two begin together, then by the place in a. */
static int by_place(const void *left, const void *right)
{
    const struct nd_passage *x = left, *y = right;

    if (x->at_b != y->at_b)
        return x->at_b < y->at_b ? -1 : 1;
    if (x->count_b != y->count_b)
        return x->count_b > y->count_b ? -1 : 1;
    return x->at_a < y->at_a ? -1 : x->at_a > y->at_a;
}

/* Leave out those that are part of another. */
static void drop_parts(struct searching *s)
{
    size_t kept = 0, end = 0;

    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, by_place);
    for (size_t i = 0; i < s->n; i++) {
        if (kept && s->at[i].at_b + s->at[i].count_b <= end)
            continue;
        end = s->at[i].at_b + s->at[i].count_b;
        s->at[kept++] = s->at[i];
    }
    s->n = kept;
}

/* Join what follows one another in both texts with at most `gap` tokens between. */
static void join(struct searching *s)
{
    const size_t gap = s->params->gap;
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct nd_passage *p = kept ? &s->at[kept - 1] : NULL;
        const struct nd_passage next = s->at[i];
        size_t end_a = p ? p->at_a + p->count_a : 0, end_b = p ? p->at_b + p->count_b : 0;

        if (!p || next.at_b > end_b + gap || next.at_a > end_a + gap || next.at_a <= p->at_a ||
            next.at_a + next.count_a <= end_a) {
            s->at[kept++] = next;
            continue;
        }
        p->equal += next.equal - (end_b > next.at_b ? end_b - next.at_b : 0);
        p->count_a = next.at_a + next.count_a - p->at_a;
        p->count_b = next.at_b + next.count_b - p->at_b;
    }
    s->n = kept;
}

enum nd_status nd_passages_find(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                const struct nd_passage_params *params,
                                struct nd_passage **passages, size_t *n_passages,
                                struct nd_error *err)
{
    struct searching s = {.a = a, .b = b, .n_a = n_a, .n_b = n_b, .params = params};
    size_t n_in_a = 0, n_in_b = 0;
    enum nd_status status = check(n_a, n_b, params, err);
    unsigned window;
    bool ok;

    if (status != ND_OK)
        return status;
    window = params->least - params->shingle + 1;
    ok = nd_winnow(a, n_a, params->shingle, window, &s.in_a, &n_in_a) &&
         nd_winnow(b, n_b, params->shingle, window, &s.in_b, &n_in_b);
    if (ok && n_in_a)
        qsort(s.in_a, n_in_a, sizeof *s.in_a, by_value);
    ok = ok && match_all(&s, n_in_a, n_in_b);
    free(s.in_a);
    free(s.in_b);
    if (!ok) {
        free(s.at);
        return nd_fail(err, ND_ENOMEM, "out of memory for passages");
    }
    drop_parts(&s);
    join(&s);
    *passages = s.at;
    *n_passages = s.n;
    return ND_OK;
}

struct stretch {
    size_t from, to;
};

static int by_from(const void *left, const void *right)
{
    const struct stretch *x = left, *y = right;

    return x->from < y->from ? -1 : x->from > y->from;
}

uint64_t nd_passages_cover(const struct nd_passage *passages, size_t n, unsigned which)
{
    struct stretch *list = nd_alloc_array(n, sizeof *list);
    uint64_t covered = 0;
    size_t end = 0;

    if (!list)
        return UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct nd_passage *p = &passages[i];

        list[i] = which ? (struct stretch){p->at_b, p->at_b + p->count_b}
                        : (struct stretch){p->at_a, p->at_a + p->count_a};
    }
    if (n)
        qsort(list, n, sizeof *list, by_from);
    for (size_t i = 0; i < n; i++) {
        size_t from = list[i].from > end ? list[i].from : end;

        if (list[i].to > from) {
            covered += list[i].to - from;
            end = list[i].to;
        }
    }
    free(list);
    return covered;
}
