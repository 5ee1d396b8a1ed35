/* dedup.h - deduplicate rows in the order of a keep policy */
#ifndef ND_PYTHON_DEDUP_H
#define ND_PYTHON_DEDUP_H

#include "order.h"
#include "slice.h"
#include "texts.h"

/* In an entry of texts: the text, the id, then the fields. */
enum { ND_PY_ID = 1, ND_PY_FIRST_FIELD = 2, ND_PY_WORKERS_MAX = 1024 };

/* What a run is over, all of it borrowed. */
struct nd_py_run {
    const struct nd_recipe *recipe;
    const struct nd_py_frame *frame; /* NULL: */
    const struct nd_py_texts *texts;
    struct nd_py_order *order; /* sorted */
    const struct nd_py_fields *fields;
    unsigned threads;
};

/* A result, as a capsule; NULL: an exception is set.  progress: a callable, or None. */
PyObject *nd_py_dedup(PyObject *module, const struct nd_py_run *run, PyObject *progress);

#endif
