/* parse_web.c - a document from a record of a web archive: a page or a plain text, by its address */
#include "base/address.h"
#include "base/system/c_functions.h"
#include "base/view.h"
#include "input/formats/detect.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/parser.h"
#include "input/formats/web_body.h"
#include "input/formats/web_cut.h"
#include "input/library/libxml_load.h"

#include <string.h>

/* The record that is parsed, and what it holds. */
struct web_page {
    enum nd_web_dialect dialect;
    struct nd_web_record record;
    struct nd_web_body body;
    char site[ND_HOST_MAX + 1], date[ND_WEB_DATE_BYTES];
    size_t site_len;
};

/* ---- The record of the group that has the body ---- */

/* 1: it is found; 0: the record is refused. */
static int find_main(struct nd_parsing *p, struct nd_view group, struct web_page *w)
{
    const struct nd_web_record *r = &w->record;

    if (nd_web_find_main(w->dialect, group, &w->record, &w->body))
        return 1;
    if (group.len && r->kind == ND_WEB_DAMAGE)
        return nd_parsing_refuse(p, "no record begins here: %zu bytes are passed over", r->len);
    if (r->is_cut)
        return nd_parsing_refuse(p, "a record ends after %zu of its %llu bytes", r->content.len,
                                 (unsigned long long)r->stated);
    return nd_parsing_refuse(p, "a record of an archive has no body");
}

/* ---- Fields ---- */

static struct nd_view site_of(struct web_page *w)
{
    struct nd_view path;

    if (!nd_address_split(w->record.uri, w->site, &w->site_len, &path))
        return (struct nd_view){NULL, 0};
    return (struct nd_view){w->site, w->site_len};
}

static struct nd_view type_of(const struct web_page *w)
{
    struct nd_view type = w->body.type;
    const char *end = type.len ? memchr(type.data, ';', type.len) : NULL;

    return nd_view_trim(type.data, end ? end : type.data + type.len);
}

static struct nd_view header(const struct web_page *w, struct nd_view name)
{
    struct nd_view value = nd_web_field(w->record.head, name.data, name.len);

    return value.data ? value : nd_web_field(w->body.http, name.data, name.len);
}

static struct nd_view language_of(const struct web_page *w)
{
    static const char *const name[] = {"WARC-Identified-Content-Language", "Content-Language"};
    struct nd_view value = {NULL, 0};

    for (size_t i = 0; i < 2 && !value.data; i++)
        value = header(w, (struct nd_view){name[i], strlen(name[i])});
    return value;
}

static struct nd_view field_of(struct web_page *w, struct nd_view name)
{
    if (nd_view_is(name, "id") || nd_view_is(name, "url"))
        return w->record.uri;
    if (nd_view_is(name, "site"))
        return site_of(w);
    if (nd_view_is(name, "date"))
        return nd_web_date(w->dialect, &w->record, w->date);
    if (nd_view_is(name, "status"))
        return w->body.status;
    if (nd_view_is(name, "type"))
        return type_of(w);
    if (nd_view_is(name, "truncated"))
        return nd_web_field(w->record.head, "WARC-Truncated", 14);
    if (nd_view_is(name, "language"))
        return language_of(w);
    return header(w, name);
}

/* Set the value of a name in the arena, made valid UTF-8: 1, ND_ENOMEM. */
static int set_field(struct nd_parsing *p, struct web_page *w, size_t i)
{
    struct nd_parser *parser = p->parser;
    struct nd_json_value *to = &parser->value[i];
    struct nd_view value = field_of(w, parser->path[i]);
    size_t before = parser->replaced.n;
    int status;

    if (!value.data || !value.len)
        return 1;
    value.data = nd_arena_copy(&parser->arena, value.data, value.len);
    if (!value.data)
        return ND_ENOMEM;
    *to = (struct nd_json_value){.kind = ND_JSON_STRING, .bytes = value};
    status = nd_parsing_repair(p, &to->bytes);
    to->replaced = nd_replaced_value(&parser->replaced, before);
    parser->replaced.n = before;
    return status;
}

/* The text is made; the values of its fields are texts, too, where others are asked for. */
static int take(struct nd_parsing *p, struct web_page *w)
{
    struct nd_parser *parser = p->parser;

    for (size_t i = 0; i < parser->n_paths; i++) {
        if (parser->value[i].kind == ND_JSON_STRING)
            continue; /* the title of the page */
        if (i < parser->options.n_text_fields && nd_view_is(parser->path[i], "text"))
            parser->value[i] =
                (struct nd_json_value){.kind = ND_JSON_STRING, .bytes = p->document->text};
        else if (set_field(p, w, i) != 1)
            return ND_ENOMEM;
    }
    if (w->body.text == ND_WEB_PAGE && nd_html_take_head(p, w->record.uri) != 1)
        return ND_ENOMEM;
    return nd_parsing_take_made(p);
}

