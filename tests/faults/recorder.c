/* recorder.c - LD_PRELOAD: writes down what a program does to the files of a folder, in its order */

/*
 * FAULTS_ROOT       the folder, absolute
 * FAULTS_LOG        where to write it down; none: nothing is
 * FAULTS_NO_SYNC    if set, syncs do nothing, and O_SYNC and O_DSYNC are left out of opens
 * FAULTS_FAIL_SYNC  the so manyth sync fails with EIO, and only it
 *
 * A lock is held over each call and its line in the log, so that the log has the one order in which
 * everything happened, what the program said on its standard output included.  images.py reads it.
 * If the log is written, syncs themselves are left out: the explorer needs to know only that they
 * were called, and the page cache outlives the program.
 *
 * Writes of stdio do not pass here.  When such a file is synced or gets a name, it is taken as it
 * is then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    CREATE = 1, /* file `id` gets the name in the folder `folder` */
    WRITE,
    TRUNCATE,  /* offset: the new length */
    SYNC,      /* of a file, or of the names in a folder */
    SYNC_LAST, /* of the last write to a file, by O_DSYNC */
    RENAME,    /* from a name of `folder` to one of `to` */
    UNLINK,
    MAKE_FOLDER,
    REMOVE_FOLDER,
    SAID, /* on standard output */
    TROUBLE
};

/* An entry of the log; the name, the other name and the data follow it. */
struct entry {
    uint32_t kind, id, folder, to;
    uint64_t offset;
    uint32_t name_len, other_len, data_len, zero;
};

enum { DESCRIPTORS = 1024, FILES = 1 << 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_len;
static int log_fd = -1;
static bool no_sync;
static long fail_sync; /* counts down to the one that fails */
static uint32_t id_of[DESCRIPTORS];
static bool is_dsync[DESCRIPTORS];
static struct {
    ino_t inode;       /* 0: it has no name any more */
    uint64_t recorded; /* bytes, as far as the log knows */
} file[FILES];
static uint32_t n_files = 1;

/* ---- The log ---- */

static void put(const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = syscall(SYS_write, log_fd, at, len);

        if (n <= 0)
            abort();
        at += n;
        len -= (size_t)n;
    }
}

static void note(struct entry e, const char *name, const char *other, const void *data, size_t len)
{
    int reason = errno;

    if (log_fd < 0)
        return;
    e.name_len = name ? (uint32_t)strlen(name) : 0;
    e.other_len = other ? (uint32_t)strlen(other) : 0;
    e.data_len = (uint32_t)len;
    put(&e, sizeof e);
    put(name, e.name_len);
    put(other, e.other_len);
    put(data, len);
    errno = reason;
}

