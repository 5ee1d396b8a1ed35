/* brotli_load.h - libbrotlidec, opened for the first body that is compressed by brotli */
#ifndef ND_INPUT_LIBRARY_BROTLI_LOAD_H
#define ND_INPUT_LIBRARY_BROTLI_LOAD_H

#include <brotli/decode.h>

/* Filled once the function below has answered that it is open; never written after that. */
struct nd_brotli {
    __typeof__(BrotliDecoderCreateInstance) *start;
    __typeof__(BrotliDecoderDecompressStream) *decode;
    __typeof__(BrotliDecoderDestroyInstance) *stop;
};
extern struct nd_brotli nd_brotli;

/* Open the library at the first call, from any thread.  NULL: it is open; otherwise why not. */
const char *nd_brotli_load(void);

#endif
