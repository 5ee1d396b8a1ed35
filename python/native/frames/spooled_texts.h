/* spooled_texts.h - values of rows in a file without a name, to be read again */
#ifndef ND_PYTHON_SPOOLED_TEXTS_H
#define ND_PYTHON_SPOOLED_TEXTS_H

#include "native.h"

#include "base/memory.h"

/* The values of a row: the text, the id, then the fields.  They point into a buffer. */
enum { ND_PY_ID = 1, ND_PY_FIRST_FIELD = 2, ND_PY_VALUES_MAX = 80 };
#define ND_PY_NO_COLUMN UINT32_MAX /* of its value: it is missing */
struct nd_py_entry {
    struct nd_view value[ND_PY_VALUES_MAX]; /* data NULL: missing */
    uint64_t replaced[ND_PY_VALUES_MAX];
    uint8_t is_raw[ND_PY_VALUES_MAX];
    uint32_t group;
};

/* Entries are added by rising rows.  A row that is passed over has none. */
struct nd_py_texts;
/* Entries of n values, in a file in this folder; where they are is in memory, 8 bytes a row, or, of
 * bounded ones, in a file too.  NULL: ND_ENOMEM, ND_EIO. */
struct nd_py_texts *nd_py_texts_new(size_t n_values, const char *folder, bool is_bounded,
                                    struct nd_error *err);
void nd_py_texts_free(struct nd_py_texts *t);

/* Add the entry of a row: the values of these columns of a frame, at its place there, and which rows it
 * is compared with.  ND_ENOMEM, ND_EIO. */
enum nd_status nd_py_texts_add(struct nd_py_texts *t, uint64_t row, const struct nd_py_frame *frame,
                               size_t at, const unsigned *columns, uint32_t group,
                               struct nd_error *err);
/* Read an entry into *buffer; all values are missing where there is none.  ND_ENOMEM, ND_EIO. */
enum nd_status nd_py_texts_read(const struct nd_py_texts *t, uint64_t row, struct nd_buffer *buffer,
                                struct nd_py_entry *entry, struct nd_error *err);
/* In the files. */
uint64_t nd_py_texts_bytes(const struct nd_py_texts *t);

#endif
