/* backup.c - a copy of a store as it is at one moment, while it goes on
 *
 * The database is copied first, at a moment of its own; then the segments that the copy names, up to
 * its end.  Nothing that a committed row names is ever changed, so that they may have grown
 * meanwhile.  A segment that was compacted meanwhile is gone: then all begins again.  A segment that
 * is no longer appended to gets a second name (a hard link) where that can be.
 */
#define _GNU_SOURCE
#include "store/upkeep/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/catalog/catalog.h"
#include "store/read/store_state.h"
#include "store/segments/folder.h"
#include "store/segments/segments_files.h"
#include "store/upkeep/store_tables.h"

enum { ATTEMPTS = 20, COPY_BYTES = 1 << 20, SUM_LINE = 16 + 2 + 20 + 2 };

#define SEGMENTS "segments"

/* A file of the copy. */
struct copied_file {
    char name[64]; /* in the folder */
    uint64_t bytes, hash;
};

struct backup {
    struct nd_store *store;
    char *made; /* the folder, before it has its name */
    struct copied_file *file;
    size_t n, capacity;
    char *buffer; /* COPY_BYTES */
    struct nd_error *err;
};

static enum nd_status failed(struct backup *b, const char *path)
{
    return nd_fail(b->err, ND_EIO, "%s: %s", path, strerror(errno));
}

static struct copied_file *add_file(struct backup *b, const char *name)
{
    struct copied_file *file;

    if (!ND_RESERVE(b->file, &b->capacity, b->n + 1)) {
        nd_fail(b->err, ND_ENOMEM, "out of memory for a backup");
        return NULL;
    }
    file = &b->file[b->n++];
    *file = (struct copied_file){.bytes = 0};
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    return file;
}

/* ---- Checksums ---- */

/* Hash what can be read of a file.  ND_EIO with errno, ND_ENOMEM. */
static enum nd_status hash_file(const char *path, char *buffer, uint64_t *bytes, uint64_t *hash)
{
    struct nd_hash_stream *stream = nd_hash_stream_new();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    int reason;

    *bytes = 0;
    while (stream && n > 0) {
        n = read(fd, buffer, COPY_BYTES);
        if (n > 0) {
            nd_hash_stream_add(stream, buffer, (size_t)n);
            *bytes += (uint64_t)n;
        }
    }
    reason = errno;
    if (stream)
        *hash = nd_hash_stream_value(stream);
    if (fd >= 0)
        (void)close(fd);
    errno = reason;
    if (!stream)
        return ND_ENOMEM;
    nd_hash_stream_free(stream);
    return n < 0 ? ND_EIO : ND_OK;
}

static enum nd_status write_checksums(struct backup *b)
{
    char *path = nd_folder_path(b->made, ND_BACKUP_CHECKSUMS, b->err);
    FILE *list = path ? fopen(path, "wxe") : NULL;
    enum nd_status status = list ? ND_OK : path ? failed(b, path) : ND_ENOMEM;

    for (size_t i = 0; status == ND_OK && i < b->n; i++) {
        struct copied_file *file = &b->file[i];
        char *name = nd_folder_path(b->made, file->name, b->err);

        status = name ? hash_file(name, b->buffer, &file->bytes, &file->hash) : ND_ENOMEM;
        if (status != ND_OK && name)
            status = status == ND_EIO ? failed(b, name)
                                      : nd_fail(b->err, status, "out of memory for a backup");
        if (status == ND_OK && fprintf(list, "%016" PRIx64 " %" PRIu64 " %s\n", file->hash,
                                       file->bytes, file->name) < 0)
            status = failed(b, path);
        free(name);
    }
    if (list && fclose(list) != 0 && status == ND_OK)
        status = failed(b, path);
    if (status == ND_OK)
        status = nd_folder_sync(path, b->err);
    free(path);
    return status;
}

/* Whether a name is that of a file of this folder. */
static bool is_below(const char *name, const char *folder)
{
    size_t len = strlen(folder);

    return strncmp(name, folder, len) == 0 && name[len] == '/' && !strchr(name + len + 1, '/');
}

