/* gzip_encoder.c - gzip by zlib: one member, whose blocks are deflated on several threads */

/*
 * The input is cut every BLOCK_BYTES.  Each block is deflated by itself, with the 32 KiB before it
 * as its dictionary, and flushed to a whole byte, as pigz does.  The blocks behind one another are
 * the data of a single member, because many readers stop in silence after the first one.
 *
 * The blocks wait in a ring.  The thread that writes fills them; any thread takes the next full one
 * and deflates it; the thread that writes passes them on in order.  It deflates blocks too when it
 * would otherwise wait, so everything works with no thread started.
 *
 * zlib and not ISA-L deflates: ISA-L finds other matches on processors without SSE 4.2, and its
 * levels that do not depend on more than that make files more than a fifth larger.
 */
#include "input/streams/encoder.h"

#include "base/thread/thread.h"
#include "input/library/codecs_load.h"

#include <isa-l/crc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 17,
    WINDOW_BYTES = 1 << 15,
    MEMORY_LEVEL = 8,
    THREADS_MAX = 64,
    FLUSH_BYTES = 64 /* room for the end of a block, beyond what deflateBound says */
};

struct deflate_block {
    unsigned char *in; /* WINDOW_BYTES before the block, then BLOCK_BYTES */
    unsigned char *out;
    size_t len, out_len, out_capacity;
    bool follows; /* the window is filled */
    bool is_last, is_done, has_failed;
    z_stream deflater;
};

struct gzip_encoder {
    struct nd_encoder encoder;
    nd_packer_sink *sink;
    void *context;
    int level;
    const struct nd_pool *pool;
    uint32_t checksum, length; /* of what was given so far */
    bool has_begun;            /* the member's header is written */

    struct deflate_block *block; /* a ring: that of number i is block[i % n_blocks] */
    size_t n_blocks;
    uint64_t passed_on; /* blocks given to the sink; of the thread that writes */
    uint64_t filled;    /* blocks that are full; guarded by the monitor, as the next two */
    uint64_t taken;     /* blocks that some thread deflates or has deflated */
    bool is_over;       /* the threads are to end */
    struct nd_monitor monitor;
    struct nd_thread *thread;
    unsigned n_threads, n_started; /* to be started, and started */
};

static struct deflate_block *block_of(const struct gzip_encoder *g, uint64_t number)
{
    return &g->block[number % g->n_blocks];
}

static void deflate_one(struct deflate_block *b)
{
    z_stream *z = &b->deflater;
    int code = nd_codecs.deflate_reset(z);

    if (code == Z_OK && b->follows)
        code = nd_codecs.deflate_follow(z, b->in, WINDOW_BYTES);
    z->next_in = b->in + WINDOW_BYTES;
    z->avail_in = (unsigned)b->len;
    z->next_out = b->out;
    z->avail_out = (unsigned)b->out_capacity;
    if (code == Z_OK)
        code = nd_codecs.deflate(z, b->is_last ? Z_FINISH : Z_SYNC_FLUSH);
    b->out_len = b->out_capacity - z->avail_out;
    b->has_failed = code != (b->is_last ? Z_STREAM_END : Z_OK) || z->avail_in || !z->avail_out;
}

/* Within the monitor: deflate the next block that nobody has taken.  False: there is none. */
static bool deflate_next(struct gzip_encoder *g)
{
    struct deflate_block *b;

    if (g->taken == g->filled)
        return false;
    b = block_of(g, g->taken++);
    nd_monitor_leave(&g->monitor);
    deflate_one(b);
    nd_monitor_enter(&g->monitor);
    b->is_done = true;
    nd_monitor_notify(&g->monitor);
    return true;
}

static void deflate_until_over(void *context)
{
    struct gzip_encoder *g = context;

    nd_monitor_enter(&g->monitor);
    while (!g->is_over)
        if (!deflate_next(g))
            nd_monitor_wait(&g->monitor);
    nd_monitor_leave(&g->monitor);
}

/* A thread that cannot be started is not missed. */
static void start_threads(void *context)
{
    struct gzip_encoder *g = context;

    while (g->n_started < g->n_threads &&
           nd_thread_start(&g->thread[g->n_started], deflate_until_over, g))
        g->n_started++;
    g->n_threads = g->n_started;
}

static enum nd_status begin_member(struct gzip_encoder *g, struct nd_error *err)
{
    /* No flags, no time; 3: made on Unix. */
    static const unsigned char header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3};

    if (g->has_begun)
        return ND_OK;
    g->has_begun = true;
    return g->sink(g->context, header, sizeof header, err);
}

/* Give the oldest full block to the sink, deflating blocks until it is done. */
static enum nd_status pass_on_oldest(struct gzip_encoder *g, struct nd_error *err)
{
    struct deflate_block *b = block_of(g, g->passed_on);
    enum nd_status status = begin_member(g, err);

    nd_monitor_enter(&g->monitor);
    while (!b->is_done)
        if (!deflate_next(g))
            nd_monitor_wait(&g->monitor);
    nd_monitor_leave(&g->monitor);
    b->is_done = false;
    g->passed_on++;
    if (status == ND_OK && b->has_failed)
        return nd_fail(err, ND_EIO, "cannot compress: zlib failed");
    return status == ND_OK ? g->sink(g->context, b->out, b->out_len, err) : status;
}

static void free_block(struct deflate_block *b)
{
    if (b->deflater.state)
        (void)nd_codecs.deflate_end(&b->deflater);
    free(b->in);
    free(b->out);
    *b = (struct deflate_block){0};
}

