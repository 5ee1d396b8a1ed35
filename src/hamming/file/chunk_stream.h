/* chunk_stream.h - a part of a file that is written from its beginning to its end, a few bits or bytes
 * at a time
 */
#ifndef ND_HAMMING_FILE_CHUNK_STREAM_H
#define ND_HAMMING_FILE_CHUNK_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "base/file/checked.h"

/* The first failure stays, and nothing is written after it. */
struct nd_chunk_stream {
    int fd;
    const char *name; /* of the file, in messages */
    uint64_t at, end; /* where the next bytes of the buffer go; where the part ends */
    unsigned char *buffer;
    size_t used;
    uint64_t word; /* bits that are not a whole word yet, and how many */
    unsigned bits;
    enum nd_status status;
    struct nd_error *err;
};

/* `bytes` from an offset on.  ND_ENOMEM.  It must be closed in any case. */
void nd_chunk_stream_open(struct nd_chunk_stream *s, int fd, const char *name, uint64_t offset,
                          uint64_t bytes, struct nd_error *err);
/* Bytes; a whole word; up to 64 bits, from the lowest bit of the next word on.  Of one stream only
 * bits, or only bytes. */
void nd_chunk_stream_put(struct nd_chunk_stream *s, const void *data, size_t len);
void nd_chunk_stream_put_word(struct nd_chunk_stream *s, uint64_t word);
void nd_chunk_stream_put_bits(struct nd_chunk_stream *s, uint64_t value, unsigned bits);
/* Write what is left, and zeroes up to the end. */
enum nd_status nd_chunk_stream_close(struct nd_chunk_stream *s);

/* XXH3 of a part of a file that has been written; the checksums of units go on with its bytes.
 * ND_EIO, ND_ENOMEM. */
enum nd_status nd_chunk_hash(int fd, const char *name, uint64_t offset, uint64_t bytes,
                             struct nd_checked_sums *sums, uint64_t *hash, struct nd_error *err);

#endif
