/* table_row.h - the cells of a row of CSV (RFC 4180) or TSV */
#ifndef ND_INPUT_FORMATS_TABLE_ROW_H
#define ND_INPUT_FORMATS_TABLE_ROW_H

#include <stdbool.h>

#include <neardup/input.h>

#include "base/memory.h"

/*
 * Take the first cell off *rest, as it is written: 1; 0 where none is left.  Start with the row
 * without its line end; a row always has one cell at least.  rest->data is NULL behind the last.
 */
int nd_row_next(enum nd_format format, struct nd_view *rest, struct nd_view *raw);

/*
 * The value of a raw cell: CSV without its quotes, TSV with \t \n \r \\ undone. A view into the
 * cell where nothing is to be undone, else in the arena. False: out of memory.
 */
bool nd_cell_value(enum nd_format format, struct nd_view raw, struct nd_arena *arena,
                   struct nd_view *value);

#endif
