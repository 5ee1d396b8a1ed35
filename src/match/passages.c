/* passages.c - copied passages: equal runs of tokens, found by winnowing (Schleimer 2003)
 *
 * Winnowing keeps the minimum of every `window` shingles of k tokens.  A run of t = window + k - 1
 * equal tokens contains a whole window of equal shingles, whose minimum is kept in both texts
 * whatever stands around it: so it is found (the guarantee of Schleimer 2003, §2).  Equal shingles
 * are then extended to both sides and compared token by token, so the result is exact and does not
 * depend on the hash.
 */
#include "match/winnow.h"

#include "base/hash.h"
#include "base/memory.h"

#include <neardup/compare.h>

#include <stdlib.h>
#include <string.h>

/*
 * A rolling hash: the polynomial Σ mix(token[i]) FACTOR^(width - i) modulo
 * 2^64, over i in the window.  A step multiplies the sum, adds the token that enters, and subtracts
 * the one that leaves times FACTOR^(width + 1), what it has been multiplied to.  FACTOR is odd, so
 * multiplying loses no bits; tokens are mixed before and sums after, because low bits of a sum
 * depend only on low bits of what is added.
 */
#define FACTOR UINT64_C(0x9E3779B97F4A7C15)

void nd_run_hashes(const uint64_t *token, size_t n, unsigned width, uint64_t *value)
{
    uint64_t sum = 0, leaving = 1;

    for (unsigned i = 0; i < width; i++)
        leaving *= FACTOR;
    for (size_t i = 0; i < n; i++) {
        sum = (sum + nd_mix64(token[i])) * FACTOR;
        if (i >= width)
            sum -= nd_mix64(token[i - width]) * leaving * FACTOR;
        if (i + 1 >= width)
            value[i + 1 - width] = nd_mix64(sum);
    }
}

/*
 * The places in the window that can still become its minimum, in a ring: their values increase from
 * front to back, since a new value removes all before it that are not smaller (so of equal values
 * the rightmost stays).  The front is the minimum.  Each place enters and leaves once, so a step
 * takes constant time on average.
 */
struct queue {
    size_t *place;
    size_t front, count, window;
};

static size_t *queued(const struct queue *q, size_t i)
{
    return &q->place[(q->front + i) % q->window];
}

/* Schleimer 2003, §2.1: keep the minimum of each window, each once. */
static bool slide(const uint64_t *value, size_t n, struct queue *q, struct nd_placed_value **out,
                  size_t *n_out)
{
    size_t capacity = 0, last = SIZE_MAX;

    for (size_t i = 0; i < n; i++) {
        if (q->count && *queued(q, 0) + q->window <= i) {
            q->front = (q->front + 1) % q->window;
            q->count--;
        }
        while (q->count && value[*queued(q, q->count - 1)] >= value[i])
            q->count--;
        *queued(q, q->count++) = i;
        if (i + 1 < q->window || *queued(q, 0) == last)
            continue;
        last = *queued(q, 0);
        if (!ND_RESERVE(*out, &capacity, *n_out + 1)) {
            free(*out);
            *out = NULL;
            return false;
        }
        (*out)[(*n_out)++] = (struct nd_placed_value){value[last], last};
    }
    return true;
}

bool nd_winnow(const uint64_t *token, size_t n, unsigned width, unsigned window,
               struct nd_placed_value **out, size_t *n_out)
{
    size_t n_values = n >= width ? n - width + 1 : 0;
    struct queue q = {.window = window};
    uint64_t *value;
    bool ok;

    *out = NULL;
    *n_out = 0;
    if (n_values < window)
        return true;
    value = nd_alloc_array(n_values, sizeof *value);
    q.place = nd_alloc_array(window, sizeof *q.place);
    ok = value && q.place;
    if (ok) {
        nd_run_hashes(token, n, width, value);
        ok = slide(value, n_values, &q, out, n_out);
    }
    if (!ok)
        *n_out = 0;
    free(value);
    free(q.place);
    return ok;
}

struct nd_passage_params nd_passage_params_default(void)
{
    return (struct nd_passage_params){.shingle = 3, .least = 8, .gap = 0};
}

