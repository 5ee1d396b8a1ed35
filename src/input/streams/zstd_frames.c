/* zstd_frames.c - zstd in many frames, decompressed beside one another */

/*
 * Frames do not refer to one another, and where one ends can be told from the headers of its blocks.
 * So a file of many frames (of pzstd, of the seekable format, of a tool that flushes) is cut into
 * parts of whole frames, which go through a ring.
 *
 * Anything else is left to the decoder of streams, from the first byte of the part on in which it
 * comes up: a frame of more than FRAME_MAX bytes, and damage, which that decoder finds at its place.
 * It then goes on to the end of the file.
 */
#include "input/library/codecs_load.h"
#include "input/streams/archive_stream.h"
#include "input/streams/block_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    READ_BYTES = 1 << 18,
    PART_LEAST = 1 << 19, /* stored bytes of a part, unless the file ends */
    PART_MAX = 1 << 23,
    FRAME_MAX = 1 << 24 /* bytes of a frame, decompressed; and of a part */
};

struct frames_part {
    struct nd_buffer in, out;
    size_t whole; /* bytes of whole frames at the beginning of `in` */
    ZSTD_DStream *zstd;
};

struct frames_stream {
    struct nd_stream stream;
    struct nd_stream *inner; /* stored bytes */
    struct nd_buffer rest;   /* read, and in no part */
    bool is_cut;             /* there are no more parts */
    struct nd_block_ring ring;
    struct frames_part *part;      /* one for each place of the ring */
    const struct nd_buffer *given; /* bytes that are given now, or NULL */
    size_t given_to;
    uint64_t made;  /* bytes of the parts that were passed on */
    bool has_frame; /* there were any */

    /* Decoder of all that no part has, or NULL; it reads from `left`. */
    struct nd_stream *last;
    struct left_stream {
        struct nd_stream stream;
        struct frames_stream *frames;
        size_t taken; /* from the rest */
    } left;
};

/* ---- On any thread: a part, decompressed ---- */

static bool decode(void *owner, size_t place)
{
    struct frames_part *p = &((struct frames_stream *)owner)->part[place];
    ZSTD_inBuffer in = {p->in.data, p->whole, 0};
    size_t wants = 0;

    if (!p->zstd && !(p->zstd = nd_codecs.zstd_new()))
        return false;
    (void)nd_codecs.zstd_init(p->zstd);
    p->out.len = 0;
    while (in.pos < in.size || wants) {
        ZSTD_outBuffer out;

        if (p->out.len >= FRAME_MAX || !nd_buffer_reserve(&p->out, p->out.len + READ_BYTES))
            return false;
        out = (ZSTD_outBuffer){p->out.data + p->out.len, READ_BYTES, 0};
        wants = nd_codecs.zstd_decode(p->zstd, &out, &in);
        if (nd_codecs.zstd_is_error(wants) || (wants && in.pos == in.size && !out.pos))
            return false;
        p->out.len += out.pos;
    }
    return true;
}

/* ---- On the thread that reads: stored bytes, cut into parts ---- */

/* Find further whole frames in a part, up to its least length.  False: the next is too large, or no
 * frame. */
static bool find_frames(struct frames_part *p)
{
    while (p->whole < p->in.len && p->whole < PART_LEAST) {
        const char *frame = p->in.data + p->whole;
        size_t left = p->in.len - p->whole;
        unsigned long long bytes = nd_codecs.zstd_content_size(frame, left);
        size_t stored;

        if (bytes != ZSTD_CONTENTSIZE_UNKNOWN && bytes != ZSTD_CONTENTSIZE_ERROR &&
            bytes > FRAME_MAX)
            return false;
        stored = nd_codecs.zstd_frame_size(frame, left);
        if (nd_codecs.zstd_is_error(stored))
            return left < PART_MAX;
        p->whole += stored;
    }
    return true;
}

