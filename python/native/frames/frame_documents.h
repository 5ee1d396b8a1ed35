/* frame_documents.h - rows of a frame as documents for an engine: their order, groups and fields */
#ifndef ND_PYTHON_FRAME_DOCUMENTS_H
#define ND_PYTHON_FRAME_DOCUMENTS_H

#include "native.h"

#include <neardup/types.h>

enum { ND_PY_SLICE_BYTES = 4 << 20, ND_PY_SLICE_ROWS = 8192, ND_PY_FIELDS_MAX = 64 };

/*
 * The rows that have a text, in the order in which an engine gets them: its document i is row
 * order[i].  Documents are made a slice at a time.  Starts from zeroes and `frame`.
 */
struct nd_py_documents {
    const struct nd_py_frame *frame;
    uint64_t *order;
    size_t n;
    uint32_t *group; /* of each row; NULL: one group */
    /* Columns that the recipe reads as fields. */
    const struct nd_py_column *field[ND_PY_FIELDS_MAX];
    struct nd_view field_name[ND_PY_FIELDS_MAX];
    size_t n_fields;
    /* The slice. */
    struct nd_document *document;
    struct nd_field *fields;
    struct nd_dedup_item *item;
};
void nd_py_documents_release(struct nd_py_documents *d);

/* A column by its number in the frame; NULL: 0, or there is none. */
const struct nd_py_column *nd_py_column_at(const struct nd_py_frame *frame, unsigned number);

/* Take a tuple of numbers of columns as fields.  False: an exception is set. */
bool nd_py_documents_take_fields(struct nd_py_documents *d, PyObject *columns);

/*
 * Group the rows by their value in the column `within` (0: not), and give those that have one of the
 * values of `never`, a tuple of (column, str), a group of their own.  False: an exception is set.
 */
bool nd_py_documents_group(struct nd_py_documents *d, unsigned within, PyObject *never);

/* List the rows that have a text, in the order of the frame; and make room for a slice.  False: an
 * exception is set. */
bool nd_py_documents_list(struct nd_py_documents *d);

/* Fill items for documents from `from` on; where the slice ends. */
size_t nd_py_documents_fill(struct nd_py_documents *d, size_t from);

/* The document of one place in the order, by itself; *fields has room for n_fields. */
struct nd_document nd_py_document(const struct nd_py_documents *d, size_t at,
                                  struct nd_field *fields);

/* The texts of documents by their numbers. */
struct nd_text_source nd_py_documents_source(const struct nd_py_documents *d);

/* Signals, and progress(done, all), which may raise.  Needs the GIL.  False: an exception is set. */
bool nd_py_report(PyObject *progress, size_t done, size_t all);

/* Work without the GIL, during which Python is told how far it is. */
struct nd_py_outside {
    PyThreadState *thread; /* PyEval_SaveThread(); given back to PyEval_RestoreThread at last */
    PyObject *progress;    /* a callable, or None */
};
/* As nd_py_report.  ND_ECANCELLED: an exception is set. */
enum nd_status nd_py_outside_report(struct nd_py_outside *outside, size_t done, size_t all,
                                    struct nd_error *err);
/* The work has ended, with this status: take the GIL again.  False: an exception is set. */
bool nd_py_outside_end(PyObject *module, struct nd_py_outside *outside, enum nd_status status,
                       const struct nd_error *err);

#endif
