/* parse_feed.c - a document from an item of a feed in XML: RSS, Atom */

/*
 * An item is read as it stands, without its feed: its prefixes are those that feeds use (dc,
 * content).  Of the elements directly within it, the first of each name counts, except categories.
 */
#include <string.h>

#include "base/view.h"
#include "input/formats/feed_cut.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/xml_read.h"
#include "input/library/libxml_load.h"

/* How the content of an element is to be read. */
enum feed_markup { FEED_PLAIN, FEED_HTML, FEED_XHTML };

/* An element directly within an item. */
struct feed_element {
    struct nd_xml_piece start;
    struct nd_view content; /* as it is written; empty of an empty element */
};

struct feed_item {
    struct nd_view name;    /* of the item's tag */
    struct nd_view content; /* what is between its tags */
    struct nd_xml_piece start;
};

/* ---- Elements ---------------------------------------------------------------------------------- */

/* Take the next element off `rest`; false: there is none. */
static bool next_element(struct nd_view *rest, struct feed_element *e)
{
    struct nd_xml_piece piece;
    size_t at = 0, depth = 0, begin = 0;

    while (at < rest->len) {
        bool is_whole = nd_xml_next(rest->data + at, rest->len - at, &piece);

        at += piece.all.len;
        if (!is_whole)
            continue;
        if (depth == 0 && piece.kind == ND_XML_START) {
            e->start = piece;
            begin = at;
            depth = piece.is_empty ? 0 : 1;
        } else if (depth && nd_view_equal(piece.name, e->start.name)) {
            depth += piece.kind == ND_XML_START && !piece.is_empty ? 1 : 0;
            depth -= piece.kind == ND_XML_END ? 1 : 0;
        } else {
            continue;
        }
        if (depth)
            continue;
        e->content = (struct nd_view){rest->data + begin,
                                      piece.kind == ND_XML_END ? at - begin - piece.all.len : 0};
        *rest = (struct nd_view){rest->data + at, rest->len - at};
        return true;
    }
    return false;
}

/* Whether an element is one of feeds: it has the prefix of its item, or none. */
static bool is_core(const struct feed_item *item, struct nd_view name, const char *wanted)
{
    size_t prefix = item->name.len - nd_xml_local(item->name).len;

    return nd_xml_is(nd_xml_local(name), wanted) && name.len == prefix + strlen(wanted) &&
           memcmp(name.data, item->name.data, prefix) == 0;
}

/* The first element of this name: one of feeds, or with a prefix.  False: there is none. */
static bool find(const struct feed_item *item, const char *name, struct feed_element *e)
{
    struct nd_view rest = item->content;

    while (next_element(&rest, e))
        if (strchr(name, ':') ? nd_xml_is(e->start.name, name) : is_core(item, e->start.name, name))
            return true;
    return false;
}

/* The link that Atom means by default, or the text of RSS's. */
static bool find_link(const struct feed_item *item, struct feed_element *e, struct nd_view *raw)
{
    struct nd_view rest = item->content;
    bool found = false;

    while (next_element(&rest, e)) {
        struct nd_view href, rel;

        if (!is_core(item, e->start.name, "link"))
            continue;
        href = nd_xml_attribute(&e->start, "href");
        rel = nd_xml_attribute(&e->start, "rel");
        if (!href.data) {
            *raw = e->content;
            return true;
        }
        if (!found || !rel.data || nd_view_is(rel, "alternate"))
            *raw = href;
        found = true;
        if (!rel.data || nd_view_is(rel, "alternate"))
            return true;
    }
    return found;
}

/* ---- Texts --------------------------------------------------------------------------------------- */

/* Atom says what a text is; in RSS it is escaped HTML (RSS 2.0, "description"). */
static enum feed_markup markup_of(const struct feed_item *item, const struct feed_element *e)
{
    struct nd_view type = nd_xml_attribute(&e->start, "type");

