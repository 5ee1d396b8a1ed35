/* unpack_stream.c - zstd, xz, bzip2 and lz4: by their own libraries, or else by libarchive */

/*
 * zstd, xz and bzip2 are decoded by their own libraries if these can be opened, because then every
 * byte before a damage is delivered; libarchive, the fallback, loses the block with the damage. All
 * decoders share one loop: fetch compressed bytes, decode a step, and at the end of a frame check
 * that another frame or the end follows.
 */
#include "input/library/codecs_load.h"
#include "input/library/libarchive_load.h"
#include "input/streams/archive_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Zstd, xz and bzip2, decoded up to the very damage ---- */

enum { DECODE_IN = 1 << 18 };
static const uint64_t XZ_MEMORY_MAX = UINT64_C(1) << 30; /* as xz -9 needs 65 MiB, no file does */

struct decode_stream {
    struct nd_stream stream;
    struct nd_stream *inner;
    enum nd_compression compression;
    uint64_t made;      /* bytes decoded */
    size_t at, len;     /* in[at … len) is to be decoded */
    bool is_input_over; /* no bytes follow those */
    bool is_between;    /* frames: the next bytes must begin one, or be none */
    bool has_frame;     /* one was decoded to its end */
    bool is_failing;    /* bytes before a damage have been given; fail at the next call */
    const char *damage;
    enum nd_status status;

    ZSTD_DStream *zstd;
    size_t zstd_wants; /* bytes, so that one call decodes one block */
    lzma_stream lzma;
    bz_stream bz2;
    char in[DECODE_IN];
};

/* Results of one call of a decoder. */
enum unpack_step { STEP_ON, STEP_FRAME_ENDS, STEP_DAMAGED };

static enum unpack_step damage(struct decode_stream *d, const char *what)
{
    d->damage = what;
    d->status = ND_EINPUT;
    return STEP_DAMAGED;
}

static enum unpack_step no_memory(struct decode_stream *d)
{
    d->damage = "out of memory";
    d->status = ND_ENOMEM;
    return STEP_DAMAGED;
}

/*
 * libzstd forgets what it decoded in a call that meets damage: so each call gets no more than the
 * block that it asks for, without the header of the next one, which it asks for too.
 */
static enum unpack_step step_zstd(struct decode_stream *d, char *out, size_t capacity, size_t *made)
{
    enum { BLOCK_HEADER = 3 };
    size_t have = d->len - d->at;
    size_t next = d->zstd_wants > BLOCK_HEADER ? d->zstd_wants - BLOCK_HEADER : d->zstd_wants;
    ZSTD_inBuffer in = {d->in + d->at, have < next ? have : next, 0};
    ZSTD_outBuffer to = {out, capacity, 0};
    size_t wants = nd_codecs.zstd_decode(d->zstd, &to, &in);

    if (nd_codecs.zstd_is_error(wants))
        return damage(d, nd_codecs.zstd_error_name(wants));
    d->at += in.pos;
    *made = to.pos;
    d->zstd_wants = wants ? wants : nd_codecs.zstd_init(d->zstd);
    return wants ? STEP_ON : STEP_FRAME_ENDS;
}

static enum unpack_step step_xz(struct decode_stream *d, char *out, size_t capacity, size_t *made)
{
    int code; /* an lzma_ret: most of them cannot be */

    d->lzma.next_in = (const uint8_t *)d->in + d->at;
    d->lzma.avail_in = d->len - d->at;
    d->lzma.next_out = (uint8_t *)out;
    d->lzma.avail_out = capacity;
    code = (int)nd_codecs.lzma_code(&d->lzma, d->is_input_over ? LZMA_FINISH : LZMA_RUN);
    d->at = d->len - d->lzma.avail_in;
    *made = capacity - d->lzma.avail_out;
    switch (code) {
    case LZMA_STREAM_END: return STEP_FRAME_ENDS;
    case LZMA_MEM_ERROR: return no_memory(d);
    case LZMA_MEMLIMIT_ERROR: return damage(d, "it needs more than 1 GiB of memory");
    case LZMA_FORMAT_ERROR: return damage(d, "its header is wrong");
    case LZMA_OPTIONS_ERROR: return damage(d, "its options are unknown");
    case LZMA_DATA_ERROR: return damage(d, "its data or a checksum is wrong");
    }
    return STEP_ON; /* and where no progress can be made, the caller sees it */
}

static enum unpack_step step_bz2(struct decode_stream *d, char *out, size_t capacity, size_t *made)
{
    int code;

    d->bz2.next_in = d->in + d->at;
    d->bz2.avail_in = (unsigned)(d->len - d->at);
    d->bz2.next_out = out;
    d->bz2.avail_out = (unsigned)capacity;
    code = nd_codecs.bz2_decode(&d->bz2);
    d->at = d->len - d->bz2.avail_in;
    *made = capacity - d->bz2.avail_out;
    switch (code) {
    case BZ_OK: return STEP_ON;
    case BZ_STREAM_END:
        (void)nd_codecs.bz2_end(&d->bz2);
        d->bz2 = (bz_stream){0};
        return nd_codecs.bz2_init(&d->bz2, 0, 0) == BZ_OK ? STEP_FRAME_ENDS : no_memory(d);
    case BZ_MEM_ERROR: return no_memory(d);
    case BZ_DATA_ERROR_MAGIC: return damage(d, "its header is wrong");
    }
    return damage(d, "its data or a checksum is wrong");
}

