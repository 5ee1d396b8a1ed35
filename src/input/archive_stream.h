/* archive_stream.h - what libarchive and its libraries read: other compressions than gzip, tar, zip
 */
#ifndef ND_INPUT_ARCHIVE_STREAM_H
#define ND_INPUT_ARCHIVE_STREAM_H

#include <stdbool.h>

#include "input/byte_stream.h"
#include "input/detect.h"
#include "input/entry_header.h"

/* Nothing here may be called before nd_libarchive_load() has answered NULL. */

/* zstd, xz, bzip2 and lz4; `inner` stays the caller's and must outlive it.  NULL: out of memory. */
struct nd_stream *nd_unpack_stream_new(struct nd_stream *inner, enum nd_compression compression);

/*
 * The same of zstd, xz and bzip2 by their own libraries, which give all that stands before a
 * damage; libarchive loses the block that it is in.  Nothing before nd_can_decode has answered
 * true.
 */
bool nd_can_decode(enum nd_compression compression);
struct nd_stream *nd_decode_stream_new(struct nd_stream *inner, enum nd_compression compression);

/*
 * The regular files in a tar or zip, one after the other.  A zip that is a plain file is read by
 * its directory, through `fd`; where fd is -1 the archive is read as it comes from `inner`.
 */
struct nd_archive_reader;
struct nd_archive_reader *nd_archive_reader_new(struct nd_stream *inner, enum nd_archive kind,
                                                int fd, struct nd_arena *headers);
void nd_archive_reader_free(struct nd_archive_reader *r);

/*
 * The next file: 1, *entry is its bytes and *name its name, both until the next call (the stream is
 * the reader's: it is not closed); 0: no more; < 0: *failure says why the rest cannot be read.
 */
int nd_archive_reader_next(struct nd_archive_reader *r, struct nd_stream **entry, const char **name,
                           const char **failure);

/* After it: the file's header (NULL at the end), and the entries that are no files which were met
 * on the way to it, in the arena given. */
const struct nd_entry_header *nd_archive_reader_headers(const struct nd_archive_reader *r,
                                                        const struct nd_entry_header **before);
/* What would be lost of this zip of so many bytes, being a comment: "its comment"; NULL: nothing.
 */
const char *nd_zip_comments(int fd, uint64_t bytes);
/* What an archive of the entries met so far would lack, made of their headers: "extended
 * attributes"; NULL: nothing. */
const char *nd_archive_reader_lacks(const struct nd_archive_reader *r);

#endif
