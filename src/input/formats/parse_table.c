/* parse_table.c - a document from a row of CSV or TSV */
#include "base/hash.h"
#include "base/view.h"
#include "input/formats/field_list.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/parser.h"
#include "input/formats/table_row.h"

/* The cells of a row into parser->cell, as they are written. */
static int split(struct nd_parser *parser, enum nd_format format, struct nd_view row)
{
    struct nd_view rest = nd_line_without_end(row), raw;

    parser->n_cells = 0;
    while (nd_row_next(format, &rest, &raw)) {
        if (!ND_RESERVE(parser->cell, &parser->cell_capacity, parser->n_cells + 1))
            return ND_ENOMEM;
        parser->cell[parser->n_cells++] = raw;
    }
    return 1;
}

/* Decode the header; errors in it belong to no record. */
static bool decode_header(const struct nd_parsing *p, struct nd_view *header)
{
    struct nd_parser *parser = p->parser;

    return !parser->options.charset || p->source->is_unicode ||
           nd_charset_decode(&parser->charset, parser->options.charset, *header, &parser->arena,
                             header, NULL);
}

/* Which column each path is: the first of that name. */
static int map_columns(struct nd_parsing *p)
{
    struct nd_parser *parser = p->parser;
    const struct nd_source *source = p->source;
    struct nd_view header = nd_without_mark(source->header);
    uint64_t key =
        nd_hash_bytes(source->header.data, source->header.len) + (uint64_t)source->format;

    if (parser->n_columns > 0 && parser->columns_key == key)
        return 1;
    parser->n_columns = 0;
    if (!decode_header(p, &header) || split(parser, source->format, header) < 0)
        return ND_ENOMEM;
    for (size_t i = 0; i < parser->n_paths; i++)
        parser->column[i] = SIZE_MAX;
    for (size_t c = parser->n_cells; c-- > 0;) {
        struct nd_view name;

        if (!nd_cell_value(source->format, parser->cell[c], &parser->arena, &name))
            return ND_ENOMEM;
        for (size_t i = 0; i < parser->n_paths; i++)
            if (nd_view_equal(parser->path[i], name))
                parser->column[i] = c;
    }
    parser->n_columns = parser->n_cells;
    parser->columns_key = key;
    return 1;
}

static int parse_table(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    enum nd_format format = p->source->format;

    if (map_columns(p) < 0 || nd_parsing_begin(p, &record) < 0 || split(parser, format, record) < 0)
        return ND_ENOMEM;
    if (parser->n_cells != parser->n_columns)
        return nd_parsing_refuse(p, "row has %zu columns, the header has %zu", parser->n_cells,
                                 parser->n_columns);
    for (size_t i = 0; i < parser->n_paths; i++) {
        struct nd_json_value *value = &parser->value[i];

        if (parser->column[i] == SIZE_MAX)
            continue;
        value->kind = ND_JSON_STRING;
        value->raw = parser->cell[parser->column[i]];
        if (!nd_cell_value(format, parser->cell[parser->column[i]], &parser->arena, &value->bytes))
            return ND_ENOMEM;
    }
    return nd_parsing_finish(p, record);
}

static void list_columns(struct nd_parser *parser, const struct nd_source *source,
                         struct nd_view record, struct nd_field_list *list)
{
    (void)record;
    if (split(parser, source->format, nd_without_mark(source->header)) < 0)
        return;
    for (size_t c = 0; c < parser->n_cells; c++) {
        struct nd_view name;

        if (!nd_cell_value(source->format, parser->cell[c], &parser->arena, &name))
            return;
        nd_field_list_offer_id(list, name);
        nd_field_list_add(list, name, 0);
    }
}

/* Tables are known by the columns that they have (detect.c). */
const struct nd_format_row nd_format_csv = {
    .word = "csv",
    .name = "CSV",
    .suffixes = "csv",
    .cut = &nd_cut_csv,
    .parse = parse_table,
    .list_fields = list_columns,
    .has_fields = true,
    .has_header = true,
};

const struct nd_format_row nd_format_tsv = {
    .word = "tsv",
    .name = "TSV",
    .suffixes = "tsv tab",
    .cut = &nd_cut_rows,
    .parse = parse_table,
    .list_fields = list_columns,
    .has_fields = true,
    .has_header = true,
};
