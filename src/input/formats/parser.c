/* parser.c - documents of records: what all formats share */

/*
 * All formats fill the same struct nd_document: text, id and further fields. The parsers of JSON
 * and of tables find the values of fields by path or column; this file makes the document from
 * them, with the rules that formats share: several text fields are joined, missing text is an error
 * or empty, and invalid UTF-8 is repaired and recorded.
 */
#include "input/formats/parser.h"

#include "base/view.h"
#include "input/formats/formats.h"
#include "input/formats/json_walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nd_view view_of(const char *string)
{
    return (struct nd_view){string, strlen(string)};
}

static void set_paths(struct nd_parser *parser)
{
    const struct nd_input_options *o = &parser->options;
    size_t n = 0;

    for (size_t i = 0; i < o->n_text_fields; i++)
        parser->path[n++] = view_of(o->text_fields[i]);
    parser->path[n++] = view_of(o->id_field);
    for (size_t i = 0; i < o->n_fields; i++)
        parser->path[n++] = view_of(o->fields[i]);
    parser->n_paths = n;
}

struct nd_parser *nd_parser_new(const struct nd_input_options *options, struct nd_error *err)
{
    struct nd_parser *parser;

    if (nd_input_options_check(options, err) != ND_OK)
        return NULL;
    if (options->n_text_fields > ND_JSON_PATHS_MAX || options->n_fields > ND_JSON_PATHS_MAX ||
        options->n_text_fields + 1 + options->n_fields > ND_JSON_PATHS_MAX) {
        nd_fail(err, ND_EINVAL, "1 to %d fields can be requested, including the id and the text",
                ND_JSON_PATHS_MAX);
        return NULL;
    }
    parser = calloc(1, sizeof *parser);
    if (parser) {
        parser->options = *options;
        set_paths(parser);
        parser->json = nd_json_indexer_new();
    }
    if (!parser || !parser->json) {
        nd_parser_free(parser);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    return parser;
}

void nd_parser_free(struct nd_parser *parser)
{
    if (!parser)
        return;
    nd_json_indexer_free(parser->json);
    nd_arena_release(&parser->arena);
    nd_replaced_release(&parser->replaced);
    nd_charset_release(&parser->charset);
    nd_page_release(&parser->page);
    nd_buffer_release(&parser->mail_body);
    nd_buffer_release(&parser->feed_list);
    nd_web_unpacker_release(&parser->unpacker);
    free(parser->cell);
    free(parser);
}

void nd_parser_reset(struct nd_parser *parser)
{
    nd_arena_reset(&parser->arena);
}

int nd_parsing_refuse(struct nd_parsing *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(p->bad->reason, sizeof p->bad->reason, format, args);
    va_end(args);
    return 0;
}

int nd_parsing_repair(struct nd_parsing *p, struct nd_view *text)
{
    char *made;
    size_t len;
    int64_t count;

    count = nd_utf8_repair(text->data, text->len, &made, &len);
    if (count < 0)
        return ND_ENOMEM;
    if (count == 0) /* should simdjson and we differ in what is valid */
        return 1;
    if (!nd_replaced_add_text(&p->parser->replaced, *text)) {
        free(made);
        return ND_ENOMEM;
    }
    text->data = nd_arena_copy(&p->parser->arena, made, len);
    text->len = len;
    free(made);
    p->parser->replaced.count += (uint64_t)count;
    return text->data ? 1 : ND_ENOMEM;
}

/* How many U+FFFD stand in the record before a place; values mostly come in its order. */
struct marks_before {
    const char *begin, *at;
    size_t n;
};

static size_t count_marks(struct marks_before *m, const char *at)
{
    if (at < m->at)
        *m = (struct marks_before){m->begin, m->begin, 0};
    m->n += nd_replaced_count((struct nd_view){m->at, (size_t)(at - m->at)});
    m->at = at;
    return m->n;
}

/*
 * Hash the places of a value, as it stands in the record, that are U+FFFD. What stood there before
 * is in the list, but for those that are escapes.
 */
static void hash_value(const struct nd_parsing *p, struct marks_before *before,
                       const struct nd_json_value *value, struct nd_replaced_hash *hash)
{
    const struct nd_replaced *list = &p->parser->replaced;
    const char *at = value->raw.data, *end = at + value->raw.len;
    size_t next = list->n ? count_marks(before, at) : 0;
    uint32_t packed;

    /* Escapes in an object or an array stay what they are. */
    if (p->source->format == ND_FORMAT_JSONL && value->kind == ND_JSON_STRING) {
        while (nd_json_next_replaced(&at, end, &packed)) {
            if (!packed)
                packed = next < list->n ? list->at[next++] : ND_REPLACED_NOTHING;
            nd_replaced_hash_add(hash, packed);
        }
    } else {
        size_t n = nd_replaced_count(value->raw);

        for (; n > 0 && next < list->n; n--)
            nd_replaced_hash_add(hash, list->at[next++]);
    }
}

/*
 * Share what was replaced in a record with fields among the text and each field: from
 * parser->replaced, which is all of the record, and from lone surrogates in strings of JSON.
 * Several text fields are one text.
 */
static void share_replaced(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    struct marks_before before = {record.data, record.data, 0};
    struct nd_replaced_hash text = {0};

    for (size_t i = 0; i < parser->n_paths; i++) {
        struct nd_json_value *value = &parser->value[i];
        struct nd_replaced_hash own = {0};

        if (i < parser->options.n_text_fields) {
            for (const struct nd_json_value *v = value; v; v = v->next)
                if (v->raw.data && v->kind == ND_JSON_STRING)
                    hash_value(p, &before, v, &text);
        } else if (value->raw.data) {
            hash_value(p, &before, value, &own);
        }
        value->replaced = nd_replaced_hash_value(&own);
    }
    p->document->text_replaced = nd_replaced_hash_value(&text);
}

int nd_parsing_decode(struct nd_parsing *p, struct nd_view *text)
{
    struct nd_parser *parser = p->parser;
    const char *charset = parser->options.charset;

    if (!charset || p->source->is_unicode)
        return nd_parsing_repair(p, text);
    return nd_charset_decode(&parser->charset, charset, *text, &parser->arena, text,
                             &parser->replaced)
               ? 1
               : ND_ENOMEM;
}

static const char *const KIND_NAME[] = {"absent",        "null",      "a string", "a number",
                                        "true or false", "an object", "an array"};

/* Several texts: those that are there and not empty, joined by newlines. */
static int join_texts(struct nd_parsing *p, size_t n, struct nd_view *text)
{
    const struct nd_json_value *value = p->parser->value;
    size_t len = 0, at = 0;
    char *joined;

    for (size_t i = 0; i < n; i++)
        for (const struct nd_json_value *v = &value[i]; v; v = v->next)
            if (v->kind == ND_JSON_STRING && __builtin_add_overflow(len, v->bytes.len + 1, &len))
                return ND_ENOMEM;
    joined = nd_arena_alloc(&p->parser->arena, len + ND_BUFFER_PADDING);
    if (!joined)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++)
        for (const struct nd_json_value *v = &value[i]; v; v = v->next) {
            if (v->kind != ND_JSON_STRING || v->bytes.len == 0)
                continue;
            if (at)
                joined[at++] = '\n';
            memcpy(joined + at, v->bytes.data, v->bytes.len);
            at += v->bytes.len;
        }
    memset(joined + at, 0, len + ND_BUFFER_PADDING - at);
    *text = (struct nd_view){joined, at};
    return 1;
}

