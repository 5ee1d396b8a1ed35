/* result.h - what became of rows: of a frame (dedup.c), or of one batch of a stream (stream.c) */
#ifndef ND_PYTHON_RESULT_H
#define ND_PYTHON_RESULT_H

#include "native.h"

#define ND_PY_RESULT "neardup.result"

/* Why a row was removed. */
struct nd_py_removal {
    uint64_t row, kept, via; /* rows; via: of components, the neighbour */
    struct nd_decision decision;
};

struct nd_py_result {
    size_t n_rows;
    uint64_t first_row; /* of the stream */
    uint64_t n_pushed;  /* rows with a text */
    uint8_t *is_removed;
    struct nd_py_removal *removal; /* by row */
    size_t n_removals, capacity;
    struct nd_dedup_stats stats; /* of all that was pushed */
};

/* A result for n rows, all of them kept.  NULL: out of memory. */
struct nd_py_result *nd_py_result_new(size_t n_rows, uint64_t first_row);
void nd_py_result_free(struct nd_py_result *result);
/* False: out of memory. */
bool nd_py_result_add(struct nd_py_result *result, const struct nd_py_removal *removal);
/* Sort the removals by row, and hand the result over to a capsule; NULL: an exception is set. */
PyObject *nd_py_result_capsule(struct nd_py_result *result);

#endif
