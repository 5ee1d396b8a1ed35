/* page_marks.h - what of a page's text is marked up, and its links, while the page is read */
#ifndef ND_INPUT_PAGE_MARKS_H
#define ND_INPUT_PAGE_MARKS_H

#include "base/memory.h"

#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>

/* Places are those of the page's text without its title.  Starts from zeroes; the memory is kept
 * from page to page. */
struct nd_page_marks {
    struct nd_markup *span;
    struct nd_link *link;
    size_t n_spans, n_links, span_capacity, link_capacity;
    struct nd_view base; /* the first <base href>; data NULL: none yet */
    unsigned depth;      /* of marked elements that are open */
    bool in_span;        /* the last span goes on with the next character */
    bool in_link;        /* the last link's anchor is open, */
    bool has_anchor;     /* and a character of it has been seen */
};

void nd_page_marks_clear(struct nd_page_marks *m);
void nd_page_marks_release(struct nd_page_marks *m);

/*
 * An element begins or ends; `at` is where its text will begin, should it have any, `href` its
 * attribute, or NULL.  False: out of memory.
 */
bool nd_page_marks_begin(struct nd_page_marks *m, const char *name, const char *href, size_t at,
                         struct nd_arena *arena);
void nd_page_marks_end(struct nd_page_marks *m, const char *name);

/* Characters have been added to the text, from place `from` to place `to`.  False: out of memory.
 */
bool nd_page_marks_add(struct nd_page_marks *m, size_t from, size_t to);

/* Give them to the document: before the page's text, of `len` bytes, stand `shift` bytes, of which
 * the title takes the first `title`, all of it marked.  False: out of memory. */
bool nd_page_marks_take(const struct nd_page_marks *m, size_t title, size_t shift, size_t len,
                        struct nd_arena *arena, struct nd_document *document);

#endif
