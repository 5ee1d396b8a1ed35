/* lab_table.h - numbers taken from what a step wrote: TSV below a header, or JSON */
#ifndef CLI_LAB_TABLE_H
#define CLI_LAB_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/error.h>

/* Rows as lines; starts from zeroes. */
struct lab_table {
    char *text;
    char **row;
    size_t n;
    char *header; /* NULL: rows are JSON, or have no names */
    bool is_json;
};

/*
 * Read a file: a JSON object on each line, or one on several; TSV, with names of columns in its first
 * line or without; "KEY = NUMBER". In lines without a tab, cells lie between two spaces or more. A
 * number may have a unit of bytes; lines that begin with # are none. ND_EIO, ND_ENOMEM. Undo with
 * lab_table_release.
 */
enum nd_status lab_table_read(struct lab_table *t, const char *path, bool has_names,
                              struct nd_error *err);
void lab_table_release(struct lab_table *t);

/* Whether a row has this value in a column: "COLUMN=VALUE". */
bool lab_table_has(const struct lab_table *t, size_t row, const char *condition);

/*
 * Compute an expression of numbers, names of columns, $1 … for the first column and further, `rows`,
 * the number of `n` rows, sum(COLUMN) over them, + - * / and parentheses, for a row of them.
 * *is_whole: it has rows or sum, and does not depend on the row. ND_EINPUT: the reason.
 */
enum nd_status lab_compute(const char *expression, const struct lab_table *const *table,
                           const size_t *row, size_t n, size_t at, double *value, bool *is_whole,
                           struct nd_error *err);

#endif