/* One line of the list: of the database, of a segment, or of a df table. */
static bool parse_line(const char *line, struct copied_file *file)
{
    int end = 0;

    if (sscanf(line, "%16" SCNx64 " %20" SCNu64 " %63[^\n]\n%n", &file->hash, &file->bytes,
               file->name, &end) != 3 ||
        line[end] != '\0')
        return false;
    return strcmp(file->name, ND_CATALOG_FILE) == 0 || is_below(file->name, SEGMENTS) ||
           is_below(file->name, ND_STORE_TABLES);
}

static void report_difference(const char *path, const struct copied_file *file, uint64_t bytes,
                              uint64_t hash, enum nd_status status,
                              void (*report)(void *context, const char *finding), void *context,
                              uint64_t *n_findings)
{
    char finding[512];

    if (status != ND_OK)
        (void)snprintf(finding, sizeof finding, "%s: %s", path, strerror(errno));
    else if (bytes != file->bytes)
        (void)snprintf(finding, sizeof finding,
                       "%s: the file has %" PRIu64 " bytes, and had %" PRIu64
                       " when the backup was made",
                       path, bytes, file->bytes);
    else if (hash != file->hash)
        (void)snprintf(finding, sizeof finding,
                       "%s: the file is not what it was when the backup was made", path);
    else
        return;
    ++*n_findings;
    report(context, finding);
}

static enum nd_status check_line(const char *folder, const char *line, char *buffer,
                                 void (*report)(void *context, const char *finding), void *context,
                                 uint64_t *n_findings, struct nd_error *err)
{
    struct copied_file file;
    uint64_t bytes = 0, hash = 0;
    char *path;
    enum nd_status status;

    if (!parse_line(line, &file)) {
        ++*n_findings;
        report(context, "a line of the file \"" ND_BACKUP_CHECKSUMS "\" cannot be right");
        return ND_OK;
    }
    path = nd_folder_path(folder, file.name, err);
    if (!path)
        return ND_ENOMEM;
    status = hash_file(path, buffer, &bytes, &hash);
    if (status != ND_ENOMEM)
        report_difference(path, &file, bytes, hash, status, report, context, n_findings);
    free(path);
    return status == ND_ENOMEM ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

enum nd_status nd_backup_check(const char *folder,
                               void (*report)(void *context, const char *finding), void *context,
                               uint64_t *n_findings, struct nd_error *err)
{
    char *path = nd_folder_path(folder, ND_BACKUP_CHECKSUMS, err), line[256];
    char *buffer = path ? malloc(COPY_BYTES) : NULL;
    FILE *list = buffer ? fopen(path, "re") : NULL;
    enum nd_status status = ND_OK;

    if (!buffer)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else if (!list && errno != ENOENT)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    while (list && status == ND_OK && fgets(line, sizeof line, list))
        status = check_line(folder, line, buffer, report, context, n_findings, err);
    if (list)
        (void)fclose(list);
    free(buffer);
    free(path);
    return status;
}

enum nd_status nd_backup_forget(const char *folder, struct nd_error *err)
{
    char *path = nd_folder_path(folder, ND_BACKUP_CHECKSUMS, err);
    enum nd_status status = path ? ND_OK : ND_ENOMEM;

    if (path && unlink(path) != 0 && errno != ENOENT)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    free(path);
    return status;
}

/* ---- Files ---- */

/* Copy the first `bytes` of a file, and sync the copy.  ND_EINPUT: it is shorter. */
static enum nd_status copy_bytes(struct backup *b, int from, const char *from_path, int to,
                                 const char *to_path, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        size_t wanted = bytes - done < COPY_BYTES ? (size_t)(bytes - done) : COPY_BYTES;
        ssize_t n = read(from, b->buffer, wanted);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(b, from_path);
        if (n == 0)
            return nd_fail(b->err, ND_EINPUT, "%s: the file ends at byte %" PRIu64 ", not %" PRIu64,
                           from_path, done, bytes);
        for (ssize_t written = 0, more; written < n; written += more) {
            more = write(to, b->buffer + written, (size_t)(n - written));
            if (more < 0 && errno == EINTR)
                more = 0;
            if (more < 0)
                return failed(b, to_path);
        }
        done += (uint64_t)n;
    }
    return fsync(to) == 0 ? ND_OK : failed(b, to_path);
}

