/* codecs_load.h - zlib, libzstd, liblzma and libbz2, opened when they are first needed */
#ifndef ND_INPUT_LIBRARY_CODECS_LOAD_H
#define ND_INPUT_LIBRARY_CODECS_LOAD_H

#include <stdint.h>

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

/*
 * libarchive, which needs these libraries itself, gives nothing of the block that a damage stands in,
 * and compresses on one thread.  If one of them is not found, libarchive decodes.
 *
 * Filled once the function below has answered that they are open; never written after that.
 */
struct nd_codecs {
    __typeof__(ZSTD_createDStream) *zstd_new;
    __typeof__(ZSTD_freeDStream) *zstd_free;
    __typeof__(ZSTD_initDStream) *zstd_init;
    __typeof__(ZSTD_decompressStream) *zstd_decode;
    __typeof__(ZSTD_isError) *zstd_is_error;
    __typeof__(ZSTD_getErrorName) *zstd_error_name;
    __typeof__(ZSTD_getFrameContentSize) *zstd_content_size;
    __typeof__(ZSTD_findFrameCompressedSize) *zstd_frame_size;
    __typeof__(ZSTD_createCCtx) *zstd_writer_new;
    __typeof__(ZSTD_freeCCtx) *zstd_writer_free;
    __typeof__(ZSTD_CCtx_setParameter) *zstd_set;
    __typeof__(ZSTD_compressStream2) *zstd_encode;
    __typeof__(lzma_stream_decoder) *lzma_init;
    __typeof__(lzma_code) *lzma_code;
    __typeof__(lzma_end) *lzma_end;
    __typeof__(lzma_lzma_preset) *lzma_preset;
    __typeof__(lzma_stream_encoder_mt) *lzma_writer_init;
    __typeof__(BZ2_bzDecompressInit) *bz2_init;
    __typeof__(BZ2_bzDecompress) *bz2_decode;
    __typeof__(BZ2_bzDecompressEnd) *bz2_end;
    __typeof__(BZ2_bzBuffToBuffCompress) *bz2_encode;
    __typeof__(deflateInit2_) *deflate_init;
    __typeof__(deflateReset) *deflate_reset;
    __typeof__(deflateSetDictionary) *deflate_follow;
    __typeof__(deflateBound) *deflate_bound;
    __typeof__(deflate) *deflate;
    __typeof__(deflateEnd) *deflate_end;
};
extern struct nd_codecs nd_codecs;

/*
 * Open the library at the first call, from any thread. NULL: it is open; otherwise why it is not.
 */
const char *nd_zstd_load(void);
const char *nd_lzma_load(void);
const char *nd_bz2_load(void);
const char *nd_zlib_load(void);

#endif
