/* posted.c - JSON, plain text and HTML as documents */
#include "server/posted.h"

#include <neardup/duration.h>

#include <stdio.h>
#include <string.h>

#include "base/replaced_hash.h"
#include "base/view.h"
#include "input/formats/json_walk.h"
#include "input/formats/lines.h"
#include "input/formats/parser.h"

static enum nd_refusal no_memory(struct nd_error *err)
{
    return nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
}

/* ---- What the recipe reads ---- */

static enum nd_refusal take_document(struct nd_workspace *w, const struct nd_document *document,
                                     struct nd_posted *out, struct nd_error *err)
{
    return nd_session_content(w->session, document, &out->text, err) == ND_STORE_OK
               ? ND_REFUSAL_NONE
               : no_memory(err);
}

/* The fields of a record, as the commands read them. */
static enum nd_refusal read_fields(struct nd_workspace *w, struct nd_view body,
                                   struct nd_document *document, struct nd_error *err)
{
    const struct nd_source source = {
        .path = "body", .format = ND_FORMAT_JSONL, .compression = "none", .is_unicode = 1};
    struct nd_document record;
    struct nd_bad_record bad = {.reason = ""};
    int status;

    if (!w->fields)
        return ND_REFUSAL_NONE;
    nd_parser_reset(w->fields);
    status = nd_parser_parse(w->fields, &source, body, &record, NULL, &bad);
    if (status == 0)
        return nd_refuse(err, ND_REFUSAL_INVALID, "%s", bad.reason);
    if (status < 0)
        return no_memory(err);
    document->fields = record.fields;
    document->n_fields = record.n_fields;
    document->fields_replaced = record.fields_replaced;
    return ND_REFUSAL_NONE;
}

/* ---- Text and pages ---- */

static enum nd_refusal parse(struct nd_workspace *w, enum nd_format format, struct nd_view record,
                             struct nd_document *document, struct nd_posted *out,
                             struct nd_error *err)
{
    const struct nd_source source = {
        .path = "body", .format = format, .compression = "none", .is_unicode = 1};
    struct nd_bad_record bad = {.reason = ""};
    int status;

    nd_parser_reset(w->parser);
    status = nd_parser_parse(w->parser, &source, record, document, &out->replaced, &bad);
    if (status == 0)
        return nd_refuse(err, ND_REFUSAL_INVALID, "%s", bad.reason);
    if (status < 0)
        return no_memory(err);
    if (format == ND_FORMAT_HTML)
        out->title = (struct nd_view){w->parser->page.title.data, w->parser->page.title.len};
    return ND_REFUSAL_NONE;
}

/* A page in UTF-8, whatever it says of itself: a byte order mark comes before all it says. */
static enum nd_refusal parse_page(struct nd_workspace *w, struct nd_view page,
                                  struct nd_document *document, struct nd_posted *out,
                                  struct nd_error *err)
{
    char *marked = nd_arena_alloc(&w->arena, page.len + 3 + ND_BUFFER_PADDING);

    if (!marked)
        return no_memory(err);
    memcpy(marked, ND_MARK, 3);
    if (page.len)
        memcpy(marked + 3, page.data, page.len);
    memset(marked + 3 + page.len, 0, ND_BUFFER_PADDING);
    return parse(w, ND_FORMAT_HTML, (struct nd_view){marked, page.len + 3}, document, out, err);
}

/* Make *body UTF-8. */
static enum nd_refusal decode(struct nd_workspace *w, struct nd_view charset, struct nd_view *body,
                              uint64_t *n_replaced, struct nd_error *err)
{
    struct nd_replaced replaced = {0};
    char label[48];
    bool ok;

    if (charset.len >= sizeof label)
        return nd_refuse(err, ND_REFUSAL_TYPE, "the charset is unknown");
    memcpy(label, charset.data, charset.len);
    label[charset.len] = 0;
    if (memchr(label, 0, charset.len) || nd_charset_check(label, err) != ND_OK)
        return nd_refuse(err, ND_REFUSAL_TYPE, "the charset is unknown, or does not contain ASCII");
    ok = nd_charset_decode(&w->charset, label, *body, &w->arena, body, &replaced);
    *n_replaced += replaced.count;
    nd_replaced_release(&replaced);
    return ok ? ND_REFUSAL_NONE : no_memory(err);
}

