/* codecs_load.h - libzstd, liblzma and libbz2, opened when they are first needed */
#ifndef ND_INPUT_LIBRARY_CODECS_LOAD_H
#define ND_INPUT_LIBRARY_CODECS_LOAD_H

#include <stdint.h>

#include <bzlib.h>
#include <lzma.h>
#include <zstd.h>

/*
 * libarchive, which needs these three libraries itself, gives nothing of the block that a damage
 * stands in.  Where one of them is not found libarchive decodes.
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
    __typeof__(lzma_stream_decoder) *lzma_init;
    __typeof__(lzma_code) *lzma_code;
    __typeof__(lzma_end) *lzma_end;
    __typeof__(BZ2_bzDecompressInit) *bz2_init;
    __typeof__(BZ2_bzDecompress) *bz2_decode;
    __typeof__(BZ2_bzDecompressEnd) *bz2_end;
};
extern struct nd_codecs nd_codecs;

/*
 * Open the library at the first call, from any thread. NULL: it is open; otherwise why it is not.
 */
const char *nd_zstd_load(void);
const char *nd_lzma_load(void);
const char *nd_bz2_load(void);

#endif
