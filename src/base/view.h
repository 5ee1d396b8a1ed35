/* view.h - bytes with a length: compared, shown, trimmed */
#ifndef ND_BASE_VIEW_H
#define ND_BASE_VIEW_H

#include <stdbool.h>
#include <string.h>

#include <neardup/types.h>

static inline bool nd_view_equal(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Compare by the order of bytes: negative, 0, positive. */
static inline int nd_view_compare(struct nd_view a, struct nd_view b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    int order = least ? memcmp(a.data, b.data, least) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool nd_view_is(struct nd_view view, const char *word)
{
    return view.len == strlen(word) && memcmp(view.data, word, view.len) == 0;
}

/* How much of a value from outside a message repeats: for printf's %.*s. */
static inline int nd_view_shown(struct nd_view view)
{
    return view.len < 40 ? (int)view.len : 40;
}

/* Return the bytes from data to end without the blanks at both ends. */
static inline struct nd_view nd_view_trim(const char *data, const char *end)
{
    while (data < end && strchr(" \t\r", *data) && *data)
        data++;
    while (data < end && strchr(" \t\r", end[-1]) && end[-1])
        end--;
    return (struct nd_view){data, (size_t)(end - data)};
}

#endif