static bool is_utf8_name(struct nd_view charset)
{
    char label[16];

    if (charset.len >= sizeof label)
        return false;
    memcpy(label, charset.data, charset.len);
    label[charset.len] = 0;
    return nd_charset_is_utf8(label);
}

enum nd_refusal nd_posted_text(struct nd_workspace *w, enum nd_media media, struct nd_view charset,
                               struct nd_view body, struct nd_posted *out, struct nd_error *err)
{
    struct nd_document document;
    enum nd_refusal refusal = ND_REFUSAL_NONE;

    memset(out, 0, sizeof *out);
    nd_arena_reset(&w->arena);
    if (charset.data && !is_utf8_name(charset))
        refusal = decode(w, charset, &body, &out->replaced, err);
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    if (media == ND_MEDIA_TEXT)
        refusal = parse(w, ND_FORMAT_TEXT, body, &document, out, err);
    else if (charset.data)
        refusal = parse_page(w, body, &document, out, err);
    else
        refusal = parse(w, ND_FORMAT_HTML, body, &document, out, err);
    return refusal == ND_REFUSAL_NONE ? take_document(w, &document, out, err) : refusal;
}

/* ---- JSON ---- */

enum { LABEL, ID, SECURITY, TEXT, HTML, TITLE, MAX_AGE, LABELS, PATHS };

/* How many lone surrogates were escaped in a string: each is U+FFFD now. */
static uint64_t count_replaced(const struct nd_json_value *value)
{
    const uint32_t itself = nd_replaced_pack("\xEF\xBF\xBD", 3);
    const char *at = value->raw.data, *end = at + value->raw.len;
    uint64_t n = 0;
    uint32_t packed;

    while (value->has_surrogates && nd_json_next_replaced(&at, end, &packed))
        n += packed != 0 && packed != itself;
    return n;
}

static bool is_given(const struct nd_json_value *value)
{
    return value->kind != ND_JSON_ABSENT && value->kind != ND_JSON_NULL;
}

/* Refuse a member that another program may read in another way, because it stands there twice. */
static enum nd_refusal check_doubled(const struct nd_view *path, const struct nd_json_value *value,
                                     struct nd_error *err)
{
    for (size_t i = ID; i < LABELS; i++)
        if (value[i].is_doubled)
            return nd_refuse(err, ND_REFUSAL_MALFORMED, "the object has \"%.*s\" twice",
                             (int)path[i].len, path[i].data);
    return ND_REFUSAL_NONE;
}

static enum nd_refusal take_id(const struct nd_json_value *value, struct nd_posted *out,
                               struct nd_error *err)
{
    if (!is_given(value))
        return ND_REFUSAL_NONE;
    if (value->kind != ND_JSON_STRING)
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"id\" is not a string");
    if (count_replaced(value))
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"id\" has a lone surrogate");
    if (value->bytes.len == 0)
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"id\" is empty");
    out->id = value->bytes;
    return ND_REFUSAL_NONE;
}

/* Take "security".  Where "labels" stands alone, one program means topics by it, and another who may
 * see the document: neither is taken for the other. */
static enum nd_refusal take_security(struct nd_workspace *w, const struct nd_json_value *value,
                                     struct nd_posted *out, struct nd_error *err)
{
    struct nd_label_list *list = &w->labels;

    list->n = 0;
    if (!is_given(&value[SECURITY]))
        return is_given(&value[LABELS])
                   ? nd_refuse(err, ND_REFUSAL_INVALID,
                               "the object has \"labels\" and no \"security\": who may see a "
                               "document is said by \"security\": [\"a\", \"b\"]; if \"labels\" is "
                               "something else, add \"security\": []")
                   : ND_REFUSAL_NONE;
    if (value[SECURITY].kind != ND_JSON_ARRAY)
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"security\" is not an array");
    for (const struct nd_json_value *v = &value[LABEL]; v && v->kind != ND_JSON_ABSENT;
         v = v->next) {
        if (v->kind != ND_JSON_STRING || count_replaced(v))
            return nd_refuse(err, ND_REFUSAL_INVALID, "a security label is not a string");
        if (list->n == ND_STORE_LABELS_MAX)
            return nd_refuse(err, ND_REFUSAL_INVALID, "there are more than %d security labels",
                             ND_STORE_LABELS_MAX);
        list->label[list->n++] = v->bytes;
    }
    out->has_labels = true;
    out->labels = list->label;
    out->n_labels = list->n;
    return ND_REFUSAL_NONE;
}

