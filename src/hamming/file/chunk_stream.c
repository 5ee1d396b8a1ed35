/* chunk_stream.c - a part of a file that is written from its beginning to its end */
#include "hamming/file/chunk_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/system/descriptor.h"
#include "hamming/file/segment.h"

enum { BUFFER_BYTES = 1 << 16 };

void nd_chunk_stream_open(struct nd_chunk_stream *s, int fd, const char *name, uint64_t offset,
                          uint64_t bytes, struct nd_error *err)
{
    *s = (struct nd_chunk_stream){
        .fd = fd, .name = name, .at = offset, .end = offset + bytes, .err = err};
    s->buffer = malloc(BUFFER_BYTES);
    if (!s->buffer)
        s->status = nd_fail(err, ND_ENOMEM, "out of memory");
}

static void flush(struct nd_chunk_stream *s)
{
    if (s->status == ND_OK)
        s->status = nd_hamming_write_at(s->fd, s->name, s->buffer, s->used, s->at, s->err);
    s->at += s->used;
    s->used = 0;
}

void nd_chunk_stream_put(struct nd_chunk_stream *s, const void *data, size_t len)
{
    const unsigned char *from = data;

    while (len && s->status == ND_OK) {
        size_t some = len < BUFFER_BYTES - s->used ? len : BUFFER_BYTES - s->used;

        memcpy(s->buffer + s->used, from, some);
        s->used += some;
        from += some;
        len -= some;
        if (s->used == BUFFER_BYTES)
            flush(s);
    }
}

void nd_chunk_stream_put_word(struct nd_chunk_stream *s, uint64_t word)
{
    nd_chunk_stream_put(s, &word, sizeof word);
}

void nd_chunk_stream_put_bits(struct nd_chunk_stream *s, uint64_t value, unsigned bits)
{
    s->word |= value << s->bits;
    s->bits += bits;
    if (s->bits < 64)
        return;
    nd_chunk_stream_put_word(s, s->word);
    s->bits -= 64;
    s->word = s->bits ? value >> (bits - s->bits) : 0;
}

enum nd_status nd_chunk_stream_close(struct nd_chunk_stream *s)
{
    static const unsigned char zeroes[4096];

    if (s->bits)
        nd_chunk_stream_put_word(s, s->word);
    while (s->status == ND_OK && s->at + s->used < s->end) {
        uint64_t left = s->end - s->at - s->used;

        nd_chunk_stream_put(s, zeroes, left < sizeof zeroes ? (size_t)left : sizeof zeroes);
    }
    flush(s);
    free(s->buffer);
    s->buffer = NULL;
    return s->status;
}

enum nd_status nd_chunk_hash(int fd, const char *name, uint64_t offset, uint64_t bytes,
                             struct nd_checked_sums *sums, uint64_t *hash, struct nd_error *err)
{
    struct nd_hash_stream *sum = nd_hash_stream_new();
    unsigned char *buffer = malloc(BUFFER_BYTES);
    enum nd_status status = ND_OK;

    if (!sum || !buffer)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    while (bytes && status == ND_OK) {
        ssize_t n = nd_descriptor_read_at(
            fd, buffer, bytes < BUFFER_BYTES ? (size_t)bytes : BUFFER_BYTES, offset);

        if (n <= 0) {
            status = nd_fail(err, ND_EIO, "%s: cannot be read again: %s", name,
                             n < 0 ? strerror(errno) : "it is shorter than it was");
            break;
        }
        nd_hash_stream_add(sum, buffer, (size_t)n);
        if (!nd_checked_sums_add(sums, buffer, (size_t)n))
            status = nd_fail(err, ND_ENOMEM, "out of memory for checksums");
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    if (status == ND_OK)
        *hash = nd_hash_stream_value(sum);
    nd_hash_stream_free(sum);
    free(buffer);
    return status;
}
