/* cut_csv.c - where a row of CSV ends (RFC 4180) */

/*
 * A quote opens a field only as its first character; elsewhere in an unquoted field it is text, as
 * spreadsheets and Python read it.
 */
#include "input/cut.h"

#include <string.h>

enum { AT_FIELD, IN_PLAIN, IN_QUOTED, AFTER_QUOTE };

static uint64_t count_newlines(const char *p, size_t len)
{
    uint64_t n = 0;

    for (const char *end = p + len; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

static enum nd_cut_answer row(struct nd_cutter *c, const char *bytes, size_t len,
                              size_t *record_len)
{
    nd_cut_restart(c);
    *record_len = len;
    c->lines = count_newlines(bytes, len);
    if (bytes[0] == '\n' || (len == 2 && bytes[0] == '\r' && bytes[1] == '\n'))
        return ND_CUT_BLANK;
    return ND_CUT_RECORD;
}

/* Most rows hold no quote: they end where the line does.  0: this one may not. */
static size_t unquoted_row(const char *bytes, size_t len)
{
    const char *newline = memchr(bytes, '\n', len);

    if (!newline || memchr(bytes, '"', (size_t)(newline - bytes)))
        return 0;
    return (size_t)(newline - bytes) + 1;
}

static enum nd_cut_answer unfinished(struct nd_cutter *c, const char *bytes, size_t len,
                                     bool at_end, size_t *record_len)
{
    c->seen = len;
    if (c->csv_state == IN_QUOTED && (at_end || len > ND_CSV_QUOTED_MAX))
        return ND_CUT_UNCLOSED;
    return at_end ? row(c, bytes, len, record_len) : ND_CUT_MORE;
}

enum nd_cut_answer nd_cut_csv(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                              size_t *record_len)
{
    size_t i = c->seen;
    const char *quote;
    size_t end = i == 0 && len > 0 ? unquoted_row(bytes, len) : 0;

    if (end)
        return row(c, bytes, end, record_len);
    while (i < len) {
        switch (c->csv_state) {
        case AT_FIELD:
        case AFTER_QUOTE: /* a second quote goes on with the field */
            c->csv_state = bytes[i] == '"' ? IN_QUOTED : IN_PLAIN;
            i += bytes[i] == '"';
            break;
        case IN_QUOTED:
            quote = memchr(bytes + i, '"', len - i);
            i = quote ? (size_t)(quote - bytes) + 1 : len;
            c->csv_state = quote ? AFTER_QUOTE : IN_QUOTED;
            break;
        default:
            if (bytes[i] == '\n')
                return row(c, bytes, i + 1, record_len);
            c->csv_state = bytes[i] == ',' ? AT_FIELD : IN_PLAIN;
            i++;
        }
    }
    return unfinished(c, bytes, len, at_end, record_len);
}
