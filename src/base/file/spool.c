/* spool.c - a nameless file that holds what cannot be read again from the input */
#include "base/file/spool.h"

#include "base/file/temporary.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/thread/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL_BYTES = 1 << 20 };

/* The file holds `written` bytes, but for those that are waiting; those after them are in `tail`. */
struct nd_spool {
    int fd;
    char *dir;
    uint64_t written;
    struct nd_buffer tail;

    struct late_writes {
        struct nd_monitor monitor; /* guards what waits, with its pieces */
        struct nd_late_write **waiting;
        size_t n, capacity;
    } * late;
};

struct nd_spool *nd_spool_new(const char *dir, struct nd_error *err)
{
    struct nd_spool *s = calloc(1, sizeof *s);

    if (!s || !(s->dir = nd_text_copy(dir)) || !(s->late = calloc(1, sizeof *s->late))) {
        if (s)
            free(s->dir);
        free(s);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    nd_monitor_init(&s->late->monitor);
    s->fd = nd_temporary_spool(dir);
    if (s->fd < 0) {
        nd_fail(err, ND_EIO, "%s: cannot create a temporary file in it: %s", dir, strerror(errno));
        nd_spool_free(s);
        return NULL;
    }
    return s;
}

void nd_spool_free(struct nd_spool *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        (void)nd_descriptor_close(s->fd);
    nd_buffer_release(&s->tail);
    nd_monitor_release(&s->late->monitor);
    free(s->late->waiting);
    free(s->late);
    free(s->dir);
    free(s);
}

static enum nd_status failed(const struct nd_spool *s, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: the temporary file in it cannot be written: %s", s->dir,
                   strerror(errno));
}

static enum nd_status write_out(struct nd_spool *s, const char *data, size_t len,
                                struct nd_error *err)
{
    if (!nd_descriptor_write_at(s->fd, data, len, s->written))
        return failed(s, err);
    s->written += len;
    return ND_OK;
}

enum nd_status nd_spool_append(struct nd_spool *s, const void *data, size_t len, uint64_t *offset,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (offset)
        *offset = nd_spool_bytes(s);
    if (s->tail.len + len > TAIL_BYTES) {
        status = write_out(s, s->tail.data, s->tail.len, err);
        s->tail.len = 0;
    }
    if (status == ND_OK && len >= TAIL_BYTES)
        return write_out(s, data, len, err);
    if (status == ND_OK && !nd_buffer_append(&s->tail, data, len))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    return status;
}

/* Within the monitor: a late write that has nothing yet begins behind what was appended. */
static enum nd_status begin_waiting(struct nd_spool *s, struct nd_late_write *late,
                                    struct nd_error *err)
{
    enum nd_status status = write_out(s, s->tail.data, s->tail.len, err);

    s->tail.len = 0;
    if (status == ND_OK && !ND_RESERVE(s->late->waiting, &s->late->capacity, s->late->n + 1))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status != ND_OK)
        return status;
    s->late->waiting[s->late->n++] = late;
    late->fd = s->fd;
    late->offset = s->written;
    return ND_OK;
}

enum nd_status nd_spool_append_late(struct nd_spool *s, const void *data, size_t len,
                                    struct nd_late_write *late, uint64_t *offset,
                                    struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_monitor_enter(&s->late->monitor);
    if (len && !late->bytes)
        status = begin_waiting(s, late, err);
    if (offset)
        *offset = nd_spool_bytes(s);
    if (status == ND_OK)
        status = nd_late_write_add(late, data, len, err);
    if (status == ND_OK)
        s->written += len;
    nd_monitor_leave(&s->late->monitor);
    return status;
}

/* Within the monitor. */
static void end_waiting(struct late_writes *all, const struct nd_late_write *late)
{
    size_t i = 0;

    while (all->waiting[i] != late)
        i++;
    all->waiting[i] = all->waiting[--all->n];
}

enum nd_status nd_spool_write_late(struct nd_spool *s, struct nd_late_write *late,
                                   struct nd_error *err)
{
    struct nd_late_write copy = *late; /* writing uses pieces up, and others read them */
    enum nd_status status = ND_OK;

    if (!late->bytes)
        return ND_OK;
    copy.piece = malloc(late->n_pieces * sizeof *copy.piece);
    if (copy.piece) {
        memcpy(copy.piece, late->piece, late->n_pieces * sizeof *copy.piece);
        status = nd_late_write_do(&copy) == ND_OK ? ND_OK : failed(s, err);
        free(copy.piece);
    } else {
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    nd_monitor_enter(&s->late->monitor);
    end_waiting(s->late, late);
    nd_monitor_leave(&s->late->monitor);
    late->n_pieces = 0;
    late->bytes = 0;
    return status;
}

uint64_t nd_spool_bytes(const struct nd_spool *s)
{
    return s->written + s->tail.len;
}

static enum nd_status read_written(const struct nd_spool *s, uint64_t offset, size_t len,
                                   struct nd_buffer *to, struct nd_error *err)
{
    ssize_t n = nd_descriptor_read_at(s->fd, to->data + to->len, len, offset);

    if (n != (ssize_t)len)
        return nd_fail(err, ND_EIO, "%s: the temporary file in it cannot be read: %s", s->dir,
                       n < 0 ? strerror(errno) : "it is shorter than it was");
    to->len += len;
    return ND_OK;
}

/* Copy bytes from the pieces that have them. */
static void copy_pieces(const struct nd_late_write *late, uint64_t offset, size_t len,
                        struct nd_buffer *to)
{
    uint64_t at = offset - late->offset;

    for (const struct nd_piece *piece = late->piece; len; piece++) {
        size_t n;

        if (at >= piece->bytes) {
            at -= piece->bytes;
            continue;
        }
        n = piece->bytes - (size_t)at < len ? piece->bytes - (size_t)at : len;
        memcpy(to->data + to->len, (const char *)piece->data + at, n);
        to->len += n;
        len -= n;
        at = 0;
    }
}

/* Read bytes that one late write has.  False: none has them any more. */
static bool read_waiting(const struct nd_spool *s, uint64_t offset, size_t len,
                         struct nd_buffer *to)
{
    bool found = false;

    nd_monitor_enter(&s->late->monitor);
    for (size_t i = 0; i < s->late->n && !found; i++) {
        const struct nd_late_write *late = s->late->waiting[i];

        found = offset >= late->offset && offset - late->offset < late->bytes;
        if (found)
            copy_pieces(late, offset, len, to);
    }
    nd_monitor_leave(&s->late->monitor);
    return found;
}

enum nd_status nd_spool_read(const struct nd_spool *s, uint64_t offset, size_t len,
                             struct nd_buffer *to, struct nd_error *err)
{
    size_t from_file = 0;
    enum nd_status status;

    to->len = 0;
    if (!nd_buffer_reserve(to, len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (len && read_waiting(s, offset, len, to))
        return ND_OK;
    if (offset < s->written)
        from_file = len < s->written - offset ? len : (size_t)(s->written - offset);
    status = read_written(s, offset, from_file, to, err);
    if (status != ND_OK || from_file == len)
        return status;
    memcpy(to->data + to->len, s->tail.data + (offset + from_file - s->written), len - from_file);
    to->len = len;
    return ND_OK;
}

enum nd_status nd_spool_clear(struct nd_spool *s, struct nd_error *err)
{
    s->tail.len = 0;
    s->written = 0;
    if (!nd_descriptor_resize(s->fd, 0))
        return nd_fail(err, ND_EIO, "%s: the temporary file in it cannot be emptied: %s", s->dir,
                       strerror(errno));
    return ND_OK;
}
