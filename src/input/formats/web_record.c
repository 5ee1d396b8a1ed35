/* web_record.c - records of web archives (WARC, ARC): their heads, and where they end */

/*
 * The lengths that crawlers write into heads are wrong now and then: by one or two bytes, or stale
 * because the body was decompressed or put together after it was measured.  So a length is believed
 * only where the next record, or the end of the file, follows it (docs/format/warc.md).
 */
#include "input/formats/web_record.h"

#include "base/system/c_functions.h"
#include "base/view.h"
#include "input/formats/lines.h"

#include <stdio.h>
#include <string.h>

enum { VERSION_MAX = 24, ARC_FIELDS_MAX = 64, ARC_DATE_DIGITS = 14 };

/* ---- The beginning of a record ---- */

enum beginning { BEGINS_NOT, BEGINS, BEGINS_MAYBE };

/* The line "WARC/1.0". */
static enum beginning begins_warc(const char *p, size_t len, bool at_end)
{
    static const char word[] = "WARC/";
    const size_t n = sizeof word - 1;
    size_t at = n, digits = 0;

    if (memcmp(p, word, len < n ? len : n) != 0)
        return BEGINS_NOT;
    for (; at < len && at < VERSION_MAX && (nd_is_digit(p[at]) || p[at] == '.'); at++)
        digits = p[at] != '.' ? digits + 1 : 0; /* behind the last dot */
    if (at < len && p[at] == '\r')
        at++;
    if (at >= len)
        return at_end ? BEGINS_NOT : BEGINS_MAYBE;
    return p[at] == '\n' && digits > 0 ? BEGINS : BEGINS_NOT;
}

/* The fields of an ARC record's line, at spaces. */
struct arc_line {
    struct nd_view field[ARC_FIELDS_MAX];
    size_t n;
};

static bool is_number(struct nd_view v)
{
    for (size_t i = 0; i < v.len; i++)
        if (!nd_is_digit(v.data[i]))
            return false;
    return v.len > 0 && v.len < 19;
}

