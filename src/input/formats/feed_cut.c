/* feed_cut.c - feeds and files of stories cut into their items, and what stands around these */
#include "input/formats/feed_cut.h"

#include <string.h>

#include "base/view.h"
#include "input/formats/tag_sets.h"

static bool is_item(const struct nd_xml_piece *piece)
{
    struct nd_view name = nd_xml_local(piece->name);

    return piece->kind == ND_XML_START && !piece->is_empty &&
           (nd_xml_is(name, "item") || nd_xml_is(name, "entry"));
}

/* Whether a piece begins a record. */
static bool begins_record(const struct nd_cutter *c, const struct nd_xml_piece *piece)
{
    return c->cut == &nd_cut_news ? nd_tags_of_document(c->tags, piece) != NULL : is_item(piece);
}

/* Cut off all that stands before the next item. */
static enum nd_cut_answer cut_between(struct nd_cutter *c, const char *bytes, size_t len,
                                      bool at_end, size_t *record_len)
{
    struct nd_xml_piece piece;

    while (c->seen < len) {
        bool is_whole = nd_xml_next(bytes + c->seen, len - c->seen, &piece);

        if (is_whole && begins_record(c, &piece))
            break;
        if (!is_whole && !at_end && piece.kind != ND_XML_TEXT)
            return ND_CUT_MORE;
        c->seen += piece.all.len;
    }
    if (c->seen == len && !at_end)
        return ND_CUT_MORE;
    return nd_cut_end_stretch(c, ND_CUT_BLANK, bytes, c->seen, record_len);
}

/* An item, which has begun with its tag; items of the same name within it belong to it. */
static enum nd_cut_answer cut_item(struct nd_cutter *c, struct nd_view item, const char *bytes,
                                   size_t len, bool at_end, size_t *record_len)
{
    struct nd_xml_piece piece;

    while (c->seen < len) {
        bool is_whole = nd_xml_next(bytes + c->seen, len - c->seen, &piece);

        if (!is_whole && !at_end && piece.kind != ND_XML_TEXT)
            return ND_CUT_MORE;
        c->seen += piece.all.len;
        if (!is_whole || !nd_view_equal(piece.name, item))
            continue;
        if (piece.kind == ND_XML_START && !piece.is_empty)
            c->depth++;
        else if (piece.kind == ND_XML_END && --c->depth == 0)
            return nd_cut_end_stretch(c, ND_CUT_RECORD, bytes, c->seen, record_len);
    }
    return at_end ? nd_cut_end_stretch(c, ND_CUT_RECORD, bytes, len, record_len) : ND_CUT_MORE;
}

static enum nd_cut_answer cut_feed(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                   size_t *record_len)
{
    struct nd_xml_piece first;

    if (c->seen == 0)
        c->is_info = false;
    if (nd_xml_next(bytes, len, &first) && begins_record(c, &first))
        return cut_item(c, first.name, bytes, len, at_end, record_len);
    return cut_between(c, bytes, len, at_end, record_len);
}

const struct nd_cut nd_cut_feed = {.next = cut_feed, .line_ends = 1};
const struct nd_cut nd_cut_news = {.next = cut_feed, .line_ends = 1};

/* ---- What stands around the items ---------------------------------------------------------------- */

bool nd_feed_root(const char *bytes, size_t len, struct nd_xml_piece *root)
{
    for (size_t at = 0; at < len; at += root->all.len) {
        if (!nd_xml_next(bytes + at, len - at, root))
            return false;
        if (root->kind == ND_XML_START)
            return true;
    }
    return false;
}

bool nd_feed_looks(const char *head, size_t len, struct nd_xml_piece *root, struct nd_view *name)
{
    if (!len || *head != '<' || !nd_feed_root(head, len, root))
        return false;
    *name = nd_xml_local(root->name);
    return true;
}

bool nd_feed_last_tag(struct nd_view record, struct nd_xml_piece *last)
{
    const char *p = record.data + record.len;

    while (p > record.data && *--p != '<')
        continue;
    return record.len && nd_xml_next(p, (size_t)(record.data + record.len - p), last) &&
           last->kind == ND_XML_END;
}

bool nd_feed_is_like(struct nd_view header, struct nd_view other)
{
    struct nd_xml_piece a, b;

    return nd_feed_root(header.data, header.len, &a) && nd_feed_root(other.data, other.len, &b) &&
           nd_view_equal(a.all, b.all);
}

/* Elements that are open: feeds have two. */
enum { OPEN_MAX = 16 };

bool nd_feed_end(struct nd_view header, struct nd_buffer *out)
{
    struct nd_view open[OPEN_MAX];
    struct nd_xml_piece piece;
    size_t n = 0;
    bool good = nd_buffer_append(out, "\n", 1);

    for (size_t at = 0; at < header.len; at += piece.all.len) {
        if (!nd_xml_next(header.data + at, header.len - at, &piece))
            continue;
        if (piece.kind == ND_XML_START && !piece.is_empty && n < OPEN_MAX)
            open[n++] = piece.name;
        else if (piece.kind == ND_XML_END && n && nd_view_equal(open[n - 1], piece.name))
            n--;
    }
    while (good && n--)
        good = nd_buffer_append(out, "</", 2) && nd_buffer_append(out, open[n].data, open[n].len) &&
               nd_buffer_append(out, ">\n", 2);
    return good;
}
