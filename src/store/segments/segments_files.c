/* segments_files.c - the files of segments: opened when needed, closed when nobody reads in them */
#define _POSIX_C_SOURCE 200809L
#include "store/segments/segments_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/thread/thread.h"

struct nd_segment_file {
    uint32_t number;
    int fd;
    unsigned holders;
    bool is_removed; /* whoever lets go of it last closes it */
    uint64_t used;   /* when it was last held, by the clock of the files */
};

struct nd_segment_files {
    char *folder;
    int folder_fd; /* kept, so that no sync needs a descriptor that there is not */
    bool read_only;
    struct nd_monitor monitor; /* of what follows */
    struct nd_segment_file **file;
    size_t n, capacity;
    uint64_t clock;
    uint64_t removals; /* how many there were */
};

void nd_segment_header_make(struct nd_segment_header *header, uint32_t number)
{
    *header = (struct nd_segment_header){
        .magic = "NDSEGMT", .version = ND_SEGMENT_VERSION, .number = number};
    header->checksum = nd_hash_bytes(header, offsetof(struct nd_segment_header, checksum));
}

const char *nd_segment_files_path(const struct nd_segment_files *files, uint32_t number,
                                  struct nd_segment_path *path)
{
    (void)snprintf(path->name, sizeof path->name, "%s/%08" PRIu32 ".seg", files->folder, number);
    return path->name;
}

struct nd_segment_files *nd_segment_files_new(const char *folder, bool read_only,
                                              struct nd_error *err)
{
    struct nd_segment_files *files = calloc(1, sizeof *files);

    if (!files || !(files->folder = strdup(folder))) {
        free(files);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    nd_monitor_init(&files->monitor);
    files->read_only = read_only;
    files->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->folder_fd >= 0)
        return files;
    (void)nd_fail(err, ND_EIO, "%s: cannot be opened: %s", folder, strerror(errno));
    nd_segment_files_free(files);
    return NULL;
}

static void close_file(struct nd_segment_file *file)
{
    (void)close(file->fd);
    free(file);
}

void nd_segment_files_free(struct nd_segment_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->n; i++)
        close_file(files->file[i]);
    free(files->file);
    if (files->folder_fd >= 0)
        (void)close(files->folder_fd);
    nd_monitor_release(&files->monitor);
    free(files->folder);
    free(files);
}

/* ---- The list of open files; within the monitor ---- */

static size_t find(const struct nd_segment_files *files, uint32_t number)
{
    size_t i = 0;

    while (i < files->n && files->file[i]->number != number)
        i++;
    return i;
}

static struct nd_segment_file *take_out(struct nd_segment_files *files, size_t i)
{
    struct nd_segment_file *file = files->file[i];

    files->file[i] = files->file[--files->n];
    return file;
}

/* Close the file that nobody has held for the longest time; false: all are held. */
static bool close_idle(struct nd_segment_files *files)
{
    size_t oldest = files->n;

    for (size_t i = 0; i < files->n; i++)
        if (!files->file[i]->holders &&
            (oldest == files->n || files->file[i]->used < files->file[oldest]->used))
            oldest = i;
    if (oldest == files->n)
        return false;
    close_file(take_out(files, oldest));
    return true;
}

static struct nd_segment_file *hold_listed(struct nd_segment_files *files, uint32_t number)
{
    size_t i = find(files, number);

    if (i == files->n)
        return NULL;
    files->file[i]->holders++;
    files->file[i]->used = ++files->clock;
    return files->file[i];
}

/* Enter a file, held.  NULL: out of memory, and it is closed. */
static struct nd_segment_file *enter(struct nd_segment_files *files, uint32_t number, int fd)
{
    struct nd_segment_file *file = malloc(sizeof *file);

    while (files->n >= ND_SEGMENT_FILES_OPEN && close_idle(files))
        ;
    if (!file || !ND_RESERVE(files->file, &files->capacity, files->n + 1)) {
        free(file);
        (void)close(fd);
        return NULL;
    }
    *file = (struct nd_segment_file){.number = number, .fd = fd, .holders = 1};
    file->used = ++files->clock;
    files->file[files->n++] = file;
    return file;
}

