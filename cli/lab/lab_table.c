/* lab_table.c - numbers taken from what a step wrote */
#define _GNU_SOURCE
#include "lab/lab_table.h"
#include "settings.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

static char *read_text(const char *path, struct nd_error *err)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    ssize_t len = -1;

    if (!file) {
        nd_fail(err, ND_EIO, "%s: cannot be read", path);
        return NULL;
    }
    len = getdelim(&text, &room, '\0', file);
    fclose(file);
    if (len >= 0)
        return text;
    free(text);
    return strdup("");
}

static bool add_row(struct lab_table *t, char *line)
{
    if ((t->n & (t->n - 1)) == 0) { /* it is full */
        char **more = realloc(t->row, (t->n ? 2 * t->n : 1) * sizeof *more);

        if (!more)
            return false;
        t->row = more;
    }
    t->row[t->n++] = line;
    return true;
}

/* Make two cells of a line of a recipe, "low = 0.1". */
static void split_assignment(char *line)
{
    char *equals = strchr(line, '\t') ? NULL : strstr(line, " = ");

    if (!equals)
        return;
    *equals = '\t';
    memmove(equals + 1, equals + 3, strlen(equals + 3) + 1);
}

enum nd_status lab_table_read(struct lab_table *t, const char *path, bool has_names,
                              struct nd_error *err)
{
    char *line, *end;
    bool good = true;

    *t = (struct lab_table){.text = read_text(path, err)};
    if (!t->text)
        return err->status;
    t->is_json = *t->text == '{';
    line = t->text;
    if (t->is_json && strncmp(line + strcspn(line, "\n"), "\n{", 2) != 0)
        return add_row(t, line) ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
    for (; good && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        if (*line == '#')
            continue;
        if (!t->is_json)
            split_assignment(line);
        if (!t->header && has_names && !t->is_json)
            t->header = line;
        else
            good = add_row(t, line);
    }
    return good ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

void lab_table_release(struct lab_table *t)
{
    free(t->text);
    free(t->row);
    *t = (struct lab_table){.n = 0};
}

/* ---- Cells ----------------------------------------------------------------------------------- */

struct lab_cell {
    const char *text;
    size_t len;
};

/* Cells lie between tabs; in a line without any, between two spaces or more. */
static bool cell_at(const char *line, size_t column, struct lab_cell *cell)
{
    const bool has_tabs = strchr(line, '\t') != NULL;
    const char *end = line;

    for (;; column--) {
        if (has_tabs)
            end = line + strcspn(line, "\t");
        else
            for (line += strspn(line, " "), end = line; *end && strncmp(end, "  ", 2) != 0; end++)
                ;
        if (!column)
            break;
        if (!*end)
            return false;
        line = end + 1;
    }
    *cell = (struct lab_cell){line, (size_t)(end - line)};
    return true;
}

static bool cell_of_json(const char *line, const char *name, size_t len, struct lab_cell *cell)
{
    for (const char *at = line; (at = strchr(at, '"')); at++)
        if (strncmp(at + 1, name, len) == 0 && at[1 + len] == '"') {
            const char *value = at + 2 + len;

            value += strspn(value, " ");
            if (*value != ':')
                continue;
            value++;
            value += strspn(value, " \"");
            *cell = (struct lab_cell){value, strcspn(value, ",\"}\n")};
            return true;
        }
    return false;
}

static bool cell_of(const struct lab_table *t, size_t row, const char *name, size_t len,
                    struct lab_cell *cell)
{
    struct lab_cell head;