/* Make the memory of the next block, unless an earlier block of the ring has left it. */
static enum nd_status make_block(struct gzip_encoder *g, struct deflate_block *b,
                                 struct nd_error *err)
{
    if (b->in)
        return ND_OK;
    if (nd_codecs.deflate_init(&b->deflater, g->level, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL,
                               Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof b->deflater) == Z_OK) {
        b->out_capacity = nd_codecs.deflate_bound(&b->deflater, BLOCK_BYTES) + FLUSH_BYTES;
        b->in = malloc(WINDOW_BYTES + BLOCK_BYTES);
        b->out = malloc(b->out_capacity);
        if (b->in && b->out)
            return ND_OK;
    }
    free_block(b);
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* The block that is being filled is whole. */
static void close_block(struct gzip_encoder *g, bool is_last)
{
    block_of(g, g->filled)->is_last = is_last;
    nd_monitor_enter(&g->monitor);
    g->filled++;
    nd_monitor_notify(&g->monitor);
    nd_monitor_leave(&g->monitor);
    if (g->n_started < g->n_threads && !is_last)
        nd_pool_unbound(g->pool, start_threads, g);
}

/* Go on in the next block, behind one that is full. */
static enum nd_status next_block(struct gzip_encoder *g, struct nd_error *err)
{
    const struct deflate_block *before = block_of(g, g->filled);
    enum nd_status status = ND_OK;
    struct deflate_block *b;

    close_block(g, false);
    if (g->filled - g->passed_on == g->n_blocks)
        status = pass_on_oldest(g, err);
    b = block_of(g, g->filled);
    if (status == ND_OK)
        status = make_block(g, b, err);
    if (status != ND_OK)
        return status;
    memmove(b->in, before->in + BLOCK_BYTES, WINDOW_BYTES);
    b->follows = true;
    b->len = 0;
    return ND_OK;
}

/* A full block is closed when more comes, so the last one is known. */
static enum nd_status gzip_write(struct nd_encoder *c, const void *data, size_t len,
                                 struct nd_error *err)
{
    struct gzip_encoder *g = (struct gzip_encoder *)c;
    const unsigned char *at = data;
    enum nd_status status = ND_OK;

    if (len) /* empty data may have no address */
        g->checksum = crc32_gzip_refl(g->checksum, at, len);
    g->length += (uint32_t)len;
    while (len && status == ND_OK) {
        struct deflate_block *b = block_of(g, g->filled);
        size_t n = BLOCK_BYTES - b->len < len ? BLOCK_BYTES - b->len : len;

        if (n == 0) {
            status = next_block(g, err);
            continue;
        }
        memcpy(b->in + WINDOW_BYTES + b->len, at, n);
        b->len += n;
        at += n;
        len -= n;
    }
    return status;
}

static enum nd_status gzip_finish(struct nd_encoder *c, struct nd_error *err)
{
    struct gzip_encoder *g = (struct gzip_encoder *)c;
    const uint32_t word[] = {g->checksum, g->length};
    unsigned char trailer[8];
    enum nd_status status = ND_OK;

    for (unsigned i = 0; i < sizeof trailer; i++)
        trailer[i] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
    close_block(g, true);
    while (status == ND_OK && g->passed_on < g->filled)
        status = pass_on_oldest(g, err);
    return status == ND_OK ? g->sink(g->context, trailer, sizeof trailer, err) : status;
}

static void gzip_free(struct nd_encoder *c)
{
    struct gzip_encoder *g = (struct gzip_encoder *)c;

    nd_monitor_enter(&g->monitor);
    g->is_over = true;
    nd_monitor_notify(&g->monitor);
    nd_monitor_leave(&g->monitor);
    for (unsigned i = 0; i < g->n_started; i++)
        nd_thread_join(&g->thread[i]);
    for (size_t i = 0; i < g->n_blocks; i++)
        free_block(&g->block[i]);
    nd_monitor_release(&g->monitor);
    free(g->block);
    free(g->thread);
    free(g);
}

/* Two blocks for each thread: one is deflated, and one is full or being filled. */
static struct gzip_encoder *make(unsigned n_threads)
{
    struct gzip_encoder *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->n_threads = n_threads > 1 ? n_threads : 0;
    g->n_blocks = n_threads > 1 ? 2 * (size_t)n_threads : 1;
    g->block = calloc(g->n_blocks, sizeof *g->block);
    g->thread = calloc(n_threads, sizeof *g->thread);
    if (g->block && g->thread && nd_monitor_init(&g->monitor))
        return g;
    free(g->block);
    free(g->thread);
    free(g);
    return NULL;
}

struct nd_encoder *nd_gzip_encoder_new(unsigned level, const struct nd_pool *pool,
                                       nd_packer_sink *sink, void *context, struct nd_error *err)
{
    const char *missing = nd_zlib_load();
    unsigned threads = pool ? nd_pool_threads(pool) : 1;
    struct gzip_encoder *g;

    if (missing) {
        nd_fail(err, ND_EUNSUPPORTED, "gzip cannot be written %s", missing);
        return NULL;
    }
    g = make(threads < THREADS_MAX ? threads : THREADS_MAX);
    if (!g) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    g->encoder = (struct nd_encoder){gzip_write, gzip_finish, gzip_free};
    g->sink = sink;
    g->context = context;
    g->level = (int)level;
    g->pool = pool;
    if (make_block(g, &g->block[0], err) == ND_OK)
        return &g->encoder;
    gzip_free(&g->encoder);
    return NULL;
}
