/* parse_news.c - a document from a story: tagged text, as the tag set of its element says */

/*
 * Stories are tagged loosely: elements are found by their names wherever they stand, in capital or
 * small letters, and the first that says something counts.  docs/format/news.md has the built-in
 * sets, docs/format/tags.md those of users.
 */
#include <string.h>

#include "base/system/c_functions.h"
#include "base/view.h"
#include "input/formats/feed_cut.h"
#include "input/formats/formats.h"
#include "input/formats/tag_sets.h"
#include "input/formats/xml_read.h"
#include "input/library/libxml_load.h"

/* A story: its element, and the names of its parts. */
struct news_story {
    struct nd_xml_piece start;
    struct nd_view content;
    const struct nd_tag_set *set;
};

/* Compare the name of a tag, without its prefix unless the wanted one has one. */
static bool is_named(struct nd_view name, const char *wanted)
{
    name = strchr(wanted, ':') ? name : nd_xml_local(name);
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
            is_named(piece.name, name))
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

/* Read what an element says, as its part is to be read. */
static int read_content(struct nd_parsing *p, const struct nd_tag_part *part, struct nd_view raw,
                        struct nd_view *text)
{
    return part->reading == ND_TAG_PLAIN
               ? nd_xml_read(p, raw, text)
               : nd_xml_read_page(p, raw, part->reading == ND_TAG_ESCAPED_PAGE, text);
}

/* Read the items of an element, with a comma and a space between them. */
static int read_items(struct nd_parsing *p, const struct nd_tag_part *part, struct nd_view content,
                      struct nd_view *text)
{
    struct nd_buffer *list = &p->parser->feed_list;
    struct nd_view rest = content, one;
    struct nd_xml_piece start;

    list->len = 0;
    while (next_named(&rest, part->items, &start, &one)) {
        int status = read_content(p, part, one, text);

        if (status != 1)
            return status;
        if ((list->len && !nd_buffer_append(list, ", ", 2)) ||
            !nd_buffer_append(list, text->data, text->len))
            return ND_ENOMEM;
    }
    *text = (struct nd_view){NULL, 0};
    return list->len ? nd_xml_keep(p, (struct nd_view){list->data, list->len}, text) : 1;
}

static int read_element(struct nd_parsing *p, const struct nd_tag_part *part,
                        struct nd_view content, struct nd_view *text)
{
    return part->items ? read_items(p, part, content, text) : read_content(p, part, content, text);
}

/* An attribute of the first element of the part's name, or of the story itself. */
static int read_attribute(struct nd_parsing *p, const struct news_story *story,
                          const struct nd_tag_part *part, struct nd_view *text)
{
    struct nd_view rest = story->content, content, value;
    struct nd_xml_piece start = story->start;

    if (part->element && !next_named(&rest, part->element, &start, &content))
        return 1;
    value = nd_xml_attribute(&start, part->attribute);
    return value.data ? read_content(p, part, value, text) : 1;
}

/* Put a text behind another one, on a line of its own. */
static int add_text(struct nd_parsing *p, struct nd_view more, struct nd_view *text)
{
    if (text->data)
        return nd_xml_join(p, *text, more, text);
    *text = more;
    return 1;
}

/* Read the first element of the part that says something, or all of them, each on lines of its own.
 * *any: there was one. */
static int read_part(struct nd_parsing *p, const struct news_story *story,
                     const struct nd_tag_part *part, bool reads_all, struct nd_view *text,
                     bool *any)
{
    struct nd_view rest = story->content, content, one;
    struct nd_xml_piece start;
    int status = 1;

    *text = (struct nd_view){NULL, 0};
    if (part->attribute || !part->element) {
        status = part->attribute ? read_attribute(p, story, part, text)
                                 : read_content(p, part, story->content, text);
        *any |= text->data != NULL;
        return status;
    }
    while (status == 1 && next_named(&rest, part->element, &start, &content)) {
        *any = true;
        status = read_element(p, part, content, &one);
        if (status == 1)
            status = add_text(p, one, text);
        if (!reads_all && text->len)
            break;
    }
    return status;
}

/*
 * Read a field: the first alternative that says something, and of the body the first one that is
 * there.  A field that the set does not name is the element of this name.
 */
static int read_field(struct nd_parsing *p, const struct news_story *story, const char *name,
                      struct nd_view *text)
{
    const struct nd_tag_part own = {.element = name};
    const struct nd_tag_field unnamed = {name, &own, 1},
                              *field = nd_tag_set_field(story->set, name);
    bool is_body = strcmp(name, "body") == 0, any = false;
    int status = 1;

    field = field ? field : &unnamed;
    *text = (struct nd_view){NULL, 0};
    for (size_t i = 0; status == 1 && i < field->n; i++) {
        struct nd_view one;

        if (i && !field->part[i].joins && (is_body ? any : text->len > 0))
            break;
        status = read_part(p, story, &field->part[i], is_body, &one, &any);
        if (status == 1 && one.len)
            status = add_text(p, one, text);
    }
    return status == 1 && is_body && !any ? nd_xml_read(p, story->content, text) : status;
}

static int read_path(struct nd_parsing *p, const struct news_story *story, struct nd_view path,
                     struct nd_view *text)
{
    char name[ND_TAG_NAME_MAX + 1];

    if (path.len >= sizeof name)
        return 1;
    memcpy(name, path.data, path.len);
    name[path.len] = '\0';
    return read_field(p, story, name, text);
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
            status = read_path(p, story, path, &text);
        if (status == 1 && (text.len || i < p->parser->options.n_text_fields))
            nd_xml_set(p, i, text);
    }
    return status;
}

static int parse_news(struct nd_parsing *p, struct nd_view record)
{
    struct nd_view v, rest, title = {NULL, 0}, body = {NULL, 0};
    struct news_story story = {.set = NULL};
    struct nd_xml_piece last;
    int status = nd_xml_begin(p, record, &v);

    if (status != 1)
        return status;
    if (!nd_xml_next(v.data, v.len, &story.start) ||
        !(story.set = nd_tags_of_document(p->parser->options.tags, &story.start)) ||
        !nd_feed_last_tag(v, &last) || !nd_view_equal(last.name, story.start.name))
        return nd_parsing_refuse(p, "the story is not closed: was the file cut short?");
    rest = (struct nd_view){v.data + story.start.all.len,
                            (size_t)(last.all.data - v.data) - story.start.all.len};
    story.content = rest;
    status = read_field(p, &story, "title", &title);
    if (status == 1)
        status = read_field(p, &story, "body", &body);
    if (status == 1)
        status = fill(p, &story, title, body);
    return status == 1 ? nd_parsing_take_made(p) : status;
}

static bool looks_like(const char *head, size_t len)
{
    struct nd_xml_piece root;
    struct nd_view name;

    return nd_feed_looks(head, len, &root, &name) &&
           (nd_tags_of_document(NULL, &root) || nd_xml_is(name, "newsMessage"));
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
