/* archive_stream.c - the files in a tar or zip, one after the other; whether a zip has comments */

/*
 * A tar or zip is presented as a sequence of streams, one for each regular file in it. libarchive
 * reports damage inconsistently, so this file adds checks: a checksum error in a zip is only a
 * warning to it, and a truncated tar looks complete. For inputs that are rewritten, the headers of
 * all entries are kept, and what our own archives could not represent is noted.
 */
#include "input/streams/archive_stream.h"

#include "base/system/descriptor.h"
#include "input/library/libarchive_load.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whether a zip has comments, of which libarchive does not tell ---- */

/* APPNOTE.TXT 4.3.12 and 4.3.16: sizes of the fixed parts. */
enum { END_BYTES = 22, ENTRY_BYTES = 46, COMMENT_MAX = 65535, DIRECTORY_MAX = 1 << 28 };

static uint32_t number(const unsigned char *at, unsigned bytes)
{
    uint32_t value = 0;

    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

static const char *look_through(const unsigned char *directory, size_t len)
{
    for (size_t at = 0; at < len;) {
        const unsigned char *e = directory + at;

        if (len - at < ENTRY_BYTES || memcmp(e, "PK\1\2", 4) != 0)
            return "the information in its directory";
        if (number(e + 32, 2))
            return "the comments of files";
        at += ENTRY_BYTES + number(e + 28, 2) + number(e + 30, 2);
    }
    return NULL;
}

static const char *look_at_directory(int fd, uint32_t offset, uint32_t len)
{
    unsigned char *directory;
    const char *found = "the information in its directory";

    if (offset == UINT32_MAX || len > DIRECTORY_MAX) /* zip64, among others */
        return found;
    directory = malloc((size_t)len + 1);
    if (directory && nd_descriptor_read_at(fd, directory, len, offset) == (ssize_t)len)
        found = look_through(directory, len);
    free(directory);
    return found;
}

const char *nd_zip_comments(int fd, uint64_t bytes)
{
    unsigned char tail[END_BYTES + COMMENT_MAX];
    size_t len = bytes < sizeof tail ? (size_t)bytes : sizeof tail;

    if (nd_descriptor_read_at(fd, tail, len, bytes - len) != (ssize_t)len)
        return "the information in its directory";
    for (size_t at = len; at-- >= END_BYTES;) {
        const unsigned char *end = tail + at - END_BYTES + 1;
        size_t left = len - (at - END_BYTES + 1);

        if (memcmp(end, "PK\5\6", 4) != 0 || END_BYTES + number(end + 20, 2) != left)
            continue;
        return number(end + 20, 2)
                   ? "its comment"
                   : look_at_directory(fd, number(end + 16, 4), number(end + 12, 4));
    }
    return "the information in its directory";
}

/* ---- The files in a tar or zip, by libarchive ---- */

enum { ARCHIVE_IN = 1 << 18 };

struct nd_archive_reader {
    struct nd_stream entry; /* the first member: the current file's bytes */
    struct nd_stream *inner;
    struct archive *archive;
    enum nd_archive kind;
    int fd;       /* descriptor of a zip that is a seekable file, or -1 */
    int64_t at;   /* position in fd */
    bool is_open; /* archive_read_open was called */
    bool is_fatal;
    uint64_t size;  /* size of the current file in a tar */
    uint64_t made;  /* bytes of the current file delivered */
    uint64_t holes; /* zeroes of a sparse file to deliver before the block */
    const char *block;
    size_t block_len;
    uint64_t n_entries;
    struct nd_arena *headers;
    const struct nd_entry_header *own, *before; /* path of the current file */
    const char *lacks;
    unsigned char last[512]; /* the last bytes that were fed, because a tar ends in zeroes */
    size_t n_last;
    char name[4096];
    char failure[512];
    char in[ARCHIVE_IN];
};

static void remember_last(struct nd_archive_reader *r, const char *bytes, size_t n)
{
    size_t keep = n < sizeof r->last ? n : sizeof r->last;
    size_t old = r->n_last + keep > sizeof r->last ? sizeof r->last - keep : r->n_last;

    memmove(r->last, r->last + r->n_last - old, old);
    memcpy(r->last + old, bytes + n - keep, keep);
    r->n_last = old + keep;
}

static la_ssize_t feed(struct archive *a, void *context, const void **bytes)
{
    struct nd_archive_reader *r = context;
    ssize_t n;

    *bytes = r->in;
    if (r->fd >= 0) {
        n = nd_descriptor_read_at(r->fd, r->in, ARCHIVE_IN, (uint64_t)r->at);
        if (n < 0)
            nd_libarchive.set_error(a, errno, "%s", strerror(errno));
        r->at += n > 0 ? n : 0;
        return n;
    }
    n = nd_stream_read(r->inner, r->in, ARCHIVE_IN);
    if (n < 0)
        nd_libarchive.set_error(a, EIO, "%s", r->inner->failure);
    else
        remember_last(r, r->in, (size_t)n);
    return n;
}

static la_int64_t seek(struct archive *a, void *context, la_int64_t offset, int whence)
{
    struct nd_archive_reader *r = context;
    struct nd_file_about st;
    int64_t to = -1;

    if (whence == SEEK_SET)
        to = offset;
    else if (whence == SEEK_CUR)
        to = r->at + offset;
    else if (nd_descriptor_about(r->fd, &st))
        to = (int64_t)st.bytes + offset;
    if (to < 0) {
        nd_libarchive.set_error(a, EINVAL, "a position before the start of the file");
        return ARCHIVE_FATAL;
    }
    r->at = to;
    return to;
}

static const char *why(struct nd_archive_reader *r)
{
    const char *text = nd_libarchive.error_string(r->archive);

    if (r->inner->state == ND_STREAM_FAILED)
        return r->inner->failure;
    return text ? text : "unknown error";
}

static enum nd_status status_of(const struct nd_archive_reader *r)
{
    if (r->inner->state == ND_STREAM_FAILED)
        return r->inner->status;
    return nd_libarchive.error_number(r->archive) == ENOMEM ? ND_ENOMEM : ND_EINPUT;
}

/* Read the next block of the file: 1, 0 at its end, -1 on failure. */
static int next_block(struct nd_archive_reader *r)
{
    const void *block;
    la_int64_t offset;
    size_t len;
    int code = nd_libarchive.read_data_block(r->archive, &block, &len, &offset);

    if (code == ARCHIVE_EOF) { /* a sparse file may end in a hole */
        r->holes = r->size > r->made ? r->size - r->made : 0;
        return r->holes > 0;
    }
    if (code != ARCHIVE_OK) { /* a wrong checksum in a zip is only a warning to libarchive */
        r->is_fatal = code == ARCHIVE_FATAL;
        return (int)nd_stream_fail(&r->entry, status_of(r), "%s data is damaged: %s",
                                   nd_archive_name(r->kind), why(r));
    }
    r->block = block;
    r->block_len = len;
    r->holes = (uint64_t)offset > r->made ? (uint64_t)offset - r->made : 0;
    return 1;
}

static ssize_t entry_fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct nd_archive_reader *r = (struct nd_archive_reader *)s;

    while (r->block_len == 0 && r->holes == 0) {
        int more = next_block(r);

        if (more <= 0)
            return more;
    }
    if (r->holes > 0) {
        capacity = capacity < r->holes ? capacity : (size_t)r->holes;
        memset(out, 0, capacity);
        r->holes -= capacity;
    } else {
        capacity = capacity < r->block_len ? capacity : r->block_len;
        memcpy(out, r->block, capacity);
        r->block += capacity;
        r->block_len -= capacity;
    }
    r->made += capacity;
    return (ssize_t)capacity;
}

