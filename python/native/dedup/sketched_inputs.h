/* sketched_inputs.h - sketch files in place of documents */
#ifndef ND_PYTHON_SKETCHED_INPUTS_H
#define ND_PYTHON_SKETCHED_INPUTS_H

#include "native.h"

#include "sketches/sketches.h"

struct nd_py_sketched;
/* The files of a capsule, borrowed, of which fields have been asked for.  NULL: an exception is set. */
struct nd_py_sketched *nd_py_sketched(PyObject *capsule);
const struct nd_sketches *nd_py_sketched_files(const struct nd_py_sketched *s);

/*
 * The documents of a block, also as rows of a frame: the fields that were asked for are its columns,
 * and each text is empty.  Starts from zeroes; what a failure leaves is released, too.
 */
struct nd_py_sketched_rows {
    struct nd_sketch_block block;
    struct nd_py_frame frame;
    size_t n_columns; /* that are to be freed */
};
enum nd_status nd_py_sketched_read(const struct nd_py_sketched *s, size_t block,
                                   struct nd_py_sketched_rows *rows, struct nd_error *err);
void nd_py_sketched_rows_release(struct nd_py_sketched_rows *rows);

#endif
