/*
 * live_texts.h - a live index of texts: an engine, and the texts that it asks for (live_texts.c,
 * live_file.c), with their fields (live_fields.c)
 */
#ifndef NEARDUP_NATIVE_LIVE_TEXTS_H
#define NEARDUP_NATIVE_LIVE_TEXTS_H

#include "native.h"

#include "base/system/threads.h"
#include "base/thread/handle.h"
#include "engine/saved_texts.h"

enum { ND_PY_SLICE_BYTES = 4 << 20, ND_PY_SLICE_ROWS = 8192, ND_PY_LIVE_FIELDS = 64 };

struct nd_py_text {
    uint64_t serial;
    char *data; /* of its own, unless it is mapped: the text, and behind it its fields */
    size_t len; /* of the text */
    size_t bytes;
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
    char *names; /* of the fields that the recipe reads */
    const char *field_name[ND_PY_LIVE_FIELDS];
    size_t n_fields;
    struct nd_handle changes; /* the call that changes the index */
    _Atomic int inside;       /* calls under way */
    bool is_lost;           /* some were under way when the process forked, and this is the child */
    struct nd_rwlock *lock; /* held by who reads or changes what follows */
    struct nd_py_side *side;
    uint64_t next_serial;
    struct nd_saved_texts saved; /* the file that it was opened from, which has mapped texts */
    /* Items and documents of the slice that is added. */
    struct nd_dedup_item *item;
    struct nd_document *document;
    struct nd_field *field; /* n_fields of each */
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

/* Name the fields that the recipe reads.  ND_EINVAL: there are too many; ND_ENOMEM. */
enum nd_status nd_py_live_name_fields(struct nd_py_live *live, struct nd_error *err);
/* Check that the columns of a frame behind the text are these fields.  False: an exception is set. */
bool nd_py_live_fits(const struct nd_py_live *live, const struct nd_py_frame *f);
/* Give the fields of a row, n_fields of them. */
void nd_py_live_row_fields(const struct nd_py_live *live, const struct nd_py_frame *f, size_t row,
                           struct nd_field *field);
/* Copy the text of a row, with its fields behind it.  False: memory ran out. */
bool nd_py_live_copy(const struct nd_py_live *live, const struct nd_py_frame *f, size_t row,
                     struct nd_py_text *to);
/* Give the fields of such a copy, and return the length of its text; SIZE_MAX: it is none. */
size_t nd_py_live_take_fields(const struct nd_py_live *live, const char *data, size_t bytes,
                              struct nd_field *field);

#endif