/* Take "title", which counts more than that of a page. */
static enum nd_refusal take_title(const struct nd_json_value *value, struct nd_posted *out,
                                  struct nd_error *err)
{
    if (!is_given(value))
        return ND_REFUSAL_NONE;
    if (value->kind != ND_JSON_STRING)
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"title\" is not a string");
    out->title = value->bytes;
    return ND_REFUSAL_NONE;
}

static enum nd_refusal take_max_age(const struct nd_json_value *value, struct nd_posted *out,
                                    struct nd_error *err)
{
    struct nd_error reason;

    if (!is_given(value))
        return ND_REFUSAL_NONE;
    if (value->kind != ND_JSON_STRING)
        return nd_refuse(err, ND_REFUSAL_INVALID,
                         "\"max_age\" is not a string with a time, such as \"12h\"");
    if (nd_duration_parse(value->bytes.data, value->bytes.len, &out->max_age_s, &reason) != ND_OK)
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"max_age\": %s", reason.message);
    return ND_REFUSAL_NONE;
}

static enum nd_refusal take_text(struct nd_workspace *w, const struct nd_json_value *value,
                                 struct nd_document *document, struct nd_posted *out,
                                 struct nd_error *err)
{
    const struct nd_json_value *text = &value[TEXT], *html = &value[HTML];
    bool is_page = is_given(html);

    if (is_given(text) == is_page)
        return nd_refuse(err, ND_REFUSAL_INVALID,
                         is_page ? "the object has both \"text\" and \"html\""
                                 : "the object has no \"text\" and no \"html\"");
    text = is_page ? html : text;
    if (text->kind != ND_JSON_STRING)
        return nd_refuse(err, ND_REFUSAL_INVALID, "\"%s\" is not a string",
                         is_page ? "html" : "text");
    out->replaced = count_replaced(text);
    if (is_page)
        return parse_page(w, text->bytes, document, out, err);
    *document = (struct nd_document){.text = text->bytes};
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_posted_json(struct nd_workspace *w, struct nd_view body, bool has_key,
                               struct nd_posted *out, struct nd_error *err)
{
    static const struct nd_view paths[PATHS] = {
        [LABEL] = {"security.*", 10}, [ID] = {"id", 2},        [SECURITY] = {"security", 8},
        [TEXT] = {"text", 4},         [HTML] = {"html", 4},    [TITLE] = {"title", 5},
        [MAX_AGE] = {"max_age", 7},   [LABELS] = {"labels", 6}};
    struct nd_json_value value[PATHS];
    struct nd_document document;
    const char *reason = "";
    enum nd_refusal refusal;

    memset(out, 0, sizeof *out);
    nd_arena_reset(&w->arena);
    switch (
        nd_json_walk(w->json, body.data, body.len, paths, PATHS, 1, &w->arena, value, &reason)) {
    case ND_JSON_INDEXED: break;
    case ND_JSON_NO_MEMORY: return no_memory(err);
    case ND_JSON_BAD_UTF8: return nd_refuse(err, ND_REFUSAL_MALFORMED, "the JSON is not UTF-8");
    default: return nd_refuse(err, ND_REFUSAL_MALFORMED, "not a JSON object: %s", reason);
    }
    refusal = check_doubled(paths, value, err);
    if (refusal == ND_REFUSAL_NONE && has_key)
        refusal = take_id(&value[ID], out, err);
    if (refusal == ND_REFUSAL_NONE && has_key)
        refusal = take_security(w, value, out, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = take_max_age(&value[MAX_AGE], out, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = take_text(w, value, &document, out, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = read_fields(w, body, &document, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = take_document(w, &document, out, err);
    return refusal == ND_REFUSAL_NONE ? take_title(&value[TITLE], out, err) : refusal;
}
