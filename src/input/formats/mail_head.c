/* mail_head.c - what a message of mail begins with: told from its bytes alone */
#include "input/formats/mail_head.h"

#include "base/system/c_functions.h"
#include "input/formats/lines.h"

#include <string.h>

enum { ENVELOPE_MAX = 1000 };

/* Exactly four digits. */
static bool is_year(struct nd_view word)
{
    return word.len == 4 && nd_is_digit(word.data[0]) && nd_is_digit(word.data[1]) &&
           nd_is_digit(word.data[2]) && nd_is_digit(word.data[3]);
}

/* "9:05", "09:05:00" and what follows. */
static bool is_time(struct nd_view word)
{
    const char *colon = memchr(word.data, ':', word.len);
    size_t hour = colon ? (size_t)(colon - word.data) : 0;

    return (hour == 1 || (hour == 2 && nd_is_digit(word.data[1]))) && nd_is_digit(word.data[0]) &&
           word.len >= hour + 3 && nd_is_digit(colon[1]) && nd_is_digit(colon[2]);
}

bool nd_mail_is_envelope(const char *line, size_t len)
{
    bool has_time = false, has_year = false;
    size_t end;

    if (len < 6 || len > ENVELOPE_MAX || memcmp(line, "From ", 5) != 0)
        return false;
    for (size_t at = 5; at < len; at = end + 1) {
        struct nd_view word;

        for (end = at; end < len && !strchr(" \t\r\n", line[end]); end++)
            ;
        word = (struct nd_view){line + at, end - at};
        has_time |= is_time(word);
        has_year |= is_year(word);
    }
    return has_time && has_year;
}

size_t nd_mail_before_header(struct nd_view message)
{
    size_t at = 0, line;

    for (size_t i = 0; i < message.len && strchr(" \t\r\n", message.data[i]); i++)
        if (message.data[i] == '\n')
            at = i + 1;
    line = nd_line_len(nd_view_from(message, at));
    /* ">From " is what some programs turn it into when they store the message again. */
    if (nd_mail_is_envelope(message.data + at, line) ||
        (line > 1 && message.data[at] == '>' &&
         nd_mail_is_envelope(message.data + at + 1, line - 1)))
        at += line;
    return at;
}

/*
 * The field name at the start of the line, without the blanks and the colon after it; empty: none.
 */
static struct nd_view field_name(struct nd_view line)
{
    size_t n = 0, colon;

    while (n < line.len && line.data[n] > ' ' && line.data[n] < 127 && line.data[n] != ':')
        n++;
    for (colon = n; colon < line.len && (line.data[colon] == ' ' || line.data[colon] == '\t');)
        colon++;
    if (colon == line.len || line.data[colon] != ':')
        n = 0;
    return (struct nd_view){line.data, n};
}

bool nd_mail_has_header(struct nd_view message)
{
    return field_name((struct nd_view){message.data, nd_line_len(message)}).len > 0;
}

static bool is_named(struct nd_view name, const char *wanted)
{
    return name.len == strlen(wanted) && nd_compare_caseless_n(name.data, wanted, name.len) == 0;
}

static bool is_of_machines(struct nd_view name)
{
    static const char *const known[] = {"message-id",   "received",     "return-path",
                                        "mime-version", "delivered-to", "content-type",
                                        "references",   "in-reply-to"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_named(name, known[i]))
            return true;
    return false;
}

bool nd_mail_looks_like_message(const char *head, size_t len)
{
    bool has_from = false, has_date = false, is_by_machine = false;
    struct nd_view rest = {head, len};

    for (size_t line, n = 0; rest.len > 0; rest = nd_view_from(rest, line), n++) {
        struct nd_view name;

        line = nd_line_len(rest);
        if (line == len && n == 0)
            return false; /* a header has several lines */
        if (*rest.data == '\n' || (line == 2 && *rest.data == '\r'))
            break;
        if (n > 0 && (*rest.data == ' ' || *rest.data == '\t'))
            continue;
        name = field_name((struct nd_view){rest.data, line});
        if (!name.len && rest.data[line - 1] == '\n')
            return false;
        has_from |= is_named(name, "from");
        has_date |= is_named(name, "date");
        is_by_machine |= is_of_machines(name);
    }
    return has_from && has_date && is_by_machine;
}

bool nd_mail_looks_like_mbox(const char *head, size_t len)
{
    size_t line = nd_line_len((struct nd_view){head, len});

    return nd_mail_is_envelope(head, line) &&
           nd_mail_has_header((struct nd_view){head + line, len - line});
}

bool nd_mail_is_in_maildir(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = name;
    size_t folder = 0;

    while (slash && slash - folder > path && slash[-1 - (ptrdiff_t)folder] != '/')
        folder++;
    if (folder != 3 || (memcmp(slash - 3, "cur", 3) != 0 && memcmp(slash - 3, "new", 3) != 0))
        return false;
    while (nd_is_digit(*dot))
        dot++;
    return dot > name && *dot == '.' && dot[1] && strchr(dot + 1, '.') != NULL;
}
