/* pack.c - bytes on their way out: compressed, or into an archive */

/*
 * A packer is a filter in front of a sink: the caller writes bytes or entries, and the packed bytes
 * go to a function. libarchive makes archives, and compresses lz4; an encoder of our
 * own (encoder.h) makes the other compressions, behind the archive if there is one. The same input
 * must give the same bytes on every run, so names are not converted by locale and times come from
 * the caller.
 */
#include "input/streams/pack.h"

#include <neardup/text.h>

#include "base/system/c_functions.h"
#include "input/formats/detect.h"
#include "input/formats/formats.h"
#include "input/library/libarchive_load.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nd_packer {
    struct archive *archive;    /* NULL: the encoder alone */
    struct nd_encoder *encoder; /* NULL: the archive alone */
    const char *kind;           /* "tar", "zip" or NULL */
    nd_packer_sink *sink;
    void *context;
    enum nd_status status; /* first error of the sink */
    struct nd_error error;
    bool has_failed, is_over;
    bool is_void_lz4; /* nothing was written yet; closing it then crashes libarchive 3.6.2 */
};

/*
 * A failing sink is not reported to libarchive, which would leak its block. The caller of
 * libarchive checks p->status instead.
 */
static la_ssize_t pass_on(struct archive *a, void *client, const void *data, size_t len)
{
    struct nd_packer *p = client;

    (void)a;
    if (p->status != ND_OK || p->is_over)
        return (la_ssize_t)len;
    p->status = p->encoder ? p->encoder->write(p->encoder, data, len, &p->error)
                           : p->sink(p->context, data, len, &p->error);
    return (la_ssize_t)len;
}

/* Check the result `code` of a call. */
static enum nd_status check(struct nd_packer *p, la_ssize_t code, struct nd_error *err)
{
    const char *why;

    if (p->status != ND_OK) {
        if (err)
            *err = p->error;
        return p->status;
    }
    if (code >= ARCHIVE_WARN)
        return ND_OK;
    p->has_failed = true;
    why = nd_libarchive.error_string(p->archive);
    return nd_fail(err, ND_EIO, "cannot compress: %s", why ? why : "unknown error");
}

/* The compressions, with their levels. */
static const struct compression {
    const char *name;
    unsigned standard, max; /* levels; the first one is 1 */
    int (**add)(struct archive *);
    /* NULL: libarchive does it */
    struct nd_encoder *(*encoder)(unsigned level, const struct nd_pool *pool, nd_packer_sink *sink,
                                  void *context, struct nd_error *err);
} compressions[] = {
    {"none", 0, 0, &nd_libarchive.write_add_filter_none, NULL},
    {"gzip", 4, 9, &nd_libarchive.write_add_filter_none, nd_gzip_encoder_new},
    {"zstd", 3, 19, &nd_libarchive.write_add_filter_none, nd_zstd_encoder_new},
    {"xz", 6, 9, &nd_libarchive.write_add_filter_none, nd_xz_encoder_new},
    {"bzip2", 9, 9, &nd_libarchive.write_add_filter_none, nd_bzip2_encoder_new},
    {"lz4", 1, 9, &nd_libarchive.write_add_filter_lz4, NULL},
};

static const struct compression *compression_of(const char *name)
{
    size_t i = 0;

    while (strcmp(compressions[i].name, name) != 0)
        i++;
    return &compressions[i];
}

enum nd_status nd_packing_check(const char *compression, unsigned level, struct nd_error *err)
{
    const struct compression *c = compression_of(compression);

    if (!c->max || level <= c->max)
        return ND_OK;
    return nd_fail(err, ND_EINVAL, "%s has levels from 1 to %u: output-level %u is too high",
                   compression, c->max, level);
}

static int add_filter(struct archive *a, const struct compression *c, unsigned level)
{
    char digits[12];

    /* ARCHIVE_WARN means that libarchive would start an external program: refused. */
    if ((*c->add)(a) != ARCHIVE_OK)
        return ARCHIVE_FATAL;
    if (!c->max || c->encoder)
        return ARCHIVE_OK;
    (void)snprintf(digits, sizeof digits, "%u", level);
    return nd_libarchive.write_set_filter_option(a, c->name, "compression-level", digits);
}

