/* pack.h - bytes on their way out: compressed, or into an archive */
#ifndef ND_INPUT_STREAMS_PACK_H
#define ND_INPUT_STREAMS_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "input/streams/entry_header.h"

/*
 * It is in this folder because only this folder uses libarchive. The output depends only on the
 * input bytes: compression levels are fixed, and no clock is read.
 */
struct nd_packer;

/* The destination of the packed bytes. A failure is returned by the call that caused it. */
typedef enum nd_status nd_packer_sink(void *context, const void *data, size_t len,
                                      struct nd_error *err);

/*
 * compression: "gzip", "zstd", "xz", "bzip2", "lz4" or "none"; archive: "tar", "zip" or NULL for
 * the bytes alone; both borrowed. ND_EUNSUPPORTED if libarchive is missing or was built without it.
 */
struct nd_packer *nd_packer_new(const char *compression, const char *archive, nd_packer_sink *sink,
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
/* Write everything that is still buffered; only nd_packer_free may follow. */
enum nd_status nd_packer_finish(struct nd_packer *p, struct nd_error *err);

/* The compression according to a file's name: "gzip" for .gz and .tgz … "none". */
const char *nd_compression_of_name(const char *name);
/* The kind of archive according to a file's name, ignoring a suffix of compression; or NULL. */
const char *nd_archive_of_name(const char *name);
/* Whether a file's name calls for plain records, even if they come from an archive. */
bool nd_name_is_of_records(const char *name);

#endif
