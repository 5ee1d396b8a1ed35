/* file_stream.c - the bytes of a file as they are stored, hashed as they pass */
#define _GNU_SOURCE
#include "input/byte_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t file_fill(struct nd_stream *s, char *out, size_t room)
{
    struct nd_file_stream *f = (struct nd_file_stream *)s;
    ssize_t n;

    do
        n = read(f->fd, out, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return nd_stream_fail(s, ND_EIO, "cannot be read: %s", strerror(errno));
    if (n == 0 && f->is_regular && f->consumed < f->size)
        return nd_stream_fail(s, ND_ECHANGED,
                              "ends after %" PRIu64 " of the %" PRIu64
                              " bytes it had: it was cut short while it was read",
                              f->consumed, f->size);
    f->consumed += (uint64_t)n;
    nd_hash_stream_add(f->hash, out, (size_t)n);
    return n;
}

static void file_close(struct nd_stream *s)
{
    nd_hash_stream_free(((struct nd_file_stream *)s)->hash);
    free(s);
}

struct nd_file_stream *nd_file_stream_new(int fd, bool is_regular, uint64_t size)
{
    struct nd_file_stream *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->stream.fill = file_fill;
    f->stream.close = file_close;
    f->fd = fd;
    f->is_regular = is_regular;
    f->size = size;
    f->hash = nd_hash_stream_new();
    if (!f->hash) {
        free(f);
        return NULL;
    }
    return f;
}
