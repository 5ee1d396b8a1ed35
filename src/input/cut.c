/* cut.c - records that are lines, paragraphs, messages or whole files */
#include "input/cut.h"

#include <string.h>

#include "input/mail_head.h"

static bool is_white(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r' && p[i] != '\n')
            return false;
    return true;
}

/* The length of the line that `from` stands in, its end included; 0: it has none yet. */
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
    if (c->mode == ND_CUT_ROWS && (bytes[0] == '\n' || (end == 2 && memcmp(bytes, "\r\n", 2) == 0)))
        return ND_CUT_BLANK;
    if (c->mode == ND_CUT_LINES && (unsigned char)bytes[0] <= ' ' && is_white(bytes, end))
        return ND_CUT_BLANK;
    return ND_CUT_RECORD;
}

void nd_cut_restart(struct nd_cutter *c)
{
    *c = (struct nd_cutter){.mode = c->mode};
}

/* The record of `len` bytes is complete. */
static enum nd_cut_answer paragraph_done(struct nd_cutter *c, size_t len, size_t *record_len)
{
    enum nd_cut_answer answer = c->has_text ? ND_CUT_RECORD : ND_CUT_BLANK;

    *record_len = len;
    c->seen = c->scanned = 0;
    c->is_blank = c->has_text = false;
    return answer;
}

/* Whether a record begins with this line, which follows a blank one. */
static bool begins_record(const struct nd_cutter *c, const char *line, size_t len, bool is_blank)
{
    return c->mode == ND_CUT_MESSAGES ? nd_mail_is_envelope(line, len) : !is_blank;
}

/*
 * Line by line: `seen` stands at the start of one.  Blank lines belong to the paragraph, or to the
 * message, before them, those at the very start to the first one.
 */
static enum nd_cut_answer cut_paragraph(struct nd_cutter *c, const char *bytes, size_t len,
                                        bool at_end, size_t *record_len)
{
    if (c->seen == 0)
        c->lines = 0;
    for (;;) {
        size_t end = line_end(bytes, c->scanned, len);
        bool blank;

        if (end == 0 && !at_end) {
            c->scanned = len;
            return ND_CUT_MORE;
        }
        if (end == 0)
            end = len;
        blank = is_white(bytes + c->seen, end - c->seen);
        if (c->seen == len ||
            (c->is_blank && c->has_text && begins_record(c, bytes + c->seen, end - c->seen, blank)))
            return paragraph_done(c, c->seen, record_len);
        c->lines += bytes[end - 1] == '\n';
        c->is_blank = blank;
        c->has_text |= !blank;
        c->seen = c->scanned = end;
    }
}

enum nd_cut_answer nd_cut_next(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                               size_t *record_len)
{
    switch (c->mode) {
    case ND_CUT_LINES:
    case ND_CUT_ROWS:
    case ND_CUT_ALL_LINES: return cut_line(c, bytes, len, at_end, record_len);
    case ND_CUT_MESSAGES:
    case ND_CUT_PARAGRAPHS: return cut_paragraph(c, bytes, len, at_end, record_len);
    case ND_CUT_CSV: return nd_cut_csv(c, bytes, len, at_end, record_len);
    case ND_CUT_WHOLE: break;
    }
    if (!at_end)
        return ND_CUT_MORE;
    *record_len = len;
    c->lines = 0;
    return ND_CUT_RECORD;
}
