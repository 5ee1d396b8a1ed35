/* unpack_stream.c - zstd, xz, bzip2 and lz4, by libarchive's filters over its raw format */
#include "input/archive_stream.h"

#include "input/libarchive_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { UNPACK_IN = 1 << 18 };

struct unpack_stream {
    struct nd_stream stream;
    struct nd_stream *inner;
    enum nd_compression compression;
    struct archive *archive;
    bool begun;
    const char *block; /* of libarchive, not yet given on */
    size_t block_len;
    uint64_t fed, made; /* bytes in and out */
    char in[UNPACK_IN];
};

static la_ssize_t feed(struct archive *a, void *context, const void **bytes)
{
    struct unpack_stream *u = context;
    ssize_t n = nd_stream_read(u->inner, u->in, UNPACK_IN);

    if (n < 0)
        nd_libarchive.set_error(a, EIO, "%s", u->inner->failure);
    else
        u->fed += (uint64_t)n;
    *bytes = u->in;
    return n;
}

static ssize_t damaged(struct unpack_stream *u)
{
    const char *why = nd_libarchive.error_string(u->archive);

    if (u->inner->state == ND_STREAM_FAILED)
        return nd_stream_fail(&u->stream, u->inner->status, "%s", u->inner->failure);
    return nd_stream_fail(
        &u->stream, nd_libarchive.error_number(u->archive) == ENOMEM ? ND_ENOMEM : ND_EINPUT,
        "%s data is damaged or ends too early after %" PRIu64 " uncompressed bytes: %s",
        nd_compression_name(u->compression), u->made, why ? why : "unknown error");
}

/*
 * libarchive takes what follows the last bzip2 or lz4 frame for the end, in silence, a damaged
 * second frame too.  All that was fed must have been used.
 */
static ssize_t check_end(struct unpack_stream *u)
{
    uint64_t used = (uint64_t)nd_libarchive.filter_bytes(u->archive, -1);
    char more;
    ssize_t n = nd_stream_read(u->inner, &more, 1);

    if (n < 0)
        return damaged(u);
    if (n > 0 || used < u->fed)
        return nd_stream_fail(&u->stream, ND_EINPUT,
                              "%s data is damaged or followed by something else: %" PRIu64
                              " uncompressed bytes end at byte %" PRIu64
                              ", where no other frame begins",
                              nd_compression_name(u->compression), u->made, used);
    return 0;
}

static ssize_t unpack_fill(struct nd_stream *s, char *out, size_t room)
{
    struct unpack_stream *u = (struct unpack_stream *)s;

    if (!u->begun) {
        struct archive_entry *entry;
        int code = nd_libarchive.read_open2(u->archive, u, NULL, feed, NULL, NULL);

        if (code == ARCHIVE_OK)
            code = nd_libarchive.read_next_header(u->archive, &entry);
        if (code == ARCHIVE_EOF) /* frames of nothing */
            return check_end(u);
        if (code < ARCHIVE_WARN)
            return damaged(u);
        /* Given on as they are. */
        if (nd_libarchive.filter_code(u->archive, 0) == ARCHIVE_FILTER_NONE)
            return nd_stream_fail(s, ND_EINPUT, "%s data ends within its header",
                                  nd_compression_name(u->compression));
        u->begun = true;
    }
    while (u->block_len == 0) {
        const void *block;
        la_int64_t offset;
        int code = nd_libarchive.read_data_block(u->archive, &block, &u->block_len, &offset);

        if (code == ARCHIVE_EOF)
            return check_end(u);
        if (code < ARCHIVE_WARN)
            return damaged(u);
        u->block = block;
    }
    if (room > u->block_len)
        room = u->block_len;
    memcpy(out, u->block, room);
    u->block += room;
    u->block_len -= room;
    u->made += room;
    return (ssize_t)room;
}

static void unpack_close(struct nd_stream *s)
{
    nd_libarchive.read_free(((struct unpack_stream *)s)->archive);
    free(s);
}

/* Only the filter that the magic bytes ask for: all of them would take text for uuencode. */
static int support(struct archive *a, enum nd_compression compression)
{
    int code = ARCHIVE_FATAL;

    switch (compression) {
    case ND_COMPRESSION_ZSTD: code = nd_libarchive.read_support_filter_zstd(a); break;
    case ND_COMPRESSION_XZ: code = nd_libarchive.read_support_filter_xz(a); break;
    case ND_COMPRESSION_BZIP2: code = nd_libarchive.read_support_filter_bzip2(a); break;
    case ND_COMPRESSION_LZ4: code = nd_libarchive.read_support_filter_lz4(a); break;
    case ND_COMPRESSION_NONE:
    case ND_COMPRESSION_GZIP: break;
    }
    if (code == ARCHIVE_OK)
        code = nd_libarchive.read_support_format_raw(a);
    return code == ARCHIVE_OK ? nd_libarchive.read_support_format_empty(a) : code;
}

struct nd_stream *nd_unpack_stream_new(struct nd_stream *inner, enum nd_compression compression)
{
    struct unpack_stream *u = malloc(sizeof *u);

    if (!u)
        return NULL;
    memset(u, 0, offsetof(struct unpack_stream, in));
    u->stream.fill = unpack_fill;
    u->stream.close = unpack_close;
    u->inner = inner;
    u->compression = compression;
    u->archive = nd_libarchive.read_new();
    if (!u->archive || support(u->archive, compression) != ARCHIVE_OK) {
        nd_libarchive.read_free(u->archive);
        free(u);
        return NULL;
    }
    return &u->stream;
}
