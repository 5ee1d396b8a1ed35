/* parse_news.c - a document from a story: SGML of the Reuters and TREC collections, NITF, NewsML-G2 */

/*
 * Stories are tagged loosely: elements are found by their names wherever they stand, in capital or
 * small letters, and the first that says something counts.  docs/format/news.md lists the names.
 */
#include <string.h>

#include "base/system/c_functions.h"
#include "base/view.h"
#include "input/formats/feed_cut.h"
#include "input/formats/formats.h"
#include "input/formats/xml_read.h"
#include "input/library/libxml_load.h"

/* A story: its element, and what it is. */
struct news_story {
    struct nd_xml_piece start;
    struct nd_view content;
    bool is_markup; /* paragraphs are elements: NITF and NewsML-G2 */
};

static const char *const ids[] = {"docno", "docid", NULL};
static const char *const titles[] = {"hl1", "headline", "hl", "head", "ttl", "title", "ti", NULL};
static const char *const bodies[] = {"body.content", "inlineXML", "inlineData",
                                     "body",         "text",      NULL};
static const char *const dates[] = {"contentCreated", "versionCreated", "date", "date1",
                                    "date_time",      "datetime",       NULL};
static const char *const authors[] = {"byline", "author", "by", NULL};

static bool is_named(struct nd_view name, const char *wanted)
{
    return name.len == strlen(wanted) && nd_compare_caseless_n(name.data, wanted, name.len) == 0;
}

/* Take the next element of this name off `rest`, at any depth.  One that is not closed goes up to
 * the next tag.  False: there is none. */
static bool next_named(struct nd_view *rest, const char *name, struct nd_xml_piece *start,
                       struct nd_view *content)
{
    struct nd_xml_piece piece;
    size_t at = 0, from, next = 0;

    for (; at < rest->len; at += piece.all.len)
        if (nd_xml_next(rest->data + at, rest->len - at, &piece) && piece.kind == ND_XML_START &&
            is_named(nd_xml_local(piece.name), name))
            break;
    if (at >= rest->len)
        return false;
    *start = piece;
    from = at += piece.all.len;
    for (; !start->is_empty && at < rest->len; at += piece.all.len) {
        bool is_tag = nd_xml_next(rest->data + at, rest->len - at, &piece) &&
                      (piece.kind == ND_XML_START || piece.kind == ND_XML_END);

        if (is_tag && piece.kind == ND_XML_END && nd_view_equal(piece.name, start->name))
            break;
        next = is_tag && !next ? at : next;
    }
    if (at >= rest->len && !start->is_empty)
        at = next ? next : rest->len;
    *content = (struct nd_view){rest->data + from, start->is_empty ? 0 : at - from};
    *rest = (struct nd_view){rest->data + at, rest->len - at};
    return true;
}

/* Read what an element says, of a list its <D> with a comma and a space between them. */
static int read_element(struct nd_parsing *p, struct nd_view content, struct nd_view *text)
{
    struct nd_buffer *list = &p->parser->feed_list;
    struct nd_view rest = content, one;
    struct nd_xml_piece start;

    list->len = 0;
    while (next_named(&rest, "d", &start, &one)) {
        if (nd_xml_read(p, one, text) < 0 || (list->len && !nd_buffer_append(list, ", ", 2)) ||
            !nd_buffer_append(list, text->data, text->len))
            return ND_ENOMEM;
    }
    return list->len ? nd_xml_keep(p, (struct nd_view){list->data, list->len}, text)
                     : nd_xml_read(p, content, text);
}

/* The first of these elements that says something. */
static int read_names(struct nd_parsing *p, const struct news_story *story,
                      const char *const *names, struct nd_view *text)
{
    for (; *names; names++) {
        struct nd_view rest = story->content, content;
        struct nd_xml_piece start;

        while (next_named(&rest, *names, &start, &content)) {
            int status = read_element(p, content, text);

            if (status != 1 || text->len)
                return status;
        }
    }
    return 1;
}

/* An attribute of the first element of this name, or of the story itself if there is no name. */
static int read_attribute(struct nd_parsing *p, const struct news_story *story, const char *name,
                          const char *attribute, struct nd_view *text)
{
    struct nd_view rest = story->content, content, value;
    struct nd_xml_piece start = story->start;

    if (name && !next_named(&rest, name, &start, &content))
        return 1;
    value = nd_xml_attribute(&start, attribute);
    return value.data ? nd_xml_read(p, value, text) : 1;
}

static int read_id(struct nd_parsing *p, const struct news_story *story, struct nd_view *text)
{
    static const struct {
        const char *element, *attribute;
    } of[] = {{NULL, "guid"}, {"doc-id", "id-string"}, {NULL, "NEWID"}, {NULL, "id"}};
    int status = read_names(p, story, ids, text);

    for (size_t i = 0; i < sizeof of / sizeof *of && status == 1 && !text->len; i++)
        status = read_attribute(p, story, of[i].element, of[i].attribute, text);
    return status;
}

