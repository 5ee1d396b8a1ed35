/* packed_document.h - single documents of a sketch file as they are stored: found, read again, made into rows */
#ifndef ND_RECORD_PACKED_DOCUMENT_H
#define ND_RECORD_PACKED_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/sketch_file.h>

#include "base/memory.h"

/*
 * A document packed: the bytes of its row, then those of its shingles in their code, as in struct
 * nd_packed_row.  All are multiples of 8 bytes.
 */

/* The place of a document in its file, in bytes from the beginning of that. */
struct nd_sketch_place {
    uint64_t row, shingles;
    uint64_t len; /* of both together */
};
/* The place of the i-th document of a block that was read. */
ND_API struct nd_sketch_place nd_sketch_block_place(const struct nd_sketch_block *block, size_t i);
/* Append it packed, of a block that was read with its shingles.  False: out of memory. */
ND_API bool nd_sketch_block_pack(const struct nd_sketch_block *block, size_t i,
                                 struct nd_buffer *out);

/* Read a document packed, into *out, whose memory is at a multiple of 8 and ends 8 bytes later.  ND_EINPUT:
 * it is not what was written; ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_sketch_file_read_packed(const struct nd_sketch_file *file,
                                                 const struct nd_sketch_place *place,
                                                 struct nd_buffer *out, struct nd_error *err);
/* The row, which points into the bytes; its shingles are still to be made, and its source may be any.
 * ND_EINPUT: it cannot be right. */
ND_API enum nd_status nd_sketch_packed_row(const struct nd_sketch_file *file, struct nd_view packed,
                                           struct nd_sketch_row *row, struct nd_error *err);
/* And they: shingle has room for row->n_shingles, and becomes row->shingles.  Where the file keeps
 * none, whose number may be any, nothing is done.  8 bytes behind the packed ones are readable. */
ND_API enum nd_status nd_sketch_packed_shingles(const struct nd_sketch_file *file,
                                                struct nd_view packed, struct nd_sketch_row *row,
                                                uint64_t *shingle, struct nd_error *err);
/* Copy the words of its signatures into the arena, and forget its id and its shingles.  False: out of
 * memory. */
ND_API bool nd_sketch_row_hold(struct nd_sketch_row *row, struct nd_arena *arena);

/* ---- Documents that go to no file, or to one later ---- */

/* A writer that packs rows (nd_sketch_row_pack), to which none can be added.  NULL: ND_ENOMEM. */
ND_API struct nd_sketch_writer *
nd_sketch_writer_of_rows(const struct nd_recipe *recipe,
                         const struct nd_sketch_writer_options *options, struct nd_error *err);
/* The fields whose values its rows keep; returns how many. */
ND_API size_t nd_sketch_writer_fields(const struct nd_sketch_writer *writer,
                                      const char *name[ND_SKETCH_FIELDS_MAX]);
/* The row at `at`, of `left` bytes, which it packed; the row points into them.  Returns its bytes. */
ND_API size_t nd_sketch_row_unpack(const struct nd_sketch_writer *writer, const char *at,
                                   size_t left, struct nd_sketch_row *row);

/* How many of the bytes are the row's. */
ND_API size_t nd_sketch_packed_row_bytes(struct nd_view packed, bool has_shingles);
/* Its number of the source, and one that it has among others elsewhere. */
ND_API uint32_t nd_sketch_packed_source(const char *packed);
ND_API void nd_sketch_packed_set_source(char *packed, uint32_t source);

#endif
