/* byte_stream.h - bytes from a file, a decompressor or an archive entry, with looking ahead */
#ifndef ND_INPUT_STREAMS_BYTE_STREAM_H
#define ND_INPUT_STREAMS_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "base/memory.h"
#include "base/system/descriptor.h"
#include "input/streams/file_hash.h"

enum nd_stream_state { ND_STREAM_OPEN, ND_STREAM_ENDED, ND_STREAM_FAILED };

/*
 * The first member of every kind of stream. `fill` writes up to `capacity` bytes and returns their
 * number; 0 at the end; < 0 if it failed: then `failure` says why, in words that follow the file's
 * name, and `status` is ND_EIO, ND_EINPUT or ND_ENOMEM. Bytes before a failure are delivered first.
 */
struct nd_stream {
    ssize_t (*fill)(struct nd_stream *s, char *out, size_t capacity);
    void (*close)(struct nd_stream *s); /* frees the stream itself too */
    enum nd_stream_state state;
    enum nd_status status;
    char failure[400];
    struct nd_buffer ahead; /* read but not yet taken: ahead.data[taken … ahead.len) */
    size_t taken;
};

/* Read up to `capacity` bytes, directly into `out` if none were peeked before. */
ssize_t nd_stream_read(struct nd_stream *s, char *out, size_t capacity);

typedef bool nd_stream_enough(const void *context, const char *bytes, size_t len);

/*
 * Peek at the next bytes, up to `want`, without taking them; there are fewer only if the stream
 * ends or fails. *bytes is valid until the next call. False: out of memory.
 */
bool nd_stream_peek(struct nd_stream *s, size_t want, const char **bytes, size_t *len);

/*
 * As nd_stream_peek, but stop earlier if `enough` says so of what has been peeked, which is at
 * least one byte; it is asked before more is read.
 */
bool nd_stream_peek_until(struct nd_stream *s, size_t want, nd_stream_enough *enough,
                          const void *context, const char **bytes, size_t *len);

/* Take bytes that have been peeked at. */
void nd_stream_skip(struct nd_stream *s, size_t len);

/* Put back the last bytes taken, to be read again.  False: out of memory. */
bool nd_stream_unread(struct nd_stream *s, const char *bytes, size_t len);

void nd_stream_close(struct nd_stream *s); /* NULL allowed */

/* For implementations: record a failure; returns -1. */
ssize_t nd_stream_fail(struct nd_stream *s, enum nd_status status, const char *format, ...)
    ND_PRINTF(3, 4);

/* Read a file by its descriptor, which belongs to the caller, and hash what is read. */
struct nd_file_stream {
    struct nd_stream stream;
    int fd;
    bool is_regular;
    uint64_t size;             /* size of a regular file when it was opened */
    _Atomic uint64_t consumed; /* bytes read so far; others may look at it meanwhile */
    bool by_offset;            /* some were read by others, and the position of fd is not that */
    struct nd_file_hash *hash;
};
struct nd_file_stream *nd_file_stream_new(int fd, bool is_regular, uint64_t size);

/* Whether nothing more can be read from a pipe, a terminal or the like, and a moment later still
 * nothing. */
bool nd_file_stream_pauses(const struct nd_file_stream *f);

/* The next bytes of a regular file, which was opened at its beginning, have been read from it by
 * others: go on behind them.  Nothing may wait in the stream. */
void nd_file_stream_take(struct nd_file_stream *f, const char *bytes, size_t len);

/*
 * Decompress `inner`, which belongs to the caller and must outlive the stream. gzip: the length and
 * checksum of every member are verified, and any other data after the last one is a failure.
 */
struct nd_stream *nd_gzip_stream_new(struct nd_stream *inner);

/*
 * Convert UTF-16 in `inner`, which begins with a byte order mark, to UTF-8; a lone surrogate
 * becomes U+FFFD.
 */
struct nd_stream *nd_utf16_stream_new(struct nd_stream *inner);

#endif
