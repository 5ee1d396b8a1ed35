/* side_by_side.h - two texts beside each other in a page, with the words marked that differ */
#ifndef ND_REPORT_SIDE_BY_SIDE_H
#define ND_REPORT_SIDE_BY_SIDE_H

#include <stddef.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/json_out.h"

/* One of the two: its text, which is valid UTF-8, and markup for the head of its column. */
struct nd_side {
    struct nd_view text, head;
};
/* As context: show all of both texts. */
#define ND_SIDE_WHOLE SIZE_MAX

/*
 * Append a table of two columns, in which words that only one text has are in <del> (the first) or
 * <ins> (the second).  Words are equal where their tokens are, so case and punctuation are not
 * marked.  Of words that both have, `context` before and after each change are shown, and how many
 * others there are is said; where nothing differs, the first 2 * context.  The marks are those of a
 * shortest edit script; where that takes too long, of the words that do not occur in the other text.
 * ND_EINVAL: a text is not valid UTF-8; ND_ENOMEM.
 */
enum nd_status nd_html_side_by_side(struct nd_json *page, const struct nd_side side[2],
                                    size_t context, struct nd_error *err);

#endif
