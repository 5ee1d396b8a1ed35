/* temporary.c - files under a temporary name, until they are whole */
#define _GNU_SOURCE
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The list only grows; an entry that is over is used again.  A signal handler may read it at any
 * moment: `name` is valid while the state is LIVE, and once the handler has begun no name is freed.
 */
enum state { UNUSED, CLAIMED, LIVE };
struct nd_temporary {
    _Atomic(int) state;
    char *name, *target;
    struct nd_temporary *next;
};

static _Atomic(struct nd_temporary *) first;
static atomic_size_t
    n_unused; /* a hint: a run that copies a million files has none, and no search */
static atomic_bool abandoned;

void nd_temporary_abandon(void)
{
    atomic_store(&abandoned, true);
    for (struct nd_temporary *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->state) == LIVE)
            unlink(t->name);
}

static struct nd_temporary *claim(void)
{
    struct nd_temporary *t;

    for (t = atomic_load(&n_unused) ? atomic_load(&first) : NULL; t; t = t->next) {
        int unused = UNUSED;

        if (atomic_compare_exchange_strong(&t->state, &unused, CLAIMED)) {
            atomic_fetch_sub(&n_unused, 1);
            return t;
        }
    }
    t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    atomic_store(&t->state, CLAIMED);
    t->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &t->next, t))
        ;
    return t;
}

static void unclaim(struct nd_temporary *t)
{
    atomic_store(&t->state, CLAIMED);
    if (atomic_load(&abandoned))
        return;
    free(t->name);
    free(t->target);
    t->name = t->target = NULL;
    atomic_fetch_add(&n_unused, 1);
    atomic_store(&t->state, UNUSED);
}

/* dir/.neardup-<process>-<number>, in the folder of the target so that a rename is enough. */
static char *make_name(const char *target)
{
    static atomic_uint number;
    const char *slash = strrchr(target, '/');
    size_t dir = slash ? (size_t)(slash - target) + 1 : 0, room = dir + 64;
    char *name = malloc(room);

    if (name)
        snprintf(name, room, "%.*s.neardup-%ld-%u", (int)dir, target, (long)getpid(),
                 atomic_fetch_add(&number, 1));
    return name;
}

/* Who could read the file that is replaced can read the new one, and nobody else. */
static void inherit(int fd, const struct stat *replaced)
{
    mode_t mode = replaced->st_mode & 0777;

    if (fchown(fd, replaced->st_uid, replaced->st_gid) != 0) /* the group is another one, too */
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    (void)!fchmod(fd, mode);
}

static int create_file(const char *name, const char *target, int *fd)
{
    struct stat replaced;
    bool replaces = stat(target, &replaced) == 0;

    *fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
    if (*fd >= 0 && replaces)
        inherit(*fd, &replaced);
    return *fd < 0 ? -1 : 0;
}

/* Across file systems, and where the system forbids links to files of others, a symbolic link. */
static int create_link(const char *name, const char *existing)
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

/* A file, or where `existing` is not NULL a link to that. */
static struct nd_temporary *create(const char *target, const char *existing, int *fd,
                                   struct nd_error *err)
{
    struct nd_temporary *t = claim();
    int made;

    if (!t) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    t->target = strdup(target);
    do {
        free(t->name);
        t->name = make_name(target);
        if (!t->target || !t->name) {
            unclaim(t);
            nd_fail(err, ND_ENOMEM, "out of memory");
            return NULL;
        }
        atomic_store(&t->state, LIVE); /* before the file is: a signal may come between */
        made = existing ? create_link(t->name, existing) : create_file(t->name, target, fd);
        if (made < 0)
            atomic_store(&t->state, CLAIMED);
    } while (made < 0 && errno == EEXIST);
    if (made == 0)
        return t;
    if (existing)
        nd_fail(err, ND_EIO, "%s: cannot be linked to %s: %s", target, existing, strerror(errno));
    else
        nd_fail(err, ND_EIO, "%s: cannot be created: %s", target, strerror(errno));
    unclaim(t);
    return NULL;
}

struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err)
{
    return create(target, NULL, fd, err);
}

struct nd_temporary *nd_temporary_create_link(const char *target, const char *existing,
                                              struct nd_error *err)
{
    int none;

    return create(target, existing, &none, err);
}

/* Whether the name still is that of the open file: who published it meanwhile has renamed it. */
static bool is_still(const char *name, int fd)
{
    struct stat open_file, named;

    return fstat(fd, &open_file) == 0 && stat(name, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* An empty file, locked.  -1: errno says why; EWOULDBLOCK: somebody else has it. */
static int open_locked(const char *name)
{
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666), because;
        bool locked;

        if (fd < 0)
            return -1;
        locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && !is_still(name, fd)) {
            close(fd);
            continue;
        }
        if (locked && ftruncate(fd, 0) == 0)
            return fd;
        because = errno;
        close(fd);
        errno = because;
        return -1;
    }
}

void nd_temporary_remove_stale(const char *target)
{
    char *name;
    int fd;

    if (asprintf(&name, "%s.neardup-new", target) < 0)
        return;
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(name, fd))
        unlink(name);
    if (fd >= 0)
        close(fd);
    free(name);
}

struct nd_temporary *nd_temporary_create_locked(const char *target, int *fd, enum nd_status *status,
                                                struct nd_error *err)
{
    struct nd_temporary *t = claim();
    sigset_t all, before;
    int because;

    if (t) {
        t->target = strdup(target);
        if (asprintf(&t->name, "%s.neardup-new", target) < 0)
            t->name = NULL;
    }
    if (!t || !t->target || !t->name) {
        if (t)
            unclaim(t);
        *status = nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    /* Not live before it is ours; and no signal in between, after which nobody would remove it. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *fd = open_locked(t->name);
    because = errno;
    if (*fd >= 0)
        atomic_store(&t->state, LIVE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (*fd >= 0)
        return t;
    errno = because;
    *status = errno == EWOULDBLOCK
                  ? nd_fail(err, ND_EIO, "%s: another process is writing it", target)
                  : nd_fail(err, ND_EIO, "%s: cannot be created: %s", t->name, strerror(errno));
    unclaim(t);
    return NULL;
}

enum nd_status nd_temporary_publish(struct nd_temporary *t, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (rename(t->name, t->target) != 0) {
        status =
            nd_fail(err, ND_EIO, "%s: cannot be given its name: %s", t->target, strerror(errno));
        unlink(t->name);
    }
    unclaim(t);
    return status;
}

void nd_temporary_discard(struct nd_temporary *t)
{
    if (!t)
        return;
    unlink(t->name);
    unclaim(t);
}
