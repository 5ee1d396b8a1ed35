/* page_tree.h - the elements of a page's tree, while the page is read */
#ifndef ND_INPUT_PAGE_TREE_H
#define ND_INPUT_PAGE_TREE_H

#include "base/memory.h"

#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>

/* Starts from zeroes; the memory is kept from page to page. */
struct nd_page_tree {
    struct nd_element *element; /* in the order of their tags */
    size_t count, capacity;
    uint32_t *open; /* by depth: the element that is open there */
    size_t n_open, open_capacity;
};

void nd_page_tree_clear(struct nd_page_tree *t);
void nd_page_tree_release(struct nd_page_tree *t);

/* An element begins with `depth` others open around it.  The name is copied.  False: out of memory.
 */
bool nd_page_tree_begin(struct nd_page_tree *t, const char *name, size_t depth,
                        struct nd_arena *arena);

/* Give them to the document.  False: out of memory. */
bool nd_page_tree_take(const struct nd_page_tree *t, struct nd_arena *arena,
                       struct nd_document *document);

#endif