    if (len > 1 && *name == '$')
        return cell_at(t->row[row], strtoul(name + 1, NULL, 10) - 1, cell);
    if (t->is_json)
        return cell_of_json(t->row[row], name, len, cell);
    for (size_t i = 0; t->header && cell_at(t->header, i, &head); i++)
        if (head.len == len && strncmp(head.text, name, len) == 0)
            return cell_at(t->row[row], i, cell);
    return false;
}

bool lab_table_has(const struct lab_table *t, size_t row, const char *condition)
{
    const size_t len = strcspn(condition, "=");
    const char *value = condition + len + 1;
    struct lab_cell cell;

    return condition[len] && cell_of(t, row, condition, len, &cell) && strlen(value) == cell.len &&
           strncmp(cell.text, value, cell.len) == 0;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

struct lab_expression {
    const char *at;
    const struct lab_table *const *table;
    const size_t *row;
    size_t n, i;
    bool is_whole;
    struct nd_error *err;
};

static double sum_of(struct lab_expression *e);

static double fail(struct lab_expression *e, const char *reason, const char *what, size_t len)
{
    if (e->err->status == ND_OK)
        nd_fail(e->err, ND_EINPUT, "%s%.*s", reason, (int)(len < 100 ? len : 100), what);
    return NAN;
}

static bool takes(struct lab_expression *e, char c)
{
    e->at += strspn(e->at, " ");
    if (*e->at != c)
        return false;
    e->at++;
    return true;
}

static size_t name_length(const char *at)
{
    size_t len = *at == '$';

    while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '.')
        len++;
    return len;
}

/* The factor of "kB" and the like behind a number; 0: it is none. */
static double unit_of(const char *text, size_t len)
{
    static const char *const units[] = {"", " bytes", " kB", " MB", " GB", " TB"};
    static const double factors[] = {1, 1, 1e3, 1e6, 1e9, 1e12};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == len && strncmp(units[i], text, len) == 0)
            return factors[i];
    return 0;
}

/* "-" and null are not known. */
static double column_of(struct lab_expression *e, size_t i, const char *name, size_t len)
{
    struct lab_cell cell;
    char *end;
    double value;

    if (i >= e->n || !cell_of(e->table[i], e->row[i], name, len, &cell))
        return fail(e, "there is no column ", name, len);
    if ((cell.len == 1 && *cell.text == '-') || strncmp(cell.text, "null", 4) == 0)
        return NAN;
    value = strtod(cell.text, &end);
    if (end == cell.text || end > cell.text + cell.len)
        return fail(e, "this is no number: ", cell.text, cell.len);
    value *= unit_of(end, cell.len - (size_t)(end - cell.text));
    return value != 0 || *cell.text == '0' ? value
                                           : fail(e, "this is no number: ", cell.text, cell.len);
}

static double name_of(struct lab_expression *e)
{
    const char *name = e->at;
    const size_t len = name_length(name);
    double sum = 0;

    e->at += len;
    if (len == 4 && strncmp(name, "rows", len) == 0) {
        e->is_whole = true;
        return (double)e->n;
    }
    if (len != 3 || strncmp(name, "sum", len) != 0 || !takes(e, '('))
        return column_of(e, e->i, name, len);
    e->at += strspn(e->at, " ");
    name = e->at;
    e->at += name_length(name);
    for (size_t i = 0; i < e->n; i++)
        sum += column_of(e, i, name, (size_t)(e->at - name));
    e->is_whole = true;
    return takes(e, ')') ? sum : fail(e, "a ) is missing before ", e->at, strlen(e->at));
}

static double factor_of(struct lab_expression *e)
{
    double value;
    char *end;

    if (takes(e, '(')) {
        value = sum_of(e);
        return takes(e, ')') ? value : fail(e, "a ) is missing before ", e->at, strlen(e->at));
    }
    if (isalpha((unsigned char)*e->at) || *e->at == '$')
        return name_of(e);
    value = strtod(e->at, &end);
    if (end == e->at)
        return fail(e, "a number or a column is missing before ", e->at, strlen(e->at));
    e->at = end;
    return value;
}

static double product_of(struct lab_expression *e)
{
    double value = factor_of(e);

    for (;;) {
        if (takes(e, '*'))
            value *= factor_of(e);
        else if (takes(e, '/'))
            value /= factor_of(e);
        else
            return value;
    }
}

static double sum_of(struct lab_expression *e)
{
    double value = product_of(e);

    for (;;) {
        if (takes(e, '+'))
            value += product_of(e);
        else if (takes(e, '-'))
            value -= product_of(e);
        else
            return value;
    }
}

enum nd_status lab_compute(const char *expression, const struct lab_table *const *table,
                           const size_t *row, size_t n, size_t at, double *value, bool *is_whole,
                           struct nd_error *err)
{
    struct lab_expression e = {
        .at = expression, .table = table, .row = row, .n = n, .i = at, .err = err};

    *err = (struct nd_error){0};
    *value = sum_of(&e);
    *is_whole = e.is_whole;
    if (*(e.at += strspn(e.at, " ")))
        fail(&e, "this is left of the expression: ", e.at, strlen(e.at));
    return err->status;
}
