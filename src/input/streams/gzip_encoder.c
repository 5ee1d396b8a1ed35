/* gzip_encoder.c - gzip by zlib: members, whose blocks are deflated on several threads */

/*
 * Each block is deflated by itself, with the 32 KiB before it as its dictionary, and flushed to a
 * whole byte, as pigz does.  The blocks behind one another are the data of a single member, because
 * many readers stop in silence after the first one; but the records of a web archive are members.
 *
 * zlib and not ISA-L deflates: ISA-L finds other matches on processors without SSE 4.2, and its
 * levels that do not depend on more than that make files more than a fifth larger.
 */
#include "input/library/codecs_load.h"
#include "input/streams/block_encoder.h"

#include <isa-l/crc.h>
#include <stdlib.h>

enum {
    BLOCK_BYTES = 1 << 17,
    WINDOW_BYTES = 1 << 15,
    MEMORY_LEVEL = 8,
    FLUSH_BYTES = 64 /* room for the end of a block, beyond what deflateBound says */
};

struct gzip_encoder {
    struct nd_block_encoder blocks;
    uint32_t checksum, length; /* of what was passed on */
};

static bool make(const struct nd_block_encoder *e, struct nd_encoder_block *b)
{
    z_stream *z = calloc(1, sizeof *z);

    if (!z || nd_codecs.deflate_init(z, (int)e->level, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL,
                                     Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof *z) != Z_OK) {
        free(z);
        return false;
    }
    b->state = z;
    b->out_capacity = nd_codecs.deflate_bound(z, BLOCK_BYTES) + FLUSH_BYTES;
    b->out = malloc(b->out_capacity);
    return b->out != NULL;
}

static void release(struct nd_encoder_block *b)
{
    if (b->state)
        (void)nd_codecs.deflate_end(b->state);
    free(b->state);
}

static bool encode(const struct nd_block_encoder *e, struct nd_encoder_block *b)
{
    z_stream *z = b->state;
    int code = nd_codecs.deflate_reset(z);

    (void)e;
    if (code == Z_OK && b->follows)
        code = nd_codecs.deflate_follow(z, b->in, WINDOW_BYTES);
    z->next_in = b->in + WINDOW_BYTES;
    z->avail_in = (unsigned)b->len;
    z->next_out = b->out;
    z->avail_out = (unsigned)b->out_capacity;
    if (code == Z_OK)
        code = nd_codecs.deflate(z, b->is_last ? Z_FINISH : Z_SYNC_FLUSH);
    b->out_len = b->out_capacity - z->avail_out;
    return code == (b->is_last ? Z_STREAM_END : Z_OK) && !z->avail_in && z->avail_out;
}

static enum nd_status begin(struct nd_block_encoder *e, struct nd_error *err)
{
    /* No flags, no time; 3: made on Unix. */
    static const unsigned char header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3};
    struct gzip_encoder *g = (struct gzip_encoder *)e;

    g->checksum = g->length = 0;
    return e->sink(e->context, header, sizeof header, err);
}

static enum nd_status pass_on(struct nd_block_encoder *e, struct nd_encoder_block *b,
                              struct nd_error *err)
{
    struct gzip_encoder *g = (struct gzip_encoder *)e;

    g->checksum = crc32_gzip_refl(g->checksum, b->in + WINDOW_BYTES, b->len);
    g->length += (uint32_t)b->len;
    return e->sink(e->context, b->out, b->out_len, err);
}

static enum nd_status end(struct nd_block_encoder *e, struct nd_error *err)
{
    const struct gzip_encoder *g = (const struct gzip_encoder *)e;
    const uint32_t word[] = {g->checksum, g->length};
    unsigned char trailer[8];

    for (unsigned i = 0; i < sizeof trailer; i++)
        trailer[i] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
    return e->sink(e->context, trailer, sizeof trailer, err);
}

struct nd_encoder *nd_gzip_encoder_new(unsigned level, const struct nd_pool *pool,
                                       nd_packer_sink *sink, void *context, struct nd_error *err)
{
    static const struct nd_block_codec codec = {BLOCK_BYTES, WINDOW_BYTES, make, encode, release,
                                                begin,       pass_on,      end,  true};
    const char *missing = nd_zlib_load();

    if (!missing)
        return nd_block_encoder_new(calloc(1, sizeof(struct gzip_encoder)), &codec, level, pool,
                                    sink, context, err);
    nd_fail(err, ND_EUNSUPPORTED, "gzip cannot be written %s", missing);
    return NULL;
}
