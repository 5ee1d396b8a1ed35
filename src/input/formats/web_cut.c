/* web_cut.c - web archives cut into groups of records, one for each body */

/*
 * A record of the input is a response, resource or conversion with the requests and the metadata
 * that stand beside it and are about it.  So they stay together wherever the record goes.  A group
 * without a body that is text is a blank stretch; damage is a record, which its parser refuses.
 * A warcinfo is a stretch of its own, which survivors have before the records that follow it; beyond
 * a megabyte of them in a file, it goes with the record behind it.
 */
#include "input/formats/web_cut.h"

#include "base/view.h"
#include "input/formats/web_body.h"

/* A longer record that is not text is passed over as it comes, by the length that its head states. */
enum { PASSED_BYTES = 1 << 22 };

static enum nd_web_dialect dialect_of(const struct nd_cutter *c)
{
    return c->cut == &nd_cut_arc ? ND_WEB_ARC : ND_WEB_WARC;
}

/* ---- Which records go together ---- */

static bool is_json(struct nd_view type)
{
    return type.len >= 16 && memcmp(type.data, "application/json", 16) == 0;
}

/* Whether a record has a body of its own, which decides what becomes of the group. */
static bool is_main(const struct nd_web_record *r)
{
    switch (r->kind) {
    case ND_WEB_INFO:
    case ND_WEB_REQUEST: return false;
    case ND_WEB_METADATA: return is_json(r->type); /* WAT */
    default: return true;
    }
}

static bool is_same(struct nd_view a, struct nd_view b)
{
    return a.len > 0 && nd_view_equal(a, b);
}

/* Whether a record that is no main one is about the main one of the group. */
static bool is_about(const struct nd_web_record *r, const struct nd_web_record *main)
{
    if (is_same(r->concurrent, main->id) || is_same(main->concurrent, r->id))
        return true;
    return !r->concurrent.len && is_same(r->uri, main->uri);
}

static struct nd_view view_at(const char *bytes, struct nd_cut_place p)
{
    return (struct nd_view){bytes + p.at, p.len};
}

/* Note the fields of the group's record that begins at c->seen. */
static void note_fields(struct nd_cutter *c, const struct nd_web_record *r)
{
    const struct nd_view field[] = {r->uri, r->id, r->concurrent};
    struct nd_cut_place *const place[] = {&c->uri, &c->id, &c->concurrent};

    for (size_t i = 0; i < 3; i++)
        *place[i] = field[i].len
                        ? (struct nd_cut_place){c->seen + (size_t)(field[i].data - r->head.data),
                                                field[i].len}
                        : (struct nd_cut_place){0, 0};
}

/* Whether the record behind the group joins it. */
static bool joins(const struct nd_cutter *c, const char *bytes, const struct nd_web_record *r)
{
    const struct nd_web_record other = {.uri = view_at(bytes, c->uri),
                                        .id = view_at(bytes, c->id),
                                        .concurrent = view_at(bytes, c->concurrent)};
    bool is_first_request = r->kind != ND_WEB_REQUEST || !c->has_request;

    if (r->kind == ND_WEB_DAMAGE || r->kind == ND_WEB_INFO || (c->has_main && is_main(r)))
        return false;
    if (c->begins_with_info && !c->has_main)
        return c->info_bytes > 0 && c->info_bytes + c->seen > ND_CUT_INFO_MAX;
    if (!c->has_main && is_main(r))
        return is_about(&other, r);
    return c->has_main ? is_first_request && is_about(r, &other)
                       : is_first_request && is_same(r->uri, other.uri);
}

/* ---- Groups ---- */

static enum nd_cut_answer end_group(struct nd_cutter *c, enum nd_cut_answer answer, size_t len,
                                    size_t *record_len)
{
    uint64_t pass = c->pass;
    unsigned not_text = c->not_text, no_body = c->no_body;

    nd_cut_restart(c);
    c->pass = pass;
    c->lines = *record_len = len;
    if (answer == ND_CUT_BLANK) {
        c->not_text = not_text;
        c->no_body = no_body;
    }
    return answer;
}

/* The group that has begun ends before what follows. */
static enum nd_cut_answer close_group(struct nd_cutter *c, size_t *record_len)
{
    enum nd_cut_answer answer = c->has_text ? ND_CUT_RECORD : ND_CUT_BLANK;
    bool is_info = c->begins_with_info && !c->has_main;

    (void)end_group(c, answer, c->seen, record_len);
    c->is_info = is_info;
    c->info_bytes += is_info ? *record_len : 0;
    return answer;
}

