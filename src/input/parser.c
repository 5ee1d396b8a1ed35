/* parser.c - documents of records: what all formats share */
#include "input/parser_state.h"

#include "input/options_check.h"

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
        nd_fail(err, ND_EINVAL, "1 to %d fields can be asked for, the id and the text among them",
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
    nd_charset_release(&parser->charset);
    nd_buffer_release(&parser->page_text);
    nd_buffer_release(&parser->page_title);
    nd_buffer_release(&parser->mail_body);
    nd_page_marks_release(&parser->page_marks);
    nd_page_tree_release(&parser->page_tree);
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
    text->data = nd_arena_copy(&p->parser->arena, made, len);
    text->len = len;
    free(made);
    p->repaired += (uint64_t)count;
    return text->data ? 1 : ND_ENOMEM;
}

static const char *const KIND_NAME[] = {"absent",        "null",      "a string", "a number",
                                        "true or false", "an object", "an array"};

/* Several text fields: those that are there, joined by newlines. */
static int join_texts(struct nd_parsing *p, size_t n, struct nd_view *text)
{
    const struct nd_json_value *value = p->parser->value;
    size_t len = 0, at = 0;
    char *joined;

    for (size_t i = 0; i < n; i++)
        if (value[i].kind == ND_JSON_STRING &&
            __builtin_add_overflow(len, value[i].bytes.len + 1, &len))
            return ND_ENOMEM;
    joined = nd_arena_alloc(&p->parser->arena, len + ND_BUFFER_PADDING);
    if (!joined)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (value[i].kind != ND_JSON_STRING)
            continue;
        if (at)
            joined[at++] = '\n';
        memcpy(joined + at, value[i].bytes.data, value[i].bytes.len);
        at += value[i].bytes.len;
    }
    memset(joined + at, 0, len + ND_BUFFER_PADDING - at);
    *text = (struct nd_view){joined, at};
    return 1;
}

/*
 * The text: every text field is a string, absent or null, and one at least is a string.  With
 * missing_text = empty anything else counts as absent.
 */
static int choose_text(struct nd_parsing *p, size_t n)
{
    const struct nd_json_value *value = p->parser->value;
    bool is_lenient = p->parser->options.missing_text == ND_MISSING_EMPTY;
    size_t strings = 0, last = 0;

    for (size_t i = 0; i < n; i++) {
        if (value[i].kind == ND_JSON_STRING) {
            strings++;
            last = i;
        } else if (value[i].kind > ND_JSON_STRING && !is_lenient) {
            return nd_parsing_refuse(p, "%.*s is %s", (int)p->parser->path[i].len,
                                     p->parser->path[i].data, KIND_NAME[value[i].kind]);
        }
    }
    if (strings > 1)
        return join_texts(p, n, &p->document->text);
    p->document->text = strings ? value[last].bytes : (struct nd_view){"", 0};
    if (strings || is_lenient)
        return 1;
    return nd_parsing_refuse(p, "%.*s is %s", (int)p->parser->path[0].len, p->parser->path[0].data,
                             KIND_NAME[value[0].kind]);
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
    return 1;
}

int nd_parsing_finish(struct nd_parsing *p)
{
    size_t n_text = p->parser->options.n_text_fields;
    int status = choose_text(p, n_text);

    if (status == 1 && p->parser->options.text_format == ND_TEXT_HTML)
        status = nd_html_of_text(p);
    if (status != 1)
        return status;
    choose_id(p->document, &p->parser->value[n_text]);
    return nd_parsing_take_fields(p);
}

void nd_parsing_clear(struct nd_parsing *p)
{
    for (size_t i = 0; i < p->parser->n_paths; i++)
        p->parser->value[i] = (struct nd_json_value){.kind = ND_JSON_ABSENT};
}

int nd_parser_parse(struct nd_parser *parser, const struct nd_source *source, struct nd_view record,
                    struct nd_document *document, uint64_t *repaired, struct nd_bad_record *bad)
{
    struct nd_document made = {.text = {"", 0}};
    struct nd_parsing p = {parser, source, &made, 0, bad};
    int status;

    switch (source->format) {
    case ND_FORMAT_JSONL: status = nd_parse_json(&p, record); break;
    case ND_FORMAT_CSV:
    case ND_FORMAT_TSV: status = nd_parse_table(&p, record); break;
    case ND_FORMAT_HTML: status = nd_parse_html(&p, record); break;
    case ND_FORMAT_MAIL:
    case ND_FORMAT_MBOX: status = nd_parse_mail(&p, record); break;
    default: status = nd_parse_text(&p, record); break;
    }
    if (status != 1)
        return status;
    *document = made;
    if (repaired)
        *repaired += p.repaired;
    return 1;
}