/* Read on.  1, 0: at the end or failed; < 0: out of memory. */
static int read_stored(struct frames_stream *f, struct nd_buffer *to)
{
    ssize_t n;

    if (!nd_buffer_reserve(to, to->len + READ_BYTES))
        return -1;
    n = nd_stream_read(f->inner, to->data + to->len, READ_BYTES);
    to->len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Cut the next part, if there is one: 1, 0, < 0: out of memory. */
static int cut_part(struct frames_stream *f, struct frames_part *p)
{
    int more = 1;

    p->in.len = p->whole = 0;
    if (!nd_buffer_append(&p->in, f->rest.data, f->rest.len))
        return -1;
    f->rest.len = 0;
    while (!f->is_cut && p->whole < PART_LEAST) {
        f->is_cut = !find_frames(p);
        if (f->is_cut || p->whole >= PART_LEAST)
            break;
        more = read_stored(f, &p->in);
        if (more < 0)
            return -1;
        if (!more) {
            f->is_cut = true;
            (void)find_frames(p);
        }
    }
    if (!nd_buffer_append(&f->rest, p->in.data + p->whole, p->in.len - p->whole))
        return -1;
    return p->whole > 0;
}

/* ---- What is left to the decoder of streams ---- */

/* The rest, then what the file has behind it. */
static ssize_t fill_left(struct nd_stream *s, char *out, size_t capacity)
{
    struct left_stream *l = (struct left_stream *)s;
    struct frames_stream *f = l->frames;
    size_t n = f->rest.len - l->taken;
    ssize_t got;

    if (n) {
        n = n < capacity ? n : capacity;
        memcpy(out, f->rest.data + l->taken, n);
        l->taken += n;
        return (ssize_t)n;
    }
    got = nd_stream_read(f->inner, out, capacity);
    return got < 0 ? nd_stream_fail(s, f->inner->status, "%s", f->inner->failure) : got;
}

/* Put the stored bytes of the parts from this one on in front of the rest.  False: out of memory. */
static bool take_back(struct frames_stream *f, struct frames_part *p)
{
    struct nd_buffer all = {0};
    bool ok = nd_buffer_append(&all, p->in.data, p->whole);

    while (f->ring.passed < f->ring.filled) {
        p = &f->part[nd_block_ring_oldest(&f->ring)];
        (void)nd_block_ring_pass(&f->ring);
        ok = ok && nd_buffer_append(&all, p->in.data, p->whole);
    }
    ok = ok && nd_buffer_append(&all, f->rest.data, f->rest.len);
    nd_buffer_release(&f->rest);
    f->rest = all;
    return ok;
}

static bool begin_last(struct frames_stream *f)
{
    f->left = (struct left_stream){.stream.fill = fill_left, .frames = f};
    f->last = nd_decode_stream_after(&f->left.stream, ND_COMPRESSION_ZSTD, f->made, f->has_frame);
    return f->last != NULL;
}

/* ---- The stream ---- */

static ssize_t no_memory(struct nd_stream *s)
{
    return nd_stream_fail(s, ND_ENOMEM, "out of memory");
}

/* Cut parts as long as the ring has room.  False: out of memory. */
static bool fill_ring(struct frames_stream *f)
{
    while (!f->is_cut && !nd_block_ring_is_full(&f->ring)) {
        int got = cut_part(f, &f->part[nd_block_ring_next(&f->ring)]);

        if (got < 0)
            return false;
        if (got > 0)
            nd_block_ring_close(&f->ring, !f->is_cut);
    }
    return true;
}

/* Go on to the next part, or to the decoder of what no part has.  False: out of memory. */
static bool go_on(struct frames_stream *f)
{
    struct frames_part *p;

    f->given = NULL;
    f->given_to = 0;
    if (!fill_ring(f))
        return false;
    if (f->ring.passed == f->ring.filled)
        return begin_last(f);
    p = &f->part[nd_block_ring_oldest(&f->ring)];
    if (nd_block_ring_pass(&f->ring)) {
        f->given = &p->out;
        f->made += p->out.len;
        f->has_frame = true;
        return true;
    }
    f->is_cut = true;
    return take_back(f, p) && begin_last(f);
}

static ssize_t frames_fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct frames_stream *f = (struct frames_stream *)s;
    ssize_t got;

    while (!f->last && (!f->given || f->given_to == f->given->len))
        if (!go_on(f))
            return no_memory(s);
    if (!f->last) {
        size_t left = f->given->len - f->given_to, n = left < capacity ? left : capacity;

        memcpy(out, f->given->data + f->given_to, n);
        f->given_to += n;
        return (ssize_t)n;
    }
    got = nd_stream_read(f->last, out, capacity);
    return got < 0 ? nd_stream_fail(s, f->last->status, "%s", f->last->failure) : got;
}

static void frames_close(struct nd_stream *s)
{
    struct frames_stream *f = (struct frames_stream *)s;

    nd_block_ring_release(&f->ring);
    for (size_t i = 0; i < f->ring.n; i++) {
        nd_buffer_release(&f->part[i].in);
        nd_buffer_release(&f->part[i].out);
        (void)nd_codecs.zstd_free(f->part[i].zstd);
    }
    free(f->part);
    nd_buffer_release(&f->rest);
    nd_stream_close(f->last);
    nd_buffer_release(&f->left.stream.ahead);
    free(f);
}

struct nd_stream *nd_zstd_frames_stream_new(struct nd_stream *inner, unsigned threads,
                                            const struct nd_pool *pool)
{
    struct frames_stream *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->stream.fill = frames_fill;
    f->stream.close = frames_close;
    f->inner = inner;
    f->ring.work = decode;
    f->ring.owner = f;
    f->ring.pool = pool;
    f->part = calloc(threads + 1, sizeof *f->part);
    if (f->part && nd_block_ring_init(&f->ring, threads + 1, threads))
        return &f->stream;
    free(f->part);
    free(f);
    return NULL;
}
