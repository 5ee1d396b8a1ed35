/* fresh_rows.h - the new documents of a run with old ones: packed once, and read from there */
#ifndef ND_SKETCHES_FRESH_ROWS_H
#define ND_SKETCHES_FRESH_ROWS_H

#include <stdbool.h>

#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

#include "base/memory.h"

/*
 * Documents 0, 1, 2 …, packed as they go to a sketch file later: the first ones in memory, and those
 * for which it has no room in a nameless file.
 */
struct nd_fresh_rows;

struct nd_fresh_rows_options {
    const struct nd_recipe *recipe;
    struct nd_sketch_kept keeps;
    const char *const *fields; /* whose values are kept */
    size_t n_fields;
    const char *tmp;     /* the folder of the file; borrowed */
    size_t memory_bytes; /* 0: 256 MB */
};
/* NULL: ND_ENOMEM. */
struct nd_fresh_rows *nd_fresh_rows_new(const struct nd_fresh_rows_options *options,
                                        struct nd_error *err);
void nd_fresh_rows_free(struct nd_fresh_rows *rows); /* NULL: nothing */

/* The writer that packs a row for them (nd_sketch_row_pack). */
const struct nd_sketch_writer *nd_fresh_rows_writer(const struct nd_fresh_rows *rows);
/* Add the next document, which is copied.  One thread, while nobody reads.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_fresh_rows_add(struct nd_fresh_rows *rows, const struct nd_packed_row *packed,
                                 struct nd_error *err);

uint32_t nd_fresh_rows_count(const struct nd_fresh_rows *rows);
uint32_t nd_fresh_rows_shingles(const struct nd_fresh_rows *rows, uint32_t document);
/* Bytes written to the file. */
uint64_t nd_fresh_rows_spilled(const struct nd_fresh_rows *rows);
struct nd_sketch_kept nd_fresh_rows_keep(const struct nd_fresh_rows *rows);

/* A document's row; with ND_SKETCH_FILE_ALL its shingles too.  It points into `room`, whose last row
 * is gone, or into *rows.  Any number of threads.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_fresh_rows_get(const struct nd_fresh_rows *rows, uint32_t document,
                                 unsigned parts, struct nd_sketch_room *room,
                                 struct nd_sketch_row *row, struct nd_error *err);
/* A document packed, as it was added; the bytes are in `room` or in *rows, and may be changed.  One
 * thread. */
enum nd_status nd_fresh_rows_packed(struct nd_fresh_rows *rows, uint32_t document,
                                    struct nd_sketch_room *room, struct nd_packed_row *packed,
                                    struct nd_error *err);

#endif
