/* xz_encoder.c - xz: one stream, whose blocks liblzma compresses on threads of its own */

/*
 * liblzma divides the input every BLOCK_BYTES, and compresses the blocks on any number of threads
 * with the same result, one thread included.  A dictionary larger than a block would only take
 * memory.
 */
#include "input/library/codecs_load.h"
#include "input/streams/encoder.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    BLOCK_BYTES = 1 << 22,
    OUT_BYTES = 1 << 18,
    THREADS_MAX = 16 /* each takes 60 MB at level 6 */
};

struct xz_encoder {
    struct nd_encoder encoder;
    nd_packer_sink *sink;
    void *context;
    const struct nd_pool *pool;
    lzma_stream lzma;
    unsigned char out[OUT_BYTES];
};

/* The arguments of encode() when nd_pool_unbound calls it. */
struct xz_step {
    struct xz_encoder *x;
    lzma_action how;
    struct nd_error *err;
    enum nd_status status;
};

static void encode(void *context)
{
    struct xz_step *s = context;
    struct xz_encoder *x = s->x;
    lzma_ret code;

    do {
        x->lzma.next_out = x->out;
        x->lzma.avail_out = OUT_BYTES;
        code = nd_codecs.lzma_code(&x->lzma, s->how);
        if (code != LZMA_OK && code != LZMA_STREAM_END)
            s->status = nd_fail(s->err, code == LZMA_MEM_ERROR ? ND_ENOMEM : ND_EIO,
                                "cannot compress: liblzma failed with code %d", (int)code);
        else if (x->lzma.avail_out < OUT_BYTES)
            s->status = x->sink(x->context, x->out, OUT_BYTES - x->lzma.avail_out, s->err);
    } while (s->status == ND_OK &&
             (s->how == LZMA_FINISH ? code != LZMA_STREAM_END : x->lzma.avail_in != 0));
}

/* liblzma may start a thread in any call that begins a block. */
static enum nd_status give(struct xz_encoder *x, const void *data, size_t len, lzma_action how,
                           struct nd_error *err)
{
    struct xz_step s = {x, how, err, ND_OK};
    bool begins = x->lzma.total_in % BLOCK_BYTES + len >= BLOCK_BYTES || !x->lzma.total_in;

    x->lzma.next_in = data;
    x->lzma.avail_in = len;
    if (begins && x->pool)
        nd_pool_unbound(x->pool, encode, &s);
    else
        encode(&s);
    return s.status;
}

static enum nd_status xz_write(struct nd_encoder *c, const void *data, size_t len,
                               struct nd_error *err)
{
    return len ? give((struct xz_encoder *)c, data, len, LZMA_RUN, err) : ND_OK;
}

static enum nd_status xz_finish(struct nd_encoder *c, struct nd_error *err)
{
    return give((struct xz_encoder *)c, NULL, 0, LZMA_FINISH, err);
}

static void xz_free(struct nd_encoder *c)
{
    struct xz_encoder *x = (struct xz_encoder *)c;

    nd_codecs.lzma_end(&x->lzma);
    free(x);
}

static bool start(struct xz_encoder *x, unsigned level)
{
    unsigned threads = x->pool ? nd_pool_threads(x->pool) : 1;
    lzma_options_lzma options;
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    const lzma_mt mt = {.threads = threads < THREADS_MAX ? threads : THREADS_MAX,
                        .block_size = BLOCK_BYTES,
                        .filters = filters,
                        .check = LZMA_CHECK_CRC64};

    if (nd_codecs.lzma_preset(&options, level))
        return false;
    if (options.dict_size > BLOCK_BYTES)
        options.dict_size = BLOCK_BYTES;
    return nd_codecs.lzma_writer_init(&x->lzma, &mt) == LZMA_OK;
}

struct nd_encoder *nd_xz_encoder_new(unsigned level, const struct nd_pool *pool,
                                     nd_packer_sink *sink, void *context, struct nd_error *err)
{
    const char *missing = nd_lzma_load();
    struct xz_encoder *x;

    if (missing) {
        nd_fail(err, ND_EUNSUPPORTED, "xz cannot be written %s", missing);
        return NULL;
    }
    x = calloc(1, sizeof *x);
    if (x) {
        x->encoder = (struct nd_encoder){xz_write, xz_finish, xz_free, NULL};
        x->sink = sink;
        x->context = context;
        x->pool = pool;
        if (start(x, level))
            return &x->encoder;
        xz_free(&x->encoder);
    }
    nd_fail(err, ND_ENOMEM, "out of memory");
    return NULL;
}