/* *is_gone: the file was there no more. */
static enum nd_status copy_file(struct backup *b, const char *from_path, const char *to_path,
                                uint64_t bytes, bool *is_gone)
{
    int from = open(from_path, O_RDONLY | O_CLOEXEC), to = -1;
    struct stat about;
    enum nd_status status;

    *is_gone = from < 0 && errno == ENOENT;
    if (from < 0)
        return failed(b, from_path);
    if (bytes == UINT64_MAX && fstat(from, &about) == 0)
        bytes = (uint64_t)about.st_size;
    to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    status = to < 0 ? failed(b, to_path) : copy_bytes(b, from, from_path, to, to_path, bytes);
    (void)close(from);
    if (to >= 0 && close(to) != 0 && status == ND_OK)
        status = failed(b, to_path);
    return status;
}

/* A segment, as far as the database goes. */
static enum nd_status copy_segment(struct backup *b, uint32_t number,
                                   const struct nd_segments_end *end, bool *is_gone)
{
    struct nd_segment_path from;
    const struct copied_file *file;
    char *to;
    enum nd_status status = ND_OK;

    (void)nd_segments_path(b->store->segments, number, &from);
    file = add_file(b, from.name + strlen(b->store->folder) + 1);
    to = file ? nd_folder_path(b->made, file->name, b->err) : NULL;
    if (!to)
        return ND_ENOMEM;
    *is_gone = false;
    if (number == end->segment)
        status = copy_file(b, from.name, to, end->offset, is_gone);
    else if (link(from.name, to) != 0) {
        *is_gone = errno == ENOENT;
        status = *is_gone ? failed(b, from.name) : copy_file(b, from.name, to, UINT64_MAX, is_gone);
    }
    free(to);
    return status;
}

/* All that the copy of the database names: segments with texts that count, and the last one. */
static enum nd_status copy_segments(struct backup *b, struct nd_txn *txn, bool *is_gone)
{
    struct nd_catalog_state state;
    struct nd_segment_row row;
    uint32_t number = 0;
    bool has_end = false;
    enum nd_status status = nd_catalog_get_state(txn, &state, b->err);
    int found = 0;

    while (status == ND_OK && (found = nd_catalog_next_segment(txn, &number, &row, b->err)) > 0) {
        bool is_end = number == state.segments.segment;

        if (is_end || row.live_bytes > 0)
            status = copy_segment(b, number, &state.segments, is_gone);
        has_end |= is_end;
        if (number++ == UINT32_MAX)
            break;
    }
    if (status == ND_OK && found < 0)
        return (enum nd_status)found;
    if (status == ND_OK && !has_end && state.segments.offset > 0)
        status = copy_segment(b, state.segments.segment, &state.segments, is_gone);
    return status;
}

/* A df table never changes. */
static enum nd_status copy_table(struct backup *b, const char *name)
{
    const struct copied_file *file = add_file(b, name);
    char *from = file ? nd_folder_path(b->store->folder, name, b->err) : NULL;
    char *to = from ? nd_folder_path(b->made, name, b->err) : NULL;
    enum nd_status status = to ? ND_OK : ND_ENOMEM;
    bool is_gone;

    if (to && link(from, to) != 0)
        status = copy_file(b, from, to, UINT64_MAX, &is_gone);
    free(from);
    free(to);
    return status;
}

static enum nd_status copy_tables(struct backup *b)
{
    const struct nd_store_tables *tables = b->store->tables;
    enum nd_status status = ND_OK;

    for (unsigned i = 0; status == ND_OK && i < tables->n; i++)
        status = copy_table(b, tables->table[i].name);
    return status;
}