static enum unpack_step step(struct decode_stream *d, char *out, size_t capacity, size_t *made)
{
    *made = 0;
    if (capacity > 1u << 30)
        capacity = 1u << 30;
    switch (d->compression) {
    case ND_COMPRESSION_ZSTD: return step_zstd(d, out, capacity, made);
    case ND_COMPRESSION_XZ: return step_xz(d, out, capacity, made);
    default: return step_bz2(d, out, capacity, made);
    }
}

static ssize_t decode_damaged(struct decode_stream *d)
{
    const char *name = nd_compression_name(d->compression);

    if (d->has_frame && d->is_between)
        return nd_stream_fail(&d->stream, d->status,
                              "%s data is damaged or followed by something else: after %" PRIu64
                              " uncompressed bytes no other frame begins",
                              name, d->made);
    return nd_stream_fail(&d->stream, d->status,
                          "%s data is damaged: %s, found after %" PRIu64 " uncompressed bytes",
                          name, d->damage, d->made);
}

static ssize_t ends_too_early(struct decode_stream *d)
{
    return nd_stream_fail(&d->stream, ND_EINPUT,
                          "%s data ends too early: after %" PRIu64 " uncompressed bytes",
                          nd_compression_name(d->compression), d->made);
}

/* More stored bytes where none are left: 1, 0 at their end, -1 failed. */
static int refill(struct decode_stream *d)
{
    ssize_t n;

    if (d->at < d->len)
        return 1;
    if (d->is_input_over)
        return 0;
    n = nd_stream_read(d->inner, d->in, DECODE_IN);
    if (n < 0)
        return (int)nd_stream_fail(&d->stream, d->inner->status, "%s", d->inner->failure);
    d->at = 0;
    d->len = (size_t)n;
    d->is_input_over = n == 0;
    return n > 0;
}

static ssize_t decode_fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct decode_stream *d = (struct decode_stream *)s;

    if (d->is_failing)
        return decode_damaged(d);
    for (;;) {
        int more = refill(d);
        size_t made, before = d->at;
        enum unpack_step result;

        if (more < 0)
            return -1;
        if (!more && d->is_between)
            return 0;
        result = step(d, out, capacity, &made);
        d->made += made;
        d->is_failing = result == STEP_DAMAGED;
        if (result == STEP_FRAME_ENDS)
            d->is_between = d->has_frame = true;
        else if (made > 0 || (d->at > before && !d->is_failing))
            d->is_between = false;
        if (made > 0)
            return (ssize_t)made;
        if (d->is_failing)
            return decode_damaged(d);
        if (!more && result == STEP_ON)
            return ends_too_early(d);
    }
}

static void decode_close(struct nd_stream *s)
{
    struct decode_stream *d = (struct decode_stream *)s;

    if (d->zstd)
        (void)nd_codecs.zstd_free(d->zstd);
    if (d->lzma.internal)
        nd_codecs.lzma_end(&d->lzma);
    if (d->bz2.state)
        (void)nd_codecs.bz2_end(&d->bz2);
    free(d);
}

static bool begin(struct decode_stream *d)
{
    switch (d->compression) {
    case ND_COMPRESSION_ZSTD:
        d->zstd = nd_codecs.zstd_new();
        if (d->zstd)
            d->zstd_wants = nd_codecs.zstd_init(d->zstd);
        return d->zstd != NULL;
    case ND_COMPRESSION_XZ:
        return nd_codecs.lzma_init(&d->lzma, XZ_MEMORY_MAX, LZMA_CONCATENATED) == LZMA_OK;
    default: return nd_codecs.bz2_init(&d->bz2, 0, 0) == BZ_OK;
    }
}

struct nd_stream *nd_decode_stream_after(struct nd_stream *inner, enum nd_compression compression,
                                         uint64_t made, bool has_frame)
{
    struct decode_stream *d = (struct decode_stream *)nd_decode_stream_new(inner, compression);

    if (!d)
        return NULL;
    d->made = made;
    d->is_between = d->has_frame = has_frame;
    return &d->stream;
}

bool nd_can_decode(enum nd_compression compression)
{
    switch (compression) {
    case ND_COMPRESSION_ZSTD: return !nd_zstd_load();
    case ND_COMPRESSION_XZ: return !nd_lzma_load();
    case ND_COMPRESSION_BZIP2: return !nd_bz2_load();
    default: return false;
    }
}

struct nd_stream *nd_decode_stream_new(struct nd_stream *inner, enum nd_compression compression)
{
    struct decode_stream *d = malloc(sizeof *d);

    if (!d)
        return NULL;
    memset(d, 0, offsetof(struct decode_stream, in));
    d->stream.fill = decode_fill;
    d->stream.close = decode_close;
    d->inner = inner;
    d->compression = compression;
    if (!begin(d)) {
        decode_close(&d->stream);
        return NULL;
    }
    return &d->stream;
}

/* ---- Zstd, xz, bzip2 and lz4, by libarchive's filters over its raw format ---- */

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

static ssize_t unpack_damaged(struct unpack_stream *u)
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
        return unpack_damaged(u);
    if (n > 0 || used < u->fed)
        return nd_stream_fail(&u->stream, ND_EINPUT,
                              "%s data is damaged or followed by something else: %" PRIu64
                              " uncompressed bytes end at byte %" PRIu64
                              ", where no other frame begins",
                              nd_compression_name(u->compression), u->made, used);
    return 0;
}

static ssize_t unpack_fill(struct nd_stream *s, char *out, size_t capacity)
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
            return unpack_damaged(u);
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
            return unpack_damaged(u);
        u->block = block;
    }
    if (capacity > u->block_len)
        capacity = u->block_len;
    memcpy(out, u->block, capacity);
    u->block += capacity;
    u->block_len -= capacity;
    u->made += capacity;
    return (ssize_t)capacity;
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