static int set_format(struct archive *a, const char *archive)
{
    if (!archive)
        return nd_libarchive.write_set_format_raw(a);
    if (strcmp(archive, "zip") == 0) {
        if (nd_libarchive.write_set_format_zip(a) != ARCHIVE_OK)
            return ARCHIVE_FATAL;
        return nd_libarchive.write_set_format_option(a, "zip", "hdrcharset", "UTF-8");
    }
    /* GNU tar: names of any length as plain bytes. pax would need their charset. */
    return nd_libarchive.write_set_format_gnutar(a);
}

static int put_header(struct archive *a, const char *archive, const char *name,
                      const struct nd_entry_header *header, uint64_t bytes)
{
    struct archive_entry *entry = nd_libarchive.entry_new();
    int result;

    if (!entry)
        return ARCHIVE_FATAL;
    /*
     * Names in a zip are marked as UTF-8, independently of the locale. (The tar writers crash on
     * such an entry.)
     */
    if (archive && strcmp(archive, "zip") == 0 && nd_utf8_valid(name, strlen(name)))
        nd_libarchive.entry_set_pathname_utf8(entry, name);
    else
        nd_libarchive.entry_set_pathname(entry, name);
    nd_libarchive.entry_set_filetype(entry, AE_IFREG);
    nd_libarchive.entry_set_perm(entry, 0644);
    nd_libarchive.entry_set_mtime(entry, 0, 0);
    if (header)
        nd_entry_header_put(header, entry);
    nd_libarchive.entry_set_size(entry, (la_int64_t)bytes);
    result = nd_libarchive.write_header(a, entry);
    nd_libarchive.entry_free(entry);
    return result;
}

static int start(struct nd_packer *p, const struct compression *c, unsigned level)
{
    struct archive *a = p->archive;

    if (add_filter(a, c, level) != ARCHIVE_OK || set_format(a, p->kind) != ARCHIVE_OK)
        return ARCHIVE_FATAL;
    nd_libarchive.write_set_bytes_in_last_block(a, 1);
    if (nd_libarchive.write_open2(a, p, NULL, pass_on, NULL, NULL) != ARCHIVE_OK)
        return ARCHIVE_FATAL;
    if (p->kind)
        return ARCHIVE_OK;
    return put_header(a, NULL, "data", NULL, 0);
}

static enum nd_status open_archive(struct nd_packer *p, const struct compression *c, unsigned level,
                                   struct nd_error *err)
{
    const char *what = p->kind ? p->kind : c->name, *missing = nd_libarchive_load(), *why;

    if (missing)
        return nd_fail(err, ND_EUNSUPPORTED, "%s cannot be written %s", what, missing);
    if (!(p->archive = nd_libarchive.write_new()))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (start(p, c, level) >= ARCHIVE_WARN)
        return ND_OK;
    why = nd_libarchive.error_string(p->archive);
    return nd_fail(err, ND_EUNSUPPORTED, "cannot write %s: %s", what, why ? why : "not built in");
}

struct nd_packer *nd_packer_new(const struct nd_packing *packing, nd_packer_sink *sink,
                                void *context, struct nd_error *err)
{
    const struct compression *c = compression_of(packing->compression);
    unsigned level = packing->level ? packing->level : c->standard;
    struct nd_packer *p;
    enum nd_status status;

    if (nd_packing_check(c->name, level, err) != ND_OK)
        return NULL;
    p = calloc(1, sizeof *p);
    if (!p) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    p->sink = sink;
    p->context = context;
    p->kind = packing->archive;
    p->is_void_lz4 = !p->kind && strcmp(c->name, "lz4") == 0;
    if (c->encoder)
        p->encoder = c->encoder(level, packing->pool, sink, context, err);
    status = c->encoder && !p->encoder ? ND_EUNSUPPORTED : ND_OK;
    if (status == ND_OK && (p->kind || !c->encoder))
        status = open_archive(p, c, level, err);
    if (status == ND_OK)
        return p;
    nd_packer_free(p);
    return NULL;
}

