/* columns.h - which cells of a row are the two names, the label, what became of it, a value */
#ifndef ND_USES_EVAL_COLUMNS_H
#define ND_USES_EVAL_COLUMNS_H

#include <stdbool.h>

#include <neardup/eval.h>
#include <neardup/types.h>

/* The kinds of cells. In clusters and classes the first is a document, and the second its set. */
enum nd_eval_cell { ND_CELL_FIRST, ND_CELL_SECOND, ND_CELL_THIRD, ND_CELL_FATE, ND_CELLS };

/* The places of the cells in a row, by enum nd_eval_cell; SIZE_MAX: there is none. */
struct nd_eval_columns {
    enum nd_eval_form form;
    size_t at[ND_CELLS];
    size_t value; /* of the column that was asked for */
};

/* The keys by which rows of JSON are read: by these numbers. */
extern const char *const nd_column_keys[];
extern const size_t nd_column_n_keys;

/*
 * Find the columns by their names: the cells of a header, or the keys that an object has (data
 * NULL: it has not). `form`: of this form only, or ND_EVAL_ANY. False: the names are not known.
 */
bool nd_columns_name(struct nd_eval_columns *c, const struct nd_view *name, size_t n,
                     enum nd_eval_form form);
/* Whether the cells of the first line are a header. */
bool nd_columns_is_header(const struct nd_view *cell, size_t n, enum nd_eval_form form,
                          struct nd_eval_columns *c);
/* Find the columns of a row without a header. False: what it is cannot be told. */
bool nd_columns_guess(struct nd_eval_columns *c, const struct nd_view *cell, size_t n,
                      enum nd_eval_form form);

#endif
