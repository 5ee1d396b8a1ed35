/* ini_lines.h - texts of [sections] and keys, line by line: recipes, tag sets */
#ifndef ND_BASE_INI_LINES_H
#define ND_BASE_INI_LINES_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"

enum nd_ini_kind {
    ND_INI_END,
    ND_INI_SECTION, /* `name` is what stands between the brackets */
    ND_INI_KEY,     /* `name` and `value` are what stands around the first "=" */
    ND_INI_MISTAKE  /* `mistake` says what is wrong with the line */
};

/* A text that is being read.  Views are parts of it, without blanks at their ends. */
struct nd_ini {
    const char *at, *end;
    unsigned long line; /* number of the last line that was given, from 1 */
    struct nd_view name, value;
    const char *mistake;
};

/* Begin with the first line, behind a byte order mark. */
struct nd_ini nd_ini_begin(const char *text, size_t len);

/* Go to the next line that is neither blank nor a comment, which begins with # or ;. */
enum nd_ini_kind nd_ini_next(struct nd_ini *ini);

/* Read one line: an assignment by itself. */
enum nd_ini_kind nd_ini_read_line(struct nd_view line, struct nd_ini *ini);

/* Append a whole file of at most `most` bytes; `what` it is, for messages: "a recipe".  ND_EIO,
 * ND_EINVAL (too long), ND_ENOMEM. */
enum nd_status nd_ini_load(const char *path, const char *what, size_t most, struct nd_buffer *text,
                           struct nd_error *err);

#endif
