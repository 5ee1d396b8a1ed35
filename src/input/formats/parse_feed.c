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
#include "input/formats/parser.h"
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

static struct nd_view trimmed(struct nd_view v)
{
    while (v.len && strchr(" \t\r\n", *v.data) && *v.data) {
        v.data++;
        v.len--;
    }
    while (v.len && strchr(" \t\r\n", v.data[v.len - 1]) && v.data[v.len - 1])
        v.len--;
    return v;
}

/* Keep a text in the arena: 1, ND_ENOMEM. */
static int keep(struct nd_parsing *p, struct nd_view v, struct nd_view *text)
{
    v = v.len ? trimmed(v) : (struct nd_view){"", 0};
    *text = (struct nd_view){nd_arena_copy(&p->parser->arena, v.data, v.len), v.len};
    return text->data ? 1 : ND_ENOMEM;
}

/* What an XML stretch says, as it is: 1, ND_ENOMEM. */
static int read_plain(struct nd_parsing *p, struct nd_view raw, struct nd_view *text)
{
    struct nd_buffer *said = &p->parser->mail_body;

    said->len = 0;
    if (!nd_buffer_reserve(said, raw.len) || !nd_xml_text(raw, said))
        return ND_ENOMEM;
    return keep(p, (struct nd_view){said->data, said->len}, text);
}

/* The same of markup that has been escaped or, in XHTML, has not: 1, 0 (refused), ND_ENOMEM. */
static int read_markup(struct nd_parsing *p, struct nd_view raw, bool is_escaped,
                       struct nd_view *text)
{
    struct nd_view page = raw;
    int status = is_escaped ? read_plain(p, raw, &page) : 1;

    if (status == 1 &&
        (!is_escaped || memchr(page.data, '<', page.len) || memchr(page.data, '&', page.len))) {
        status = nd_html_read(p, page, false, false);
        page = (struct nd_view){p->parser->page.text.data, p->parser->page.text.len};
        if (status == 1)
            return keep(p, page, text);
    }
    *text = page;
    return status;
}

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

    return markup == FEED_PLAIN ? read_plain(p, e->content, text)
                                : read_markup(p, e->content, markup == FEED_HTML, text);
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
        int status = find(item, *names, &e) ? read_plain(p, e.content, text) : 1;

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
            return read_plain(p, e.content, text);
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
        if (read_plain(p, term.data ? term : e.content, &one) < 0 ||
            (one.len && list->len && !nd_buffer_append(list, ", ", 2)) ||
            !nd_buffer_append(list, one.data, one.len))
            return ND_ENOMEM;
    }
    return list->len ? keep(p, (struct nd_view){list->data, list->len}, text) : 1;
}

static int read_link(struct nd_parsing *p, const struct feed_item *item, struct nd_view *text)
{
    struct feed_element e;
    struct nd_view raw;

    return find_link(item, &e, &raw) ? read_plain(p, raw, text) : 1;
}

/* guid (RSS 2.0), id (Atom), rdf:about (RSS 1.0); else the link. */
static int read_id(struct nd_parsing *p, const struct feed_item *item, struct nd_view *text)
{
    static const char *const names[] = {"guid", "id", NULL};
    struct nd_view about = nd_xml_attribute(&item->start, "rdf:about");
    int status = read_names(p, item, names, text);

    if (status == 1 && !text->len && about.data)
        status = read_plain(p, about, text);
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
            return read_plain(p, e.content, text);
    return 1;
}

/* ---- The document -------------------------------------------------------------------------------- */

/* The title, and below it the body. */
static int join(struct nd_parsing *p, struct nd_view title, struct nd_view body,
                struct nd_view *text)
{
    size_t gap = title.len && body.len ? 1 : 0, len = title.len + gap + body.len;
    char *made = nd_arena_alloc(&p->parser->arena, len + ND_BUFFER_PADDING);

    if (!made)
        return ND_ENOMEM;
    if (title.len)
        memcpy(made, title.data, title.len);
    if (gap)
        made[title.len] = '\n';
    if (body.len)
        memcpy(made + title.len + gap, body.data, body.len);
    memset(made + len, 0, ND_BUFFER_PADDING);
    *text = (struct nd_view){made, len};
    return 1;
}

/* Set the value of a name; what was replaced in the item counts for what has U+FFFD. */
static int fill(struct nd_parsing *p, const struct feed_item *item, struct nd_view title,
                struct nd_view body, size_t i)
{
    struct nd_parser *parser = p->parser;
    struct nd_json_value *to = &parser->value[i];
    struct nd_view path = parser->path[i], text = {NULL, 0};
    uint64_t replaced = nd_replaced_value(&parser->replaced, 0);
    int status = 1;

    if (nd_view_is(path, "text"))
        status = join(p, title, body, &text);
    else if (nd_view_is(path, "title"))
        text = title;
    else if (nd_view_is(path, "body"))
        text = body;
    else
        status = read_field(p, item, path, &text);
    if (status != 1 || !text.data)
        return status;
    *to = (struct nd_json_value){.kind = ND_JSON_STRING, .bytes = text};
    to->replaced = nd_replaced_count(text) ? replaced : 0;
    if (i < parser->options.n_text_fields)
        p->document->text_replaced |= to->replaced;
    return 1;
}

/* The charset that the feed declares, or NULL; after UTF-16 it is UTF-8. */
static const char *charset_of(const struct nd_source *source, char *label, size_t capacity)
{
    struct nd_xml_piece first;
    struct nd_view name;

    if (source->is_unicode)
        return "utf-8";
    if (!nd_xml_next(source->header.data, source->header.len, &first))
        return NULL;
    first.inside = first.all;
    name = nd_xml_attribute(&first, "encoding");
    if (first.kind != ND_XML_OTHER || !name.data || name.len >= capacity)
        return NULL;
    memcpy(label, name.data, name.len);
    label[name.len] = 0;
    return label;
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
    struct nd_parser *parser = p->parser;
    struct nd_view v, title, body;
    struct feed_item item;
    char label[48];
    int status;

    if (!nd_charset_named_to_utf8(&parser->charset, charset_of(p->source, label, sizeof label),
                                  record, &parser->arena, &v, &parser->replaced))
        return ND_ENOMEM;
    status = open_item(p, v, &item);
    if (status == 1)
        status = read_first(p, &item, titles, &title);
    if (status == 1)
        status = read_first(p, &item, bodies, &body);
    nd_parsing_clear(p);
    p->document->text_replaced = 0;
    for (size_t i = 0; status == 1 && i < parser->n_paths; i++)
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

    if (!len || *head != '<' || !nd_feed_root(head, len, &root))
        return false;
    name = nd_xml_local(root.name);
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
