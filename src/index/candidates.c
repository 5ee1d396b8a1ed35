/* candidates.c - lists of documents met, in the order in which they are looked at */
#include <stdlib.h>

#include <neardup/index.h>

#include "base/memory.h"
#include "index/candidates.h"

void nd_candidates_release(struct nd_candidates *list)
{
    free(list->at);
    *list = (struct nd_candidates){0};
}

bool nd_candidates_add(struct nd_candidates *list, struct nd_candidate candidate)
{
    if (list->count == list->capacity) {
        void *at = list->at;

        if (!nd_array_reserve(&at, &list->capacity, list->count + 1, sizeof *list->at))
            return false;
        list->at = at;
    }
    list->at[list->count++] = candidate;
    return true;
}

static int by_equal(const void *left, const void *right)
{
    const struct nd_candidate *a = left, *b = right;

    if (a->equal != b->equal)
        return a->equal > b->equal ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_distance(const void *left, const void *right)
{
    const struct nd_candidate *a = left, *b = right;

    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Lists are short, most of them: these are sorted in place, long ones by the library. */
static void insertion_sort(struct nd_candidates *list, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < list->count; i++) {
        struct nd_candidate moving = list->at[i];
        size_t to = i;

        for (; to > 0 && compare(&moving, &list->at[to - 1]) < 0; to--)
            list->at[to] = list->at[to - 1];
        list->at[to] = moving;
    }
}

void nd_candidates_sort(struct nd_candidates *list, bool by_simhash)
{
    int (*compare)(const void *, const void *) = by_simhash ? by_distance : by_equal;

    if (list->count <= 16)
        insertion_sort(list, compare);
    else
        qsort(list->at, list->count, sizeof *list->at, compare);
}
