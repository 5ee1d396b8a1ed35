/* parse_table.c - a document from a row of CSV or TSV */
#include "base/hash.h"
#include "input/parser_state.h"
#include "input/table_row.h"

#include <string.h>

/* The cells of a row into parser->cell, as they are written. */
static int split(struct nd_parser *parser, enum nd_format format, struct nd_view row)
{
    struct nd_view rest = nd_row_without_end(row), raw;

    parser->n_cells = 0;
    while (nd_row_next(format, &rest, &raw)) {
        void *array = parser->cell;

        if (!nd_array_reserve(&array, &parser->cell_capacity, parser->n_cells + 1,
                              sizeof *parser->cell))
            return ND_ENOMEM;
        parser->cell = array;
        parser->cell[parser->n_cells++] = raw;
    }
    return 1;
}

/* Which column each path is: the first of that name. */
static int map_columns(struct nd_parser *parser, const struct nd_source *source)
{
    struct nd_view header = source->header;
    uint64_t key = nd_hash_bytes(header.data, header.len) + (uint64_t)source->format;

    if (parser->n_columns > 0 && parser->columns_key == key)
        return 1;
    parser->n_columns = 0;
    if (header.len >= 3 && memcmp(header.data, "\xEF\xBB\xBF", 3) == 0)
        header = (struct nd_view){header.data + 3, header.len - 3};
    if (split(parser, source->format, header) < 0)
        return ND_ENOMEM;
    for (size_t i = 0; i < parser->n_paths; i++)
        parser->column[i] = SIZE_MAX;
    for (size_t c = parser->n_cells; c-- > 0;) {
        struct nd_view name;

        if (!nd_cell_value(source->format, parser->cell[c], &parser->arena, &name))
            return ND_ENOMEM;
        for (size_t i = 0; i < parser->n_paths; i++)
            if (parser->path[i].len == name.len &&
                memcmp(parser->path[i].data, name.data, name.len) == 0)
                parser->column[i] = c;
    }
    parser->n_columns = parser->n_cells;
    parser->columns_key = key;
    return 1;
}

int nd_parse_table(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    enum nd_format format = p->source->format;

    if (map_columns(parser, p->source) < 0 || nd_parsing_repair(p, &record) < 0 ||
        split(parser, format, record) < 0)
        return ND_ENOMEM;
    if (parser->n_cells != parser->n_columns)
        return nd_parsing_refuse(p, "row has %zu columns, the header has %zu", parser->n_cells,
                                 parser->n_columns);
    nd_parsing_clear(p);
    for (size_t i = 0; i < parser->n_paths; i++) {
        struct nd_json_value *value = &parser->value[i];

        if (parser->column[i] == SIZE_MAX)
            continue;
        value->kind = ND_JSON_STRING;
        if (!nd_cell_value(format, parser->cell[parser->column[i]], &parser->arena, &value->bytes))
            return ND_ENOMEM;
    }
    return nd_parsing_finish(p);
}