void nd_packer_free(struct nd_packer *p)
{
    if (!p)
        return;
    /*
     * Freeing writes the end marks, which are discarded; without them libarchive 3.6.2 leaks its
     * block. After a failure of its own it must not write them: a compressor may point to memory
     * that is already freed.
     */
    p->is_over = true;
    if (p->archive && p->is_void_lz4) /* a byte, which is discarded too, keeps it from crashing */
        (void)nd_libarchive.write_data(p->archive, "", 1);
    if (p->archive && p->has_failed)
        nd_libarchive.write_fail(p->archive);
    if (p->archive)
        nd_libarchive.write_free(p->archive);
    if (p->encoder)
        p->encoder->free(p->encoder);
    free(p);
}

enum nd_status nd_packer_entry(struct nd_packer *p, const char *name,
                               const struct nd_entry_header *header, uint64_t bytes,
                               struct nd_error *err)
{
    if (!*name && strcmp(p->kind, "zip") == 0)
        return nd_fail(err, ND_EINPUT, "a zip cannot hold an entry named ''");
    return check(p, put_header(p->archive, p->kind, name, header, bytes), err);
}

enum nd_status nd_packer_write(struct nd_packer *p, const void *data, size_t len,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;
    const char *at = data;

    if (!p->archive)
        return p->encoder->write(p->encoder, data, len, err);
    p->is_void_lz4 &= len == 0;
    while (len && status == ND_OK) {
        la_ssize_t n = nd_libarchive.write_data(p->archive, at, len);

        status = check(p, n > 0 ? n : ARCHIVE_FATAL, err);
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return status;
}

enum nd_status nd_packer_divide(struct nd_packer *p, struct nd_error *err)
{
    return !p->archive && p->encoder->divide ? p->encoder->divide(p->encoder, err) : ND_OK;
}

/* The program lz4 makes this of nothing. */
static enum nd_status put_void_lz4(struct nd_packer *p, struct nd_error *err)
{
    static const unsigned char frame[] = {0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 0,
                                          0,    0,    0,    0x05, 0x5d, 0xcc, 0x02};

    return p->sink(p->context, frame, sizeof frame, err);
}

enum nd_status nd_packer_finish(struct nd_packer *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (p->is_void_lz4)
        return put_void_lz4(p, err);
    if (p->archive) {
        int code = nd_libarchive.write_close(p->archive);

        status = check(p, code == ARCHIVE_OK ? ARCHIVE_OK : ARCHIVE_FATAL, err);
    }
    if (status == ND_OK && p->encoder)
        status = p->encoder->finish(p->encoder, err);
    return status;
}

static const struct {
    const char *ending, *compression;
    size_t stays; /* leading bytes of the suffix that are not the compression's: ".t" of ".tgz" */
} endings[] = {
    {".gz", "gzip", 0},   {".zst", "zstd", 0}, {".xz", "xz", 0},
    {".bz2", "bzip2", 0}, {".lz4", "lz4", 0},  {".tgz", "gzip", 2},
    {".tzst", "zstd", 2}, {".txz", "xz", 2},   {".tbz2", "bzip2", 2},
};

/* The index of the suffix that a name has, or the number of suffixes. */
static size_t find_ending(const char *name)
{
    size_t len = strlen(name), i;

    for (i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i].ending);

        if (len > n && nd_compare_caseless(name + len - n, endings[i].ending) == 0)
            break;
    }
    return i;
}

const char *nd_compression_of_name(const char *name)
{
    size_t i = find_ending(name);

    return i < sizeof endings / sizeof *endings ? endings[i].compression : "none";
}

const char *nd_archive_of_name(const char *name)
{
    size_t len = strlen(name), i = find_ending(name);

    if (i < sizeof endings / sizeof *endings) {
        if (endings[i].stays)
            return "tar";
        len -= strlen(endings[i].ending);
    }
    if (len > 4 && nd_compare_caseless_n(name + len - 4, ".tar", 4) == 0)
        return "tar";
    return len > 4 && !nd_compare_caseless(name + len - 4, ".zip") ? "zip" : NULL;
}

bool nd_name_is_of_records(const char *name)
{
    return nd_format_row(nd_detect_format_by_name(name))->cut != &nd_cut_whole;
}
