/* spool.c - a nameless file that holds what cannot be read again from the input */
#include "base/file/spool.h"

#include "base/file/temporary.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL_BYTES = 1 << 20 };

/* The file holds `written` bytes; those after them are in `tail`. */
struct nd_spool {
    int fd;
    char *dir;
    uint64_t written;
    struct nd_buffer tail;
};

struct nd_spool *nd_spool_new(const char *dir, struct nd_error *err)
{
    struct nd_spool *s = calloc(1, sizeof *s);

    if (!s || !(s->dir = nd_text_copy(dir))) {
        free(s);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
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

enum nd_status nd_spool_append_late(struct nd_spool *s, const void *data, size_t len,
                                    struct nd_late_write *late, struct nd_error *err)
{
    enum nd_status status = write_out(s, s->tail.data, s->tail.len, err);

    s->tail.len = 0;
    late->n_pieces = 0;
    late->bytes = 0;
    if (status == ND_OK)
        status = nd_late_write_add(late, data, len, err);
    late->fd = s->fd;
    late->offset = s->written;
    s->written += late->bytes;
    return status;
}

enum nd_status nd_spool_write_late(const struct nd_spool *s, struct nd_late_write *late,
                                   struct nd_error *err)
{
    return nd_late_write_do(late) == ND_OK ? ND_OK : failed(s, err);
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

enum nd_status nd_spool_read(const struct nd_spool *s, uint64_t offset, size_t len,
                             struct nd_buffer *to, struct nd_error *err)
{
    size_t from_file = 0;
    enum nd_status status;

    to->len = 0;
    if (!nd_buffer_reserve(to, len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
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
