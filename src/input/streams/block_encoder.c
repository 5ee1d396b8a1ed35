/* block_encoder.c - blocks of the input, compressed beside one another and passed on in order */

/*
 * The blocks wait in a ring.  The thread that writes fills them; any thread takes the next full one
 * and compresses it; the thread that writes passes them on in order.  It compresses blocks too when
 * it would otherwise wait, so everything works with no thread started.
 */
#include "input/streams/block_encoder.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64 };

static struct nd_encoder_block *block_of(const struct nd_block_encoder *e, uint64_t number)
{
    return &e->block[number % e->n_blocks];
}

/* Within the monitor: compress the next block that nobody has taken.  False: there is none. */
static bool encode_next(struct nd_block_encoder *e)
{
    struct nd_encoder_block *b;

    if (e->taken == e->filled)
        return false;
    b = block_of(e, e->taken++);
    nd_monitor_leave(&e->monitor);
    b->has_failed = !e->codec->encode(e, b);
    nd_monitor_enter(&e->monitor);
    b->is_done = true;
    nd_monitor_notify(&e->monitor);
    return true;
}

static void encode_until_over(void *context)
{
    struct nd_block_encoder *e = context;

    nd_monitor_enter(&e->monitor);
    while (!e->is_over)
        if (!encode_next(e))
            nd_monitor_wait(&e->monitor);
    nd_monitor_leave(&e->monitor);
}

/* A thread that cannot be started is not missed. */
static void start_threads(void *context)
{
    struct nd_block_encoder *e = context;

    while (e->n_started < e->n_threads &&
           nd_thread_start(&e->thread[e->n_started], encode_until_over, e))
        e->n_started++;
    e->n_threads = e->n_started;
}

/* Give the oldest full block to the sink, compressing blocks until it is done. */
static enum nd_status pass_on_oldest(struct nd_block_encoder *e, struct nd_error *err)
{
    struct nd_encoder_block *b = block_of(e, e->passed_on);
    enum nd_status status = b->is_first ? e->codec->begin(e, err) : ND_OK;

    nd_monitor_enter(&e->monitor);
    while (!b->is_done)
        if (!encode_next(e))
            nd_monitor_wait(&e->monitor);
    nd_monitor_leave(&e->monitor);
    b->is_done = false;
    e->passed_on++;
    if (status == ND_OK && b->has_failed)
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

/* The block that is being filled is whole. */
static void close_block(struct nd_block_encoder *e, bool is_last)
{
    block_of(e, e->filled)->is_last = is_last;
    nd_monitor_enter(&e->monitor);
    e->filled++;
    nd_monitor_notify(&e->monitor);
    nd_monitor_leave(&e->monitor);
}

/* Go on in the next block, behind one that is full, or that is the last of a member. */
static enum nd_status next_block(struct nd_block_encoder *e, bool is_last, struct nd_error *err)
{
    const struct nd_encoder_block *before = block_of(e, e->filled);
    enum nd_status status = ND_OK;
    struct nd_encoder_block *b;

    close_block(e, is_last);
    if (e->n_started < e->n_threads)
        nd_pool_unbound(e->pool, start_threads, e);
    if (e->filled - e->passed_on == e->n_blocks)
        status = pass_on_oldest(e, err);
    b = block_of(e, e->filled);
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
        struct nd_encoder_block *b = block_of(e, e->filled);
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
    const struct nd_encoder_block *b = block_of(e, e->filled);

    return e->filled > 0 && b->is_first && b->len == 0;
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

    if (!is_void(e))
        close_block(e, true);
    while (status == ND_OK && e->passed_on < e->filled)
        status = pass_on_oldest(e, err);
    return status;
}

static void free_encoder(struct nd_encoder *c)
{
    struct nd_block_encoder *e = (struct nd_block_encoder *)c;

    nd_monitor_enter(&e->monitor);
    e->is_over = true;
    nd_monitor_notify(&e->monitor);
    nd_monitor_leave(&e->monitor);
    for (unsigned i = 0; i < e->n_started; i++)
        nd_thread_join(&e->thread[i]);
    for (size_t i = 0; i < e->n_blocks; i++)
        free_block(e, &e->block[i]);
    nd_monitor_release(&e->monitor);
    free(e->block);
    free(e->thread);
    free(e);
}

/* Two blocks for each thread: one is compressed, and one is full or being filled. */
static bool make_ring(struct nd_block_encoder *e)
{
    unsigned n = e->pool ? nd_pool_threads(e->pool) : 1;

    n = n < THREADS_MAX ? n : THREADS_MAX;
    e->n_threads = n > 1 ? n : 0;
    e->n_blocks = n > 1 ? 2 * (size_t)n : 1;
    e->block = calloc(e->n_blocks, sizeof *e->block);
    e->thread = calloc(n, sizeof *e->thread);
    return e->block && e->thread && nd_monitor_init(&e->monitor);
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
    e->pool = pool;
    if (!make_ring(e)) {
        free(e->block);
        free(e->thread);
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
