/* detect_table.c - tables known by their shape alone */
#include "input/cut.h"
#include "input/detect.h"
#include "input/table_row.h"

#include <string.h>

enum { NAME_MAX_BYTES = 64, COLUMNS_MAX = 1000, ROWS_MAX = 1000 };

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/*
 * What stands between separators in a header, and seldom between the commas of a sentence: it has
 * no space at its ends, begins with a letter, and is no sentence.
 */
static bool is_name(struct nd_view cell)
{
    if (cell.len >= 2 && cell.data[0] == '"' && cell.data[cell.len - 1] == '"')
        cell = (struct nd_view){cell.data + 1, cell.len - 2};
    if (cell.len == 0 || cell.len > NAME_MAX_BYTES || !is_letter((unsigned char)cell.data[0]))
        return false;
    for (size_t i = 0; i < cell.len; i++)
        if ((unsigned char)cell.data[i] < ' ' || strchr("\"!?;<>{}", cell.data[i]))
            return false;
    return cell.data[cell.len - 1] != ' ' && cell.data[cell.len - 1] != '.';
}

/* How many cells a row has; 0: too many, or `are_names` and one of them is none. */
static size_t count_cells(enum nd_format format, struct nd_view row, bool are_names)
{
    struct nd_view rest = nd_row_without_end(row), cell;
    size_t n = 0;

    while (nd_row_next(format, &rest, &cell))
        if (++n > COLUMNS_MAX || (are_names && !is_name(cell)))
            return 0;
    return n;
}

static bool is_table(enum nd_format format, const char *head, size_t len, bool at_end)
{
    struct nd_cutter cutter = {.mode = format == ND_FORMAT_CSV ? ND_CUT_CSV : ND_CUT_ROWS};
    size_t columns = 0, rows = 0, at = 0, row_len = 0;

    while (at < len && rows < ROWS_MAX) {
        enum nd_cut_answer answer = nd_cut_next(&cutter, head + at, len - at, at_end, &row_len);
        struct nd_view row = {head + at, row_len};

        if (answer == ND_CUT_UNCLOSED)
            return false;
        if (answer == ND_CUT_MORE)
            break;
        at += row_len;
        if (answer == ND_CUT_BLANK)
            continue;
        if (columns == 0 && (columns = count_cells(format, row, true)) < 2)
            return false;
        if (rows++ > 0 && count_cells(format, row, false) != columns)
            return false;
    }
    return rows >= 2;
}

enum nd_format nd_detect_any_table(const char *head, size_t len, bool at_end)
{
    if (len >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) {
        head += 3;
        len -= 3;
    }
    if (is_table(ND_FORMAT_TSV, head, len, at_end))
        return ND_FORMAT_TSV;
    return is_table(ND_FORMAT_CSV, head, len, at_end) ? ND_FORMAT_CSV : ND_FORMAT_AUTO;
}
