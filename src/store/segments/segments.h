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
#ifndef ND_STORE_SEGMENTS_SEGMENTS_H
#define ND_STORE_SEGMENTS_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"
#include "store/segments/segments_record.h"

struct nd_segments;
struct nd_segment_path; /* segments_files.h */

/* The place of the next record; an offset of 0: its segment is not begun yet. */
struct nd_segments_end {
    uint32_t segment;
    uint64_t offset;
};

/* Segments of a folder, which exists, to be appended to at `end` ({0, 0}: there are none yet): what
 * is behind it is removed.  read_only: nothing is changed, and segments that another process begins
 * are found when they are read.  Files are opened as they are needed, and few stay open.
 * NULL: ND_EINPUT (the segment of `end` is missing or ends before it), ND_EIO, ND_ENOMEM. */
struct nd_segments *nd_segments_open(const char *folder, struct nd_segments_end end,
                                     uint64_t segment_bytes, bool read_only, struct nd_error *err);
void nd_segments_close(struct nd_segments *segments);

/*
 * ---- For the one thread that appends ----
 *
 * *no_space: the disk is full.  After a write that failed, go back to the end of the last commit and
 * go on.  After a sync that failed, nobody knows what is on the disk: append and sync return ND_EIO
 * from then on, until the store is opened again.
 */

/* Append a record from nd_text_compress.  It is buffered, and readable at once.  A segment that is
 * full is synced, and left.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_segments_append(struct nd_segments *segments, struct nd_view record,
                                  struct nd_text_place *place, bool *no_space,
                                  struct nd_error *err);
/* Write and sync everything that was appended, and the folder if a segment was begun.  ND_EIO,
 * ND_ENOMEM. */
enum nd_status nd_segments_sync(struct nd_segments *segments, bool *no_space, struct nd_error *err);
struct nd_segments_end nd_segments_end(const struct nd_segments *segments);
/* Give up what was appended behind `end`, an end that nd_segments_end gave since the last sync or at
 * it. */
void nd_segments_rewind(struct nd_segments *segments, struct nd_segments_end end);
/* Close the segment that is appended to, so that the next record begins another: the end is at once
 * that of a segment that is not begun. */
void nd_segments_turn(struct nd_segments *segments);

/* ---- For any thread ---- */

/* Decompress a text into *text, which it replaces; any thread.  ND_EINPUT: the checksum is wrong, or
 * the record is not what the place says: the message names file and offset; ND_EIO, ND_ENOMEM. */
enum nd_status nd_segments_read(struct nd_segments *segments, struct nd_compressor *compressor,
                                const struct nd_text_place *place, struct nd_buffer *text,
                                struct nd_error *err);
/* The record as it is, for compaction and backup. */
enum nd_status nd_segments_read_record(struct nd_segments *segments,
                                       const struct nd_text_place *place, struct nd_buffer *record,
                                       struct nd_error *err);

/* Remove a segment that no committed row names any more, and that lies before the committed end.
 * Readers that are in it may finish; the folder is synced.  A segment that is not there is no failure.
 * ND_EINVAL: it is appended to; ND_EIO. */
enum nd_status nd_segments_remove(struct nd_segments *segments, uint32_t segment,
                                  struct nd_error *err);
/* The numbers of all segments, ascending; the caller frees *numbers.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_segments_list(struct nd_segments *segments, uint32_t **numbers, size_t *n,
                                struct nd_error *err);
/* The path of a segment's file. */
const char *nd_segments_path(const struct nd_segments *segments, uint32_t segment,
                             struct nd_segment_path *path);
/* Bytes of a segment, those not yet written included; 0: there is none. */
uint64_t nd_segments_bytes(const struct nd_segments *segments, uint32_t segment);

#endif
