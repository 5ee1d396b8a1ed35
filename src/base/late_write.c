/* late_write.c - bytes whose place in a file is known, to be written there later */
#define _GNU_SOURCE
#include "base/late_write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

enum { PIECES_AT_ONCE = 1024 }; /* IOV_MAX of Linux */

enum nd_status nd_late_write_add(struct nd_late_write *w, const void *data, size_t len,
                                 struct nd_error *err)
{
    struct iovec *last = w->n_pieces ? &w->piece[w->n_pieces - 1] : NULL;

    if (len == 0)
        return ND_OK;
    w->bytes += len;
    if (last && (const char *)last->iov_base + last->iov_len == data) {
        last->iov_len += len;
        return ND_OK;
    }
    if (!ND_RESERVE(w->piece, &w->capacity, w->n_pieces + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    w->piece[w->n_pieces++] = (struct iovec){(void *)(uintptr_t)data, len};
    return ND_OK;
}

enum nd_status nd_late_write_do(struct nd_late_write *w)
{
    struct iovec *piece = w->piece;
    size_t n = w->n_pieces;

    w->n_pieces = 0;
    w->bytes = 0;
    while (n) {
        ssize_t written =
            pwritev(w->fd, piece, n < PIECES_AT_ONCE ? (int)n : PIECES_AT_ONCE, (off_t)w->offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return ND_EIO;
        w->offset += (uint64_t)written;
        for (; n && (size_t)written >= piece->iov_len; piece++, n--)
            written -= (ssize_t)piece->iov_len;
        if (n) {
            piece->iov_base = (char *)piece->iov_base + written;
            piece->iov_len -= (size_t)written;
        }
    }
    return ND_OK;
}

void nd_late_write_release(struct nd_late_write *w)
{
    free(w->piece);
    *w = (struct nd_late_write){0};
}
