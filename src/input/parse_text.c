/* parse_text.c - a document from plain text: a file, a line, a paragraph */
#include "input/parser_state.h"

#include <string.h>

static struct nd_view without_line_ends(struct nd_view v)
{
    while (v.len && (v.data[v.len - 1] == '\n' || v.data[v.len - 1] == '\r'))
        v.len--;
    return v;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Without the blank lines before it and the white space behind it. */
static struct nd_view paragraph(struct nd_view v)
{
    size_t first = 0;

    while (v.len && is_white(v.data[v.len - 1]))
        v.len--;
    for (size_t i = 0; i < v.len && is_white(v.data[i]); i++)
        if (v.data[i] == '\n')
            first = i + 1;
    return (struct nd_view){v.data + first, v.len - first};
}

int nd_parse_text(struct nd_parsing *p, struct nd_view record)
{
    struct nd_document *d = p->document;

    if (p->source->is_container && p->parser->options.unit == ND_UNIT_PARAGRAPH)
        record = paragraph(record);
    else if (p->source->is_container)
        record = without_line_ends(record);
    else if (record.len >= 3 && memcmp(record.data, "\xEF\xBB\xBF", 3) == 0)
        record = (struct nd_view){record.data + 3, record.len - 3};
    d->text = record;
    nd_parsing_clear(p);
    return nd_parsing_repair(p, &d->text) == 1 ? nd_parsing_take_fields(p) : ND_ENOMEM;
}
