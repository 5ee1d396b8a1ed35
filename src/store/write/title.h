/* title.h - what a document is called: one line */
#ifndef ND_STORE_WRITE_TITLE_H
#define ND_STORE_WRITE_TITLE_H

#include <neardup/types.h>

#include "store/catalog/catalog.h"

/*
 * Make one line of a text in valid UTF-8: each run of white space and control characters (those of
 * ASCII, U+0080 to U+009F, U+2028, U+2029) becomes a space, and none stands at either end.  A line
 * of more than ND_STORE_TITLE_MAX bytes is cut behind a whole character.
 */
void nd_title_make(struct nd_view text, struct nd_title *title);

#endif
