/* frame_batch.h - some documents for the engine, a few megabytes at a time */
#ifndef ND_PYTHON_FRAME_BATCH_H
#define ND_PYTHON_FRAME_BATCH_H

#include "frames/frame_documents.h"
#include "frames/spooled_texts.h"

#include "base/memory.h"

/* The columns that a recipe reads as fields. */
struct nd_py_fields {
    unsigned column[ND_PY_FIELDS_MAX]; /* numbers in a frame */
    char *name[ND_PY_FIELDS_MAX];
    size_t n;
};
/* columns: a tuple of pairs of a number and a name.  False: an exception is set. */
bool nd_py_fields_init(struct nd_py_fields *f, PyObject *columns);
void nd_py_fields_release(struct nd_py_fields *f);
/* Whether a frame has all these columns; otherwise an exception is set. */
bool nd_py_fields_fit(const struct nd_py_fields *f, const struct nd_py_frame *frame);

/* Starts from zeroes and `fields`. */
struct nd_py_slice {
    const struct nd_py_fields *fields;
    struct nd_dedup_item *item;
    struct nd_document *document;
    struct nd_field *field;
    uint64_t *field_replaced;

    size_t n, bytes, bytes_max; /* ND_PY_SLICE_BYTES, unless it is set after nd_py_slice_init */
};
/* False: out of memory. */
bool nd_py_slice_init(struct nd_py_slice *s, const struct nd_py_fields *fields);
void nd_py_slice_release(struct nd_py_slice *s);

void nd_py_slice_clear(struct nd_py_slice *s);
bool nd_py_slice_is_full(const struct nd_py_slice *s);
/* Add a document; its fields (data NULL: it has none) and what was replaced in them are set in the
 * places that are returned, one for each field. */
struct nd_field *nd_py_slice_add(struct nd_py_slice *s, struct nd_view text, uint64_t replaced,
                                 uint32_t group, uint64_t **field_replaced);
/* Add a row of a frame that has a text. */
void nd_py_slice_add_row(struct nd_py_slice *s, const struct nd_py_frame *frame, size_t row,
                         uint32_t group);
/* Add a row whose text, and fields from ND_PY_FIRST_FIELD on, stand in a file, which also has its group:
 * they are read into *buffer, and copied to *values.  ND_ENOMEM, ND_EIO. */
enum nd_status nd_py_slice_load(struct nd_py_slice *s, struct nd_arena *values,
                                const struct nd_py_texts *texts, uint64_t row,
                                struct nd_buffer *buffer, struct nd_error *err);

#endif
