/*
 * native.h - what the files of the extension module share
 *
 * The module has functions and capsules only; the classes that users see are Python.  Each file adds
 * its functions by a table.  Functions that work for long release the GIL; nothing is static and
 * mutable.
 */
#ifndef ND_PYTHON_NATIVE_H
#define ND_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/recipe.h>

#include <stdatomic.h>
#include <stdbool.h>

/* The exceptions of the module. */
struct nd_py_state {
    PyObject *error, *invalid, *unsupported;
};

/* Raise the exception of a status, with its message; returns NULL.  Needs the GIL. */
PyObject *nd_py_raise(PyObject *module, const struct nd_error *err);
/* Parse the i-th item of a tuple, a tuple itself, as PyArg_ParseTuple parses arguments.  False: an
 * exception is set. */
bool nd_py_parse_item(PyObject *tuple, Py_ssize_t i, const char *format, ...);

/*
 * The users of what a capsule holds, while other threads run and callbacks come back: any number of
 * readers, or one who changes it.  Nobody waits: who comes at a wrong time gets a RuntimeError.
 * Zero: nobody.
 */
struct nd_py_users {
    _Atomic int count; /* -1: it is being changed */
};

/* False: an exception is set. */
bool nd_py_begin_reading(struct nd_py_users *users);
bool nd_py_begin_change(struct nd_py_users *users);
void nd_py_end_use(struct nd_py_users *users);

/* The files that give the module functions, by the names of their tables. */
/* clang-format off */
#define ND_PY_FILES(X) \
    X(recipe) X(frame) X(dedup) X(stream) X(pairs) X(compare) X(filter) X(df) X(corpus) \
    X(bounded) X(against) X(against_append) X(evidence) X(publish) X(result) X(sketch) \
    X(sketch_file) X(sketched) X(export) X(hamming) X(repeats) X(live) X(live_file) X(shuffle) X(spark_predict)
/* clang-format on */

#define ND_PY_DECLARE(file) extern PyMethodDef nd_py_##file##_functions[];
ND_PY_FILES(ND_PY_DECLARE)

/* ---- Recipes (recipe_object.c) ---- */

/* The recipe of a capsule, borrowed.  NULL: an exception is set. */
const struct nd_recipe *nd_py_recipe(PyObject *capsule);
struct nd_recipe *nd_py_recipe_to_change(PyObject *capsule);

/* ---- Df tables (frame_df.c) ---- */

/* The table of a capsule, borrowed.  NULL: an exception is set. */
const struct nd_df *nd_py_df(PyObject *capsule);

/* ---- Frames (frame.c) ---- */

/* A row whose value was not UTF-8 and has been repaired. */
struct nd_py_repaired {
    size_t row;
    uint64_t replaced; /* nd_utf8_replaced */
};

/* A column of texts.  A missing value has data NULL. */
struct nd_py_column {
    struct nd_view *value;
    /* Whether values are numbers or truth values, which JSON writes without quotes. */
    uint8_t *is_raw;
    size_t capacity, raw_capacity;
    struct nd_py_repaired *repaired; /* by row */
    uint64_t n_sequences;            /* that were replaced in them */
    size_t n_repaired, repaired_capacity;
};

/*
 * Rows of columns.  The values point into the memory of whoever gave them, which the frame keeps:
 * Arrow arrays and Python strings; what had to be made stands in its own memory.
 */
struct nd_py_frame {
    struct nd_py_column *column; /* 0: the text */
    char **name;                 /* NULL: the stream has one column */
    size_t n_columns;
    size_t n_rows;
    uint64_t bytes;    /* of the texts */
    size_t too_long;   /* the row after the one whose text is longer than may be; 0: none */
    size_t null_token; /* likewise: whose list of tokens has a null */
    bool has_tokens;   /* the text of a row was given as tokens */
    struct nd_py_chunks *chunks; /* what is kept */
    struct nd_py_users users;    /* of the rows */
};

/* The frame of a capsule, borrowed.  NULL: an exception is set. */
struct nd_py_frame *nd_py_frame(PyObject *capsule);

/*
 * Call a function of Python whose argument at this place is a frame: nobody changes the frame meanwhile.
 * Functions that release the GIL while they read a frame are in their tables by this.
 */
PyObject *nd_py_reading_frame(PyObject *module, PyObject *args, Py_ssize_t place,
                              PyCFunction function);
#define ND_PY_READS_FRAME(function, place)                                                         \
    static PyObject *function##_reading(PyObject *module, PyObject *args)                          \
    {                                                                                              \
        return nd_py_reading_frame(module, args, place, function);                                 \
    }

/* Return what was repaired in the value of a row; 0: nothing. */
uint64_t nd_py_column_replaced(const struct nd_py_column *column, size_t row);

/* Return what was repaired in the text of a row; 0: nothing. */
static inline uint64_t nd_py_frame_replaced(const struct nd_py_frame *frame, size_t row)
{
    return nd_py_column_replaced(&frame->column[0], row);
}

/* ---- Columns for Python ---- */

/*
 * Columns under construction: of each a bytes object that is written to until it is handed over.
 * Values are laid out as Arrow does.
 */
struct nd_py_column_type {
    const char *name;
    const char *format; /* of Arrow: "L"; of lists of one length "+w:128" */
    size_t bytes;       /* of a value, or of a list; 0: a bit */
    const char *item;   /* of lists: the format of their items */
    unsigned width;
};

/* A tuple of n columns of `rows` values, all 0, as arrow_export.c has them; values[i] is where those of
 * column i go, and *validity (NULL allowed) the bits of the rows that have one. */
PyObject *nd_py_columns(const struct nd_py_column_type *type, size_t n, size_t rows, void **values,
                        uint8_t **validity);

/* A column of texts: at(context, row) gives each; data NULL: it is missing. */
PyObject *nd_py_text_column(const char *name, size_t rows,
                            struct nd_view (*at)(const void *context, size_t row),
                            const void *context);

static inline void nd_py_set_bit(void *bits, size_t i)
{
    ((uint8_t *)bits)[i / 8] = (uint8_t)(((uint8_t *)bits)[i / 8] | 1u << i % 8);
}

#endif
