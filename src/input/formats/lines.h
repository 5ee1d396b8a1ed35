/* lines.h - lines, white space and the byte order mark: what parsers and cutters need of them */
#ifndef ND_INPUT_FORMATS_LINES_H
#define ND_INPUT_FORMATS_LINES_H

#include <stdbool.h>
#include <string.h>

#include <neardup/types.h>

static inline bool nd_is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool nd_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether nothing but white space stands there. */
static inline bool nd_is_blank(struct nd_view v)
{
    for (size_t i = 0; i < v.len; i++)
        if (!nd_is_white(v.data[i]))
            return false;
    return true;
}

static inline struct nd_view nd_view_from(struct nd_view v, size_t at)
{
    if (at) { /* data may be NULL where len is 0 */
        v.data += at;
        v.len -= at;
    }
    return v;
}

/* The length of the first line with its end; of all bytes if no line end follows. */
static inline size_t nd_line_len(struct nd_view v)
{
    const char *end = v.len ? memchr(v.data, '\n', v.len) : NULL;

    return end ? (size_t)(end - v.data) + 1 : v.len;
}

/* Take the first line with its end off *rest.  Its length is 0 where nothing is left. */
static inline struct nd_view nd_line_take(struct nd_view *rest)
{
    struct nd_view line = {rest->data, nd_line_len(*rest)};

    *rest = nd_view_from(*rest, line.len);
    return line;
}

/* The line, or the row, without its LF or CR LF. */
static inline struct nd_view nd_line_without_end(struct nd_view line)
{
    if (line.len && line.data[line.len - 1] == '\n')
        line.len--;
    if (line.len && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* The length of the byte order mark of UTF-8 that the bytes begin with: 3, or 0 without one. */
#define ND_MARK "\xEF\xBB\xBF"
static inline size_t nd_mark_len(const char *bytes, size_t len)
{
    return len >= 3 && memcmp(bytes, ND_MARK, 3) == 0 ? 3 : 0;
}

static inline struct nd_view nd_without_mark(struct nd_view v)
{
    return nd_view_from(v, nd_mark_len(v.data, v.len));
}

#endif
