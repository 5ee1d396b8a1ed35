/* order.h - in which order rows are offered to the engine, and which are compared */
#ifndef ND_PYTHON_ORDER_H
#define ND_PYTHON_ORDER_H

#include "native.h"

#include "base/groups.h"
#include "recipe/keep_order.h"

/* Columns that decide about a row, by their numbers in a frame; 0: there is none.  Where lengths of
 * texts decide, `keep` is 0, or the column that has these lengths in place of the texts. */
struct nd_py_roles {
    unsigned keep, prefer, within;
};

/*
 * Only rows of one group are compared: those with the same value of a column, `within`.  A row with
 * a value of `never` is alone in its group (src/reading/comparable.h).
 */
struct nd_py_comparable {
    unsigned within; /* 0: all rows are of group 0 */
    struct nd_groups values;
    unsigned *never_column;
    struct nd_groups *never; /* of each of these columns the values */
    size_t n_never;
    uint32_t n_alone;
};
/* never: a tuple of pairs of a column's number and a value.  False: an exception is set; it can be
 * released. */
bool nd_py_comparable_init(struct nd_py_comparable *c, unsigned within, PyObject *never);
void nd_py_comparable_release(struct nd_py_comparable *c);
/* Whether a frame has all these columns. */
bool nd_py_comparable_fits(const struct nd_py_comparable *c, const struct nd_py_frame *frame);
/* A value as a column or a record has it, and what was repaired in it. */
struct nd_py_value {
    struct nd_view value;
    uint64_t replaced;
};
/* The group of a document by its value of `within`, and those of the columns of `never`.  False: out of
 * memory. */
bool nd_py_comparable_group_of(struct nd_py_comparable *c, struct nd_py_value within,
                               const struct nd_py_value *never, uint32_t *group);
/* The group of a row.  False: out of memory. */
bool nd_py_comparable_group(struct nd_py_comparable *c, const struct nd_py_frame *frame, size_t row,
                            uint32_t *group);

/*
 * The order of rows by a keep policy, and before it by preferred values of a column.  Rows come in
 * frames; those without a text are in no order.
 */
struct nd_py_order {
    struct nd_keep keep;
    struct nd_py_roles roles;
    struct nd_groups preferred;
    struct nd_py_comparable comparable;
    uint64_t *key;              /* by row; NULL: rows come first by their place */
    uint32_t *preference;       /* likewise */
    uint32_t *group;            /* likewise; NULL: all are of one group */
    uint32_t *row;              /* what is pushed as 0, 1, 2 … */
    size_t n, n_rows, capacity; /* n_rows with those without a text */
    struct nd_rough_keys rough;
};
/* preferred: a tuple of str; never: as above.  False: an exception is set; it can be released. */
bool nd_py_order_init(PyObject *module, struct nd_py_order *o, const char *keep,
                      const struct nd_py_roles *roles, PyObject *preferred, PyObject *never);
void nd_py_order_release(struct nd_py_order *o);
/* Whether a frame has all columns that decide. */
bool nd_py_order_fits(const struct nd_py_order *o, const struct nd_py_frame *frame);
/* The place of a row that has a text, and its group: row `at` of a frame is `row` of all.  False: out
 * of memory. */
bool nd_py_order_rank(struct nd_py_order *o, const struct nd_py_frame *frame, size_t at,
                      uint32_t row, struct nd_offer *offer, uint32_t *group);
/* ND_ENOMEM; ND_EUNSUPPORTED: there are too many rows; ND_EINVAL: the frame lacks a column. */
enum nd_status nd_py_order_add(struct nd_py_order *o, const struct nd_py_frame *frame,
                               struct nd_error *err);
/* All rows have been added. */
void nd_py_order_sort(struct nd_py_order *o);
/* Whether the policy does not prefer one of two rows. */
bool nd_py_order_is_tied(const struct nd_py_order *o, uint32_t x, uint32_t y);
/* Sort, and forget what the order rests on; from now on, group[i] is that of row[i].  False: out of
 * memory. */
bool nd_py_order_settle(struct nd_py_order *o);

#endif
