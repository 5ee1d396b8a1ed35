/* zstd_encoder.c - zstd: frames, whose parts libzstd compresses on threads of its own */

/*
 * libzstd divides the input every JOB_BYTES, and compresses the parts on any number of threads with
 * the same result.  So even a run on one thread has one thread of libzstd beside it: without any,
 * the bytes would be others.  What is short is compressed in one call, without a thread.
 *
 * There is a single frame, because readers in use stop in silence after the first one; but the
 * records of a web archive are frames.
 */
#include "input/streams/encoder.h"

#include "input/library/codecs_load.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_BYTES = 1 << 19, JOB_BYTES = 1 << 21, OUT_BYTES = 1 << 18, WORKERS_MAX = 64 };

struct zstd_encoder {
    struct nd_encoder encoder;
    nd_packer_sink *sink;
    void *context;
    const struct nd_pool *pool;
    ZSTD_CCtx *zstd;
    bool has_frame; /* one has been written */
    bool has_begun; /* it is longer than SHORT_BYTES, and libzstd has what was held */
    size_t held;
    char in[SHORT_BYTES], out[OUT_BYTES];
};

/* The arguments of encode() when nd_pool_unbound calls it. */
struct zstd_step {
    struct zstd_encoder *z;
    ZSTD_inBuffer in;
    ZSTD_EndDirective how;
    struct nd_error *err;
    enum nd_status status;
};

static void encode(void *context)
{
    struct zstd_step *s = context;
    struct zstd_encoder *z = s->z;
    size_t left;

    do {
        ZSTD_outBuffer out = {z->out, OUT_BYTES, 0};

        left = nd_codecs.zstd_encode(z->zstd, &out, &s->in, s->how);
        if (nd_codecs.zstd_is_error(left))
            s->status =
                nd_fail(s->err, ND_EIO, "cannot compress: %s", nd_codecs.zstd_error_name(left));
        else if (out.pos)
            s->status = z->sink(z->context, z->out, out.pos, s->err);
    } while (s->status == ND_OK && (s->how == ZSTD_e_end ? left != 0 : s->in.pos < s->in.size));
}

static enum nd_status give(struct zstd_encoder *z, const void *data, size_t len,
                           ZSTD_EndDirective how, struct nd_error *err)
{
    struct zstd_step s = {z, {data, len, 0}, how, err, ND_OK};

    if (len || how == ZSTD_e_end)
        encode(&s);
    return s.status;
}

/* A libzstd that was built without threads refuses them, and does without. */
static enum nd_status begin(struct zstd_encoder *z, struct nd_error *err)
{
    unsigned threads = z->pool ? nd_pool_threads(z->pool) : 1;
    struct zstd_step s = {z, {z->in, z->held, 0}, ZSTD_e_continue, err, ND_OK};

    z->has_begun = true;
    (void)nd_codecs.zstd_set(z->zstd, ZSTD_c_nbWorkers,
                             (int)(threads < WORKERS_MAX ? threads : WORKERS_MAX));
    (void)nd_codecs.zstd_set(z->zstd, ZSTD_c_jobSize, JOB_BYTES);
    if (z->pool)
        nd_pool_unbound(z->pool, encode, &s); /* the first call starts the threads */
    else
        encode(&s);
    return s.status;
}

static enum nd_status zstd_write(struct nd_encoder *c, const void *data, size_t len,
                                 struct nd_error *err)
{
    struct zstd_encoder *z = (struct zstd_encoder *)c;
    enum nd_status status = ND_OK;

    if (!z->has_begun && len <= SHORT_BYTES - z->held) {
        if (len)
            memcpy(z->in + z->held, data, len);
        z->held += len;
        return ND_OK;
    }
    if (!z->has_begun)
        status = begin(z, err);
    return status == ND_OK ? give(z, data, len, ZSTD_e_continue, err) : status;
}

static enum nd_status end_frame(struct zstd_encoder *z, struct nd_error *err)
{
    return give(z, z->in, z->has_begun ? 0 : z->held, ZSTD_e_end, err);
}

static enum nd_status zstd_divide(struct nd_encoder *c, struct nd_error *err)
{
    struct zstd_encoder *z = (struct zstd_encoder *)c;
    enum nd_status status;

    if (!z->has_begun && !z->held)
        return ND_OK;
    status = end_frame(z, err);
    if (z->has_begun)
        (void)nd_codecs.zstd_set(z->zstd, ZSTD_c_nbWorkers, 0);
    z->has_begun = false;
    z->held = 0;
    z->has_frame = true;
    return status;
}

static enum nd_status zstd_finish(struct nd_encoder *c, struct nd_error *err)
{
    struct zstd_encoder *z = (struct zstd_encoder *)c;

    return z->has_frame && !z->has_begun && !z->held ? ND_OK : end_frame(z, err);
}

static void zstd_free(struct nd_encoder *c)
{
    struct zstd_encoder *z = (struct zstd_encoder *)c;

    (void)nd_codecs.zstd_writer_free(z->zstd);
    free(z);
}

struct nd_encoder *nd_zstd_encoder_new(unsigned level, const struct nd_pool *pool,
                                       nd_packer_sink *sink, void *context, struct nd_error *err)
{
    const char *missing = nd_zstd_load();
    struct zstd_encoder *z;

    if (missing) {
        nd_fail(err, ND_EUNSUPPORTED, "zstd cannot be written %s", missing);
        return NULL;
    }
    z = malloc(sizeof *z);
    if (z && (z->zstd = nd_codecs.zstd_writer_new())) {
        z->encoder = (struct nd_encoder){zstd_write, zstd_finish, zstd_free, zstd_divide};
        z->sink = sink;
        z->context = context;
        z->pool = pool;
        z->has_frame = z->has_begun = false;
        z->held = 0;
        (void)nd_codecs.zstd_set(z->zstd, ZSTD_c_compressionLevel, (int)level);
        (void)nd_codecs.zstd_set(z->zstd, ZSTD_c_checksumFlag, 1);
        return &z->encoder;
    }
    free(z);
    nd_fail(err, ND_ENOMEM, "out of memory");
    return NULL;
}