/* ---- The text ---- */

/* The charset of "text/html; charset=utf-8"; a conversion is UTF-8. */
static const char *charset_of(const struct web_page *w, char *label, size_t capacity)
{
    struct nd_view type = w->body.type;
    size_t n = 0;

    for (size_t i = 0; i + 8 < type.len; i++) {
        const char *at = type.data + i + 8, *end = type.data + type.len;

        if (nd_compare_caseless_n(type.data + i, "charset=", 8) != 0)
            continue;
        at += at < end && (*at == '"' || *at == '\'');
        while (at < end && n + 1 < capacity && !strchr("\"'; \t", *at) && *at)
            label[n++] = *at++;
        label[n] = 0;
        return n ? label : NULL;
    }
    return w->record.kind == ND_WEB_CONVERSION ? "utf-8" : NULL;
}

/* Tell by its bytes what a body is that came compressed, or whose bytes are not what its type says. */
static int check_body(struct nd_parsing *p, struct web_page *w, struct nd_view body)
{
    size_t head = body.len < ND_DETECT_BYTES ? body.len : ND_DETECT_BYTES;
    const struct nd_binary_kind *binary = nd_detect_binary(body.data, head);

    if (w->body.text == ND_WEB_UNKNOWN)
        w->body.text = nd_web_sniff(body.data, body.len);
    if (!binary && w->body.text == ND_WEB_PLAIN && w->record.kind != ND_WEB_CONVERSION)
        binary = nd_detect_early_nul(body.data, head);
    if (binary)
        return nd_parsing_refuse(p, "the body of type %.*s %s", nd_view_shown(type_of(w)),
                                 type_of(w).data, binary->what);
    if (w->body.text == ND_WEB_NOT_TEXT)
        return nd_parsing_refuse(p, "the body is not text");
    return 1;
}

/* The text of a document stays until the parser is reset; the body does not. */
static int keep_body(struct nd_parsing *p, struct nd_view record, struct nd_view *body)
{
    if (body->data >= record.data && body->data <= record.data + record.len)
        return 1;
    body->data = nd_arena_copy(&p->parser->arena, body->data, body->len);
    return body->data ? 1 : ND_ENOMEM;
}

static int make_text(struct nd_parsing *p, struct web_page *w, struct nd_view body)
{
    struct nd_parser *parser = p->parser;
    char label[48];

    if (!nd_charset_named_to_utf8(&parser->charset, charset_of(w, label, sizeof label), body,
                                  &parser->arena, &p->document->text, &parser->replaced))
        return ND_ENOMEM;
    p->document->text_replaced = nd_replaced_value(&parser->replaced, 0);
    nd_parsing_clear(p);
    return w->body.text == ND_WEB_PAGE ? nd_html_of_text(p) : 1;
}

static int parse_web(struct nd_parsing *p, struct nd_view record, enum nd_web_dialect dialect)
{
    struct web_page w = {.dialect = dialect};
    const char *reason = "";
    struct nd_view body;
    int status = find_main(p, record, &w);

    if (status == 1)
        status = nd_web_unpack(&p->parser->unpacker, &w.body, &body, &reason);
    if (status == 0 && *reason)
        return nd_parsing_refuse(p, "%s", reason);
    if (status == 1)
        status = check_body(p, &w, body);
    if (status == 1)
        status = keep_body(p, record, &body);
    if (status == 1)
        status = make_text(p, &w, body);
    return status == 1 ? take(p, &w) : status;
}

static int parse_warc(struct nd_parsing *p, struct nd_view record)
{
    return parse_web(p, record, ND_WEB_WARC);
}

static int parse_arc(struct nd_parsing *p, struct nd_view record)
{
    return parse_web(p, record, ND_WEB_ARC);
}

static bool looks_like_warc(const char *head, size_t len)
{
    return nd_web_looks_like(ND_WEB_WARC, head, len);
}

static bool looks_like_arc(const char *head, size_t len)
{
    return nd_web_looks_like(ND_WEB_ARC, head, len);
}

const struct nd_format_row nd_format_warc = {
    .word = "warc",
    .name = "WARC",
    .suffixes = "warc wet wat",
    .cut = &nd_cut_warc,
    .parse = parse_warc,
    .looks_like = looks_like_warc,
    .find_missing = nd_libxml_load,
    .names_charset = true,
};

const struct nd_format_row nd_format_arc = {
    .word = "arc",
    .name = "ARC",
    .suffixes = "arc",
    .cut = &nd_cut_arc,
    .parse = parse_arc,
    .looks_like = looks_like_arc,
    .find_missing = nd_libxml_load,
    .names_charset = true,
};