static int refuse_text(struct nd_parsing *p, size_t i, enum nd_json_kind kind)
{
    return nd_parsing_refuse(p, "%.*s is %s", (int)p->parser->path[i].len, p->parser->path[i].data,
                             KIND_NAME[kind]);
}

/*
 * The text: every text field is a string, absent or null, and one at least is a string; so is each
 * element of the arrays that a field's path goes through.  With missing_text = empty anything else
 * counts as absent.
 */
static int choose_text(struct nd_parsing *p, size_t n)
{
    const struct nd_json_value *value = p->parser->value, *last = NULL;
    bool is_lenient = p->parser->options.missing_text == ND_MISSING_EMPTY;
    size_t strings = 0;

    for (size_t i = 0; i < n; i++)
        for (const struct nd_json_value *v = &value[i]; v; v = v->next) {
            if (v->kind == ND_JSON_STRING) {
                strings++;
                last = v;
            } else if (v->kind > ND_JSON_STRING && !is_lenient) {
                return refuse_text(p, i, v->kind);
            }
        }
    if (strings > 1)
        return join_texts(p, n, &p->document->text);
    p->document->text = strings ? last->bytes : (struct nd_view){"", 0};
    if (strings || is_lenient)
        return 1;
    return refuse_text(p, 0, value[0].kind);
}

static void choose_id(struct nd_document *d, const struct nd_json_value *value)
{
    d->id_kind = ND_ID_NONE;
    if (value->kind == ND_JSON_STRING && value->bytes.len > 0)
        d->id_kind = ND_ID_STRING;
    else if (value->kind == ND_JSON_NUMBER || value->kind == ND_JSON_BOOL)
        d->id_kind = ND_ID_RAW;
    d->id = d->id_kind == ND_ID_NONE ? (struct nd_view){NULL, 0} : value->bytes;
}

