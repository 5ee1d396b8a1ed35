/* posix_files.c - open files and names, as all systems but Windows have them */
#ifndef _WIN32
#define _GNU_SOURCE
#include "base/system/descriptor.h"
#include "base/system/naming.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- Opening ---- */

int nd_descriptor_open(const char *path, unsigned how)
{
    int flags = how & ND_OPEN_BOTH ? O_RDWR : how & ND_OPEN_WRITE ? O_WRONLY : O_RDONLY;

    flags |= O_CLOEXEC | O_NOCTTY;
    if (how & ND_OPEN_NEW)
        flags |= O_CREAT | O_EXCL | O_NOFOLLOW;
    if (how & ND_OPEN_NOW)
        flags |= O_NONBLOCK;
    if (how & ND_OPEN_ITSELF)
        flags |= O_NOFOLLOW;
    return open(path, flags, how & ND_OPEN_OWN ? 0600 : 0666);
}

int nd_descriptor_close(int fd)
{
    return close(fd);
}

int nd_descriptor_copy(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int nd_descriptor_scratch(const char *folder)
{
    int fd = nd_descriptor_nameless(folder, false, true);
    char name[PATH_MAX];

    if (fd >= 0)
        return fd;
    if (snprintf(name, sizeof name, "%s/.neardup-scratch-XXXXXX", folder) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(name);
    if (fd >= 0) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)unlink(name);
    }
    return fd;
}

int nd_descriptor_replace(int fd, int by)
{
    return dup2(by, fd) < 0 ? -1 : 0;
}

FILE *nd_descriptor_stream(int fd, const char *mode)
{
    int own = nd_descriptor_copy(fd);
    FILE *stream = own >= 0 ? fdopen(own, mode) : NULL;
    int because = errno;

    if (!stream && own >= 0)
        (void)close(own);
    errno = because;
    return stream;
}

FILE *nd_stream_open(const char *path, const char *mode)
{
    char whole[8];
    size_t n = strlen(mode);

    if (n + 2 > sizeof whole) {
        errno = EINVAL;
        return NULL;
    }
    memcpy(whole, mode, n);
    memcpy(whole + n, "e", 2); /* closed in programs that this one starts */
    return fopen(path, whole);
}

int nd_stream_descriptor(FILE *stream)
{
    return fileno(stream);
}

/* ---- Reading and writing ---- */

ssize_t nd_descriptor_read(int fd, void *to, size_t bytes)
{
    ssize_t n;

    do
        n = read(fd, to, bytes);
    while (n < 0 && errno == EINTR);
    return n;
}

