/* pack.h - bytes on their way out: compressed, or into an archive */
#ifndef ND_INPUT_STREAMS_PACK_H
#define ND_INPUT_STREAMS_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "input/streams/encoder.h"
#include "input/streams/entry_header.h"

/*
 * It is in this folder because only this folder uses libarchive. The output depends only on the
 * input bytes and the level: no clock is read, and any number of threads makes the same bytes.
 */
struct nd_packer;

/* How bytes are packed. */
struct nd_packing {
    /* "gzip", "zstd", "xz", "bzip2", "lz4" or "none"; "tar", "zip", or NULL for the bytes alone. */
    const char *compression, *archive; /* borrowed */
    unsigned level;                    /* 0: the compression's default */
    const struct nd_pool *pool;        /* gzip and zstd use as many threads; NULL: one; borrowed */
};

/* Check that a compression has this level: ND_EINVAL. */
enum nd_status nd_packing_check(const char *compression, unsigned level, struct nd_error *err);

/* NULL: ND_EINVAL (nd_packing_check); ND_EUNSUPPORTED: a library is missing, or was built without
 * what is asked for; ND_ENOMEM. */
struct nd_packer *nd_packer_new(const struct nd_packing *packing, nd_packer_sink *sink,
                                void *context, struct nd_error *err);
void nd_packer_free(struct nd_packer *p);

/*
 * Begin an entry of `bytes` bytes, which must then be written; only in archives. `header` (NULL:
 * one without owner and time) has everything except its name.
 */
enum nd_status nd_packer_entry(struct nd_packer *p, const char *name,
                               const struct nd_entry_header *header, uint64_t bytes,
                               struct nd_error *err);
enum nd_status nd_packer_write(struct nd_packer *p, const void *data, size_t len,
                               struct nd_error *err);
/* Begin another member (gzip) or frame (zstd) with what is written next; nothing for an archive and
 * for other compressions. */
enum nd_status nd_packer_divide(struct nd_packer *p, struct nd_error *err);
/* Write everything that is still buffered; only nd_packer_free may follow. */
enum nd_status nd_packer_finish(struct nd_packer *p, struct nd_error *err);

/* The compression according to a file's name: "gzip" for .gz and .tgz … "none". */
const char *nd_compression_of_name(const char *name);
/* The kind of archive according to a file's name, ignoring a suffix of compression; or NULL. */
const char *nd_archive_of_name(const char *name);
/* Whether a file's name calls for plain records, even if they come from an archive. */
bool nd_name_is_of_records(const char *name);

#endif