    if (nd_xml_is(nd_xml_local(item->name), "item"))
        return FEED_HTML;
    if (nd_view_is(type, "html") || nd_view_is(type, "text/html"))
        return FEED_HTML;
    if (nd_view_is(type, "xhtml") || nd_view_is(type, "application/xhtml+xml"))
        return FEED_XHTML;
    return FEED_PLAIN;
}

static int read_text(struct nd_parsing *p, const struct feed_item *item,
                     const struct feed_element *e, struct nd_view *text)
{
    enum feed_markup markup = markup_of(item, e);

    return markup == FEED_PLAIN ? nd_xml_read(p, e->content, text)
                                : nd_xml_read_page(p, e->content, markup == FEED_HTML, text);
}

/* The first of these elements that has a text: 1, also if none has; 0 (refused), ND_ENOMEM. */
static int read_first(struct nd_parsing *p, const struct feed_item *item, const char *const *names,
                      struct nd_view *text)
{
    *text = (struct nd_view){NULL, 0};
    for (; *names; names++) {
        struct feed_element e;
        int status = find(item, *names, &e) ? read_text(p, item, &e, text) : 1;

        if (status != 1 || text->len)
            return status;
    }
    return 1;
}

/* ---- Fields -------------------------------------------------------------------------------------- */

static const char *const titles[] = {"title", "dc:title", NULL};
static const char *const bodies[] = {"content:encoded", "content", "description", "summary", NULL};
static const char *const dates[] = {"pubDate", "published", "issued", "dc:date",
                                    "updated", "modified",  NULL};
static const char *const updates[] = {"updated", "modified", "dcterms:modified", NULL};

/* The plain text of the first of these elements that has one. */
static int read_names(struct nd_parsing *p, const struct feed_item *item, const char *const *names,
                      struct nd_view *text)
{
    for (; *names; names++) {
        struct feed_element e;
        int status = find(item, *names, &e) ? nd_xml_read(p, e.content, text) : 1;

        if (status != 1 || text->len)
            return status;
    }
    return 1;
}

static int read_author(struct nd_parsing *p, const struct feed_item *item, struct nd_view *text)
{
    static const char *const names[] = {"author", "dc:creator", NULL};
    struct feed_item person = *item;
    struct feed_element e;

    if (find(item, "author", &e)) {
        person.content = e.content;
        if (find(&person, "name", &e))
            return nd_xml_read(p, e.content, text);
    }
    return read_names(p, item, names, text);
}

/* All categories, with a comma and a space between them. */
static int read_categories(struct nd_parsing *p, const struct feed_item *item, struct nd_view *text)
{
    struct nd_view rest = item->content;
    struct nd_buffer *list = &p->parser->feed_list;
    struct feed_element e;

    list->len = 0;
    while (next_element(&rest, &e)) {
        struct nd_view term = nd_xml_attribute(&e.start, "term"), one;

        if (!is_core(item, e.start.name, "category") && !nd_xml_is(e.start.name, "dc:subject"))
            continue;
        if (nd_xml_read(p, term.data ? term : e.content, &one) < 0 ||
            (one.len && list->len && !nd_buffer_append(list, ", ", 2)) ||
            !nd_buffer_append(list, one.data, one.len))
            return ND_ENOMEM;
    }
    return list->len ? nd_xml_keep(p, (struct nd_view){list->data, list->len}, text) : 1;
}

static int read_link(struct nd_parsing *p, const struct feed_item *item, struct nd_view *text)
{
    struct feed_element e;
    struct nd_view raw;

    return find_link(item, &e, &raw) ? nd_xml_read(p, raw, text) : 1;
}

/* guid (RSS 2.0), id (Atom), rdf:about (RSS 1.0); else the link. */
static int read_id(struct nd_parsing *p, const struct feed_item *item, struct nd_view *text)
{
    static const char *const names[] = {"guid", "id", NULL};
    struct nd_view about = nd_xml_attribute(&item->start, "rdf:about");
    int status = read_names(p, item, names, text);

    if (status == 1 && !text->len && about.data)
        status = nd_xml_read(p, about, text);
    return status == 1 && !text->len ? read_link(p, item, text) : status;
}

