/* parse_json_feed.c - a document from an item of JSON Feed */
#include <string.h>

#include "base/view.h"
#include "input/formats/formats.h"
#include "input/formats/json_feed.h"
#include "input/formats/xml_read.h"
#include "input/library/libxml_load.h"

/* The members that fields are made of (jsonfeed.org, version 1.1, "Items"); the first two may be
 * several values. */
enum feed_member {
    TAGS,
    AUTHORS,
    AUTHOR, /* of version 1 */
    TITLE,
    HTML,
    PLAIN,
    SUMMARY,
    ID,
    URL,
    EXTERNAL_URL,
    PUBLISHED,
    MODIFIED,
    N_MEMBERS
};
#define N_LISTS 2

static const char *const member_names[N_MEMBERS] = {
    "tags.*",       "authors.*.name", "author.name",    "title",
    "content_html", "content_text",   "summary",        "id",
    "url",          "external_url",   "date_published", "date_modified",
};

/* An item: its members, and what was made of them. */
struct json_item {
    struct nd_json_value member[N_MEMBERS];
    struct nd_view title, body;
};

/* ---- Members ------------------------------------------------------------------------------------- */

/* The text of a member that is a string or a number; of no bytes: there is none. */
static struct nd_view said(const struct json_item *item, enum feed_member m)
{
    const struct nd_json_value *v = &item->member[m];

    return v->kind == ND_JSON_STRING || v->kind == ND_JSON_NUMBER ? v->bytes
                                                                  : (struct nd_view){NULL, 0};
}

static struct nd_view first_said(const struct json_item *item, enum feed_member a,
                                 enum feed_member b)
{
    struct nd_view text = said(item, a);

    return text.len ? text : said(item, b);
}

/* All strings of a member that may be several, with a comma and a space between them. */
static int join(struct nd_parsing *p, const struct json_item *item, enum feed_member m,
                struct nd_view *text)
{
    struct nd_buffer *list = &p->parser->feed_list;

    list->len = 0;
    for (const struct nd_json_value *v = &item->member[m]; v; v = v->next)
        if (v->kind == ND_JSON_STRING && v->bytes.len &&
            ((list->len && !nd_buffer_append(list, ", ", 2)) ||
             !nd_buffer_append(list, v->bytes.data, v->bytes.len)))
            return ND_ENOMEM;
    return list->len ? nd_xml_keep(p, (struct nd_view){list->data, list->len}, text) : 1;
}

/* ---- Reading ------------------------------------------------------------------------------------- */

/* Read these paths of a record, which is repaired if it must be: 1, 0, ND_ENOMEM. */
static int walk(struct nd_parsing *p, struct nd_view *record, const struct nd_view *paths, size_t n,
                size_t n_lists, struct nd_json_value *values)
{
    struct nd_parser *parser = p->parser;
    const char *reason = "";
    enum nd_json_found found = ND_JSON_BAD_UTF8;

    for (int attempt = 0; attempt < 2 && found == ND_JSON_BAD_UTF8; attempt++) {
        if (attempt && nd_parsing_repair(p, record) != 1)
            return ND_ENOMEM;
        found = nd_json_walk(parser->json, record->data, record->len, paths, n, n_lists,
                             &parser->arena, values, &reason);
    }
    if (found == ND_JSON_NO_MEMORY)
        return ND_ENOMEM;
    return found == ND_JSON_INDEXED ? 1 : nd_parsing_refuse(p, "not a JSON object: %s", reason);
}

static int read_members(struct nd_parsing *p, struct nd_view *record, struct json_item *item)
{
    struct nd_view paths[N_MEMBERS];

    for (int m = 0; m < N_MEMBERS; m++)
        paths[m] = (struct nd_view){member_names[m], strlen(member_names[m])};
    return walk(p, record, paths, N_MEMBERS, N_LISTS, item->member);
}

