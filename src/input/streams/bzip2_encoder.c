/* bzip2_encoder.c - bzip2 by libbz2: one stream, whose blocks are compressed on several threads */

/*
 * libbz2 makes whole streams.  A part of the input that is short enough becomes a stream of one
 * block, and a block depends on nothing before it; so the blocks are taken out of their streams and
 * set behind one another, bit by bit, in a single stream.  Several streams would be simpler, but
 * readers in use stop in silence after the first one.
 *
 * A stream is "BZh" and the level; its blocks, each of any number of bits; 48 bits that say that it
 * ends; 32 bits of a checksum; and zeros until the byte is full.
 */
#include "input/library/codecs_load.h"
#include "input/streams/block_encoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* for each level.  A block of libbz2 holds 100,000 bytes less 19, after four equal bytes have got
     * a fifth one that counts further ones. */
    BLOCK_BYTES = 79984,
    HEADER_BYTES = 4,
    CHECKSUM_AT = HEADER_BYTES + 6, /* of the block, behind its mark */
    MARK_BYTES = 6,
    TRAILER_BITS = 8 * (MARK_BYTES + 4),
    WORK = 30 /* the usual effort for texts that repeat much */
};

static const unsigned char end_mark[MARK_BYTES] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};

struct bzip2_encoder {
    struct nd_block_encoder blocks;
    struct nd_block_codec codec; /* for this level */
    uint32_t checksum;           /* of the blocks passed on */
    unsigned left;               /* bits that fill no byte yet, from the highest one of a byte */
    unsigned n_left;             /* their number, below 8 */
};

static bool make(const struct nd_block_encoder *e, struct nd_encoder_block *b)
{
    b->out_capacity =
        e->codec->block_bytes + e->codec->block_bytes / 100 + 600; /* as bzlib.h says */
    b->out = malloc(b->out_capacity);
    return b->out != NULL;
}

static void release(struct nd_encoder_block *b)
{
    (void)b;
}

static bool encode(const struct nd_block_encoder *e, struct nd_encoder_block *b)
{
    unsigned len = (unsigned)b->out_capacity;
    int code = nd_codecs.bz2_encode((char *)b->out, &len, (char *)b->in, (unsigned)b->len,
                                    (int)e->level, 0, WORK);

    b->out_len = len;
    return code == BZ_OK;
}

/* Append bits, moving them within their own memory.  Whole bytes go to the sink. */
static enum nd_status put_bits(struct bzip2_encoder *z, unsigned char *bits, size_t n_bits,
                               struct nd_error *err)
{
    size_t whole = n_bits / 8, rest = n_bits % 8;
    unsigned char last = (unsigned char)(rest ? bits[whole] & 0xff00 >> rest : 0);
    unsigned char closing;
    enum nd_status status;

    for (size_t i = 0; i < whole; i++) {
        unsigned byte = bits[i];

        bits[i] = (unsigned char)(z->left | byte >> z->n_left);
        z->left = byte << (8 - z->n_left) & 0xff;
    }
    status = whole ? z->blocks.sink(z->blocks.context, bits, whole, err) : ND_OK;
    z->left |= (unsigned)last >> z->n_left;
    z->n_left += (unsigned)rest;
    if (z->n_left < 8 || status != ND_OK)
        return status;
    closing = (unsigned char)z->left;
    z->n_left -= 8;
    z->left = (unsigned)last << (rest - z->n_left) & 0xff;
    return z->blocks.sink(z->blocks.context, &closing, 1, err);
}

static enum nd_status begin(struct nd_block_encoder *e, struct nd_error *err)
{
    const unsigned char header[HEADER_BYTES] = {'B', 'Z', 'h', (unsigned char)('0' + e->level)};

    return e->sink(e->context, header, sizeof header, err);
}

static unsigned char byte_at(const unsigned char *bytes, size_t bit)
{
    unsigned both = (unsigned)bytes[bit / 8] << 8 | (bit % 8 ? bytes[bit / 8 + 1] : 0);

    return (unsigned char)(both >> (8 - bit % 8));
}

/* Return the place of the bit at which the end of a stream begins, or 0. */
static size_t find_end(const unsigned char *stream, size_t len)
{
    for (size_t unused = 0; unused < 8; unused++) {
        size_t at = 8 * len - unused - TRAILER_BITS, i = 0;

        while (i < MARK_BYTES && byte_at(stream, at + 8 * i) == end_mark[i])
            i++;
        if (i == MARK_BYTES)
            return at;
    }
    return 0;
}

static enum nd_status pass_on(struct nd_block_encoder *e, struct nd_encoder_block *b,
                              struct nd_error *err)
{
    struct bzip2_encoder *z = (struct bzip2_encoder *)e;
    const unsigned char *sum = b->out + CHECKSUM_AT;
    size_t end = find_end(b->out, b->out_len);

    if (!end)
        return nd_fail(err, ND_EIO, "cannot compress: the stream of libbz2 has no end");
    if (!b->len)
        return ND_OK;
    z->checksum =
        (z->checksum << 1 | z->checksum >> 31) ^
        ((uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3]);
    return put_bits(z, b->out + HEADER_BYTES, end - 8 * (size_t)HEADER_BYTES, err);
}

static enum nd_status end(struct nd_block_encoder *e, struct nd_error *err)
{
    struct bzip2_encoder *z = (struct bzip2_encoder *)e;
    unsigned char trailer[TRAILER_BITS / 8 + 1] = {0};

    memcpy(trailer, end_mark, MARK_BYTES);
    for (unsigned i = 0; i < 4; i++)
        trailer[MARK_BYTES + i] = (unsigned char)(z->checksum >> (24 - 8 * i));
    return put_bits(z, trailer, TRAILER_BITS + (z->n_left ? 8 - z->n_left : 0), err);
}

struct nd_encoder *nd_bzip2_encoder_new(unsigned level, const struct nd_pool *pool,
                                        nd_packer_sink *sink, void *context, struct nd_error *err)
{
    const char *missing = nd_bz2_load();
    struct bzip2_encoder *z;

    if (missing) {
        nd_fail(err, ND_EUNSUPPORTED, "bzip2 cannot be written %s", missing);
        return NULL;
    }
    z = calloc(1, sizeof *z);
    if (!z) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    z->codec = (struct nd_block_codec){
        (size_t)level * BLOCK_BYTES, 0, make, encode, release, begin, pass_on, end, false};
    return nd_block_encoder_new(z, &z->codec, level, pool, sink, context, err);
}