/* ---- Opening ---- */

/* Descriptors that the process lacks may be those of segments that nobody reads. */
static int open_by_name(struct nd_segment_files *files, const char *path, int flags)
{
    for (;;) {
        int fd = open(path, flags | O_CLOEXEC, 0600), reason = errno;
        bool retries;

        if (fd >= 0)
            return fd;
        if (reason == EINTR)
            continue;
        if (reason != EMFILE && reason != ENFILE) {
            errno = reason;
            return -1;
        }
        nd_monitor_enter(&files->monitor);
        retries = close_idle(files);
        nd_monitor_leave(&files->monitor);
        if (!retries) {
            errno = reason;
            return -1;
        }
    }
}

static enum nd_status failed(const struct nd_segment_files *files, uint32_t number,
                             const char *what, struct nd_error *err)
{
    int reason = errno;
    struct nd_segment_path path;

    return nd_fail(err, ND_EIO, "%s: %s: %s", nd_segment_files_path(files, number, &path), what,
                   strerror(reason));
}

static enum nd_status check_header(const struct nd_segment_files *files, uint32_t number, int fd,
                                   struct nd_error *err)
{
    struct nd_segment_header right, header = {0};
    struct nd_segment_path path;
    size_t have = 0;

    while (have < sizeof header) {
        ssize_t n = pread(fd, (char *)&header + have, sizeof header - have, (off_t)have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(files, number, "cannot be read", err);
        if (n == 0)
            break;
        have += (size_t)n;
    }
    nd_segment_header_make(&right, number);
    if (have == sizeof header && memcmp(&header, &right, sizeof right) == 0)
        return ND_OK;
    nd_segment_files_path(files, number, &path);
    if (memcmp(header.magic, right.magic, sizeof right.magic) == 0 &&
        header.version != ND_SEGMENT_VERSION)
        return nd_fail(err, ND_EINPUT,
                       "%s: has version %" PRIu32 " of the format: this neardup "
                       "reads version %d",
                       path.name, header.version, ND_SEGMENT_VERSION);
    return nd_fail(err, ND_EINPUT,
                   "%s: does not begin as segment %" PRIu32 " of a store: restore "
                   "a backup",
                   path.name, number);
}

static enum nd_status open_existing(struct nd_segment_files *files, uint32_t number, int *fd,
                                    struct nd_error *err)
{
    struct nd_segment_path path;
    enum nd_status status;

    nd_segment_files_path(files, number, &path);
    *fd = open_by_name(files, path.name, files->read_only ? O_RDONLY : O_RDWR);
    if (*fd < 0 && errno == ENOENT)
        return nd_fail(err, ND_EINPUT, "%s: is missing: restore a backup", path.name);
    if (*fd < 0)
        return failed(files, number, "cannot be opened", err);
    status = check_header(files, number, *fd, err);
    if (status != ND_OK)
        (void)close(*fd);
    return status;
}

/* Another thread may have entered the same file, or removed it, since it was opened. */
enum nd_status nd_segment_files_hold(struct nd_segment_files *files, uint32_t number,
                                     struct nd_segment_file **file, struct nd_error *err)
{
    uint64_t removals;
    bool was_removed;

    do {
        enum nd_status status;
        int fd;

        nd_monitor_enter(&files->monitor);
        removals = files->removals;
        *file = hold_listed(files, number);
        nd_monitor_leave(&files->monitor);
        if (*file)
            return ND_OK;
        status = open_existing(files, number, &fd, err);
        if (status != ND_OK)
            return status;
        nd_monitor_enter(&files->monitor);
        was_removed = removals != files->removals;
        *file = was_removed ? NULL : hold_listed(files, number);
        if (was_removed || *file)
            (void)close(fd);
        else
            *file = enter(files, number, fd);
        nd_monitor_leave(&files->monitor);
    } while (was_removed);
    return *file ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

enum nd_status nd_segment_files_create(struct nd_segment_files *files, uint32_t number,
                                       struct nd_segment_file **file, bool *no_space,
                                       struct nd_error *err)
{
    struct nd_segment_path path;
    int fd = open_by_name(files, nd_segment_files_path(files, number, &path),
                          O_RDWR | O_CREAT | O_TRUNC);

