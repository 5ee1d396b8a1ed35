/* parse_filtered.c - a document from a file of another kind, whose text a program makes */
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/parser.h"
#include "input/library/text_filter.h"

/* Whether there is nothing but white space: of a scanned page pdftotext writes a form feed. */
static bool is_blank(struct nd_view text)
{
    while (text.len && (unsigned char)text.data[text.len - 1] <= ' ')
        text.len--;
    return text.len == 0;
}

/* The text that the filter makes, in the arena: 1; 0: it is refused; ND_ENOMEM. */
static int make_text(struct nd_parsing *p, struct nd_view record, struct nd_view *text)
{
    struct nd_parser *parser = p->parser;
    struct nd_buffer *said = &parser->mail_body;
    int status;

    said->len = 0;
    status = nd_filter_run(p->source->filter, record, &parser->options.filter_limits, said,
                           p->bad->reason, sizeof p->bad->reason);
    if (status != 1)
        return status;
    text->data = nd_arena_copy(&parser->arena, said->data ? said->data : "", said->len);
    text->len = said->len;
    return text->data ? 1 : ND_ENOMEM;
}

static int parse_filtered(struct nd_parsing *p, struct nd_view record)
{
    struct nd_view text = {"", 0};
    int status = p->source->filter
                     ? make_text(p, record, &text)
                     : nd_parsing_refuse(p, "is read through a filter, and none is given");

    if (status != 1)
        return status;
    if (is_blank(text) && p->parser->options.missing_text == ND_MISSING_SKIP)
        return nd_parsing_refuse(p, "the filter '%.60s' wrote no text", p->source->filter);
    p->document->text = nd_without_mark(text);
    if (nd_parsing_begin(p, &p->document->text) != 1)
        return ND_ENOMEM;
    p->document->text_replaced = nd_replaced_value(&p->parser->replaced, 0);
    return nd_parsing_take_fields(p);
}

const struct nd_format_row nd_format_filtered = {
    .word = "filtered",
    .name = "a file for a filter",
    .cut = &nd_cut_whole,
    .parse = parse_filtered,
    .names_charset = true,
};
