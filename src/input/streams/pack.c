/* pack.c - bytes on their way out: compressed, or into an archive */

/*
 * Compression and archives on output, both by libarchive. A packer is a filter in front of a sink:
 * the caller writes bytes or entries, and the packed bytes go to a function. The same input must
 * give the same bytes on every run, so names are not converted by locale and times come from the
 * caller.
 */
#include "input/streams/pack.h"

#include <neardup/text.h>

#include "input/formats/detect.h"
#include "input/formats/formats.h"
#include "input/library/libarchive_load.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct nd_packer {
    struct archive *archive;
    const char *kind; /* "tar", "zip" or NULL */
    nd_packer_sink *sink;
    void *context;
    enum nd_status status; /* first error of the sink */
    struct nd_error error;
    bool has_failed, is_over;
};

/*
 * A failing sink is not reported to libarchive, which would leak its block. The caller of
 * libarchive checks p->status instead.
 */
static la_ssize_t pass_on(struct archive *a, void *client, const void *data, size_t len)
{
    struct nd_packer *p = client;

    (void)a;
    if (p->status == ND_OK && !p->is_over)
        p->status = p->sink(p->context, data, len, &p->error);
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

static int add_filter(struct archive *a, const char *compression)
{
    static const struct {
        const char *name;
        int (**add)(struct archive *);
        const char *level;
    } filters[] = {
        {"none", &nd_libarchive.write_add_filter_none, NULL},
        {"gzip", &nd_libarchive.write_add_filter_gzip, "6"},
        {"zstd", &nd_libarchive.write_add_filter_zstd, "3"},
        {"xz", &nd_libarchive.write_add_filter_xz, "6"},
        {"bzip2", &nd_libarchive.write_add_filter_bzip2, "9"},
        {"lz4", &nd_libarchive.write_add_filter_lz4, "1"},
    };

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if (strcmp(filters[i].name, compression) != 0)
            continue;
        /* ARCHIVE_WARN means that libarchive would start an external program: refused. */
        if ((*filters[i].add)(a) != ARCHIVE_OK)
            return ARCHIVE_FATAL;
        if (i == 0)
            return ARCHIVE_OK;
        if (i == 1 &&
            nd_libarchive.write_set_filter_option(a, "gzip", "timestamp", NULL) != ARCHIVE_OK)
            return ARCHIVE_FATAL;
        return nd_libarchive.write_set_filter_option(a, compression, "compression-level",
                                                     filters[i].level);
    }
    return ARCHIVE_FATAL;
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

static int start(struct nd_packer *p, const char *compression, const char *archive)
{
    struct archive *a = p->archive;

    if (add_filter(a, compression) != ARCHIVE_OK || set_format(a, archive) != ARCHIVE_OK)
        return ARCHIVE_FATAL;
    nd_libarchive.write_set_bytes_in_last_block(a, 1);
    if (nd_libarchive.write_open2(a, p, NULL, pass_on, NULL, NULL) != ARCHIVE_OK)
        return ARCHIVE_FATAL;
    if (archive)
        return ARCHIVE_OK;
    return put_header(a, NULL, "data", NULL, 0);
}

struct nd_packer *nd_packer_new(const char *compression, const char *archive, nd_packer_sink *sink,
                                void *context, struct nd_error *err)
{
    const char *missing = nd_libarchive_load();
    struct nd_packer *p;

    if (missing) {
        nd_fail(err, ND_EUNSUPPORTED, "%s cannot be written %s", archive ? archive : compression,
                missing);
        return NULL;
    }
    p = calloc(1, sizeof *p);
    if (!p || !(p->archive = nd_libarchive.write_new())) {
        free(p);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    p->sink = sink;
    p->context = context;
    p->kind = archive;
    if (start(p, compression, archive) >= ARCHIVE_WARN)
        return p;
    nd_fail(err, ND_EUNSUPPORTED, "cannot write %s: %s", archive ? archive : compression,
            nd_libarchive.error_string(p->archive) ? nd_libarchive.error_string(p->archive)
                                                   : "not built in");
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
    if (p->has_failed)
        nd_libarchive.write_fail(p->archive);
    nd_libarchive.write_free(p->archive);
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

    while (len && status == ND_OK) {
        la_ssize_t n = nd_libarchive.write_data(p->archive, at, len);

        status = check(p, n > 0 ? n : ARCHIVE_FATAL, err);
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return status;
}

enum nd_status nd_packer_finish(struct nd_packer *p, struct nd_error *err)
{
    return check(
        p, nd_libarchive.write_close(p->archive) == ARCHIVE_OK ? ARCHIVE_OK : ARCHIVE_FATAL, err);
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

        if (len > n && strcasecmp(name + len - n, endings[i].ending) == 0)
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
    if (len > 4 && strncasecmp(name + len - 4, ".tar", 4) == 0)
        return "tar";
    return len > 4 && !strcasecmp(name + len - 4, ".zip") ? "zip" : NULL;
}

bool nd_name_is_of_records(const char *name)
{
    return nd_format_row(nd_detect_format_by_name(name))->cut != &nd_cut_whole;
}
