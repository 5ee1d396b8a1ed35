/* live.h - a live index of texts: an engine, and the texts that it asks for (live.c, live_file.c) */
#ifndef NEARDUP_NATIVE_LIVE_H
#define NEARDUP_NATIVE_LIVE_H

#include "native.h"

#include "base/thread/handle.h"
#include "base/thread/lock.h"
#include "engine/saved_texts.h"

enum { ND_PY_SLICE_BYTES = 4 << 20, ND_PY_SLICE_ROWS = 8192 };

struct nd_py_text {
    uint64_t serial;
    char *data; /* of its own, unless it is mapped */
    size_t len;
    uint64_t replaced; /* nd_utf8_replaced */
    bool is_gone, is_mapped;
};

/* An engine, and the texts of its documents. */
struct nd_py_side {
    struct nd_dedup *dedup;
    struct nd_py_text *text;
    size_t n, capacity, n_gone;
    struct nd_text_source source;
};

struct nd_py_live {
    struct nd_recipe *recipe;
    PyObject *tables; /* the capsule of the recipe, which holds the df tables that are read */
    unsigned threads;
    struct nd_handle changes; /* the call that changes the index */
    _Atomic int inside;       /* calls under way */
    bool is_lost;           /* some were under way when the process forked, and this is the child */
    struct nd_rwlock *lock; /* held by who reads or changes what follows */
    struct nd_py_side *side;
    uint64_t next_serial;
    struct nd_saved_texts saved; /* the file that it was opened from, which has mapped texts */
    /* Of the slice that is added. */
    struct nd_dedup_item *item;
    struct nd_document *document;
};

/* An empty index, as a capsule.  NULL: an exception is set. */
PyObject *nd_py_live_new(PyObject *module, PyObject *recipe, unsigned threads);
/* Return the index of a capsule for a call; NULL: an exception is set. */
struct nd_py_live *nd_py_live_of(PyObject *module, PyObject *capsule);

/* Let other threads run until the next nd_py_live_return. */
PyThreadState *nd_py_live_leave(struct nd_py_live *live);
void nd_py_live_return(struct nd_py_live *live, PyThreadState *state);

/* One call changes an index, or saves it, at a time.  False: an exception is set. */
bool nd_py_live_begin_change(struct nd_py_live *live);
void nd_py_live_end_change(struct nd_py_live *live);

/* Push the texts from s->n on, `n` of them, a slice at most, which stand behind the others already. */
enum nd_status nd_py_side_push(const struct nd_py_live *live, struct nd_py_side *s, size_t n,
                               struct nd_error *err);

#endif
