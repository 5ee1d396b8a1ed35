/* input_header.c - the first row of CSV and TSV: kept, and asked for its columns */
#include "input/field_list.h"
#include "input/input_state.h"
#include "input/table_row.h"

#include <string.h>

enum { COLUMNS_MEASURED = 64, ROWS_MEASURED = 100 };

static bool equals(struct nd_view v, const char *string)
{
    return strlen(string) == v.len && memcmp(string, v.data, v.len) == 0;
}

/* 1: there is a column of that name; 0: none; ND_ENOMEM. */
static int find_column(struct nd_input *input, struct nd_view row, const char *name)
{
    enum nd_format format = input->from.source->source.format;
    struct nd_view rest = nd_row_without_end(row), raw, value;

    while (nd_row_next(format, &rest, &raw)) {
        if (!nd_cell_value(format, raw, &input->strings, &value))
            return ND_ENOMEM;
        if (equals(value, name))
            return 1;
    }
    return 0;
}

/* The bytes in each column of the first rows of `sample`. */
static void measure_columns(enum nd_format format, struct nd_view sample,
                            uint64_t sum[COLUMNS_MEASURED])
{
    struct nd_cutter cutter = {.mode = format == ND_FORMAT_CSV ? ND_CUT_CSV : ND_CUT_ROWS};
    size_t at = 0, len;

    for (unsigned rows = 0; rows < ROWS_MEASURED && at < sample.len; rows++) {
        enum nd_cut_answer answer =
            nd_cut_next(&cutter, sample.data + at, sample.len - at, true, &len);
        struct nd_view rest, cell;

        if (answer == ND_CUT_UNCLOSED)
            return;
        rest = nd_row_without_end((struct nd_view){sample.data + at, len});
        for (size_t c = 0; nd_row_next(format, &rest, &cell) && c < COLUMNS_MEASURED; c++)
            sum[c] += cell.len;
        at += len;
    }
}

/* The table has no column of this name: say which it has, and which one is probably meant. */
static int report_columns(struct nd_input *input, struct nd_view row, struct nd_view sample,
                          const char *name)
{
    enum nd_format format = input->from.source->source.format;
    struct nd_view rest = nd_row_without_end(row), raw, value;
    struct nd_field_list list = {.is_full = false};
    uint64_t sum[COLUMNS_MEASURED] = {0};
    char fields[300];

    measure_columns(format, sample, sum);
    for (size_t c = 0; nd_row_next(format, &rest, &raw); c++) {
        if (!nd_cell_value(format, raw, &input->strings, &value))
            return ND_ENOMEM;
        nd_field_list_add(&list, value, c < COLUMNS_MEASURED ? sum[c] : 0);
    }
    nd_field_list_show(&list, fields, sizeof fields);
    nd_input_loss(input, false, "has no column \"%s\" for the text; it has the fields %s", name,
                  fields);
    return 0;
}

int nd_input_take_header(struct nd_input *input, struct nd_view row, struct nd_view sample)
{
    struct nd_open_source *from = &input->from;
    size_t mark = from->has_mark ? 3 : 0;
    char *kept = nd_arena_alloc(&input->strings, row.len + mark);

    if (!kept)
        return ND_ENOMEM;
    memcpy(kept, "\xEF\xBB\xBF", mark);
    memcpy(kept + mark, row.data, row.len);
    from->source->source.header = (struct nd_view){kept, row.len + mark};
    for (size_t i = 0; i < input->options.n_text_fields; i++) {
        const char *name = input->options.text_fields[i];
        int found = find_column(input, row, name);

        if (found < 0)
            return found;
        if (!found)
            return report_columns(input, row, sample, name);
    }
    return 1;
}