static int open_archive(struct nd_archive_reader *r)
{
    struct archive *a = r->archive;

    r->is_open = true;
    if (r->fd >= 0)
        nd_libarchive.read_set_seek_callback(a, seek);
    return nd_libarchive.read_open2(a, r, NULL, feed, NULL, NULL);
}

/*
 * A tar that was truncated between two files is like a complete one, except for its final zeroes.
 */
static int at_end(struct nd_archive_reader *r, const char **failure)
{
    static const unsigned char zeroes[512];

    if (r->kind != ND_ARCHIVE_TAR ||
        (r->n_last == sizeof zeroes && memcmp(r->last, zeroes, sizeof zeroes) == 0))
        return 0;
    *failure = "tar ends too early: its end mark is missing";
    return ND_EINPUT;
}

static int fail(struct nd_archive_reader *r, const char **failure)
{
    (void)snprintf(r->failure, sizeof r->failure, "%s data is damaged: %s",
                   nd_archive_name(r->kind), why(r));
    *failure = r->failure;
    return status_of(r) == ND_ENOMEM ? ND_ENOMEM : ND_EINPUT;
}

static void take_name(struct nd_archive_reader *r, struct archive_entry *e)
{
    const char *name = nd_libarchive.entry_pathname(e);

    if (!name)
        name = nd_libarchive.entry_pathname_utf8(e);
    if (name)
        (void)snprintf(r->name, sizeof r->name, "%s", name);
    else
        (void)snprintf(r->name, sizeof r->name, "(entry %llu)", (unsigned long long)r->n_entries);
}

