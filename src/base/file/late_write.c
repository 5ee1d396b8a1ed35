/* late_write.c - bytes whose place in a file is known, to be written there later */
#include "base/file/late_write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

enum nd_status nd_late_write_add(struct nd_late_write *w, const void *data, size_t len,
                                 struct nd_error *err)
{
    struct nd_piece *last = w->n_pieces ? &w->piece[w->n_pieces - 1] : NULL;

    if (len == 0)
        return ND_OK;
    w->bytes += len;
    if (last && (const char *)last->data + last->bytes == data) {
        last->bytes += len;
        return ND_OK;
    }
    if (!ND_RESERVE(w->piece, &w->capacity, w->n_pieces + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    w->piece[w->n_pieces++] = (struct nd_piece){data, len};
    return ND_OK;
}

enum nd_status nd_write_pieces(int fd, struct nd_piece *piece, size_t n, const uint64_t *place)
{
    uint64_t at = place ? *place : 0;

    while (n) {
        ssize_t written = nd_descriptor_write_pieces(fd, piece, n, place ? &at : NULL);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return ND_EIO;
        at += (uint64_t)written;
        for (; n && (size_t)written >= piece->bytes; piece++, n--)
            written -= (ssize_t)piece->bytes;
        if (n) {
            piece->data = (const char *)piece->data + written;
            piece->bytes -= (size_t)written;
        }
    }
    return ND_OK;
}

enum nd_status nd_late_write_do(struct nd_late_write *w)
{
    size_t n = w->n_pieces;

    w->n_pieces = 0;
    w->bytes = 0;
    return nd_write_pieces(w->fd, w->piece, n, &w->offset);
}

void nd_late_write_release(struct nd_late_write *w)
{
    free(w->piece);
    *w = (struct nd_late_write){0};
}