struct searching {
    const uint64_t *a, *b;
    size_t n_a, n_b;
    const struct nd_passage_params *params;
    struct nd_placed_value *in_a, *in_b;
    struct nd_passage *found; /* until they are joined, count_b is count_a */
    size_t n, capacity;
    size_t last; /* the one that reaches farthest in b */
};

static enum nd_status check(size_t n_a, size_t n_b, const struct nd_passage_params *p,
                            struct nd_error *err)
{
    if (p->shingle < 1 || p->least < p->shingle)
        return nd_fail(err, ND_EINVAL,
                       "passages of %u tokens cannot be found by shingles of %u tokens: a shingle "
                       "must not be longer than a passage, nor empty",
                       p->least, p->shingle);
    if (n_a > INT32_MAX || n_b > INT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than 2^31 tokens in a text");
    return ND_OK;
}

/*
 * Whether equal shingles at place_a and place_b may belong to a run that is not part of the passage
 * that reaches farthest in b.  Inside that passage, such a run would have to continue behind its
 * end or before its beginning, so the two tokens just outside decide.  This keeps a text that
 * repeats itself from being extended again and again.
 */
static bool may_be_new(const struct searching *s, size_t place_a, size_t place_b)
{
    const struct nd_passage *p = s->n ? &s->found[s->last] : NULL;
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
    if (p.count_b < s->params->least)
        return true;
    if (!ND_RESERVE(s->found, &s->capacity, s->n + 1))
        return false;
    s->found[s->n] = p;
    if (s->n == 0 || p.at_b + p.count_b >= s->found[s->last].at_b + s->found[s->last].count_b)
        s->last = s->n;
    s->n++;
    return true;
}

static int by_value(const void *left, const void *right)
{
    const struct nd_placed_value *x = left, *y = right;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool match_all(struct searching *s, size_t n_in_a, size_t n_in_b)
{
    for (size_t i = 0; i < n_in_b; i++) {
        size_t low = nd_first_placed(s->in_a, n_in_a, s->in_b[i].value);

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
        qsort(s->found, s->n, sizeof *s->found, by_place);
    for (size_t i = 0; i < s->n; i++) {
        if (kept && s->found[i].at_b + s->found[i].count_b <= end)
            continue;
        end = s->found[i].at_b + s->found[i].count_b;
        s->found[kept++] = s->found[i];
    }
    s->n = kept;
}

/* Join what follows one another in both texts with at most `gap` tokens between. */
static void join(struct searching *s)
{
    const size_t gap = s->params->gap;
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct nd_passage *p = kept ? &s->found[kept - 1] : NULL;
        const struct nd_passage next = s->found[i];
        size_t end_a = p ? p->at_a + p->count_a : 0, end_b = p ? p->at_b + p->count_b : 0;

        if (!p || next.at_b > end_b + gap || next.at_a > end_a + gap || next.at_a <= p->at_a ||
            next.at_a + next.count_a <= end_a) {
            s->found[kept++] = next;
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
        free(s.found);
        return nd_fail(err, ND_ENOMEM, "out of memory for passages");
    }
    drop_parts(&s);
    join(&s);
    *passages = s.found;
    *n_passages = s.n;
    return ND_OK;
}

uint64_t nd_passages_cover(const struct nd_passage *passages, size_t n, unsigned which)
{
    struct nd_passage *list =
        nd_alloc_array(n, sizeof *list); /* in the text that is asked for, as b */
    uint64_t covered = 0;
    size_t end = 0;

    if (!list)
        return UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct nd_passage *p = &passages[i];

        list[i] = which ? *p : (struct nd_passage){.at_b = p->at_a, .count_b = p->count_a};
    }
    if (n)
        qsort(list, n, sizeof *list, by_place);
    for (size_t i = 0; i < n; i++) {
        size_t from = list[i].at_b > end ? list[i].at_b : end;
        size_t to = list[i].at_b + list[i].count_b;

        if (to > from) {
            covered += to - from;
            end = to;
        }
    }
    free(list);
    return covered;
}
