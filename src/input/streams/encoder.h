/* encoder.h - bytes on their way out, compressed on several threads */
#ifndef ND_INPUT_STREAMS_ENCODER_H
#define ND_INPUT_STREAMS_ENCODER_H

#include <stddef.h>

#include <neardup/error.h>

#include "base/thread/pool.h"

/* The destination of packed bytes. A failure is returned by the call that caused it. */
typedef enum nd_status nd_packer_sink(void *context, const void *data, size_t len,
                                      struct nd_error *err);

/*
 * The first member of each kind of encoder.  The input is divided at fixed numbers of bytes, and
 * the parts are compressed beside one another by as many threads as `pool` has, which are started
 * when there is more than one part.  The output depends on the input bytes and the level alone.
 * The sink is called by the thread that writes, in order.
 */
struct nd_encoder {
    enum nd_status (*write)(struct nd_encoder *c, const void *data, size_t len,
                            struct nd_error *err);
    /* Write everything that is still held; only `free` may follow. */
    enum nd_status (*finish)(struct nd_encoder *c, struct nd_error *err);
    void (*free)(struct nd_encoder *c);
    /* Begin another member or frame with what is written next, if anything is.  NULL: there is one
     * alone. */
    enum nd_status (*divide)(struct nd_encoder *c, struct nd_error *err);
};

/* pool: NULL, or one that lives longer.  NULL: ND_EUNSUPPORTED (no library), ND_ENOMEM. */
struct nd_encoder *nd_gzip_encoder_new(unsigned level, const struct nd_pool *pool,
                                       nd_packer_sink *sink, void *context, struct nd_error *err);
struct nd_encoder *nd_zstd_encoder_new(unsigned level, const struct nd_pool *pool,
                                       nd_packer_sink *sink, void *context, struct nd_error *err);
struct nd_encoder *nd_xz_encoder_new(unsigned level, const struct nd_pool *pool,
                                     nd_packer_sink *sink, void *context, struct nd_error *err);
struct nd_encoder *nd_bzip2_encoder_new(unsigned level, const struct nd_pool *pool,
                                        nd_packer_sink *sink, void *context, struct nd_error *err);

#endif
