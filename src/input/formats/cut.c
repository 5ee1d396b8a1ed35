/* cut.c - where one record ends and the next begins */
#include "input/formats/cut.h"

#include "input/formats/lines.h"

#include <string.h>

/* ---- Rows of CSV (RFC 4180) ---- */

/*
 * A quote is special only as the first character of a field; elsewhere in an unquoted field it is
 * text, as in spreadsheets and Python.
 */
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

/* Most rows contain no quote and end at the end of the line. 0: this one may not. */
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

static enum nd_cut_answer cut_csv(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
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
        case AFTER_QUOTE: /* a doubled quote continues the field */
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

const struct nd_cut nd_cut_csv = {.next = cut_csv, .line_ends = 1};

/* ---- Records that are lines ---- */

/* The length of the line that contains `from`, with its end; 0: its end has not been read yet. */
static size_t line_end(const char *bytes, size_t from, size_t len)
{
    const char *newline = memchr(bytes + from, '\n', len - from);

    return newline ? (size_t)(newline - bytes) + 1 : 0;
}

static enum nd_cut_answer cut_line(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                   size_t *record_len)
{
    size_t end = line_end(bytes, c->seen, len);

    c->lines = end != 0;
    if (end == 0) {
        if (!at_end) {
            c->seen = len;
            return ND_CUT_MORE;
        }
        end = len;
    }
    c->seen = 0;
    *record_len = end;
    return ND_CUT_RECORD;
}

static enum nd_cut_answer cut_text_line(struct nd_cutter *c, const char *bytes, size_t len,
                                        bool at_end, size_t *record_len)
{
    enum nd_cut_answer answer = cut_line(c, bytes, len, at_end, record_len);

    if (answer == ND_CUT_RECORD && (unsigned char)bytes[0] <= ' ' &&
        nd_is_blank((struct nd_view){bytes, *record_len}))
        return ND_CUT_BLANK;
    return answer;
}

static enum nd_cut_answer cut_row(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                  size_t *record_len)
{
    enum nd_cut_answer answer = cut_line(c, bytes, len, at_end, record_len);

    if (answer == ND_CUT_RECORD &&
        (bytes[0] == '\n' || (*record_len == 2 && memcmp(bytes, "\r\n", 2) == 0)))
        return ND_CUT_BLANK;
    return answer;
}

const struct nd_cut nd_cut_all_lines = {.next = cut_line, .line_ends = 1, .can_skip = true};
const struct nd_cut nd_cut_lines = {.next = cut_text_line, .line_ends = 1, .can_skip = true};
const struct nd_cut nd_cut_rows = {.next = cut_row, .line_ends = 1, .can_skip = true};

/* ---- Records that are groups of lines ---- */

/* The record of `len` bytes is complete. */
static enum nd_cut_answer group_done(struct nd_cutter *c, size_t len, size_t *record_len)
{
    enum nd_cut_answer answer = c->has_text ? ND_CUT_RECORD : ND_CUT_BLANK;

    *record_len = len;
    c->seen = c->scanned = 0;
    c->is_blank = c->has_text = false;
    return answer;
}

/*
 * Read line by line: `seen` is at the start of a line. Blank lines belong to the paragraph or
 * message before them, those at the very start to the first one.
 */
enum nd_cut_answer nd_cut_groups(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                 size_t *record_len)
{
    if (c->seen == 0)
        c->lines = 0;
    for (;;) {
        size_t end = line_end(bytes, c->scanned, len);
        bool is_blank;

        if (end == 0 && !at_end) {
            c->scanned = len;
            return ND_CUT_MORE;
        }
        if (end == 0)
            end = len;
        if (c->seen == len ||
            (c->has_text && c->cut->begins(bytes + c->seen, end - c->seen, c->is_blank)))
            return group_done(c, c->seen, record_len);
        is_blank = nd_is_blank((struct nd_view){bytes + c->seen, end - c->seen});
        c->lines += bytes[end - 1] == '\n';
        c->is_blank = is_blank;
        c->has_text |= !is_blank;
        c->seen = c->scanned = end;
    }
}

static bool begins_paragraph(const char *line, size_t len, bool after_blank)
{
    return after_blank && !nd_is_blank((struct nd_view){line, len});
}

const struct nd_cut nd_cut_paragraphs = {
    .next = nd_cut_groups, .begins = begins_paragraph, .line_ends = 2, .can_skip = true};

/* ---- Items of feeds ---- */

enum nd_cut_answer nd_cut_end_stretch(struct nd_cutter *c, enum nd_cut_answer answer,
                                      const char *bytes, size_t len, size_t *record_len)
{
    bool is_first = !c->has_info;

    nd_cut_restart(c);
    c->has_info = true;
    c->is_info = is_first && answer == ND_CUT_BLANK;
    c->lines = count_newlines(bytes, len);
    *record_len = len;
    return answer;
}

/* ---- Records that are files ---- */

static enum nd_cut_answer cut_whole(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                    size_t *record_len)
{
    (void)bytes;
    if (!at_end)
        return ND_CUT_MORE;
    *record_len = len;
    c->lines = 0;
    return ND_CUT_RECORD;
}

const struct nd_cut nd_cut_whole = {.next = cut_whole, .line_ends = 1};