/* Take the hashes of n values if something was replaced in one of them. */
static bool take_replaced(struct nd_parsing *p, size_t first, size_t n)
{
    const struct nd_json_value *value = p->parser->value + first;
    uint64_t *replaced = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!replaced && value[i].replaced) {
            replaced = nd_arena_alloc(&p->parser->arena, n * sizeof *replaced);
            if (!replaced)
                return false;
            memset(replaced, 0, n * sizeof *replaced);
        }
        if (replaced)
            replaced[i] = value[i].replaced;
    }
    p->document->fields_replaced = replaced;
    return true;
}

int nd_parsing_take_fields(struct nd_parsing *p)
{
    struct nd_parser *parser = p->parser;
    size_t first = parser->options.n_text_fields + 1, n = parser->options.n_fields;
    struct nd_field *fields;

    if (n == 0)
        return 1;
    fields = nd_arena_alloc(&parser->arena, n * sizeof *fields);
    if (!fields)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct nd_json_value *value = &parser->value[first + i];

        fields[i].name = parser->path[first + i];
        fields[i].value = value->kind <= ND_JSON_NULL ? (struct nd_view){NULL, 0} : value->bytes;
    }
    p->document->fields = fields;
    p->document->n_fields = n;
    return take_replaced(p, first, n) ? 1 : ND_ENOMEM;
}

int nd_parsing_take_others(struct nd_parsing *p)
{
    choose_id(p->document, &p->parser->value[p->parser->options.n_text_fields]);
    return nd_parsing_take_fields(p);
}

int nd_parsing_take_made(struct nd_parsing *p)
{
    int status = choose_text(p, p->parser->options.n_text_fields);

    return status == 1 ? nd_parsing_take_others(p) : status;
}

/* The text of a record is a page, whose address may be its field "url". */
static int take_page(struct nd_parsing *p)
{
    struct nd_parser *parser = p->parser;
    struct nd_view address = {"", 0};
    int status = nd_html_of_text(p);

    for (size_t i = parser->options.n_text_fields; i < parser->n_paths; i++)
        if (nd_view_is(parser->path[i], "url") && parser->value[i].kind == ND_JSON_STRING)
            address = parser->value[i].bytes;
    return status == 1 ? nd_html_take_head(p, address) : status;
}

int nd_parsing_take(struct nd_parsing *p)
{
    int status = choose_text(p, p->parser->options.n_text_fields);

    if (status == 1 && p->parser->options.text_format == ND_TEXT_HTML)
        status = take_page(p);
    return status == 1 ? nd_parsing_take_others(p) : status;
}

/* Whether something of the record was replaced: seldom. */
static bool has_replaced(const struct nd_parser *parser)
{
    bool has = parser->replaced.n > 0;

    for (size_t i = 0; i < parser->n_paths; i++)
        has = has || parser->value[i].has_surrogates;
    return has;
}

int nd_parsing_finish(struct nd_parsing *p, struct nd_view record)
{
    if (has_replaced(p->parser))
        share_replaced(p, record);
    return nd_parsing_take(p);
}

void nd_parsing_clear(struct nd_parsing *p)
{
    for (size_t i = 0; i < p->parser->n_paths; i++)
        p->parser->value[i] = (struct nd_json_value){.kind = ND_JSON_ABSENT};
}

int nd_parsing_begin(struct nd_parsing *p, struct nd_view *record)
{
    nd_parsing_clear(p);
    return nd_parsing_decode(p, record);
}

void nd_parsing_set_made(struct nd_parsing *p, struct nd_view name, struct nd_view raw,
                         struct nd_view value)
{
    struct nd_parser *parser = p->parser;

    for (size_t i = 0; i < parser->n_paths; i++)
        if (parser->value[i].kind == ND_JSON_ABSENT && nd_view_equal(parser->path[i], name))
            parser->value[i] =
                (struct nd_json_value){.kind = ND_JSON_STRING, .bytes = value, .raw = raw};
}

void nd_parsing_set(struct nd_parsing *p, struct nd_view name, struct nd_view value)
{
    nd_parsing_set_made(p, name, value, value);
}

int nd_parser_parse(struct nd_parser *parser, const struct nd_source *source, struct nd_view record,
                    struct nd_document *document, uint64_t *repaired, struct nd_bad_record *bad)
{
    struct nd_document made = {.text = {"", 0}};
    struct nd_parsing p = {parser, source, &made, bad};
    int status;

    parser->replaced.n = 0;
    parser->replaced.count = 0;
    status = nd_format_row(source->format != ND_FORMAT_AUTO ? source->format : ND_FORMAT_TEXT)
                 ->parse(&p, record);
    if (status != 1)
        return status;
    *document = made;
    if (repaired)
        *repaired += parser->replaced.count;
    return 1;
}