static void note_main(struct nd_cutter *c, const struct nd_web_body *body)
{
    c->has_main = true;
    c->not_text += body->text == ND_WEB_NOT_TEXT;
    c->no_body += body->text == ND_WEB_NO_BODY;
    c->has_text = body->text != ND_WEB_NOT_TEXT && body->text != ND_WEB_NO_BODY;
}

/* Whether a record is so long, and not text, that its bytes are not waited for. */
static bool is_passed(const struct nd_web_record *r, const char *bytes, size_t len)
{
    struct nd_web_record head = *r;
    struct nd_web_body body;
    size_t held = len - r->head.len;

    if (!is_main(r) || r->stated == UINT64_MAX || r->stated < PASSED_BYTES ||
        held < ND_WEB_LOOK_AHEAD)
        return false;
    head.content = (struct nd_view){bytes + r->head.len, ND_WEB_LOOK_AHEAD};
    nd_web_body_find(&head, &body);
    return body.text == ND_WEB_NOT_TEXT;
}

/* Let what has begun go, and what follows by its stated length. */
static enum nd_cut_answer pass_record(struct nd_cutter *c, const struct nd_web_record *r,
                                      size_t len, size_t *record_len)
{
    uint64_t end = c->seen + r->head.len + r->stated;

    c->not_text++;
    c->pass = end > len ? end - len : 0;
    return end_group(c, ND_CUT_BLANK, end > len ? len : (size_t)end, record_len);
}

/* The next record of the group is whole. */
static void add_record(struct nd_cutter *c, const struct nd_web_record *r)
{
    struct nd_web_body body;

    if (c->seen == 0 || (is_main(r) && !c->has_main))
        note_fields(c, r);
    c->begins_with_info |= c->seen == 0 && r->kind == ND_WEB_INFO;
    if (r->is_cut)
        c->has_main = c->has_text = true;
    else if (is_main(r)) {
        nd_web_body_find(r, &body);
        note_main(c, &body);
    }
    c->has_request |= r->kind == ND_WEB_REQUEST;
    c->seen += r->len;
    c->scanned = 0;
}

static enum nd_cut_answer cut_group(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                    size_t *record_len)
{
    enum nd_web_dialect dialect = dialect_of(c);

    while (c->seen < len) {
        const char *at = bytes + c->seen;
        size_t left = len - c->seen;
        struct nd_web_record r;

        if (nd_web_head(dialect, at, left, at_end, &r) == ND_CUT_MORE)
            return ND_CUT_MORE;
        if (c->seen > 0 && !joins(c, bytes, &r))
            return close_group(c, record_len);
        c->ends = r.stated == UINT64_MAX ? len : c->seen + r.head.len + r.stated;
        if (is_passed(&r, at, left))
            return pass_record(c, &r, len, record_len);
        if (nd_web_end(dialect, at, left, at_end, &c->scanned, &r) == ND_CUT_MORE)
            return ND_CUT_MORE;
        if (r.kind == ND_WEB_DAMAGE)
            return end_group(c, ND_CUT_RECORD, r.len, record_len);
        add_record(c, &r);
    }
    return at_end ? close_group(c, record_len) : ND_CUT_MORE;
}

static enum nd_cut_answer cut_web(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                  size_t *record_len)
{
    size_t blank = 0;

    if (c->seen == 0) {
        c->not_text = c->no_body = 0;
        c->is_info = false;
    }
    if (c->pass) {
        size_t passed = c->pass < len ? (size_t)c->pass : len;

        c->pass -= passed;
        c->lines = *record_len = passed;
        return ND_CUT_BLANK;
    }
    while (c->seen == 0 && blank < len && (bytes[blank] == '\n' || bytes[blank] == '\r'))
        blank++;
    if (!blank)
        return cut_group(c, bytes, len, at_end, record_len);
    c->lines = *record_len = blank;
    return ND_CUT_BLANK;
}

static size_t warc_part(struct nd_view group)
{
    struct nd_web_record r;

    nd_web_read(ND_WEB_WARC, group.data, group.len, &r);
    return r.len;
}

static size_t arc_part(struct nd_view group)
{
    struct nd_web_record r;

    nd_web_read(ND_WEB_ARC, group.data, group.len, &r);
    return r.len;
}

const struct nd_cut nd_cut_warc = {.next = cut_web,
                                   .line_ends = 2,
                                   .can_skip = true,
                                   .counts_bytes = true,
                                   .is_crlf = true,
                                   .part = warc_part};
const struct nd_cut nd_cut_arc = {
    .next = cut_web, .line_ends = 1, .can_skip = true, .counts_bytes = true, .part = arc_part};