/* The first of HTML, plain text and summary that says something. */
static int read_body(struct nd_parsing *p, struct json_item *item)
{
    struct nd_view html = said(item, HTML);
    int status = html.len ? nd_xml_read_page(p, html, false, &item->body) : 1;

    if (status == 1 && !item->body.len)
        item->body = first_said(item, PLAIN, SUMMARY);
    return status;
}

/* The value of a field; data stays NULL where the item has none.  0 and `is_own`: none of these, but
 * a member of this name. */
static int read_field(struct nd_parsing *p, const struct json_item *item, struct nd_view name,
                      struct nd_view *text, bool *is_own)
{
    *is_own = false;
    if (nd_view_is(name, "text"))
        return nd_xml_join(p, item->title, item->body, text);
    if (nd_view_is(name, "category"))
        return join(p, item, TAGS, text);
    if (nd_view_is(name, "author")) {
        *text = said(item, AUTHOR);
        return text->len ? 1 : join(p, item, AUTHORS, text);
    }
    if (nd_view_is(name, "title"))
        *text = item->title;
    else if (nd_view_is(name, "body"))
        *text = item->body;
    else if (nd_view_is(name, "id"))
        *text = first_said(item, ID, URL);
    else if (nd_view_is(name, "link"))
        *text = first_said(item, URL, EXTERNAL_URL);
    else if (nd_view_is(name, "date"))
        *text = first_said(item, PUBLISHED, MODIFIED);
    else if (nd_view_is(name, "updated"))
        *text = said(item, MODIFIED);
    else
        *is_own = true;
    return 1;
}

static bool has_surrogates(const struct json_item *item)
{
    for (int m = 0; m < N_MEMBERS; m++)
        for (const struct nd_json_value *v = &item->member[m]; v; v = v->next)
            if (v->has_surrogates)
                return true;
    return false;
}

/* Count what lone surrogates were for the whole item: 1, ND_ENOMEM. */
static int add_surrogates(struct nd_parsing *p, struct nd_view record)
{
    const char *at = record.data, *end = at + record.len;
    uint32_t packed;

    while (nd_json_next_replaced(&at, end, &packed))
        if (packed && !nd_replaced_add(&p->parser->replaced, packed))
            return ND_ENOMEM;
    return 1;
}

static int parse_json_feed(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    struct json_item item = {.title = {NULL, 0}};
    int status = read_members(p, &record, &item);

    /* All members of these names, of which the known ones are then set again. */
    nd_parsing_clear(p);
    p->document->text_replaced = 0;
    if (status == 1)
        status = walk(p, &record, parser->path, parser->n_paths, 0, parser->value);
    if (status == 1 && has_surrogates(&item))
        status = add_surrogates(p, record);
    item.title = said(&item, TITLE);
    if (status == 1)
        status = read_body(p, &item);
    for (size_t i = 0; status == 1 && i < parser->n_paths; i++) {
        struct nd_view text = {NULL, 0};
        bool is_own;

        status = read_field(p, &item, parser->path[i], &text, &is_own);
        if (status != 1 || is_own)
            continue;
        parser->value[i] = (struct nd_json_value){.kind = ND_JSON_ABSENT};
        nd_xml_set(p, i, text);
    }
    return status == 1 ? nd_parsing_take_made(p) : status;
}

static bool looks_like(const char *head, size_t len)
{
    return len && *head == '{' && nd_json_feed_version((struct nd_view){head, len}).len > 0;
}

static bool is_like_frame(struct nd_view header, struct nd_view other)
{
    return nd_view_equal(nd_json_feed_version(header), nd_json_feed_version(other));
}

const struct nd_format_row nd_format_jsonfeed = {
    .word = "jsonfeed",
    .name = "JSON Feed",
    .suffixes = "jsonfeed",
    .cut = &nd_cut_json_feed,
    .parse = parse_json_feed,
    .looks_like = looks_like,
    .find_missing = nd_libxml_load,
    .frame_end = nd_json_feed_end,
    .is_like_frame = is_like_frame,
    .names_charset = true,
};
