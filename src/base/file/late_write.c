/* late_write.c - bytes whose place in a file is known, to be written there later */
#define _GNU_SOURCE
#include "base/file/late_write.h"

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

enum nd_status nd_write_pieces(int fd, struct iovec *piece, size_t n, const uint64_t *place)
{
    uint64_t at = place ? *place : 0;

    while (n) {
        int n_now = n < PIECES_AT_ONCE ? (int)n : PIECES_AT_ONCE;
        ssize_t written = place ? pwritev(fd, piece, n_now, (off_t)at) : writev(fd, piece, n_now);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return ND_EIO;
        at += (uint64_t)written;
        for (; n && (size_t)written >= piece->iov_len; piece++, n--)
            written -= (ssize_t)piece->iov_len;
        if (n) {
            piece->iov_base = (char *)piece->iov_base + written;
            piece->iov_len -= (size_t)written;
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
