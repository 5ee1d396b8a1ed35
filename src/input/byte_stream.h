/* byte_stream.h - bytes from a file, a decompressor or an archive entry, with looking ahead */
#ifndef ND_INPUT_BYTE_STREAM_H
#define ND_INPUT_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <neardup/error.h>

#include "base/hash.h"
#include "base/memory.h"

enum nd_stream_state { ND_STREAM_OPEN, ND_STREAM_ENDED, ND_STREAM_FAILED };

/*
 * The first member of every kind of stream.  `fill` gives up to `room` bytes: > 0 their number, 0
 * the end, < 0 it failed, `failure` says why in words that follow the file's name, and `status` is
 * ND_EIO, ND_EINPUT or ND_ENOMEM.  Bytes got before a failure are given first.
 */
struct nd_stream {
    ssize_t (*fill)(struct nd_stream *s, char *out, size_t room);
    void (*close)(struct nd_stream *s); /* frees the stream itself too */
    enum nd_stream_state state;
    enum nd_status status;
    char failure[400];
    struct nd_buffer ahead; /* read but not yet taken: ahead.data[taken … ahead.len) */
    size_t taken;
};

/* Up to `room` bytes, straight into `out` where none were looked at before. */
ssize_t nd_stream_read(struct nd_stream *s, char *out, size_t room);

/*
 * Look at the next bytes, up to `want`, without taking them: fewer only where the stream ends or
 * fails.  *bytes is valid until the next call.  False: out of memory.
 */
bool nd_stream_peek(struct nd_stream *s, size_t want, const char **bytes, size_t *len);

/* Pass over bytes that have been looked at. */
void nd_stream_skip(struct nd_stream *s, size_t len);

/* Put back the last bytes taken, to be read again.  False: out of memory. */
bool nd_stream_unread(struct nd_stream *s, const char *bytes, size_t len);

void nd_stream_close(struct nd_stream *s); /* NULL allowed */

/* For implementations: note a failure; returns -1. */
ssize_t nd_stream_fail(struct nd_stream *s, enum nd_status status, const char *format, ...)
    ND_PRINTF(3, 4);

/* A file by its descriptor, which stays the caller's.  Hashes what it reads. */
struct nd_file_stream {
    struct nd_stream stream;
    int fd;
    bool is_regular;
    uint64_t size;     /* of a regular file, when it was opened */
    uint64_t consumed; /* bytes read so far */
    struct nd_hash_stream *hash;
};
struct nd_file_stream *nd_file_stream_new(int fd, bool is_regular, uint64_t size);

/*
 * Decompression of `inner`, which stays the caller's and must outlive it.  gzip: every member's
 * length and checksum are verified, and what follows the last one is a failure.
 */
struct nd_stream *nd_gzip_stream_new(struct nd_stream *inner);

/* UTF-16 of `inner`, whose byte order mark comes first, as UTF-8; a lone surrogate is U+FFFD. */
struct nd_stream *nd_utf16_stream_new(struct nd_stream *inner);

#endif
