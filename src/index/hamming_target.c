/* hamming_target.c - index files: the file that is to be changed or made, locked where it exists */
#define _GNU_SOURCE
#include "index/hamming_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"

enum nd_status nd_hamming_target_failed(const struct nd_hamming_target *t, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", t->path, strerror(errno));
}

void nd_hamming_target_release(struct nd_hamming_target *t)
{
    if (t->fd >= 0)
        close(t->fd);
    free(t->name);
}

static bool is_still(const struct nd_hamming_target *t)
{
    struct stat open_file, named;

    return fstat(t->fd, &open_file) == 0 && stat(t->name, &named) == 0 &&
           named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino;
}

enum nd_status nd_hamming_target_check(const struct nd_hamming_target *t, struct nd_error *err)
{
    if (t->fd < 0 || is_still(t))
        return ND_OK;
    return nd_fail(err, ND_ECHANGED, "%s: was replaced meanwhile, and stays as it is", t->path);
}

/*
 * Open and lock what has the name now: who waited for the lock while the file was replaced would
 * have the old one.
 */
static enum nd_status open_locked(struct nd_hamming_target *t, struct nd_error *err)
{
    struct stat open_file;

    for (;;) {
        t->fd = open(t->name, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* it may be a pipe */
        if (t->fd < 0 && errno == ENOENT && lstat(t->name, &open_file) == 0)
            return nd_fail(err, ND_EIO, "%s: is a symbolic link to nothing", t->path);
        if (t->fd < 0 && errno == ENOENT)
            return ND_OK;
        if (t->fd < 0 || fstat(t->fd, &open_file) != 0)
            return nd_hamming_target_failed(t, err);
        if (!S_ISREG(open_file.st_mode))
            return nd_fail(err, ND_EIO, "%s: is no regular file", t->path);
        if (flock(t->fd, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK
                       ? nd_fail(err, ND_EIO, "%s: another process is writing it", t->path)
                       : nd_fail(err, ND_EIO, "%s: cannot be locked: %s", t->path, strerror(errno));
        if (is_still(t))
            return ND_OK;
        close(t->fd);
    }
}

enum nd_status nd_hamming_target_open(struct nd_hamming_target *t, const char *path,
                                      bool must_exist, struct nd_error *err)
{
    enum nd_status status;

    *t = (struct nd_hamming_target){.path = path, .fd = -1, .name = realpath(path, NULL)};
    if (!t->name && errno == ENOENT && must_exist)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (!t->name && errno == ENOENT)
        t->name = strdup(path);
    if (!t->name)
        return errno == ENOMEM ? nd_fail(err, ND_ENOMEM, "out of memory")
                               : nd_hamming_target_failed(t, err);
    status = open_locked(t, err);
    if (status == ND_OK && t->fd < 0 && must_exist)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(ENOENT));
    if (status == ND_OK)
        nd_temporary_remove_stale(t->name);
    else
        nd_hamming_target_release(t);
    return status;
}

enum nd_status nd_hamming_target_folder(const struct nd_hamming_target *t, int *fd,
                                        struct nd_error *err)
{
    const char *slash = strrchr(t->name, '/');
    char *folder = slash ? strndup(t->name, (size_t)(slash - t->name) + 1) : strdup(".");

    if (!folder)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return *fd >= 0 ? ND_OK : nd_hamming_target_failed(t, err);
}
