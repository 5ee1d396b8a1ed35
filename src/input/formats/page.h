/* page.h - what is read of a page: its text, its marks and links, its elements */
#ifndef ND_INPUT_FORMATS_PAGE_H
#define ND_INPUT_FORMATS_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/types.h>

#include "base/memory.h"
#include "input/formats/page_blocks.h"
#include "input/formats/page_head.h"

/* The parts of a page that somebody asks for beside its text and title. */
struct nd_page_wanted {
    bool marks;   /* the stretches that are marked up, and the links */
    bool tree;    /* the elements */
    bool content; /* the text without boilerplate */
    bool head;    /* what its head says, as fields */
};

/*
 * The parts of a page that are read. Places are those of its text without its title. Starts from
 * zeroes; the memory is kept from page to page.
 */
struct nd_html_page {
    struct nd_buffer text, title;
    struct nd_page_wanted wants;
    struct nd_page_blocks blocks; /* of the text, if only its content is wanted */
    struct nd_page_head head;     /* begun before the page is read, if it is wanted */

    /* Marks: what of the text is marked up, and its links. */
    struct nd_markup *span;
    struct nd_link *link;
    size_t n_spans, n_links, span_capacity, link_capacity;
    struct nd_view base; /* the first <base href>; data NULL: none yet */
    unsigned depth;      /* of marked elements that are open */
    bool in_span;        /* the last span goes on with the next character */
    bool in_link;        /* the last link's anchor is open, */
    bool has_anchor;     /* and a character of it has been seen */

    /* The tree. */
    struct nd_element *element; /* in the order of their start tags */
    size_t n_elements, element_capacity;
    uint32_t *open; /* by depth: the element that is open there */
    size_t n_open, open_capacity;
};

/* Forget the page before. */
void nd_page_clear(struct nd_html_page *page, struct nd_page_wanted wants);
void nd_page_release(struct nd_html_page *page);

/*
 * An element begins or ends; `at` is where its text will begin, should it have any, `href` its
 * attribute, or NULL.  False: out of memory.
 */
bool nd_page_marks_begin(struct nd_html_page *page, const char *name, const char *href, size_t at,
                         struct nd_arena *arena);
void nd_page_marks_end(struct nd_html_page *page, const char *name);

/* Characters have been added to the text, from place `from` to place `to`.  False: out of memory.
 */
bool nd_page_marks_add(struct nd_html_page *page, size_t from, size_t to);

/* An element begins with `depth` others open around it.  The name is copied.  False: out of memory.
 */
bool nd_page_tree_begin(struct nd_html_page *page, const char *name, size_t depth,
                        struct nd_arena *arena);

/* Leave the blocks that are boilerplate out of the text, with their marks and links. */
void nd_page_drop_boilerplate(struct nd_html_page *page);

/*
 * Give the document what was asked for: before the page's text stand `shift` bytes, of which the
 * title takes the first `title`, all of it marked.  False: out of memory.
 */
bool nd_page_take(const struct nd_html_page *page, size_t title, size_t shift,
                  struct nd_arena *arena, struct nd_document *document);

#endif