    *no_space = fd < 0 && (errno == ENOSPC || errno == EDQUOT);
    if (fd < 0)
        return failed(files, number, "cannot be made", err);
    nd_monitor_enter(&files->monitor);
    *file = enter(files, number, fd);
    nd_monitor_leave(&files->monitor);
    return *file ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

void nd_segment_files_let_go(struct nd_segment_files *files, struct nd_segment_file *file)
{
    bool is_last;

    if (!file)
        return;
    nd_monitor_enter(&files->monitor);
    is_last = --file->holders == 0 && file->is_removed;
    nd_monitor_leave(&files->monitor);
    if (is_last)
        close_file(file);
}

int nd_segment_file_descriptor(const struct nd_segment_file *file)
{
    return file->fd;
}

/* ---- The folder ---- */

enum nd_status nd_segment_files_remove(struct nd_segment_files *files, uint32_t number,
                                       struct nd_error *err)
{
    struct nd_segment_file *file = NULL;
    struct nd_segment_path path;
    int result, reason;
    size_t i;

    nd_segment_files_path(files, number, &path);
    nd_monitor_enter(&files->monitor);
    result = unlink(path.name);
    reason = errno;
    if (result == 0 || reason == ENOENT) {
        files->removals++;
        i = find(files, number);
        file = i < files->n ? take_out(files, i) : NULL;
        if (file && file->holders) {
            file->is_removed = true;
            file = NULL;
        }
    }
    nd_monitor_leave(&files->monitor);
    if (file)
        close_file(file);
    errno = reason;
    return result == 0 || reason == ENOENT ? ND_OK
                                           : failed(files, number, "cannot be removed", err);
}

/* The number in 00000001.seg; 0: this is no name of a segment. */
static uint32_t number_of(const char *name)
{
    uint64_t number = 0;
    size_t digits = strspn(name, "0123456789");

    if (digits < 8 || digits > 10 || (digits > 8 && *name == '0') ||
        strcmp(name + digits, ".seg") != 0)
        return 0;
    for (size_t i = 0; i < digits; i++)
        number = 10 * number + (uint64_t)(name[i] - '0');
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static enum nd_status folder_failed(const struct nd_segment_files *files, const char *what,
                                    struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s: %s", files->folder, what, strerror(errno));
}

enum nd_status nd_segment_files_list(struct nd_segment_files *files, uint32_t **numbers, size_t *n,
                                     struct nd_error *err)
{
    DIR *folder = opendir(files->folder);
    struct dirent *entry;
    uint32_t *list = NULL;
    size_t count = 0, capacity = 0;
    bool has_memory = true;

    if (!folder)
        return folder_failed(files, "cannot be read", err);
    errno = 0;
    while (has_memory && (entry = readdir(folder))) {
        uint32_t number = number_of(entry->d_name);

        if (number && (has_memory = ND_RESERVE(list, &capacity, count + 1)))
            list[count++] = number;
        errno = 0;
    }
    if (!has_memory || errno != 0) {
        enum nd_status status = has_memory ? folder_failed(files, "cannot be read", err)
                                           : nd_fail(err, ND_ENOMEM, "out of memory");

        free(list);
        (void)closedir(folder);
        return status;
    }
    (void)closedir(folder);
    if (count)
        qsort(list, count, sizeof *list, by_number);
    *numbers = list;
    *n = count;
    return ND_OK;
}

uint64_t nd_segment_files_bytes(struct nd_segment_files *files, uint32_t number)
{
    struct nd_segment_path path;
    struct stat st;

    if (stat(nd_segment_files_path(files, number, &path), &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    return (uint64_t)st.st_size;
}

enum nd_status nd_segment_files_sync(struct nd_segment_files *files, struct nd_error *err)
{
    int result;

    do
        result = fsync(files->folder_fd);
    while (result != 0 && errno == EINTR);
    return result == 0 ? ND_OK : folder_failed(files, "cannot be synced", err);
}
