/* objects.c - objects of JSON that came from elsewhere: answers, rows of an export */
#include "service/objects.h"

#include <neardup/input.h>

#include <stdlib.h>
#include <string.h>

struct object_reader {
    struct nd_input_options options;
    struct nd_parser *parser;
};

struct object_reader *object_reader_new(const char *const *names, size_t n, const char *const *text,
                                        struct nd_error *err)
{
    struct object_reader *reader = calloc(1, sizeof *reader);

    if (!reader) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    reader->options = nd_input_options_default();
    reader->options.fields = names;
    reader->options.n_fields = n;
    reader->options.text_fields = text;
    reader->options.n_text_fields = 1;
    reader->options.missing_text = ND_MISSING_EMPTY;
    reader->parser = nd_parser_new(&reader->options, err);
    if (!reader->parser) {
        free(reader);
        return NULL;
    }
    return reader;
}

void object_reader_free(struct object_reader *reader)
{
    if (reader)
        nd_parser_free(reader->parser);
    free(reader);
}

void object_reader_reset(struct object_reader *reader)
{
    nd_parser_reset(reader->parser);
}

enum nd_status object_read(struct object_reader *reader, struct nd_view json, struct nd_view *value,
                           struct nd_view *text, struct nd_error *err)
{
    const struct nd_source source = {
        .path = "-", .format = ND_FORMAT_JSONL, .compression = "none", .is_container = 1};
    struct nd_bad_record bad;
    struct nd_document document;
    int result = nd_parser_parse(reader->parser, &source, json, &document, NULL, &bad);

    if (result < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (result == 0)
        return nd_fail(err, ND_EINPUT, "%s", bad.reason);
    for (size_t i = 0; i < document.n_fields; i++)
        value[i] = document.fields[i].value;
    *text = document.text;
    return ND_OK;
}

bool object_element(struct nd_view *at, struct nd_view *element)
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

bool object_uint(struct nd_view value, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < value.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)value.data[i] - '0';

        if (digit > 9 || *out > (UINT64_MAX - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    return value.len > 0;
}

bool object_hex(struct nd_view value, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";

    *out = 0;
    for (size_t i = 0; i < value.len; i++) {
        const char *digit = memchr(digits, value.data[i], 16);

        if (!digit)
            return false;
        *out = *out << 4 | (uint64_t)(digit - digits);
    }
    return value.len == 16;
}
