/* page_guard.h - elements with so many attributes that libxml2 would take quadratic time */
#ifndef ND_INPUT_FORMATS_PAGE_GUARD_H
#define ND_INPUT_FORMATS_PAGE_GUARD_H

#include <stdbool.h>

#include <neardup/types.h>

/* libxml2 compares each attribute with all others of its element: so many take it some
 * milliseconds. */
enum { ND_ATTRIBUTES_MAX = 2000 };

/* Whether an element of the page, which has no NUL, has more of them. */
bool nd_page_has_crowded_element(struct nd_view page);

/* The HTML parser, such as "libxml2 2.9.14": the text of a page depends on it. */
const char *nd_html_parser_version(void);

#endif
