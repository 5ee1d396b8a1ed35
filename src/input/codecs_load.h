/* codecs_load.h - libzstd, liblzma and libbz2, opened when they are first needed */
#ifndef ND_INPUT_CODECS_LOAD_H
#define ND_INPUT_CODECS_LOAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * libarchive, which needs these three libraries itself, gives nothing of the block that a damage
 * stands in.  What is used of them is declared here, as their sonames promise it to stay: so their
 * headers need not be there to build, and where one of them is not found libarchive decodes.
 */

struct nd_zstd_in {
    const void *bytes;
    size_t size, pos;
};
struct nd_zstd_out {
    void *bytes;
    size_t size, pos;
};

struct nd_lzma_stream {
    const uint8_t *next_in;
    size_t avail_in;
    uint64_t total_in;
    uint8_t *next_out;
    size_t avail_out;
    uint64_t total_out;
    const void *allocator;
    void *internal;
    void *reserved_pointer[4];
    uint64_t seek_position, reserved_int;
    size_t reserved_size[2];
    int reserved_enum[2];
};
enum {
    ND_LZMA_OK,
    ND_LZMA_STREAM_END,
    ND_LZMA_MEM_ERROR = 5,
    ND_LZMA_MEMLIMIT_ERROR,
    ND_LZMA_FORMAT_ERROR,
    ND_LZMA_OPTIONS_ERROR,
    ND_LZMA_DATA_ERROR,
    ND_LZMA_BUF_ERROR
};
enum { ND_LZMA_RUN = 0, ND_LZMA_FINISH = 3 };
enum { ND_LZMA_CONCATENATED = 8 };

struct nd_bz2_stream {
    char *next_in;
    unsigned avail_in, total_in[2];
    char *next_out;
    unsigned avail_out, total_out[2];
    void *state;
    void *allocate, *release, *opaque;
};
enum {
    ND_BZ2_OK = 0,
    ND_BZ2_STREAM_END = 4,
    ND_BZ2_MEM_ERROR = -3,
    ND_BZ2_DATA_ERROR = -4,
    ND_BZ2_MAGIC_ERROR = -5
};

/* Filled once the function below has answered that they are open; never written after that. */
struct nd_codecs {
    void *(*zstd_new)(void);
    size_t (*zstd_free)(void *);
    size_t (*zstd_init)(void *);
    size_t (*zstd_decode)(void *, struct nd_zstd_out *, struct nd_zstd_in *);
    unsigned (*zstd_is_error)(size_t);
    const char *(*zstd_error_name)(size_t);
    int (*lzma_init)(struct nd_lzma_stream *, uint64_t memory_limit, uint32_t flags);
    int (*lzma_code)(struct nd_lzma_stream *, int action);
    void (*lzma_end)(struct nd_lzma_stream *);
    int (*bz2_init)(struct nd_bz2_stream *, int verbosity, int small);
    int (*bz2_decode)(struct nd_bz2_stream *);
    int (*bz2_end)(struct nd_bz2_stream *);
};
extern struct nd_codecs nd_codecs;

/* Open the library the first time, from any thread; NULL: it is open, else why it is not. */
const char *nd_zstd_load(void);
const char *nd_lzma_load(void);
const char *nd_bz2_load(void);

#endif