/* "http:" … of an address, before which nothing may stand. */
static bool has_scheme(const char *p, size_t len)
{
    size_t i = 0;

    while (i < len && i < 16 && ((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z')))
        i++;
    return i >= 2 && i < len && p[i] == ':';
}

static void split_arc(struct nd_view line, struct arc_line *to)
{
    const char *p = line.data, *end = p + line.len;

    to->n = 0;
    while (p < end && to->n < ARC_FIELDS_MAX) {
        const char *stop = memchr(p, ' ', (size_t)(end - p));

        stop = stop ? stop : end;
        to->field[to->n++] = (struct nd_view){p, (size_t)(stop - p)};
        p = stop + (stop < end);
    }
}

/*
 * "URL IP-address Archive-date Content-type Archive-length", in version 2 with five more fields
 * before the length.  An address may have spaces, so the date is looked for.
 */
static bool parse_arc(struct nd_view line, struct nd_web_record *r)
{
    struct arc_line l;
    size_t date = 2;
    uint64_t length = 0;

    if (!has_scheme(line.data, line.len))
        return false;
    split_arc(line, &l);
    while (date < l.n && !(l.field[date].len == ARC_DATE_DIGITS && is_number(l.field[date])))
        date++;
    if (date + 1 >= l.n || l.n == ARC_FIELDS_MAX || !is_number(l.field[l.n - 1]) ||
        !memchr(l.field[date - 1].data, '.', l.field[date - 1].len))
        return false;
    for (size_t i = 0; i < l.field[l.n - 1].len; i++)
        length = length * 10 + (uint64_t)(l.field[l.n - 1].data[i] - '0');
    r->uri = (struct nd_view){line.data, (size_t)(l.field[date - 1].data - 1 - line.data)};
    r->date = l.field[date];
    r->type = date + 2 < l.n ? l.field[date + 1] : (struct nd_view){"", 0};
    r->stated = length;
    r->kind = r->uri.len >= 11 && nd_compare_caseless_n(r->uri.data, "filedesc://", 11) == 0
                  ? ND_WEB_INFO
                  : ND_WEB_RESPONSE;
    return true;
}

static enum beginning begins_arc(const char *p, size_t len, bool at_end)
{
    size_t most = len < ND_WEB_HEAD_MAX ? len : ND_WEB_HEAD_MAX;
    const char *end;
    struct nd_web_record r;
    struct nd_view line;

    if (len >= 20 && !has_scheme(p, len))
        return BEGINS_NOT;
    end = memchr(p, '\n', most);
    if (!end && most < ND_WEB_HEAD_MAX && !at_end)
        return BEGINS_MAYBE;
    line = nd_line_without_end((struct nd_view){p, end ? (size_t)(end - p) + 1 : most});
    return line.len && parse_arc(line, &r) ? BEGINS : BEGINS_NOT;
}

static enum beginning begins(enum nd_web_dialect dialect, const char *p, size_t len, bool at_end)
{
    return dialect == ND_WEB_ARC ? begins_arc(p, len, at_end) : begins_warc(p, len, at_end);
}

/* Find the first record that begins with a line at or behind `from`, which is not 0: its place;
 * SIZE_MAX: none.  *is_sure: more bytes would not change that. */
static size_t find_next(enum nd_web_dialect dialect, const char *bytes, size_t len, bool at_end,
                        size_t from, bool *is_sure)
{
    size_t word = dialect == ND_WEB_ARC ? 1 : 6;

    *is_sure = true;
    for (size_t at = from - 1; at + word <= len; at++) {
        const char *found = nd_find_bytes(bytes + at, len - at, "\nWARC/", word);
        enum beginning b;

        if (!found)
            break;
        at = (size_t)(found - bytes);
        if (at + 1 == len)
            break;
        b = begins(dialect, found + 1, len - at - 1, at_end);
        *is_sure = b != BEGINS_MAYBE;
        if (b != BEGINS_NOT)
            return at + 1;
    }
    return SIZE_MAX;
}

/* ---- Heads ---- */

struct nd_view nd_web_field(struct nd_view head, const char *name, size_t name_len)
{
    struct nd_view line;

    while ((line = nd_line_take(&head)).len) {
        const char *value = line.data + name_len;

        if (line.len > name_len && *value == ':' &&
            nd_compare_caseless_n(line.data, name, name_len) == 0)
            return nd_view_trim(value + 1, line.data + nd_line_without_end(line).len);
    }
    return (struct nd_view){NULL, 0};
}

/* "<http://…>", as wget 1.19 writes it. */
static struct nd_view without_angles(struct nd_view v)
{
    if (v.len > 2 && v.data[0] == '<' && v.data[v.len - 1] == '>')
        return (struct nd_view){v.data + 1, v.len - 2};
    return v;
}

struct nd_view nd_web_date(enum nd_web_dialect dialect, const struct nd_web_record *r,
                           char room[ND_WEB_DATE_BYTES])
{
    const char *d = r->date.data;

    if (dialect == ND_WEB_WARC || r->date.len != ARC_DATE_DIGITS)
        return r->date;
    (void)snprintf(room, ND_WEB_DATE_BYTES, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", d, d + 4, d + 6,
                   d + 8, d + 10, d + 12);
    return (struct nd_view){room, 20};
}

static enum nd_web_kind kind_of(struct nd_view type)
{
    static const struct {
        const char *word;
        enum nd_web_kind kind;
    } kinds[] = {{"response", ND_WEB_RESPONSE}, {"request", ND_WEB_REQUEST},
                 {"metadata", ND_WEB_METADATA}, {"conversion", ND_WEB_CONVERSION},
                 {"resource", ND_WEB_RESOURCE}, {"revisit", ND_WEB_REVISIT},
                 {"warcinfo", ND_WEB_INFO}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (type.len == strlen(kinds[i].word) &&
            nd_compare_caseless_n(type.data, kinds[i].word, type.len) == 0)
            return kinds[i].kind;
    return ND_WEB_OTHER;
}

static uint64_t length_of(struct nd_view v)
{
    uint64_t length = 0;

    if (!is_number(v))
        return UINT64_MAX;
    for (size_t i = 0; i < v.len; i++)
        length = length * 10 + (uint64_t)(v.data[i] - '0');
    return length;
}

static void parse_warc(struct nd_web_record *r)
{
#define FIELD(name) nd_web_field(r->head, name, sizeof(name) - 1)
    r->kind = kind_of(FIELD("WARC-Type"));
    r->uri = without_angles(FIELD("WARC-Target-URI"));
    r->date = FIELD("WARC-Date");
    r->type = FIELD("Content-Type");
    r->id = FIELD("WARC-Record-ID");
    r->concurrent = FIELD("WARC-Concurrent-To");
    r->stated = length_of(FIELD("Content-Length"));
#undef FIELD
}

/* Return the length of a head with its blank line; 0: it has not ended; SIZE_MAX: another begins
 * within it.  (Looking further would read the same bytes again for each of many such heads.) */
static size_t head_len(const char *bytes, size_t len)
{
    const char *p = bytes, *end = bytes + len;

    while ((p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        if (p < end && *p == 'W' && begins_warc(p, (size_t)(end - p), false) == BEGINS)
            return SIZE_MAX;
        if (p < end && *p == '\n')
            return (size_t)(p - bytes) + 1;
        if (end - p >= 2 && p[0] == '\r' && p[1] == '\n')
            return (size_t)(p - bytes) + 2;
    }
    return 0;
}

enum nd_cut_answer nd_web_head(enum nd_web_dialect dialect, const char *bytes, size_t len,
                               bool at_end, struct nd_web_record *r)
{
    enum beginning b = begins(dialect, bytes, len, at_end);
    size_t most = len < ND_WEB_HEAD_MAX ? len : ND_WEB_HEAD_MAX, n;

    *r = (struct nd_web_record){.kind = ND_WEB_DAMAGE, .stated = UINT64_MAX};
    if (b == BEGINS_MAYBE)
        return ND_CUT_MORE;
    if (b == BEGINS_NOT)
        return ND_CUT_RECORD;
    if (dialect == ND_WEB_ARC) {
        n = nd_line_len((struct nd_view){bytes, most});
        r->head = (struct nd_view){bytes, n};
        (void)parse_arc(nd_line_without_end(r->head), r);
        return ND_CUT_RECORD;
    }
    n = head_len(bytes, most);
    if (n == 0 && most < ND_WEB_HEAD_MAX && !at_end)
        return ND_CUT_MORE;
    if (n == 0 || n == SIZE_MAX) /* endless, or cut short */
        return ND_CUT_RECORD;
    r->head = (struct nd_view){bytes, n};
    parse_warc(r);
    return ND_CUT_RECORD;
}

/* ---- The end of a record ---- */

/* Count line ends from `at` on. */
static size_t line_ends(const char *bytes, size_t len, size_t at)
{
    size_t from = at;

    while (at < len && (bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return at - from;
}

/* The content is the bytes up to `end`, without the line ends that part it from the next record: a
 * blank line, in ARC one line end.  Return whether they are all there. */
static bool trim_content(enum nd_web_dialect dialect, struct nd_web_record *r, const char *end)
{
    const char *begin = r->head.data + r->head.len;
    int n = dialect == ND_WEB_ARC ? 1 : 2;

    for (; n > 0 && end > begin && end[-1] == '\n'; n--)
        end -= end - begin >= 2 && end[-2] == '\r' ? 2 : 1;
    r->content = (struct nd_view){begin, (size_t)(end - begin)};
    return n == 0;
}

/* Whether the content of the stated length is followed by a record: BEGINS, with r->len set. */
static enum beginning follows(enum nd_web_dialect dialect, const char *bytes, size_t len,
                              bool at_end, struct nd_web_record *r)
{
    size_t at = r->head.len, next;
    enum beginning b;

    if (r->stated == UINT64_MAX)
        return BEGINS_NOT;
    if (r->stated > len - at)
        return at_end ? BEGINS_NOT : BEGINS_MAYBE;
    at += (size_t)r->stated;
    next = at + line_ends(bytes, len, at);
    if (next == len && !at_end)
        return BEGINS_MAYBE;
    b = next == len ? BEGINS : begins(dialect, bytes + next, len - next, at_end);
    r->content = (struct nd_view){bytes + r->head.len, (size_t)r->stated};
    r->len = next;
    return b;
}

/* The stated length is wrong: the record ends before the next one. */
static enum nd_cut_answer search_end(enum nd_web_dialect dialect, const char *bytes, size_t len,
                                     bool at_end, size_t *scanned, struct nd_web_record *r)
{
    size_t from = r->kind == ND_WEB_DAMAGE ? 1 : r->head.len, next;
    bool is_sure = true;

    if (from < *scanned)
        from = *scanned;
    next = from < len ? find_next(dialect, bytes, len, at_end, from, &is_sure) : SIZE_MAX;
    if (!at_end && (next == SIZE_MAX || !is_sure)) {
        *scanned = next != SIZE_MAX ? next : len > 6 ? len - 5 : 1; /* a word may be cut in two */
        return ND_CUT_MORE;
    }
    r->len = next == SIZE_MAX ? len : next;
    if (r->kind == ND_WEB_DAMAGE)
        return ND_CUT_RECORD;
    /* If a blank line ends the bytes, the length was too great; otherwise they are cut short. */
    r->is_cut = !trim_content(dialect, r, bytes + r->len) && next == SIZE_MAX &&
                r->stated != UINT64_MAX && r->stated > r->content.len;
    return ND_CUT_RECORD;
}

enum nd_cut_answer nd_web_end(enum nd_web_dialect dialect, const char *bytes, size_t len,
                              bool at_end, size_t *scanned, struct nd_web_record *r)
{
    enum beginning b = BEGINS_NOT;

    if (r->kind != ND_WEB_DAMAGE && *scanned == 0)
        b = follows(dialect, bytes, len, at_end, r);
    if (b == BEGINS)
        return ND_CUT_RECORD;
    return b == BEGINS_MAYBE ? ND_CUT_MORE : search_end(dialect, bytes, len, at_end, scanned, r);
}

void nd_web_read(enum nd_web_dialect dialect, const char *bytes, size_t len,
                 struct nd_web_record *r)
{
    size_t scanned = 0;

    (void)nd_web_head(dialect, bytes, len, true, r);
    (void)nd_web_end(dialect, bytes, len, true, &scanned, r);
}

bool nd_web_looks_like(enum nd_web_dialect dialect, const char *head, size_t len)
{
    if (dialect == ND_WEB_WARC)
        return begins_warc(head, len, false) == BEGINS;
    return len >= 11 && memcmp(head, "filedesc://", 11) == 0 &&
           begins_arc(head, len, true) == BEGINS;
}
