/* byte_stream.c - what all streams share: looking ahead, putting back, failing */
#include "input/byte_stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One call to the implementation, its answer remembered. */
static ssize_t fill(struct nd_stream *s, char *out, size_t room)
{
    ssize_t n;

    if (s->state == ND_STREAM_ENDED)
        return 0;
    if (s->state == ND_STREAM_FAILED)
        return -1;
    n = s->fill(s, out, room);
    if (n == 0)
        s->state = ND_STREAM_ENDED;
    return n;
}

ssize_t nd_stream_read(struct nd_stream *s, char *out, size_t room)
{
    size_t n = s->ahead.len - s->taken;

    if (n == 0)
        return room ? fill(s, out, room) : 0;
    if (n > room)
        n = room;
    memcpy(out, s->ahead.data + s->taken, n);
    s->taken += n;
    return (ssize_t)n;
}

bool nd_stream_peek(struct nd_stream *s, size_t want, const char **bytes, size_t *len)
{
    if (s->taken > 0) {
        memmove(s->ahead.data, s->ahead.data + s->taken, s->ahead.len - s->taken);
        s->ahead.len -= s->taken;
        s->taken = 0;
    }
    if (!nd_buffer_reserve(&s->ahead, want))
        return false;
    while (s->ahead.len < want) {
        ssize_t n = fill(s, s->ahead.data + s->ahead.len, want - s->ahead.len);

        if (n <= 0)
            break;
        s->ahead.len += (size_t)n;
    }
    *bytes = s->ahead.data;
    *len = s->ahead.len;
    return s->status != ND_ENOMEM;
}

void nd_stream_skip(struct nd_stream *s, size_t len)
{
    s->taken += len;
}

bool nd_stream_unread(struct nd_stream *s, const char *bytes, size_t len)
{
    size_t waiting = s->ahead.len - s->taken, need;

    if (len <= s->taken) { /* they lie in front of what waits, unless newer bytes were read */
        s->taken -= len;
        memcpy(s->ahead.data + s->taken, bytes, len);
        return true;
    }
    if (__builtin_add_overflow(len, waiting, &need) || !nd_buffer_reserve(&s->ahead, need))
        return false;
    memmove(s->ahead.data + len, s->ahead.data + s->taken, waiting);
    memcpy(s->ahead.data, bytes, len);
    s->taken = 0;
    s->ahead.len = need;
    return true;
}

void nd_stream_close(struct nd_stream *s)
{
    if (!s)
        return;
    nd_buffer_release(&s->ahead);
    s->close(s);
}

ssize_t nd_stream_fail(struct nd_stream *s, enum nd_status status, const char *format, ...)
{
    va_list args;

    s->state = ND_STREAM_FAILED;
    s->status = status;
    va_start(args, format);
    (void)vsnprintf(s->failure, sizeof s->failure, format, args);
    va_end(args);
    return -1;
}
