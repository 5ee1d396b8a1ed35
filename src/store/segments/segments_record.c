/* segments_record.c - a text as a record of a segment: compressed, checked, decompressed */
#include "store/segments/segments_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "store/segments/segments_files.h"

/* A buffer that held a longer record than this is given back after use. */
enum { KEPT_BYTES = 16 << 20, LEVEL = 1 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memory has the bytes of the file");

struct nd_compressor {
    ZSTD_CCtx *compress;     /* NULL: not used yet */
    ZSTD_DCtx *decompress;   /* the same */
    struct nd_buffer record; /* of nd_segments_read */
};

struct nd_compressor *nd_compressor_new(void)
{
    return calloc(1, sizeof(struct nd_compressor));
}

void nd_compressor_free(struct nd_compressor *c)
{
    if (!c)
        return;
    ZSTD_freeCCtx(c->compress);
    ZSTD_freeDCtx(c->decompress);
    nd_buffer_release(&c->record);
    free(c);
}

struct nd_buffer *nd_compressor_record(struct nd_compressor *c)
{
    if (c->record.capacity > KEPT_BYTES)
        nd_buffer_release(&c->record);
    return &c->record;
}

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status refuse_size(size_t len, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL,
                   "a text of %zu bytes is too long: a store keeps texts below 4 GiB", len);
}

static void write_header(struct nd_buffer *record, size_t packed, size_t bytes)
{
    struct nd_record_header header = {
        .magic = ND_RECORD_MAGIC, .packed = (uint32_t)packed, .bytes = (uint32_t)bytes};

    memcpy(record->data, &header, sizeof header);
    header.checksum =
        nd_hash_bytes(record->data + sizeof header.checksum, record->len - sizeof header.checksum);
    memcpy(record->data, &header.checksum, sizeof header.checksum);
}

enum nd_status nd_text_compress(struct nd_compressor *c, struct nd_view text,
                                struct nd_buffer *record, struct nd_error *err)
{
    size_t packed;

    if (text.len > UINT32_MAX)
        return refuse_size(text.len, err);
    record->len = 0;
    if (!c->compress && !(c->compress = ZSTD_createCCtx()))
        return out_of_memory(err);
    if (!nd_buffer_reserve(record, ND_RECORD_HEADER + ZSTD_compressBound(text.len)))
        return out_of_memory(err);
    packed = ZSTD_compressCCtx(c->compress, record->data + ND_RECORD_HEADER,
                               ZSTD_compressBound(text.len), text.data, text.len, LEVEL);
    if (ZSTD_isError(packed))
        return out_of_memory(err);
    if (packed > UINT32_MAX - ND_RECORD_HEADER)
        return refuse_size(text.len, err);
    record->len = ND_RECORD_HEADER + packed;
    write_header(record, packed, text.len);
    return ND_OK;
}

static enum nd_status damaged(const struct nd_segment_files *files,
                              const struct nd_text_place *place, const char *how,
                              struct nd_error *err)
{
    struct nd_segment_path path = {"a segment"};

    if (files)
        nd_segment_files_path(files, place->segment, &path);
    return nd_fail(err, ND_EINPUT,
                   "%s: the record at byte %" PRIu64 " is damaged: %s; restore a backup", path.name,
                   place->offset, how);
}

enum nd_status nd_record_check(struct nd_view record, const struct nd_segment_files *files,
                               const struct nd_text_place *place, struct nd_record_header *header,
                               struct nd_error *err)
{
    if (record.len < sizeof *header)
        return damaged(files, place, "it is shorter than its header", err);
    memcpy(header, record.data, sizeof *header);
    if (header->magic != ND_RECORD_MAGIC)
        return damaged(files, place, "no record begins there", err);
    if (header->packed != record.len - sizeof *header)
        return damaged(files, place, "it has another length than the database says", err);
    if (header->checksum !=
        nd_hash_bytes(record.data + sizeof header->checksum, record.len - sizeof header->checksum))
        return damaged(files, place, "its checksum is wrong", err);
    return ND_OK;
}

enum nd_status nd_record_unpack(struct nd_compressor *c, struct nd_view record,
                                const struct nd_segment_files *files,
                                const struct nd_text_place *place, struct nd_buffer *text,
                                struct nd_error *err)
{
    struct nd_record_header header;
    size_t bytes;

    memcpy(&header, record.data, sizeof header);
    text->len = 0;
    if (!c->decompress && !(c->decompress = ZSTD_createDCtx()))
        return out_of_memory(err);
    /* One byte more, so that a text that is too long is seen. */
    if (!nd_buffer_reserve(text, (size_t)header.bytes + 1))
        return out_of_memory(err);
    bytes = ZSTD_decompressDCtx(c->decompress, text->data, (size_t)header.bytes + 1,
                                record.data + sizeof header, record.len - sizeof header);
    if (ZSTD_isError(bytes))
        return damaged(files, place, ZSTD_getErrorName(bytes), err);
    if (bytes != header.bytes)
        return damaged(files, place, "its text has another length", err);
    text->len = bytes;
    return ND_OK;
}