static void trouble(const char *what)
{
    note((struct entry){.kind = TROUBLE}, what, NULL, NULL, 0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("FAULTS_ROOT"), *log = getenv("FAULTS_LOG");
    const char *failing = getenv("FAULTS_FAIL_SYNC");

    no_sync = getenv("FAULTS_NO_SYNC") != NULL;
    fail_sync = failing ? atol(failing) : 0;
    if (!folder || !realpath(folder, root))
        return;
    root_len = strlen(root);
    if (log)
        log_fd =
            (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* ---- Files and folders by number ---- */

static uint32_t number_of(ino_t inode)
{
    for (uint32_t i = 1; i < n_files; i++)
        if (file[i].inode == inode)
            return i;
    if (n_files == FILES)
        abort();
    file[n_files].inode = inode;
    return n_files++;
}

static bool is_below(const char *path)
{
    return root_len && strncmp(path, root, root_len) == 0 &&
           (path[root_len] == '/' || path[root_len] == 0);
}

/* Split a path below the root: the number of its folder, and its last name.  0: it is elsewhere. */
static uint32_t locate(int at, const char *path, char *name)
{
    char whole[2 * PATH_MAX], link[64], base[PATH_MAX] = "", *slash;
    struct stat st;
    ssize_t n;

    if (path[0] != '/') {
        (void)snprintf(link, sizeof link, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d",
                       at);
        n = readlink(link, base, sizeof base - 1);
        base[n > 0 ? n : 0] = 0;
    }
    (void)snprintf(whole, sizeof whole, "%s%s%s", base, base[0] ? "/" : "", path);
    n = (ssize_t)strlen(whole);
    while (n > 1 && whole[n - 1] == '/')
        whole[--n] = 0;
    slash = strrchr(whole, '/');
    if (!is_below(whole) || (size_t)(slash - whole) < root_len)
        return 0;
    (void)snprintf(name, NAME_MAX + 1, "%s", slash + 1);
    *slash = 0;
    return stat(whole, &st) == 0 ? number_of(st.st_ino) : 0;
}

static uint32_t id_by_name(int at, const char *path)
{
    struct stat st;

    return fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? number_of(st.st_ino) : 0;
}

static uint32_t id_by_fd(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS ? id_of[fd] : 0;
}

/* Note what stdio wrote to it. */
static void catch_up(int fd, uint32_t id)
{
    struct stat st;
    char *data;

    if (!id || log_fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size == file[id].recorded)
        return;
    data = malloc((size_t)st.st_size + 1);
    if (!data || pread(fd, data, (size_t)st.st_size, 0) != st.st_size)
        abort();
    note((struct entry){.kind = TRUNCATE, .id = id}, NULL, NULL, NULL, 0);
    note((struct entry){.kind = WRITE, .id = id}, NULL, NULL, data, (size_t)st.st_size);
    file[id].recorded = (uint64_t)st.st_size;
    free(data);
}

/* ---- Opening ---- */

static void opened(int fd, int flags, bool is_new, uint32_t folder, const char *name)
{
    struct stat st;
    char link[64], path[PATH_MAX + 1];
    ssize_t n;
    int reason = errno;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, PATH_MAX);
    path[n > 0 ? n : 0] = 0;
    if (fd < DESCRIPTORS && is_below(path) && fstat(fd, &st) == 0) {
        uint32_t id = number_of(st.st_ino);

        id_of[fd] = id;
        is_dsync[fd] = flags & O_DSYNC;
        if (!S_ISDIR(st.st_mode) && is_new && folder)
            note((struct entry){.kind = CREATE, .id = id, .folder = folder}, name, NULL, NULL, 0);
        if (flags & O_TRUNC && !is_new) {
            note((struct entry){.kind = TRUNCATE, .id = id}, NULL, NULL, NULL, 0);
            file[id].recorded = 0;
        }
    } else if (fd < DESCRIPTORS)
        id_of[fd] = 0;
    errno = reason;
}

static int open_any(int at, const char *path, int flags, mode_t mode)
{
    char name[NAME_MAX + 1] = "";
    struct stat st;
    uint32_t folder = 0;
    bool is_new = false;
    int fd;

    pthread_mutex_lock(&mutex);
    if (no_sync)
        flags &= ~(O_SYNC | O_DSYNC);
    if (flags & O_CREAT) {
        is_new = fstatat(at, path, &st, 0) != 0;
        folder = locate(at, path, name);
    }
    fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && root_len)
        opened(fd, flags, is_new, folder, name);
    pthread_mutex_unlock(&mutex);
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_any(at, path, flags, mode);
}

/* The headers call this for an open whose flags the compiler does not know (_FORTIFY_SOURCE). */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open_any(AT_FDCWD, path, flags, 0);
}

int __openat_2(int at, const char *path, int flags);
int __openat_2(int at, const char *path, int flags)
{
    return open_any(at, path, flags, 0);
}

int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));
int __openat64_2(int at, const char *path, int flags) __attribute__((alias("__openat_2")));
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int at, const char *path, int flags, ...) __attribute__((alias("openat")));

int close(int fd)
{
    int result;

    pthread_mutex_lock(&mutex);
    if (fd >= 0 && fd < DESCRIPTORS)
        id_of[fd] = 0;
    result = (int)syscall(SYS_close, fd);
    pthread_mutex_unlock(&mutex);
    return result;
}

