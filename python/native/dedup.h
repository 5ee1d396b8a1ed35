/* dedup.h - deduplicate rows in the order of a keep policy */
#ifndef ND_PYTHON_DEDUP_H
#define ND_PYTHON_DEDUP_H

#include "order.h"
#include "result.h"
#include "slice.h"
#include "texts.h"

enum { ND_PY_WORKERS_MAX = 1024 };

/* What a run is over, all of it borrowed. */
struct nd_py_run {
    const struct nd_recipe *recipe;
    const struct nd_py_frame *frame; /* NULL: */
    const struct nd_py_texts *texts;
    const uint32_t *row, *group; /* of the documents, in keep order; group: of a frame, or NULL */
    size_t n;
    const struct nd_py_fields *fields;
    unsigned threads;
    size_t cache_bytes, slice_bytes; /* at most; 0: as ever */
    size_t n_before, n_all;          /* documents of other runs and of all, for who is told */
    /* A document was removed. */
    enum nd_status (*removed)(void *context, const struct nd_py_removed *removed,
                              struct nd_error *err);
    /* So many have been pushed: whether the engine has become too large.  NULL: it never is. */
    enum nd_status (*check)(void *context, const struct nd_dedup_stats *stats, size_t pushed,
                            struct nd_error *err);
    void *context;
};

/* Decide about all of them, and add what was counted to *stats.  progress: a callable, or None.
 * False: an exception is set. */
bool nd_py_decide(PyObject *module, const struct nd_py_run *run, PyObject *progress,
                  struct nd_dedup_stats *stats);

/* The same for rows in an order that is settled, as the capsule of a result; NULL: an exception is
 * set.  The run lacks rows and callbacks. */
PyObject *nd_py_dedup(PyObject *module, struct nd_py_run *run, const struct nd_py_order *order,
                      PyObject *progress);

#endif
