/* codecs_load.c - opens libzstd, liblzma and libbz2 when they are first needed */
#include "input/codecs_load.h"

#include "input/library.h"

struct nd_codecs nd_codecs;

const char *nd_zstd_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"ZSTD_createDStream", &nd_codecs.zstd_new},
        {"ZSTD_freeDStream", &nd_codecs.zstd_free},
        {"ZSTD_initDStream", &nd_codecs.zstd_init},
        {"ZSTD_decompressStream", &nd_codecs.zstd_decode},
        {"ZSTD_isError", &nd_codecs.zstd_is_error},
        {"ZSTD_getErrorName", &nd_codecs.zstd_error_name},
    };
    static struct nd_library zstd = {.file = ND_ZSTD_SONAME,
                                     .without = "without libzstd",
                                     .symbols = symbols,
                                     .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&zstd);
}

const char *nd_lzma_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"lzma_stream_decoder", &nd_codecs.lzma_init},
        {"lzma_code", &nd_codecs.lzma_code},
        {"lzma_end", &nd_codecs.lzma_end},
    };
    static struct nd_library lzma = {.file = ND_LZMA_SONAME,
                                     .without = "without liblzma",
                                     .symbols = symbols,
                                     .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&lzma);
}

const char *nd_bz2_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"BZ2_bzDecompressInit", &nd_codecs.bz2_init},
        {"BZ2_bzDecompress", &nd_codecs.bz2_decode},
        {"BZ2_bzDecompressEnd", &nd_codecs.bz2_end},
    };
    static struct nd_library bz2 = {.file = ND_BZ2_SONAME,
                                    .without = "without libbz2",
                                    .symbols = symbols,
                                    .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&bz2);
}