/* A copy of a descriptor, as stdio takes one, is of the same file. */
int fcntl(int fd, int command, ...)
{
    va_list args;
    long argument;
    int result;

    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    pthread_mutex_lock(&mutex);
    result = (int)syscall(SYS_fcntl, fd, command, argument);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0 && result < DESCRIPTORS) {
        id_of[result] = id_by_fd(fd);
        is_dsync[result] = fd < DESCRIPTORS && is_dsync[fd];
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

/* ---- Writing ---- */

static bool sync_fails(void)
{
    if (fail_sync <= 0 || --fail_sync > 0)
        return false;
    errno = EIO;
    return true;
}

static void wrote(int fd, uint64_t offset, const void *data, size_t len)
{
    uint32_t id = id_by_fd(fd);

    note((struct entry){.kind = WRITE, .id = id, .offset = offset}, NULL, NULL, data, len);
    if (offset + len > file[id].recorded)
        file[id].recorded = offset + len;
    if (is_dsync[fd])
        note((struct entry){.kind = SYNC_LAST, .id = id}, NULL, NULL, NULL, 0);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    ssize_t n;

    pthread_mutex_lock(&mutex);
    if (id_by_fd(fd) && is_dsync[fd] && sync_fails())
        n = -1;
    else
        n = syscall(SYS_pwrite64, fd, data, len, offset);
    if (n > 0 && id_by_fd(fd))
        wrote(fd, (uint64_t)offset, data, (size_t)n);
    pthread_mutex_unlock(&mutex);
    return n;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t offset)
    __attribute__((alias("pwrite")));

ssize_t write(int fd, const void *data, size_t len)
{
    ssize_t n;
    off_t at;

    pthread_mutex_lock(&mutex);
    at = id_by_fd(fd) ? lseek(fd, 0, SEEK_CUR) : 0;
    n = syscall(SYS_write, fd, data, len);
    if (n > 0 && fd == STDOUT_FILENO)
        note((struct entry){.kind = SAID}, NULL, NULL, data, (size_t)n);
    else if (n > 0 && id_by_fd(fd))
        wrote(fd, (uint64_t)at, data, (size_t)n);
    pthread_mutex_unlock(&mutex);
    return n;
}

ssize_t pwritev(int fd, const struct iovec *part, int n_parts, off_t offset)
{
    ssize_t n = 0;

    for (int i = 0; i < n_parts; i++) {
        ssize_t some = pwrite(fd, part[i].iov_base, part[i].iov_len, offset + n);

        if (some < 0)
            return n ? n : -1;
        n += some;
        if ((size_t)some < part[i].iov_len)
            break;
    }
    return n;
}

ssize_t pwritev64(int fd, const struct iovec *part, int n_parts, off_t offset)
    __attribute__((alias("pwritev")));

ssize_t writev(int fd, const struct iovec *part, int n_parts)
{
    ssize_t n = 0;

    for (int i = 0; i < n_parts; i++) {
        ssize_t some = write(fd, part[i].iov_base, part[i].iov_len);

        if (some < 0)
            return n ? n : -1;
        n += some;
        if ((size_t)some < part[i].iov_len)
            break;
    }
    return n;
}

int ftruncate(int fd, off_t len)
{
    uint32_t id;
    int result;

    pthread_mutex_lock(&mutex);
    result = (int)syscall(SYS_ftruncate, fd, len);
    id = id_by_fd(fd);
    if (result == 0 && id) {
        note((struct entry){.kind = TRUNCATE, .id = id, .offset = (uint64_t)len}, NULL, NULL, NULL,
             0);
        file[id].recorded = (uint64_t)len;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int ftruncate64(int fd, off_t len) __attribute__((alias("ftruncate")));

/* Whether it matters after a crash: not LMDB's table of readers, nor files without a name. */
static bool is_written_through_memory(int fd, int access, int flags)
{
    static const char lock[] = "-lock";
    char link[64], path[PATH_MAX + 1];
    struct stat st;
    ssize_t n;

    if (fd < 0 || !id_by_fd(fd) || !(access & PROT_WRITE) || !(flags & MAP_SHARED) ||
        fstat(fd, &st) != 0 || !st.st_nlink)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, PATH_MAX);
    path[n > 0 ? n : 0] = 0;
    return n < (ssize_t)strlen(lock) || strcmp(path + n - strlen(lock), lock) != 0;
}

void *mmap(void *at, size_t len, int access, int flags, int fd, off_t offset)
{
    if (is_written_through_memory(fd, access, flags)) {
        pthread_mutex_lock(&mutex);
        trouble("a file is written through memory, which is not recorded");
        pthread_mutex_unlock(&mutex);
    }
    return (void *)(uintptr_t)syscall(SYS_mmap, at, len, access, flags, fd, offset);
}

void *mmap64(void *at, size_t len, int access, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

/* ---- Syncing ---- */

static int sync_any(int fd, long call)
{
    uint32_t id;
    int result = 0;

    pthread_mutex_lock(&mutex);
    id = id_by_fd(fd);
    if (id && sync_fails())
        result = -1;
    else if (!no_sync && log_fd < 0) {
        pthread_mutex_unlock(&mutex);
        return (int)syscall(call, fd);
    } else if (!no_sync && id) {
        catch_up(fd, id);
        note((struct entry){.kind = SYNC, .id = id}, NULL, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int fsync(int fd)
{
    return sync_any(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_any(fd, SYS_fdatasync);
}

int msync(void *at, size_t len, int flags)
{
    return no_sync ? 0 : (int)syscall(SYS_msync, at, len, flags);
}

int syncfs(int fd)
{
    return no_sync ? 0 : (int)syscall(SYS_syncfs, fd);
}

/* ---- Names ---- */

static void catch_up_by_name(int at, const char *path, uint32_t id)
{
    int fd = log_fd < 0 ? -1 : (int)syscall(SYS_openat, at, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    catch_up(fd, id);
    (void)syscall(SYS_close, fd);
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
    char name[NAME_MAX + 1] = "", other[NAME_MAX + 1] = "";
    uint32_t folder, to_folder, id;
    int result;

    pthread_mutex_lock(&mutex);
    folder = locate(from_at, from, name);
    to_folder = locate(to_at, to, other);
    id = folder ? id_by_name(from_at, from) : 0;
    if (id)
        catch_up_by_name(from_at, from, id);
    result = (int)syscall(SYS_renameat, from_at, from, to_at, to);
    if (result == 0 && folder && to_folder)
        note((struct entry){.kind = RENAME, .id = id, .folder = folder, .to = to_folder}, name,
             other, NULL, 0);
    pthread_mutex_unlock(&mutex);
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (!flags)
        return renameat(from_at, from, to_at, to);
    if (flags == RENAME_NOREPLACE) {
        struct stat st;

        if (fstatat(to_at, to, &st, AT_SYMLINK_NOFOLLOW) != 0)
            return renameat(from_at, from, to_at, to);
        errno = EEXIST;
        return -1;
    }
    errno = EINVAL;
    return -1;
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    char name[NAME_MAX + 1] = "";
    uint32_t folder;
    int result;

    pthread_mutex_lock(&mutex);
    result = (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
    folder = result == 0 ? locate(to_at, to, name) : 0;
    if (folder) {
        uint32_t id = id_by_name(to_at, to);

        catch_up_by_name(to_at, to, id);
        note((struct entry){.kind = CREATE, .id = id, .folder = folder}, name, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int at, const char *path, int flags)
{
    char name[NAME_MAX + 1] = "";
    struct stat st = {0};
    uint32_t folder, id;
    int result;

    pthread_mutex_lock(&mutex);
    folder = locate(at, path, name);
    id = folder ? id_by_name(at, path) : 0;
    if (id)
        (void)fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW);
    result = (int)syscall(SYS_unlinkat, at, path, flags);
    if (result == 0 && id) {
        note((struct entry){.kind = flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK,
                            .id = id,
                            .folder = folder},
             name, NULL, NULL, 0);
        if (S_ISDIR(st.st_mode) || st.st_nlink == 1)
            file[id].inode = 0;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int at, const char *path, mode_t mode)
{
    char name[NAME_MAX + 1] = "";
    uint32_t folder;
    int result;

    pthread_mutex_lock(&mutex);
    result = (int)syscall(SYS_mkdirat, at, path, mode);
    folder = result == 0 ? locate(at, path, name) : 0;
    if (folder)
        note((struct entry){.kind = MAKE_FOLDER, .id = id_by_name(at, path), .folder = folder},
             name, NULL, NULL, 0);
    pthread_mutex_unlock(&mutex);
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* The C library's own does not call the mkdir above. */
char *mkdtemp(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static unsigned next;
    size_t len = strlen(name);

    for (int tries = 0; tries < 1000; tries++) {
        unsigned n = next++ * 7919 + (unsigned)getpid();

        for (size_t i = len - 6; i < len; i++, n /= 36)
            name[i] = letters[n % 36];
        if (mkdir(name, 0700) == 0)
            return name;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}
