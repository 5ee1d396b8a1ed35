/* page_tree.c - the elements of a page's tree, while the page is read */
#include "input/page_tree.h"

#include <stdlib.h>
#include <string.h>

void nd_page_tree_clear(struct nd_page_tree *t)
{
    t->count = t->n_open = 0;
}

void nd_page_tree_release(struct nd_page_tree *t)
{
    free(t->element);
    free(t->open);
    *t = (struct nd_page_tree){.count = 0};
}

static bool reserve(struct nd_page_tree *t)
{
    void *element = t->element, *open = t->open;
    bool good;

    good = nd_array_reserve(&element, &t->capacity, t->count + 1, sizeof *t->element) &&
           nd_array_reserve(&open, &t->open_capacity, t->n_open + 1, sizeof *t->open);
    t->element = element;
    t->open = open;
    return good;
}

bool nd_page_tree_begin(struct nd_page_tree *t, const char *name, size_t depth,
                        struct nd_arena *arena)
{
    size_t len = strlen(name);
    char *copy = nd_arena_alloc(arena, len + 1);

    if (!copy || t->count >= ND_ELEMENT_NONE - 1 || !reserve(t))
        return false;
    memcpy(copy, name, len + 1);
    if (depth < t->n_open)
        t->n_open = depth; /* the others have ended */
    t->element[t->count] = (struct nd_element){
        .name = {copy, len},
        .parent = t->n_open ? t->open[t->n_open - 1] : ND_ELEMENT_NONE,
    };
    t->open[t->n_open++] = (uint32_t)t->count++;
    return true;
}

bool nd_page_tree_take(const struct nd_page_tree *t, struct nd_arena *arena,
                       struct nd_document *document)
{
    struct nd_element *copy = nd_arena_alloc(arena, (t->count + 1) * sizeof *copy);

    if (!copy)
        return false;
    if (t->count)
        memcpy(copy, t->element, t->count * sizeof *copy);
    document->elements = copy;
    document->n_elements = t->count;
    return true;
}
