/* hamming_join_equal.c - equal fingerprints of a large bucket: one stands for all of them
 *
 * However many equal ones there are, the tables of the inner levels see each fingerprint once, and
 * the pairs of the others cost no more than to be written.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_join.h"

static int compare_rows(const struct nd_join *j, uint32_t a, uint32_t b)
{
    const uint64_t *x = j->row + a * j->words, *y = j->row + b * j->words;

    for (size_t w = 0; w < j->words; w++)
        if (x[w] != y[w])
            return x[w] < y[w] ? -1 : 1;
    return 0;
}

static int by_row(const void *a, const void *b, void *join)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare_rows(join, x, y);

    return order ? order : (x > y) - (x < y);
}

bool nd_join_equals_make(struct nd_join_equals *equals, struct nd_join *j, const uint32_t *position,
                         size_t n)
{
    equals->n = n;
    equals->member = nd_alloc_array(n, sizeof *equals->member);
    if (!equals->member)
        return false;
    memcpy(equals->member, position, n * sizeof *position);
    qsort_r(equals->member, n, sizeof *equals->member, by_row, j);
    return true;
}

/* Where the members end that are equal to the one at `first`. */
static size_t end_of(const struct nd_join *j, const struct nd_join_equals *equals, size_t first)
{
    size_t end = first + 1;

    while (end < equals->n && compare_rows(j, equals->member[first], equals->member[end]) == 0)
        end++;
    return end;
}

size_t nd_join_distinct(const struct nd_join_site *site, const struct nd_join_equals *equals,
                        uint32_t *position)
{
    static const uint64_t no_difference[ND_HAMMING_WORDS_MAX];
    const struct nd_join *j = site->join;
    bool is_first = nd_join_is_first(j, site->level, no_difference);
    size_t n = 0;

    for (size_t first = 0, end; first < equals->n; first = end) {
        end = end_of(j, equals, first);
        position[n++] = equals->member[first];
        for (size_t a = first; is_first && a < end && !nd_join_is_over(j); a++)
            for (size_t b = a + 1; b < end; b++)
                nd_join_report_pair(site, equals->member[a], equals->member[b], 0);
    }
    return n;
}

/* The number of a member. */
static size_t find(struct nd_join *j, const struct nd_join_equals *equals, uint32_t position)
{
    size_t from = 0, to = equals->n;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (by_row(&equals->member[middle], &position, j) <= 0)
            from = middle;
        else
            to = middle;
    }
    return from;
}

void nd_join_report_copies(const struct nd_join_site *site, uint32_t a, uint32_t b,
                           unsigned distance)
{
    const struct nd_join_equals *equals = site->equals;
    struct nd_join *j = site->join;
    const uint32_t *member = equals->member;
    size_t first_a = find(j, equals, a), end_a = end_of(j, equals, first_a);
    size_t first_b = find(j, equals, b), end_b = end_of(j, equals, first_b);

    for (size_t i = first_a; i < end_a && !nd_join_is_over(j); i++)
        for (size_t k = first_b; k < end_b; k++)
            nd_join_report_pair(site, member[i], member[k], distance);
}
