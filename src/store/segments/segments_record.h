/* segments_record.h - a text as a record of a segment: header, checksum, compressed bytes */
#ifndef ND_STORE_SEGMENTS_SEGMENTS_RECORD_H
#define ND_STORE_SEGMENTS_SEGMENTS_RECORD_H

#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"

struct nd_segment_files;

/* The place of a text. */
struct nd_text_place {
    uint32_t segment; /* its number: 1, 2, … */
    uint32_t stored;  /* bytes in the segment, header included */
    uint64_t offset;
    uint32_t bytes; /* of the text */
};

/* Working memory to compress and decompress texts (zstd, level 1, no dictionary); each thread has its
 * own. */
struct nd_compressor;
struct nd_compressor *nd_compressor_new(void); /* NULL: out of memory */
void nd_compressor_free(struct nd_compressor *compressor);
/* A whole record, header and checksum included; replaces what *record held.  ND_EINVAL: the text, or
 * its record, has 4 GiB or more; ND_ENOMEM. */
enum nd_status nd_text_compress(struct nd_compressor *compressor, struct nd_view text,
                                struct nd_buffer *record, struct nd_error *err);

/* The beginning of a record (docs/format/store.md). */
struct nd_record_header {
    uint64_t checksum; /* XXH3 of all that follows it, up to the end of the record */
    uint32_t magic;
    uint32_t packed; /* bytes of the compressed text, which follows */
    uint32_t bytes;  /* of the text */
    uint32_t zero;
};
enum { ND_RECORD_HEADER = sizeof(struct nd_record_header) };
_Static_assert(sizeof(struct nd_record_header) == 24, "the header is that of the file");
#define ND_RECORD_MAGIC UINT32_C(0x5458444e) /* "NDXT" */

/* Whether a record is whole: its lengths are those of the record, and its checksum is right.  The
 * place in the files, which may be NULL, is for the message.  ND_EINPUT. */
enum nd_status nd_record_check(struct nd_view record, const struct nd_segment_files *files,
                               const struct nd_text_place *place, struct nd_record_header *header,
                               struct nd_error *err);
/* Decompress a record that is whole; replaces what *text held.  ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_record_unpack(struct nd_compressor *compressor, struct nd_view record,
                                const struct nd_segment_files *files,
                                const struct nd_text_place *place, struct nd_buffer *text,
                                struct nd_error *err);
/* A buffer for a record, which nd_segments_read uses. */
struct nd_buffer *nd_compressor_record(struct nd_compressor *compressor);

#endif
