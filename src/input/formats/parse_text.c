/* parse_text.c - a document from plain text: a file, a line, a paragraph */
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/parser.h"

#include <string.h>

static struct nd_view without_line_ends(struct nd_view v)
{
    while (v.len && (v.data[v.len - 1] == '\n' || v.data[v.len - 1] == '\r'))
        v.len--;
    return v;
}

/* Without the blank lines around it. */
static struct nd_view paragraph(struct nd_view v)
{
    size_t first = 0, end = v.len;
    const char *line_end;

    while (end && nd_is_white(v.data[end - 1]))
        end--;
    for (size_t i = 0; i < end && nd_is_white(v.data[i]); i++)
        if (v.data[i] == '\n')
            first = i + 1;
    /* The blanks behind the last word belong to its line. */
    line_end = end < v.len ? memchr(v.data + end, '\n', v.len - end) : NULL;
    end = end == 0 ? 0 : line_end ? (size_t)(line_end - v.data) : v.len;
    return without_line_ends((struct nd_view){v.data + first, end - first});
}

static int parse_text(struct nd_parsing *p, struct nd_view record)
{
    struct nd_document *d = p->document;

    if (p->source->is_container && p->parser->options.unit == ND_UNIT_PARAGRAPH)
        record = paragraph(record);
    else if (p->source->is_container)
        record = without_line_ends(record);
    else
        record = nd_without_mark(record);
    d->text = record;
    if (nd_parsing_begin(p, &d->text) != 1)
        return ND_ENOMEM;
    d->text_replaced = nd_replaced_value(&p->parser->replaced, 0);
    return nd_parsing_take_fields(p);
}

const struct nd_format_row nd_format_text = {
    .word = "text",
    .name = "plain text",
    .suffixes = "txt text md rst",
    .cut = &nd_cut_whole,
    .parse = parse_text,
};
