/* frame_dedup.h - deduplicate rows in the order of a keep policy */
#ifndef ND_PYTHON_FRAME_DEDUP_H
#define ND_PYTHON_FRAME_DEDUP_H

#include "frames/frame_batch.h"
#include "frames/order.h"
#include "frames/result.h"
#include "frames/spooled_texts.h"
#include "loads/budget.h"

enum { ND_PY_WORKERS_MAX = 1024 };

/* Rows that are not in memory, and are decided in loads (loads/staged.h). */
struct nd_py_divided {
    const struct nd_budget *budget;
    const struct nd_keep *keep;
    const struct nd_rough_keys *rough;
    const char *folder;
    uint64_t n_rows, n_documents;
    /* The places in keep order of n rows from this one on, and which of them are documents. */
    enum nd_status (*offer)(void *context, uint32_t from, size_t n, struct nd_offer *offer,
                            bool *is_document, struct nd_error *err);
    void *context;
    uint64_t spilled; /* bytes written to temporary files */
    uint64_t n_loads;
};

/* The rows and settings of a run, all of them borrowed. */
struct nd_py_run {
    const struct nd_recipe *recipe;
    const struct nd_py_frame *frame; /* NULL: */
    const struct nd_py_texts *texts;
    uint32_t *row;         /* the documents, in keep order */
    const uint32_t *group; /* of each of them, where they are of a frame; or NULL */
    size_t n;
    struct nd_py_divided *divided; /* NULL: they are as `row` has them */
    const struct nd_py_fields *fields;
    unsigned threads;
    size_t cache_bytes, slice_bytes; /* at most; 0: as ever */
    /* A document was removed. */
    enum nd_status (*removed)(void *context, const struct nd_py_removed *removed,
                              struct nd_error *err);
    void *context;
};

/* Decide about all of them, and add what was counted to *stats.  progress: a callable, or None.
 * False: an exception is set. */
bool nd_py_decide(PyObject *module, const struct nd_py_run *run, PyObject *progress,
                  struct nd_dedup_stats *stats);

/* Decide about rows in an order that is settled.  Return the capsule of a result; NULL: an
 * exception is set.  The run lacks rows and callbacks. */
PyObject *nd_py_dedup(PyObject *module, struct nd_py_run *run, const struct nd_py_order *order,
                      PyObject *progress);

#endif
