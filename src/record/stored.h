/* stored.h - the rows of a block as they are stored, for those who look through many and want few */
#ifndef ND_RECORD_STORED_H
#define ND_RECORD_STORED_H

#include "base/memory.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"

/* Rows that were checked, and are not yet made into struct nd_sketch_row.  Starts from zeroes. */
struct nd_stored_rows {
    const struct nd_sketch_file *file;
    struct nd_buffer bytes;        /* of all rows; ND_BUFFER_PADDING more are readable */
    struct nd_sketch_place *place; /* of each */
    size_t n, capacity;
    uint64_t offset; /* of the block in its file */
    uint64_t first;  /* where among all documents the first row is */
};
ND_API void nd_stored_rows_release(struct nd_stored_rows *rows);

/* Read the rows of a block of the file, in place of what *rows held.  ND_EINPUT: a row
 * is not what was written; ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_stored_rows_read(const struct nd_sketch_file *file, size_t number,
                                          struct nd_stored_rows *rows, struct nd_error *err);
/* The rows of this block will be read soon: the system may fetch them from the disk. */
ND_API void nd_stored_rows_announce(const struct nd_sketch_file *file, size_t number);

/* The i-th row, which points into *rows. */
ND_API void nd_stored_row_get(const struct nd_stored_rows *rows, size_t i,
                              struct nd_sketch_row *row);
static inline const struct nd_sketch_row_head *nd_stored_row_head(const struct nd_stored_rows *rows,
                                                                  size_t i)
{
    return (const void *)(rows->bytes.data + (rows->place[i].row - rows->offset));
}
/* The low bytes of the i-th row, of a file that keeps minima. */
static inline const uint8_t *nd_stored_row_low(const struct nd_stored_rows *rows, size_t i)
{
    return (const uint8_t *)(nd_stored_row_head(rows, i) + 1);
}

#endif
