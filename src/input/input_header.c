/* input_header.c - the first row of CSV and TSV: kept, and asked for its columns */
#include "input/input_state.h"
#include "input/table_row.h"

#include <stdio.h>
#include <string.h>

static bool equals(struct nd_view v, const char *string)
{
    return strlen(string) == v.len && memcmp(string, v.data, v.len) == 0;
}

/* 1: there is a column of that name; 0: none, *list holds those there are; ND_ENOMEM. */
static int find_column(struct nd_input *input, struct nd_view row, const char *name, char *list,
                       size_t room)
{
    enum nd_format format = input->from.source->source.format;
    struct nd_view rest = nd_row_without_end(row), raw, value;
    size_t used = 0;

    list[0] = 0;
    while (nd_row_next(format, &rest, &raw)) {
        if (!nd_cell_value(format, raw, &input->strings, &value))
            return ND_ENOMEM;
        if (equals(value, name))
            return 1;
        if (used + 1 < room) {
            int n = snprintf(list + used, room - used, "%s%.*s", used ? ", " : "",
                             (int)(value.len > 200 ? 200 : value.len), value.data);

            used += n > 0 ? (size_t)n : 0;
        }
    }
    return 0;
}

int nd_input_take_header(struct nd_input *input, struct nd_view row)
{
    struct nd_open_source *from = &input->from;
    size_t mark = from->has_mark ? 3 : 0;
    char list[600];
    char *kept = nd_arena_alloc(&input->strings, row.len + mark);

    if (!kept)
        return ND_ENOMEM;
    memcpy(kept, "\xEF\xBB\xBF", mark);
    memcpy(kept + mark, row.data, row.len);
    from->source->source.header = (struct nd_view){kept, row.len + mark};
    for (size_t i = 0; i < input->options.n_text_fields; i++) {
        const char *name = input->options.text_fields[i];
        int found = find_column(input, row, name, list, sizeof list);

        if (found < 0)
            return found;
        if (!found) {
            nd_input_loss(input, false, "has no column \"%s\" for the text; its columns are: %s",
                          name, list);
            return 0;
        }
    }
    return 1;
}
