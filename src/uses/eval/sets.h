/* sets.h - disjoint sets of numbers that are joined (union-find: Tarjan 1975) */
#ifndef ND_USES_EVAL_SETS_H
#define ND_USES_EVAL_SETS_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/* A parent is a smaller number, or the number itself, so that the root is the least.  Starts from
 * zeroes. */
struct nd_sets {
    uint32_t *parent;
    size_t n;
};

/* Each of n numbers is a set.  False: out of memory. */
static inline bool nd_sets_begin(struct nd_sets *s, size_t n)
{
    s->parent = nd_alloc_array(n ? n : 1, sizeof *s->parent);
    s->n = n;
    for (size_t i = 0; s->parent && i < n; i++)
        s->parent[i] = (uint32_t)i;
    return s->parent != NULL;
}

static inline void nd_sets_release(struct nd_sets *s)
{
    free(s->parent);
    s->parent = NULL;
}

static inline uint32_t nd_sets_root(struct nd_sets *s, uint32_t i)
{
    for (; s->parent[i] != i; i = s->parent[i])
        s->parent[i] = s->parent[s->parent[i]];
    return i;
}

static inline void nd_sets_join(struct nd_sets *s, uint32_t a, uint32_t b)
{
    a = nd_sets_root(s, a);
    b = nd_sets_root(s, b);
    if (a < b)
        s->parent[b] = a;
    else
        s->parent[a] = b;
}

#endif
