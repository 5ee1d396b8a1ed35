/* utf16_stream.c - UTF-16 with a byte order mark, as UTF-8 without one */
#include "input/byte_stream.h"

#include <stdlib.h>
#include <string.h>

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
    char *o = u->out + u->n_out;

    if (c < 0x80) {
        o[0] = (char)c;
        u->n_out += 1;
    } else if (c < 0x800) {
        o[0] = (char)(0xC0 | c >> 6);
        o[1] = (char)(0x80 | (c & 0x3F));
        u->n_out += 2;
    } else if (c < 0x10000) {
        o[0] = (char)(0xE0 | c >> 12);
        o[1] = (char)(0x80 | (c >> 6 & 0x3F));
        o[2] = (char)(0x80 | (c & 0x3F));
        u->n_out += 3;
    } else {
        o[0] = (char)(0xF0 | c >> 18);
        o[1] = (char)(0x80 | (c >> 12 & 0x3F));
        o[2] = (char)(0x80 | (c >> 6 & 0x3F));
        o[3] = (char)(0x80 | (c & 0x3F));
        u->n_out += 4;
    }
}

static uint32_t unit(const struct utf16_stream *u, size_t at)
{
    return u->is_big ? (uint32_t)u->in[at] << 8 | u->in[at + 1]
                     : (uint32_t)u->in[at + 1] << 8 | u->in[at];
}

/* All whole characters in `in`; what is left of one waits for the next bytes unless none come. */
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
        put(u, 0xFFFD); /* half a unit */
        u->at = u->n_in;
    }
}

static ssize_t utf16_fill(struct nd_stream *s, char *out, size_t room)
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
    if (room > u->n_out - u->out_at)
        room = u->n_out - u->out_at;
    memcpy(out, u->out + u->out_at, room);
    u->out_at += room;
    return (ssize_t)room;
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
