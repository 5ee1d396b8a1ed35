/* block_encoder.c - blocks of the input, compressed beside one another and passed on in order */

#include "input/streams/block_encoder.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64 };

/* The block that is being filled. */
static struct nd_encoder_block *present(const struct nd_block_encoder *e)
{
    return &e->block[nd_block_ring_next(&e->ring)];
}

static bool encode(void *owner, size_t place)
{
    struct nd_block_encoder *e = owner;

    return e->codec->encode(e, &e->block[place]);
}

/* Give the oldest full block to the sink, compressing blocks until it is done. */
static enum nd_status pass_on_oldest(struct nd_block_encoder *e, struct nd_error *err)
{
    struct nd_encoder_block *b = &e->block[nd_block_ring_oldest(&e->ring)];
    enum nd_status status = b->is_first ? e->codec->begin(e, err) : ND_OK;
    bool is_encoded = nd_block_ring_pass(&e->ring);

    if (status == ND_OK && !is_encoded)
        return nd_fail(err, ND_EIO, "cannot compress: the library failed");
    if (status == ND_OK)
        status = e->codec->pass_on(e, b, err);
    return status == ND_OK && b->is_last ? e->codec->end(e, err) : status;
}

static void free_block(const struct nd_block_encoder *e, struct nd_encoder_block *b)
{
    e->codec->release(b);
    free(b->in);
    free(b->out);
    *b = (struct nd_encoder_block){0};
}

/* Make the memory of the next block, unless an earlier block of the ring has left it. */
static enum nd_status make_block(struct nd_block_encoder *e, struct nd_encoder_block *b,
                                 struct nd_error *err)
{
    if (b->in)
        return ND_OK;
    b->in = malloc(e->codec->window_bytes + e->codec->block_bytes);
    if (b->in && e->codec->make(e, b))
        return ND_OK;
    free_block(e, b);
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Go on in the next block, behind one that is full, or that is the last of a member. */
static enum nd_status next_block(struct nd_block_encoder *e, bool is_last, struct nd_error *err)
{
    struct nd_encoder_block *before = present(e), *b;
    enum nd_status status = ND_OK;

    before->is_last = is_last;
    nd_block_ring_close(&e->ring, true);
    if (nd_block_ring_is_full(&e->ring))
        status = pass_on_oldest(e, err);
    b = present(e);
    if (status == ND_OK)
        status = make_block(e, b, err);
    if (status != ND_OK)
        return status;
    if (!is_last)
        memmove(b->in, before->in + e->codec->block_bytes, e->codec->window_bytes);
    b->follows = !is_last;
    b->is_first = is_last;
    b->len = 0;
    return ND_OK;
}

/* A full block is closed when more comes, so the last one is known. */
static enum nd_status write_blocks(struct nd_encoder *c, const void *data, size_t len,
                                   struct nd_error *err)
{
    struct nd_block_encoder *e = (struct nd_block_encoder *)c;
    const unsigned char *at = data;
    enum nd_status status = ND_OK;

    while (len && status == ND_OK) {
        struct nd_encoder_block *b = present(e);
        size_t room = e->codec->block_bytes - b->len, n = room < len ? room : len;

        if (n == 0) {
            status = next_block(e, false, err);
            continue;
        }
        memcpy(b->in + e->codec->window_bytes + b->len, at, n);
        b->len += n;
        at += n;
        len -= n;
    }
    return status;
}

/* Check that nothing stands in the member that has begun, behind another one. */
static bool is_void(const struct nd_block_encoder *e)
{
    const struct nd_encoder_block *b = present(e);

    return e->ring.filled > 0 && b->is_first && b->len == 0;
}

static enum nd_status divide(struct nd_encoder *c, struct nd_error *err)
{
    struct nd_block_encoder *e = (struct nd_block_encoder *)c;

    return is_void(e) ? ND_OK : next_block(e, true, err);
}

static enum nd_status finish(struct nd_encoder *c, struct nd_error *err)
{
    struct nd_block_encoder *e = (struct nd_block_encoder *)c;
    enum nd_status status = ND_OK;

    if (!is_void(e)) {
        present(e)->is_last = true;
        nd_block_ring_close(&e->ring, false);
    }
    while (status == ND_OK && e->ring.passed < e->ring.filled)
        status = pass_on_oldest(e, err);
    return status;
}

static void free_encoder(struct nd_encoder *c)
{
    struct nd_block_encoder *e = (struct nd_block_encoder *)c;

    nd_block_ring_release(&e->ring);
    for (size_t i = 0; i < e->ring.n; i++)
        free_block(e, &e->block[i]);
    free(e->block);
    free(e);
}

/* Two blocks for each thread: one is compressed, and one is full or being filled. */
static bool make_ring(struct nd_block_encoder *e)
{
    unsigned n = e->pool ? nd_pool_threads(e->pool) : 1;

    n = n < THREADS_MAX ? n : THREADS_MAX;
    e->block = calloc(2 * (size_t)n, sizeof *e->block);
    if (e->block && nd_block_ring_init(&e->ring, n > 1 ? 2 * (size_t)n : 1, n > 1 ? n : 0))
        return true;
    free(e->block);
    return false;
}

struct nd_encoder *nd_block_encoder_new(void *memory, const struct nd_block_codec *codec,
                                        unsigned level, const struct nd_pool *pool,
                                        nd_packer_sink *sink, void *context, struct nd_error *err)
{
    struct nd_block_encoder *e = memory;

    if (!e) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    e->encoder =
        (struct nd_encoder){write_blocks, finish, free_encoder, codec->has_members ? divide : NULL};
    e->codec = codec;
    e->sink = sink;
    e->context = context;
    e->level = level;
    e->pool = e->ring.pool = pool;
    e->ring.work = encode;
    e->ring.owner = e;
    if (!make_ring(e)) {
        free(e);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    e->block[0].is_first = true;
    if (make_block(e, &e->block[0], err) == ND_OK)
        return &e->encoder;
    free_encoder(&e->encoder);
    return NULL;
}
