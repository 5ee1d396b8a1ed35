/* winnow.c - the shingles of a run of tokens, and those that winnowing keeps */
#include "match/winnow.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

/* A polynomial in an odd number over the mixed tokens, modulo 2^64, mixed again: rolling. */
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

/* Places of shingles whose values grow: the front is the window's least, kept in a ring. */
struct queue {
    size_t *place;
    size_t front, count, room;
};

static size_t *queued(const struct queue *q, size_t i)
{
    return &q->place[(q->front + i) % q->room];
}

static bool slide(const uint64_t *value, size_t n, struct queue *q, struct nd_winnowed **out,
                  size_t *n_out)
{
    void *list = NULL;
    size_t capacity = 0, last = SIZE_MAX;

    for (size_t i = 0; i < n; i++) {
        if (q->count && *queued(q, 0) + q->room <= i) {
            q->front = (q->front + 1) % q->room;
            q->count--;
        }
        while (q->count && value[*queued(q, q->count - 1)] >= value[i])
            q->count--;
        *queued(q, q->count++) = i;
        if (i + 1 < q->room || *queued(q, 0) == last)
            continue;
        last = *queued(q, 0);
        if (!nd_array_reserve(&list, &capacity, *n_out + 1, sizeof **out)) {
            free(list);
            return false;
        }
        ((struct nd_winnowed *)list)[(*n_out)++] = (struct nd_winnowed){value[last], last};
    }
    *out = list;
    return true;
}

bool nd_winnow(const uint64_t *token, size_t n, unsigned width, unsigned window,
               struct nd_winnowed **out, size_t *n_out)
{
    size_t n_values = n >= width ? n - width + 1 : 0;
    struct queue q = {.room = window};
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