ssize_t nd_descriptor_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    size_t got = 0;

    while (got < bytes) {
        ssize_t n = pread(fd, (char *)to + got, bytes - got, (off_t)(at + got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

bool nd_descriptor_write_at(int fd, const void *data, size_t bytes, uint64_t at)
{
    for (const char *from = data; bytes;) {
        ssize_t n = pwrite(fd, from, bytes, (off_t)at);

        if (n < 0 && errno != EINTR)
            return false;
        n = n < 0 ? 0 : n;
        from += n;
        bytes -= (size_t)n;
        at += (uint64_t)n;
    }
    return true;
}

bool nd_descriptor_write(int fd, const void *data, size_t bytes)
{
    for (const char *at = data; bytes;) {
        ssize_t n = write(fd, at, bytes);

        if (n < 0 && errno != EINTR)
            return false;
        n = n < 0 ? 0 : n;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* A piece is an iovec by another name. */
_Static_assert(sizeof(struct nd_piece) == sizeof(struct iovec) &&
                   offsetof(struct nd_piece, data) == offsetof(struct iovec, iov_base) &&
                   offsetof(struct nd_piece, bytes) == offsetof(struct iovec, iov_len),
               "pieces are handed to the system as they are");
enum { PIECES_AT_ONCE = 1024 }; /* IOV_MAX of Linux and macOS */

ssize_t nd_descriptor_write_pieces(int fd, const struct nd_piece *piece, size_t n,
                                   const uint64_t *place)
{
    const struct iovec *vector = (const void *)piece;
    int now = n < PIECES_AT_ONCE ? (int)n : PIECES_AT_ONCE;

    return place ? pwritev(fd, vector, now, (off_t)*place) : writev(fd, vector, now);
}

int64_t nd_descriptor_place(int fd)
{
    return lseek(fd, 0, SEEK_CUR);
}

bool nd_descriptor_seek(int fd, uint64_t place)
{
    return lseek(fd, (off_t)place, SEEK_SET) == (off_t)place;
}

bool nd_descriptor_pauses(int fd, int milliseconds)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    int n;

    do
        n = poll(&one, 1, milliseconds);
    while (n < 0 && errno == EINTR);
    return n == 0;
}

bool nd_descriptor_is_unread(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};

    return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

bool nd_descriptor_is_terminal(int fd)
{
    return isatty(fd) != 0;
}

/* ---- What it is ---- */

static bool describe(int result, const struct stat *st, struct nd_file_about *about)
{
    if (result != 0)
        return false;
    *about = (struct nd_file_about){
        .kind = S_ISREG(st->st_mode)    ? ND_FILE_REGULAR
                : S_ISDIR(st->st_mode)  ? ND_FILE_FOLDER
                : S_ISCHR(st->st_mode)  ? ND_FILE_CHARACTERS
                : S_ISFIFO(st->st_mode) ? ND_FILE_PIPE
                                        : ND_FILE_OTHER,
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .bytes = (uint64_t)st->st_size,
#ifdef __APPLE__
        .seconds = (int64_t)st->st_mtimespec.tv_sec,
        .nanoseconds = (int64_t)st->st_mtimespec.tv_nsec,
#else
        .seconds = (int64_t)st->st_mtim.tv_sec,
        .nanoseconds = (int64_t)st->st_mtim.tv_nsec,
#endif
    };
    return true;
}

bool nd_descriptor_about(int fd, struct nd_file_about *about)
{
    struct stat st;

    return describe(fstat(fd, &st), &st, about);
}

bool nd_path_about(const char *path, struct nd_file_about *about)
{
    struct stat st;

    return describe(stat(path, &st), &st, about);
}

bool nd_path_about_itself(const char *path, struct nd_file_about *about)
{
    struct stat st;

    return describe(lstat(path, &st), &st, about);
}

bool nd_descriptor_is_own(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

void nd_descriptor_inherit(int fd, const char *path)
{
    struct stat replaced;
    mode_t mode;

    if (stat(path, &replaced) != 0)
        return;
    mode = replaced.st_mode & 0777;
    if (fchown(fd, replaced.st_uid, replaced.st_gid) != 0) /* the group differs as well */
        mode &= (mode_t) ~(mode_t)070 | (mode_t)((mode & 07) << 3);
    (void)!fchmod(fd, mode);
}

/* ---- Locks and the disk ---- */

bool nd_descriptor_lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

bool nd_descriptor_sync(int fd)
{
    return fsync(fd) == 0;
}

bool nd_folder_make_durable(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), because;
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == EROFS);

    because = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = because;
    return ok;
}

bool nd_descriptor_resize(int fd, uint64_t bytes)
{
    return ftruncate(fd, (off_t)bytes) == 0;
}

/* ---- Names ---- */

int nd_path_rename(const char *from, const char *to)
{
    return rename(from, to);
}

int nd_path_remove(const char *path)
{
    return unlink(path);
}

/*
 * A symbolic link is made across file systems, and if the system forbids hard links to files of
 * others.
 */
int nd_path_link(const char *existing, const char *name)
{
    char *whole = realpath(existing, NULL);
    int result = -1, because;

    if (!whole)
        return -1;
    if (link(whole, name) == 0)
        result = 0;
    else if (errno == EXDEV || errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP)
        result = symlink(whole, name);
    because = errno;
    free(whole);
    errno = because;
    return result;
}

bool nd_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool nd_path_is_readable(const char *path)
{
    return access(path, R_OK) == 0;
}

bool nd_path_is_writable(const char *path)
{
    return access(path, W_OK) == 0;
}

bool nd_path_is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

char *nd_path_whole(const char *path)
{
    return realpath(path, NULL);
}

const char *nd_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

size_t nd_path_part_len(const char *path, bool *is_name)
{
    size_t len = strcspn(path, "/");

    *is_name = len > 2 || strspn(path, ".") < len;
    return len;
}

int nd_path_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t len = strlen(folders[i]);
        const char *digits = path + len;
        size_t n_digits;

        if (strncmp(path, folders[i], len) != 0)
            continue;
        n_digits = strspn(digits, "0123456789");
        if (n_digits && n_digits < 6 && !digits[n_digits])
            return atoi(digits);
    }
    return -1;
}

bool nd_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

int nd_folder_make(const char *path)
{
    return mkdir(path, 0777);
}

int nd_folder_remove(const char *path)
{
    return rmdir(path);
}

int nd_folder_lock(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), because;

    if (fd < 0 || nd_descriptor_lock(fd))
        return fd;
    because = errno;
    (void)close(fd);
    errno = because;
    return -1;
}

struct nd_folder_list {
    DIR *folder;
    const struct dirent *entry;
};

struct nd_folder_list *nd_folder_list_open(const char *path)
{
    struct nd_folder_list *list = calloc(1, sizeof *list);
    int because;

    if (!list) {
        errno = ENOMEM;
        return NULL;
    }
    list->folder = opendir(path);
    if (list->folder)
        return list;
    because = errno;
    free(list);
    errno = because;
    return NULL;
}

const char *nd_folder_list_next(struct nd_folder_list *list)
{
    const struct dirent *e;

    do {
        errno = 0;
        e = readdir(list->folder);
    } while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
    list->entry = e;
    return e ? e->d_name : NULL;
}

int nd_folder_list_is_folder(const struct nd_folder_list *list)
{
    unsigned char type = list->entry->d_type;

    return type == DT_UNKNOWN || type == DT_LNK ? -1 : type == DT_DIR;
}

void nd_folder_list_close(struct nd_folder_list *list)
{
    (void)closedir(list->folder);
    free(list);
}

const char *nd_folder_for_temporary(void)
{
    return "/tmp";
}

bool nd_pattern_matches(const char *pattern, const char *name, bool is_path)
{
    return fnmatch(pattern, name, is_path ? FNM_PATHNAME : 0) == 0;
}
#else
enum { ND_POSIX_FILES_IS_FOR_OTHERS };
#endif
