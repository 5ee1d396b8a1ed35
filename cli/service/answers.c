/* answers.c - what the service answered, read from its JSON */

/*
 * The parser of JSON Lines reads it: the members wanted are its fields, and the labels its text, as
 * several texts are joined by line ends.
 */
#include "service/answers.h"

#include <neardup/input.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"verdict", "stored", "error.status", "error.detail", "status",
                                    "detail",  "title",  "documents",    "is_due"};
static const char *const texts[] = {"labels.*"};

struct answer_reader {
    struct nd_input_options options;
    struct nd_parser *parser;
};

struct answer_reader *answer_reader_new(struct nd_error *err)
{
    struct answer_reader *reader = calloc(1, sizeof *reader);

    if (!reader) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    reader->options = nd_input_options_default();
    reader->options.fields = names;
    reader->options.n_fields = sizeof names / sizeof *names;
    reader->options.text_fields = texts;
    reader->options.n_text_fields = 1;
    reader->options.missing_text = ND_MISSING_EMPTY;
    reader->parser = nd_parser_new(&reader->options, err);
    if (!reader->parser) {
        free(reader);
        return NULL;
    }
    return reader;
}

void answer_reader_free(struct answer_reader *reader)
{
    if (reader)
        nd_parser_free(reader->parser);
    free(reader);
}

static struct answer answer_of(const struct nd_document *document)
{
    struct nd_view value[sizeof names / sizeof *names];

    for (size_t i = 0; i < document->n_fields; i++)
        value[i] = document->fields[i].value;
    return (struct answer){.verdict = value[0],
                           .stored = value[1],
                           .error_status = value[2],
                           .error_detail = value[3],
                           .status = value[4],
                           .detail = value[5],
                           .title = value[6],
                           .documents = value[7],
                           .is_due = value[8],
                           .id = document->id,
                           .labels = document->text};
}

enum nd_status answer_read(struct answer_reader *reader, struct nd_view json, struct answer *out,
                           struct nd_error *err)
{
    const struct nd_source source = {
        .path = "answer", .format = ND_FORMAT_JSONL, .compression = "none", .is_container = 1};
    struct nd_bad_record bad;
    struct nd_document document;
    int result;

    nd_parser_reset(reader->parser);
    result = nd_parser_parse(reader->parser, &source, json, &document, NULL, &bad);
    if (result < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (result == 0)
        return nd_fail(err, ND_EINPUT, "the answer is none of neardup's: %s", bad.reason);
    *out = answer_of(&document);
    return ND_OK;
}

enum nd_status answer_problem(struct answer_reader *reader, const struct http_request *request,
                              const char *what, struct nd_error *err)
{
    const struct nd_view json = {request->answer.data, request->answer.len};
    struct answer answer;
    struct nd_view detail;

    if (json.len == 0 || answer_read(reader, json, &answer, NULL) != ND_OK)
        return nd_fail(err, ND_EINPUT, "%s: the service answered %ld", what, request->status);
    detail = answer.detail.len ? answer.detail : answer.title;
    return nd_fail(err, ND_EINPUT, "%s: %.*s (%ld)", what, (int)detail.len, detail.data,
                   request->status);
}

bool answer_element(struct nd_view *at, struct nd_view *element)
{
    const char *c = at->data, *end = at->data + at->len, *start;
    bool in_string = false;
    int depth = 0;

    while (c < end && strchr("[ \t\r\n,", *c))
        c++;
    for (start = c; c < end; c++) {
        if (in_string && *c == '\\' && c + 1 < end)
            c++;
        else if (*c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (*c == '{' || *c == '[')
            depth++;
        else if ((*c == '}' || *c == ']') && --depth == 0)
            break;
    }
    if (c >= end || depth != 0 || c == start)
        return false;
    *element = (struct nd_view){start, (size_t)(c + 1 - start)};
    *at = (struct nd_view){c + 1, (size_t)(end - c - 1)};
    return true;
}
