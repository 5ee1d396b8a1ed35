/* archive_stream.h - what libarchive and its libraries read: other compressions than gzip, tar, zip
 */
#ifndef ND_INPUT_STREAMS_ARCHIVE_STREAM_H
#define ND_INPUT_STREAMS_ARCHIVE_STREAM_H

#include <stdbool.h>

#include "base/thread/pool.h"
#include "input/formats/detect.h"
#include "input/streams/byte_stream.h"
#include "input/streams/entry_header.h"

/* None of these may be called before nd_libarchive_load() has returned NULL. */

/*
 * Decompress zstd, xz, bzip2 or lz4. `inner` belongs to the caller and must outlive the stream.
 * NULL: out of memory.
 */
struct nd_stream *nd_unpack_stream_new(struct nd_stream *inner, enum nd_compression compression);

/*
 * Decompress zstd, xz and bzip2 by their own libraries, which deliver everything before the damage
 * in a damaged file; libarchive loses the whole block. Call only if nd_can_decode has returned
 * true.
 */
bool nd_can_decode(enum nd_compression compression);
struct nd_stream *nd_decode_stream_new(struct nd_stream *inner, enum nd_compression compression);
/* Go on behind so many uncompressed bytes, between two frames if there was any. */
struct nd_stream *nd_decode_stream_after(struct nd_stream *inner, enum nd_compression compression,
                                         uint64_t made, bool has_frame);
/* Decompress zstd as that does, frames beside one another by so many threads beside the caller's. */
struct nd_stream *nd_zstd_frames_stream_new(struct nd_stream *inner, unsigned threads,
                                            const struct nd_pool *pool);

/*
 * Read the regular files in a tar or zip one by one. A zip that is a plain file is read by its
 * directory, through `fd`; with fd -1 the archive is read sequentially from `inner`.
 */
struct nd_archive_reader;
struct nd_archive_reader *nd_archive_reader_new(struct nd_stream *inner, enum nd_archive kind,
                                                int fd, struct nd_arena *headers);
void nd_archive_reader_free(struct nd_archive_reader *r);

/*
 * The next file: 1 with *entry its bytes and *name its name, both until the next call (the reader
 * closes the stream); 0: no more; < 0: *failure says why the rest cannot be read.
 */
int nd_archive_reader_next(struct nd_archive_reader *r, struct nd_stream **entry, const char **name,
                           const char **failure);

/*
 * After that call: the file's header (NULL at the end), and the entries that are not files which
 * came before it, in the given arena.
 */
const struct nd_entry_header *nd_archive_reader_headers(const struct nd_archive_reader *r,
                                                        const struct nd_entry_header **before);
/*
 * The part that would be lost if this zip of this size were rewritten, because it is a comment:
 * "its comment"; NULL: nothing.
 */
const char *nd_zip_comments(int fd, uint64_t bytes);
/*
 * The properties that an archive made of the headers of the entries so far would lack: "extended
 * attributes"; NULL: none.
 */
const char *nd_archive_reader_lacks(const struct nd_archive_reader *r);

#endif