/* ---- One attempt ---- */

/* A folder of the copy is made. */
static enum nd_status make_folder(struct backup *b, const char *name)
{
    char *path = nd_folder_path(b->made, name, b->err);
    enum nd_status status = path ? ND_OK : ND_ENOMEM;

    if (path && mkdir(path, 0700) != 0)
        status = failed(b, path);
    free(path);
    return status;
}

static enum nd_status sync_folder(struct backup *b, const char *name)
{
    char *path = nd_folder_path(b->made, name, b->err);
    enum nd_status status = path ? nd_folder_sync(path, b->err) : ND_ENOMEM;

    free(path);
    return status;
}

static void remove_files(struct backup *b)
{
    static const char *const others[] = {ND_CATALOG_FILE "-lock", ND_BACKUP_CHECKSUMS};

    for (size_t i = 0; i < b->n + 2; i++) {
        char *path = nd_folder_path(b->made, i < b->n ? b->file[i].name : others[i - b->n], NULL);

        if (path)
            (void)unlink(path);
        free(path);
    }
    b->n = 0;
}

static void remove_made(struct backup *b)
{
    static const char *const folders[] = {SEGMENTS, ND_STORE_TABLES};

    remove_files(b);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = nd_folder_path(b->made, folders[i], NULL);

        if (path)
            (void)rmdir(path);
        free(path);
    }
    (void)rmdir(b->made);
}

static enum nd_status copy_all(struct backup *b, bool *is_gone)
{
    struct nd_catalog *copy = NULL;
    struct nd_txn *txn = NULL;
    enum nd_status status;
    char *lock;

    *is_gone = false;
    if (!add_file(b, ND_CATALOG_FILE))
        return ND_ENOMEM;
    status = nd_catalog_copy(b->store->catalog, b->made, b->err);
    if (status != ND_OK)
        return status;
    copy = nd_catalog_open(b->made, false, true, b->err);
    status = copy ? nd_catalog_begin(copy, false, &txn, b->err) : b->err->status;
    if (status == ND_OK)
        status = copy_tables(b);
    if (status == ND_OK)
        status = copy_segments(b, txn, is_gone);
    nd_catalog_abort(txn);
    nd_catalog_close(copy);
    lock = nd_folder_path(b->made, ND_CATALOG_FILE "-lock", NULL);
    if (lock)
        (void)unlink(lock);
    free(lock);
    return status;
}

static enum nd_status make_backup(struct backup *b, const char *folder)
{
    bool is_gone = true, has_tables = b->store->tables->n > 0;
    enum nd_status status = make_folder(b, SEGMENTS);

    if (status == ND_OK && has_tables)
        status = make_folder(b, ND_STORE_TABLES);
    if (status != ND_OK)
        return status;
    for (int i = 0; i < ATTEMPTS && is_gone; i++) {
        remove_files(b);
        status = copy_all(b, &is_gone);
    }
    if (status == ND_OK)
        status = sync_folder(b, SEGMENTS);
    if (status == ND_OK && has_tables)
        status = sync_folder(b, ND_STORE_TABLES);
    if (status == ND_OK)
        status = write_checksums(b);
    return status == ND_OK ? nd_folder_publish(b->made, folder, b->err) : status;
}

enum nd_status nd_store_backup(struct nd_store *store, const char *folder, struct nd_error *err)
{
    struct nd_error own;
    struct backup b = {.store = store, .buffer = malloc(COPY_BYTES), .err = err ? err : &own};
    struct stat about;
    enum nd_status status;

    if (!b.buffer)
        return nd_fail(err, ND_ENOMEM, "out of memory for a backup");
    if (lstat(folder, &about) == 0)
        status = nd_fail(err, ND_EINVAL, "%s: it is there already", folder);
    else
        status = nd_folder_make_beside(folder, &b.made, err);
    if (status == ND_OK) {
        status = make_backup(&b, folder);
        if (status != ND_OK)
            remove_made(&b);
    }
    free(b.made);
    free(b.file);
    free(b.buffer);
    return status;
}
