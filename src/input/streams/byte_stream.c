/*
 * byte_stream.c - what all streams share (looking ahead, putting back, failing), and the two that
 * need no library: a file, and UTF-16 as UTF-8
 */
#include "input/streams/byte_stream.h"

#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What all streams share: looking ahead, putting back, failing ---- */

/* Call the implementation once and remember its result. */
static ssize_t fill(struct nd_stream *s, char *out, size_t capacity)
{
    ssize_t n;

    if (s->state == ND_STREAM_ENDED)
        return 0;
    if (s->state == ND_STREAM_FAILED)
        return -1;
    n = s->fill(s, out, capacity);
    if (n == 0)
        s->state = ND_STREAM_ENDED;
    return n;
}

ssize_t nd_stream_read(struct nd_stream *s, char *out, size_t capacity)
{
    size_t n = s->ahead.len - s->taken;

    if (n == 0)
        return capacity ? fill(s, out, capacity) : 0;
    if (n > capacity)
        n = capacity;
    memcpy(out, s->ahead.data + s->taken, n);
    s->taken += n;
    return (ssize_t)n;
}

static bool is_never_enough(const void *context, const char *bytes, size_t len)
{
    (void)context;
    (void)bytes;
    (void)len;
    return false;
}

bool nd_stream_peek(struct nd_stream *s, size_t want, const char **bytes, size_t *len)
{
    return nd_stream_peek_until(s, want, is_never_enough, NULL, bytes, len);
}

bool nd_stream_peek_until(struct nd_stream *s, size_t want, nd_stream_enough *enough,
                          const void *context, const char **bytes, size_t *len)
{
    if (s->taken > 0) {
        memmove(s->ahead.data, s->ahead.data + s->taken, s->ahead.len - s->taken);
        s->ahead.len -= s->taken;
        s->taken = 0;
    }
    if (!nd_buffer_reserve(&s->ahead, want))
        return false;
    while (s->ahead.len < want && !(s->ahead.len && enough(context, s->ahead.data, s->ahead.len))) {
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

    if (len <= s->taken) { /* they are just before the waiting bytes, unless */
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

/* ---- The bytes of a file as they are stored, hashed as they pass ---- */

enum { PAUSE_MS = 20 };

static ssize_t file_fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct nd_file_stream *f = (struct nd_file_stream *)s;
    ssize_t n;

    n = f->by_offset ? nd_descriptor_read_at(f->fd, out, capacity, f->consumed)
                     : nd_descriptor_read(f->fd, out, capacity);
    if (n < 0)
        return nd_stream_fail(s, ND_EIO, "cannot be read: %s", strerror(errno));
    if (n == 0 && f->is_regular && f->consumed < f->size)
        return nd_stream_fail(s, ND_ECHANGED,
                              "ends after %" PRIu64 " of the %" PRIu64
                              " bytes it had: it was cut short while it was read",
                              f->consumed, f->size);
    nd_file_hash_add(f->hash, out, f->consumed, (size_t)n);
    f->consumed += (uint64_t)n;
    return n;
}

bool nd_file_stream_pauses(const struct nd_file_stream *f)
{
    return !f->is_regular && f->stream.state == ND_STREAM_OPEN &&
           nd_descriptor_pauses(f->fd, PAUSE_MS);
}

void nd_file_stream_take(struct nd_file_stream *f, const char *bytes, size_t len)
{
    f->by_offset = true;
    nd_file_hash_add(f->hash, bytes, f->consumed, len);
    f->consumed += len;
}

static void file_close(struct nd_stream *s)
{
    nd_file_hash_free(((struct nd_file_stream *)s)->hash);
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
    f->hash = nd_file_hash_new();
    if (!f->hash) {
        free(f);
        return NULL;
    }
    return f;
}

/* ---- UTF-16 with a byte order mark, as UTF-8 without one ---- */

enum { UTF16_IN = 1 << 14 };

struct utf16_stream {
    struct nd_stream stream;
    struct nd_stream *inner;
    bool has_order, is_big;
    size_t n_in, at, n_out, out_at;
    unsigned char in[UTF16_IN];
    char out[UTF16_IN / 2 * 3 + 8];
};

static void put(struct utf16_stream *u, uint32_t c)
{
    u->n_out += nd_utf8_put(u->out + u->n_out, c);
}

static uint32_t unit(const struct utf16_stream *u, size_t at)
{
    return u->is_big ? (uint32_t)u->in[at] << 8 | u->in[at + 1]
                     : (uint32_t)u->in[at + 1] << 8 | u->in[at];
}

/*
 * Convert all complete characters in `in`; the rest of one waits for the next bytes, unless there
 * are none.
 */
static void convert(struct utf16_stream *u, bool is_last)
{
    u->n_out = u->out_at = 0;
    while (u->n_in - u->at >= 2) {
        uint32_t c = unit(u, u->at), low;

        if (!u->has_order) {
            u->has_order = true;
            u->is_big = u->in[0] == 0xFE;
            u->at += 2;
            continue;
        }
        if (c >= 0xD800 && c <= 0xDBFF) {
            if (u->n_in - u->at < 4 && !is_last)
                return;
            low = u->n_in - u->at >= 4 ? unit(u, u->at + 2) : 0;
            if (low >= 0xDC00 && low <= 0xDFFF) {
                put(u, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
                u->at += 4;
                continue;
            }
        }
        put(u, c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c);
        u->at += 2;
    }
    if (is_last && u->at < u->n_in) {
        put(u, 0xFFFD); /* half of a 16-bit unit */
        u->at = u->n_in;
    }
}

static ssize_t utf16_fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct utf16_stream *u = (struct utf16_stream *)s;

    while (u->out_at == u->n_out) {
        size_t left = u->n_in - u->at;
        ssize_t n;

        memmove(u->in, u->in + u->at, left);
        n = nd_stream_read(u->inner, (char *)u->in + left, UTF16_IN - left);
        if (n < 0)
            return nd_stream_fail(s, u->inner->status, "%s", u->inner->failure);
        u->n_in = left + (size_t)n;
        u->at = 0;
        if (u->n_in == 0)
            return 0;
        convert(u, n == 0);
    }
    if (capacity > u->n_out - u->out_at)
        capacity = u->n_out - u->out_at;
    memcpy(out, u->out + u->out_at, capacity);
    u->out_at += capacity;
    return (ssize_t)capacity;
}

static void utf16_close(struct nd_stream *s)
{
    free(s);
}

struct nd_stream *nd_utf16_stream_new(struct nd_stream *inner)
{
    struct utf16_stream *u = malloc(sizeof *u);

    if (!u)
        return NULL;
    memset(u, 0, offsetof(struct utf16_stream, in));
    u->stream.fill = utf16_fill;
    u->stream.close = utf16_close;
    u->inner = inner;
    return &u->stream;
}