/* Note what our headers cannot represent. */
static void note_lack(struct nd_archive_reader *r, struct archive_entry *e, bool is_known)
{
    if (r->lacks)
        return;
    if (!is_known)
        r->lacks = "devices and other special files";
    else if (nd_libarchive.entry_xattr_count(e) > 0 || nd_libarchive.entry_acl_types(e) != 0)
        r->lacks = "extended attributes";
    else if (nd_libarchive.entry_sparse_count(e) > 0)
        r->lacks = "the holes of sparse files";
}

/* Keep an entry that is not a regular file; false: out of memory. */
static bool take_other(struct nd_archive_reader *r, struct archive_entry *e,
                       struct nd_entry_header ***end)
{
    unsigned type = nd_libarchive.entry_filetype(e);
    bool is_link = nd_libarchive.entry_hardlink(e) != NULL;
    bool is_known = is_link || type == AE_IFDIR || type == AE_IFLNK;
    struct nd_entry_header *h;

    note_lack(r, e, is_known);
    if (!is_known)
        return true;
    take_name(r, e);
    h = nd_entry_header_copy(e,
                             is_link            ? ND_ENTRY_LINK
                             : type == AE_IFDIR ? ND_ENTRY_FOLDER
                                                : ND_ENTRY_SYMLINK,
                             r->name, r->headers);
    if (!h)
        return false;
    **end = h;
    *end = &h->next;
    return true;
}

static int out_of_memory(struct nd_archive_reader *r, const char **failure)
{
    (void)snprintf(r->failure, sizeof r->failure, "out of memory");
    *failure = r->failure;
    return ND_ENOMEM;
}

const struct nd_entry_header *nd_archive_reader_headers(const struct nd_archive_reader *r,
                                                        const struct nd_entry_header **before)
{
    *before = r->before;
    return r->own;
}

const char *nd_archive_reader_lacks(const struct nd_archive_reader *r)
{
    return r->lacks;
}

int nd_archive_reader_next(struct nd_archive_reader *r, struct nd_stream **entry, const char **name,
                           const char **failure)
{
    struct nd_entry_header *before = NULL, **end = &before;
    struct archive_entry *e;

    nd_buffer_release(&r->entry.ahead);
    r->entry = (struct nd_stream){.fill = entry_fill};
    r->made = r->holes = 0;
    r->block_len = 0;
    r->own = r->before = NULL;
    if (r->is_fatal || (!r->is_open && open_archive(r) != ARCHIVE_OK))
        return fail(r, failure);
    for (;;) {
        int code = nd_libarchive.read_next_header(r->archive, &e);

        r->before = before;
        if (code == ARCHIVE_EOF)
            return at_end(r, failure);
        if (code < ARCHIVE_WARN)
            return fail(r, failure);
        r->n_entries++;
        if (nd_libarchive.entry_filetype(e) == AE_IFREG && !nd_libarchive.entry_hardlink(e))
            break;
        if (!take_other(r, e, &end))
            return out_of_memory(r, failure);
    }
    take_name(r, e);
    note_lack(r, e, true);
    r->own = nd_entry_header_copy(e, ND_ENTRY_FILE, r->name, r->headers);
    if (!r->own)
        return out_of_memory(r, failure);
    r->size = r->kind == ND_ARCHIVE_TAR ? (uint64_t)nd_libarchive.entry_size(e) : 0;
    *entry = &r->entry;
    *name = r->name;
    return 1;
}

static int support(struct archive *a, enum nd_archive kind, int fd)
{
    int code = ARCHIVE_OK;

    if (kind == ND_ARCHIVE_TAR)
        code = nd_libarchive.read_support_format_tar(a);
    else if (fd >= 0)
        code = nd_libarchive.read_support_format_zip_seekable(a);
    else
        code = nd_libarchive.read_support_format_zip_streamable(a);
    return code == ARCHIVE_OK ? nd_libarchive.read_support_format_empty(a) : code;
}

struct nd_archive_reader *nd_archive_reader_new(struct nd_stream *inner, enum nd_archive kind,
                                                int fd, struct nd_arena *headers)
{
    struct nd_archive_reader *r = malloc(sizeof *r);

    if (!r)
        return NULL;
    memset(r, 0, offsetof(struct nd_archive_reader, name));
    r->inner = inner;
    r->kind = kind;
    r->headers = headers;
    r->fd = kind == ND_ARCHIVE_ZIP ? fd : -1;
    r->archive = nd_libarchive.read_new();
    if (!r->archive || support(r->archive, kind, r->fd) != ARCHIVE_OK) {
        nd_archive_reader_free(r);
        return NULL;
    }
    return r;
}

void nd_archive_reader_free(struct nd_archive_reader *r)
{
    if (!r)
        return;
    nd_buffer_release(&r->entry.ahead);
    nd_libarchive.read_free(r->archive);
    free(r);
}