static int read_field(struct nd_parsing *p, const struct feed_item *item, struct nd_view name,
                      struct nd_view *text)
{
    struct nd_view rest = item->content;
    struct feed_element e;

    if (nd_view_is(name, "id"))
        return read_id(p, item, text);
    if (nd_view_is(name, "link"))
        return read_link(p, item, text);
    if (nd_view_is(name, "date"))
        return read_names(p, item, dates, text);
    if (nd_view_is(name, "updated"))
        return read_names(p, item, updates, text);
    if (nd_view_is(name, "author"))
        return read_author(p, item, text);
    if (nd_view_is(name, "category"))
        return read_categories(p, item, text);
    while (next_element(&rest, &e))
        if (nd_view_equal(e.start.name, name))
            return nd_xml_read(p, e.content, text);
    return 1;
}

/* ---- The document -------------------------------------------------------------------------------- */

static int fill(struct nd_parsing *p, const struct feed_item *item, struct nd_view title,
                struct nd_view body, size_t i)
{
    struct nd_view path = p->parser->path[i], text = {NULL, 0};
    int status = 1;

    if (nd_view_is(path, "text"))
        status = nd_xml_join(p, title, body, &text);
    else if (nd_view_is(path, "title"))
        text = title;
    else if (nd_view_is(path, "body"))
        text = body;
    else
        status = read_field(p, item, path, &text);
    if (status == 1)
        nd_xml_set(p, i, text);
    return status;
}

/* Take the item's tags off; 0: it is refused. */
static int open_item(struct nd_parsing *p, struct nd_view record, struct feed_item *item)
{
    struct feed_element whole;
    struct nd_view rest = record;

    if (!next_element(&rest, &whole))
        return nd_parsing_refuse(p, "the item is not closed: was the feed cut short?");
    *item = (struct feed_item){whole.start.name, whole.content, whole.start};
    return 1;
}

static int parse_feed(struct nd_parsing *p, struct nd_view record)
{
    struct nd_view v, title, body;
    struct feed_item item;
    int status = nd_xml_begin(p, record, &v);

    if (status == 1)
        status = open_item(p, v, &item);
    if (status == 1)
        status = read_first(p, &item, titles, &title);
    if (status == 1)
        status = read_first(p, &item, bodies, &body);
    for (size_t i = 0; status == 1 && i < p->parser->n_paths; i++)
        status = fill(p, &item, title, body, i);
    return status == 1 ? nd_parsing_take_made(p) : status;
}

static bool has(struct nd_view in, const char *part)
{
    size_t n = strlen(part);

    for (; in.len >= n; in.data++, in.len--)
        if (memcmp(in.data, part, n) == 0)
            return true;
    return false;
}

static bool looks_like(const char *head, size_t len)
{
    struct nd_xml_piece root;
    struct nd_view name;

    if (!nd_feed_looks(head, len, &root, &name))
        return false;
    if (nd_xml_is(name, "rss"))
        return true;
    if (nd_xml_is(name, "feed"))
        return has(root.inside, "http://www.w3.org/2005/Atom") ||
               has(root.inside, "http://purl.org/atom/");
    return nd_xml_is(name, "RDF") && (has(root.inside, "http://purl.org/rss/1.0/") ||
                                      has(root.inside, "http://my.netscape.com/rdf/simple/"));
}

const struct nd_format_row nd_format_feed = {
    .word = "feed",
    .name = "RSS or Atom",
    .suffixes = "rss atom",
    .cut = &nd_cut_feed,
    .parse = parse_feed,
    .looks_like = looks_like,
    .find_missing = nd_libxml_load,
    .frame_end = nd_feed_end,
    .is_like_frame = nd_feed_is_like,
    .names_charset = true,
};
