/* formats.c - the formats that documents are read from, a row each */
#include "input/formats/formats.h"

/* Every format by its row, nd_format_text …, in the order of enum nd_format.  The row is defined in
 * the file that parses the format. */
#define FORMATS(X)                                                                                 \
    X(text)                                                                                        \
    X(html)                                                                                        \
    X(jsonl) X(csv) X(tsv) X(mail) X(mbox) X(warc) X(arc) X(feed) X(news) X(jsonfeed) X(filtered)

#define DECLARE(name) extern const struct nd_format_row nd_format_##name;
FORMATS(DECLARE)

/* A file whose format is not known yet, or that holds none. */
static const struct nd_format_row AUTO = {.word = "auto", .name = "unknown", .cut = &nd_cut_whole};

#define ADDRESS(name) , &nd_format_##name
static const struct nd_format_row *const FORMAT[] = {&AUTO FORMATS(ADDRESS)};

_Static_assert(sizeof FORMAT / sizeof *FORMAT == ND_FORMAT_COUNT, "a row for each format");

const struct nd_format_row *nd_format_row(enum nd_format format)
{
    return FORMAT[format];
}

const struct nd_cut *nd_format_cut(enum nd_format format, enum nd_unit unit)
{
    if (format != ND_FORMAT_TEXT)
        return FORMAT[format]->cut;
    return unit == ND_UNIT_LINE        ? &nd_cut_all_lines
           : unit == ND_UNIT_PARAGRAPH ? &nd_cut_paragraphs
                                       : &nd_cut_whole;
}

const char *nd_format_word(enum nd_format format)
{
    return FORMAT[format]->word;
}

const char *nd_format_name(enum nd_format format)
{
    return FORMAT[format]->name;
}
