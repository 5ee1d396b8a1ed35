/*
 * segments.h - the texts: compressed records with checksums, in files that are only appended to
 *
 *     nd_segments_append(segments, compressed, len, raw_len, &at, &err);   // many
 *     nd_segments_sync(segments, &err);                                   // before they are named
 *     … the database commits `at` and nd_segments_end(segments) …
 *     nd_segments_read(segments, &at, &buffer, &err);                     // any thread
 *
 * A record counts if a committed row names it: what lies behind the end that the database knows is
 * of a write that was never acknowledged, and is overwritten (docs/format/store.md).
 */
#ifndef ND_STORE_SEGMENTS_H
#define ND_STORE_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"

struct nd_segments;

/* Where a text is. */
struct nd_text_place {
    uint32_t segment; /* its number: 1, 2, … */
    uint32_t stored;  /* bytes in the segment, header included */
    uint64_t offset;
    uint32_t bytes; /* of the text */
};

/* Where the next record goes. */
struct nd_segments_end {
    uint32_t segment;
    uint64_t offset;
};

/* Segments of a folder, to be appended to at `end` ({0, 0}: there are none yet); read_only: not.
 * NULL: ND_EINPUT (a segment is missing or ends before `end`), ND_EIO, ND_ENOMEM. */
struct nd_segments *nd_segments_open(const char *folder, struct nd_segments_end end,
                                     uint64_t segment_bytes, bool read_only, struct nd_error *err);
void nd_segments_close(struct nd_segments *segments);

/* Compress a text (zstd, level 1, no dictionary): any thread, with a context of its own. */
struct nd_compressor;
struct nd_compressor *nd_compressor_new(void); /* NULL: out of memory */
void nd_compressor_free(struct nd_compressor *compressor);
/* A whole record, header and checksum included; replaces what *record held.  ND_ENOMEM. */
enum nd_status nd_text_compress(struct nd_compressor *compressor, struct nd_view text,
                                struct nd_buffer *record, struct nd_error *err);

/* Append a record; one thread.  It is buffered, and readable at once.  ND_EIO (err says whether the
 * disk is full: *no_space). */
enum nd_status nd_segments_append(struct nd_segments *segments, struct nd_view record,
                                  struct nd_text_place *place, bool *no_space,
                                  struct nd_error *err);
/* Write and sync everything that was appended, and the folder if a segment was begun. */
enum nd_status nd_segments_sync(struct nd_segments *segments, bool *no_space, struct nd_error *err);
struct nd_segments_end nd_segments_end(const struct nd_segments *segments);
/* Give up what was appended behind `end`, after a commit that failed. */
void nd_segments_rewind(struct nd_segments *segments, struct nd_segments_end end);

/* Decompress a text into *text, which it replaces; any thread.  ND_EINPUT: the checksum is wrong, or
 * the record is not what the place says: the message names file and offset; ND_EIO, ND_ENOMEM. */
enum nd_status nd_segments_read(struct nd_segments *segments, struct nd_compressor *compressor,
                                const struct nd_text_place *place, struct nd_buffer *text,
                                struct nd_error *err);
/* The record as it is, for compaction and backup. */
enum nd_status nd_segments_read_record(struct nd_segments *segments,
                                       const struct nd_text_place *place, struct nd_buffer *record,
                                       struct nd_error *err);

/* Close the segment that is appended to, so that the next record begins another. */
void nd_segments_turn(struct nd_segments *segments);
/* Remove a segment that no committed row names any more.  Who is reading in it may finish. */
enum nd_status nd_segments_remove(struct nd_segments *segments, uint32_t segment,
                                  struct nd_error *err);
/* The numbers of all segments, ascending; the caller frees *numbers. */
enum nd_status nd_segments_list(struct nd_segments *segments, uint32_t **numbers, size_t *n,
                                struct nd_error *err);
uint64_t nd_segments_bytes(const struct nd_segments *segments, uint32_t segment);

#endif
