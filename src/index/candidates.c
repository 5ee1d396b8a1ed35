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

void nd_candidates_sort(struct nd_candidates *list, bool by_simhash)
{
    if (list->count > 1)
        qsort(list->at, list->count, sizeof *list->at, by_simhash ? by_distance : by_equal);
}
