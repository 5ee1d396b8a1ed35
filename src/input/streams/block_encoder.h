/* block_encoder.h - an encoder whose format lets blocks be compressed one without the other */
#ifndef ND_INPUT_STREAMS_BLOCK_ENCODER_H
#define ND_INPUT_STREAMS_BLOCK_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#include "input/streams/block_ring.h"
#include "input/streams/encoder.h"

struct nd_block_encoder;

/* A part of the input, from when it is filled until it has been passed on compressed. */
struct nd_encoder_block {
    unsigned char *in; /* the window before the block, then the block */
    size_t len;        /* bytes of the block */
    unsigned char *out;
    size_t out_len, out_capacity;
    void *state;            /* made by the codec */
    bool follows;           /* the window is filled */
    bool is_first, is_last; /* of its member */
};

/* The functions of one format for the ring of blocks.  The first three run on any thread, one at a time for
 * each block; the last three on the thread that writes. */
struct nd_block_codec {
    size_t block_bytes, window_bytes;
    /* Make `out` and `state`.  False: out of memory. */
    bool (*make)(const struct nd_block_encoder *e, struct nd_encoder_block *b);
    bool (*encode)(const struct nd_block_encoder *e, struct nd_encoder_block *b);
    void (*release)(struct nd_encoder_block *b); /* `state` alone */
    enum nd_status (*begin)(struct nd_block_encoder *e, struct nd_error *err);
    enum nd_status (*pass_on)(struct nd_block_encoder *e, struct nd_encoder_block *b,
                              struct nd_error *err);
    enum nd_status (*end)(struct nd_block_encoder *e, struct nd_error *err);
    bool has_members; /* the output may be divided: begin and end are called for each */
};

struct nd_block_encoder {
    struct nd_encoder encoder;
    const struct nd_block_codec *codec;
    nd_packer_sink *sink;
    void *context;
    unsigned level;
    const struct nd_pool *pool;

    struct nd_block_ring ring;
    struct nd_encoder_block *block; /* one for each place of the ring */
};

/*
 * Make an encoder in `memory`, zeroed memory from malloc that begins with a struct nd_block_encoder
 * and that the encoder owns from now on, also if this fails.  NULL: ND_ENOMEM, also when `memory` is
 * NULL.
 */
struct nd_encoder *nd_block_encoder_new(void *memory, const struct nd_block_codec *codec,
                                        unsigned level, const struct nd_pool *pool,
                                        nd_packer_sink *sink, void *context, struct nd_error *err);

#endif
