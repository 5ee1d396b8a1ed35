/* page_head.h - what the head of a page says about it, as fields */
#ifndef ND_INPUT_FORMATS_PAGE_HEAD_H
#define ND_INPUT_FORMATS_PAGE_HEAD_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"
#include "input/formats/json_walk.h"

/* Fields of a page that are looked for, and what was found.  Starts from zeroes. */
struct nd_page_head {
    const struct nd_view *name; /* the fields; borrowed */
    size_t n;
    struct nd_view value[ND_JSON_PATHS_MAX]; /* by field; data NULL: none was found */
    unsigned rank[ND_JSON_PATHS_MAX];        /* of the source of a value: the least counts */
    struct nd_view base;                     /* the first <base href>; data NULL: there is none */
    struct nd_buffer resolved;
};

/* Look for these fields in the next page. */
void nd_page_head_begin(struct nd_page_head *head, const struct nd_view *name, size_t n);
void nd_page_head_release(struct nd_page_head *head);

/*
 * An element begins: take what <html>, <base>, <link> and <meta> say.  The attributes are those of
 * libxml2: names and values in turn, then NULL.  False: out of memory.
 */
bool nd_page_head_element(struct nd_page_head *head, const char *name, const char **attributes,
                          struct nd_arena *arena);

/*
 * The page has been read: resolve the address of the field `canonical` against the base, and this
 * against the page's own address (of no bytes: it is not known).  False: out of memory.
 */
bool nd_page_head_resolve(struct nd_page_head *head, struct nd_view address,
                          struct nd_arena *arena);

#endif