static int read_date(struct nd_parsing *p, const struct news_story *story, struct nd_view *text)
{
    int status = read_attribute(p, story, "date.issue", "norm", text);

    return status == 1 && !text->len ? read_names(p, story, dates, text) : status;
}

/* All elements of the first of these names that occurs; else the whole story. */
static int read_body(struct nd_parsing *p, const struct news_story *story, struct nd_view *text)
{
    struct nd_xml_piece start;
    int status = 1;

    for (const char *const *name = bodies; *name; name++) {
        struct nd_view rest = story->content, content, one;
        bool any = false;

        *text = (struct nd_view){NULL, 0};
        while (status == 1 && next_named(&rest, *name, &start, &content)) {
            any = true;
            status = story->is_markup ? nd_xml_read_page(p, content, false, &one)
                                      : nd_xml_read(p, content, &one);
            if (status == 1)
                status = nd_xml_join(p, *text, one, text);
        }
        if (any || status != 1)
            return status;
    }
    return nd_xml_read(p, story->content, text);
}

static int read_field(struct nd_parsing *p, const struct news_story *story, struct nd_view name,
                      struct nd_view *text)
{
    char wanted[64];
    const char *const only[] = {wanted, NULL};

    if (nd_view_is(name, "id"))
        return read_id(p, story, text);
    if (nd_view_is(name, "date"))
        return read_date(p, story, text);
    if (nd_view_is(name, "author"))
        return read_names(p, story, authors, text);
    if (name.len >= sizeof wanted)
        return 1;
    memcpy(wanted, name.data, name.len);
    wanted[name.len] = 0;
    return read_names(p, story, only, text);
}

/* Whether the body begins with the title: that of Reuters does if it is short. */
static bool is_said(struct nd_view title, struct nd_view body)
{
    return title.len && body.len >= title.len && memcmp(title.data, body.data, title.len) == 0;
}

static int fill(struct nd_parsing *p, const struct news_story *story, struct nd_view title,
                struct nd_view body)
{
    const struct nd_view nothing = {NULL, 0};
    int status = 1;

    for (size_t i = 0; status == 1 && i < p->parser->n_paths; i++) {
        struct nd_view path = p->parser->path[i], text = {NULL, 0};

        if (nd_view_is(path, "text"))
            status = nd_xml_join(p, is_said(title, body) ? nothing : title, body, &text);
        else if (nd_view_is(path, "title"))
            text = title;
        else if (nd_view_is(path, "body"))
            text = body;
        else
            status = read_field(p, story, path, &text);
        if (status == 1 && (text.len || i < p->parser->options.n_text_fields))
            nd_xml_set(p, i, text);
    }
    return status;
}

static int parse_news(struct nd_parsing *p, struct nd_view record)
{
    struct nd_view v, rest, title = {NULL, 0}, body = {NULL, 0};
    struct news_story story = {.is_markup = false};
    struct nd_xml_piece last;
    int status = nd_xml_begin(p, record, &v);

    if (status != 1)
        return status;
    if (!nd_xml_next(v.data, v.len, &story.start) || story.start.kind != ND_XML_START ||
        !nd_feed_last_tag(v, &last) || !nd_view_equal(last.name, story.start.name))
        return nd_parsing_refuse(p, "the story is not closed: was the file cut short?");
    rest = (struct nd_view){v.data + story.start.all.len,
                            (size_t)(last.all.data - v.data) - story.start.all.len};
    story.content = rest;
    story.is_markup = is_named(nd_xml_local(story.start.name), "nitf") ||
                      is_named(nd_xml_local(story.start.name), "newsItem");
    status = read_names(p, &story, titles, &title);
    if (status == 1)
        status = read_body(p, &story, &body);
    if (status == 1)
        status = fill(p, &story, title, body);
    return status == 1 ? nd_parsing_take_made(p) : status;
}

static bool looks_like(const char *head, size_t len)
{
    struct nd_xml_piece root;
    struct nd_view name;

    return nd_feed_looks(head, len, &root, &name) &&
           (nd_feed_is_story(&root) || nd_xml_is(name, "newsMessage"));
}

static bool is_like_frame(struct nd_view header, struct nd_view other)
{
    struct nd_xml_piece root;

    return nd_feed_is_like(header, other) || (!nd_feed_root(header.data, header.len, &root) &&
                                              !nd_feed_root(other.data, other.len, &root));
}

const struct nd_format_row nd_format_news = {
    .word = "news",
    .name = "news",
    .suffixes = "nitf newsml",
    .cut = &nd_cut_news,
    .parse = parse_news,
    .looks_like = looks_like,
    .find_missing = nd_libxml_load,
    .frame_end = nd_feed_end,
    .is_like_frame = is_like_frame,
    .names_charset = true,
};
