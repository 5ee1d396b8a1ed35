/* temporary.c - files that nobody sees until they are whole */

/*
 * A process may be killed at any moment. Files without names (O_TMPFILE) vanish by themselves;
 * files with temporary names are removed by a signal handler, or, if the process had no chance to,
 * by the next run that writes to the same folder: it finds them by their names and by their missing
 * locks.
 */
#define _GNU_SOURCE
#include "base/file/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * The list only grows; entries are reused. A signal handler may read it at any moment: `name` is
 * valid while the state is LIVE, and once the handler has begun no name is freed.
 */
enum state { UNUSED, CLAIMED, LIVE };
struct nd_temporary {
    _Atomic(int) state;
    int fd;              /* -1: closed, or a link */
    bool is_held;        /* finished but kept open, and counted in n_held */
    char *name, *target; /* name: NULL while the file has none */
    struct nd_temporary *next;
};

enum {
    RANDOM_CHARACTERS = 20,
    HELD_MAX = 256,       /* finished files without a name that are kept open */
    STALE_NAMES = 100000, /* entries examined in a folder */
    DAY = 24 * 60 * 60
};
static const char prefix[] = ".neardup-", whole_ending[] = ".whole";

static _Atomic(struct nd_temporary *) first;
static atomic_size_t n_unused; /* a hint that saves a search when a million files are copied */
static atomic_size_t n_held;
static atomic_bool abandoned;
static atomic_uint n_naming; /* threads that are creating a name */

/*
 * A process that was told to stop removes its temporary files only while no output has its name: so
 * either nothing is published or everything.  After the last output of a run the process is about to
 * end, unless it creates files for another run.
 */
static atomic_uint n_publishing;  /* runs that are publishing */
static atomic_bool has_published; /* and no file was created since */

void nd_temporary_begin_publishing(void)
{
    atomic_fetch_add(&n_publishing, 1);
    atomic_store(&has_published, true);
}

void nd_temporary_end_publishing(void)
{
    atomic_fetch_sub(&n_publishing, 1);
}

/* Wait for names that other threads are creating at this moment, but not for ever. */
bool nd_temporary_abandon(void)
{
    const struct timespec moment = {.tv_nsec = 100000};

    if (atomic_load(&n_publishing) || atomic_load(&has_published))
        return false;
    atomic_store(&abandoned, true);
    for (int i = 0; i < 20000 && atomic_load(&n_naming); i++)
        nanosleep(&moment, NULL);
    for (struct nd_temporary *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->state) == LIVE)
            unlink(t->name);
    return true;
}

/*
 * From here to end_naming a name is created and its entry becomes LIVE. Meanwhile this thread
 * handles no signal, and a handler in another thread waits. False: the process is about to end.
 */
static bool begin_naming(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    atomic_fetch_add(&n_naming, 1);
    if (!atomic_load(&abandoned))
        return true;
    errno = EINTR;
    return false;
}

static void end_naming(const sigset_t *before)
{
    int because = errno;

    atomic_fetch_sub(&n_naming, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = because;
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
    t->fd = -1;
    atomic_store(&t->state, CLAIMED);
    t->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &t->next, t))
        ;
    return t;
}

static void close_held(struct nd_temporary *t)
{
    if (t->is_held)
        atomic_fetch_sub(&n_held, 1);
    t->is_held = false;
    if (t->fd >= 0)
        (void)close(t->fd);
    t->fd = -1;
}

static void unclaim(struct nd_temporary *t)
{
    close_held(t);
    atomic_store(&t->state, CLAIMED);
    if (atomic_load(&abandoned))
        return;
    free(t->name);
    free(t->target);
    t->name = t->target = NULL;
    atomic_fetch_add(&n_unused, 1);
    atomic_store(&t->state, UNUSED);
}

static size_t folder_len(const char *target)
{
    const char *slash = strrchr(target, '/');

    return slash ? (size_t)(slash - target) + 1 : 0;
}

/* "dir/" of "dir/name", "." of "name". */
static char *folder_of(const char *target)
{
    size_t len = folder_len(target);

    return len ? strndup(target, len) : strdup(".");
}

/* dir/.neardup-<random>, in the folder of the target so that a rename is enough. */
static char *make_name(const char *target, const char *ending)
{
    static const char digit[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char byte[RANDOM_CHARACTERS];
    char random[RANDOM_CHARACTERS + 1] = {0};
    char *name;

    if (getrandom(byte, sizeof byte, 0) != (ssize_t)sizeof byte)
        return NULL;
    for (size_t i = 0; i < sizeof byte; i++)
        random[i] = digit[byte[i] % 32];
    if (asprintf(&name, "%.*s%s%s%s", (int)folder_len(target), target, prefix, random, ending) < 0)
        return NULL;
    return name;
}

/* Let exactly the users who could read the replaced file read the new one. */
static void inherit(int fd, const struct stat *replaced)
{
    mode_t mode = replaced->st_mode & 0777;

    if (fchown(fd, replaced->st_uid, replaced->st_gid) != 0) /* the group differs as well */
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    (void)!fchmod(fd, mode);
}

/* A file without a name that can get one later; -1: the file system or /proc does not allow it. */
static int open_nameless(const char *folder, mode_t mode)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    char link[64];

    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* Whether the name still belongs to the open file. */
static bool is_still(const char *name, int fd)
{
    struct stat open_file, named;

    return fstat(fd, &open_file) == 0 && lstat(name, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/*
 * False: a process that removes stale files was faster. File systems without locks have no such
 * process.
 */
static bool lock_named(const char *name, int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return is_still(name, fd);
    return errno != EWOULDBLOCK;
}

/* -1: errno says why. */
static int open_named(struct nd_temporary *t, mode_t mode)
{
    for (;;) {
        sigset_t before;
        int fd = -1;

        free(t->name);
        t->name = make_name(t->target, "");
        if (!t->name) {
            errno = ENOMEM;
            return -1;
        }
        if (begin_naming(&before))
            fd = open(t->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0)
            atomic_store(&t->state, LIVE);
        end_naming(&before);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && lock_named(t->name, fd))
            return fd;
        atomic_store(&t->state, CLAIMED);
        if (fd >= 0)
            (void)close(fd);
    }
}

static int create_file(struct nd_temporary *t)
{
    struct stat replaced;
    bool replaces = stat(t->target, &replaced) == 0;
    mode_t mode = replaces ? 0600 : 0666;
    char *folder = folder_of(t->target);

    if (!folder) {
        errno = ENOMEM;
        return -1;
    }
    t->fd = open_nameless(folder, mode);
    free(folder);
    if (t->fd < 0)
        t->fd = open_named(t, mode);
    if (t->fd >= 0 && replaces)
        inherit(t->fd, &replaced);
    return t->fd < 0 ? -1 : 0;
}

static struct nd_temporary *begin(const char *target, struct nd_error *err)
{
    struct nd_temporary *t = claim();

    atomic_store(&has_published, false);
    if (t && (t->target = strdup(target)))
        return t;
    if (t)
        unclaim(t);
    nd_fail(err, ND_ENOMEM, "out of memory");
    return NULL;
}

struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err)
{
    struct nd_temporary *t = begin(target, err);

    if (!t)
        return NULL;
    if (create_file(t) == 0) {
        *fd = t->fd;
        return t;
    }
    nd_fail(err, errno == ENOMEM ? ND_ENOMEM : ND_EIO, "%s: cannot be created: %s", target,
            strerror(errno));
    unclaim(t);
    return NULL;
}

/*
 * A symbolic link is made across file systems, and if the system forbids hard links to files of
 * others.
 */
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

struct nd_temporary *nd_temporary_create_link(const char *target, const char *existing,
                                              struct nd_error *err)
{
    struct nd_temporary *t = begin(target, err);
    int made = -1;
    sigset_t before;

    if (!t)
        return NULL;
    do {
        free(t->name);
        t->name = make_name(target, "");
        errno = ENOMEM;
        if (!t->name)
            break;
        if (begin_naming(&before))
            made = create_link(t->name, existing);
        if (made == 0)
            atomic_store(&t->state, LIVE);
        end_naming(&before);
    } while (made < 0 && errno == EEXIST);
    if (made == 0)
        return t;
    nd_fail(err, ND_EIO, "%s: cannot be linked to %s: %s", target, existing, strerror(errno));
    unclaim(t);
    return NULL;
}

/*
 * Give a file without a name this one, which it takes over; -1: errno says why, EEXIST among
 * others.
 */
static int link_nameless(struct nd_temporary *t, char *name, bool is_temporary)
{
    char open_file[64];
    sigset_t before;
    int made = -1;

    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", t->fd);
    if (begin_naming(&before))
        made = linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    if (made == 0 && is_temporary) {
        t->name = name;
        atomic_store(&t->state, LIVE);
    }
    end_naming(&before);
    return made;
}

/* Give a file without a name a random one; -1: errno says why. */
static int name_it(struct nd_temporary *t, const char *ending)
{
    int made;

    (void)flock(t->fd, LOCK_EX | LOCK_NB);
    do {
        char *name = make_name(t->target, ending);

        if (!name) {
            errno = ENOMEM;
            return -1;
        }
        made = link_nameless(t, name, true);
        if (made != 0) {
            int because = errno;

            free(name);
            errno = because;
        }
    } while (made != 0 && errno == EEXIST);
    return made;
}

/*
 * A finished file with a name is closed and so no longer locked; its name says that it is finished.
 */
static int rename_whole(struct nd_temporary *t)
{
    char *name = make_name(t->target, whole_ending);
    char *before_name = t->name;
    sigset_t before;
    int made = -1;

    if (!name) {
        errno = ENOMEM;
        return -1;
    }
    if (begin_naming(&before))
        made = rename(t->name, name);
    if (made == 0)
        t->name = name;
    end_naming(&before);
    free(made == 0 ? before_name : name);
    return made;
}

static enum nd_status not_written(const struct nd_temporary *t, struct nd_error *err)
{
    return nd_fail(err, errno == ENOMEM ? ND_ENOMEM : ND_EIO, "%s: cannot be written: %s",
                   t->target, strerror(errno));
}

enum nd_status nd_temporary_finish(struct nd_temporary *t, bool sync, struct nd_error *err)
{
    int fd, twin = -1;

    if (sync && fsync(t->fd) != 0)
        return not_written(t, err);
    t->is_held = atomic_fetch_add(&n_held, 1) < HELD_MAX;
    if (t->is_held)
        twin = dup(t->fd);
    else
        atomic_fetch_sub(&n_held, 1);
    if (twin >= 0) /* some file systems report a full disk only when a descriptor is closed */
        return close(twin) == 0 ? ND_OK : not_written(t, err);
    if (t->name ? rename_whole(t) != 0 : name_it(t, whole_ending) != 0)
        return not_written(t, err);
    fd = t->fd;
    t->fd = -1;
    if (t->is_held)
        atomic_fetch_sub(&n_held, 1);
    t->is_held = false;
    return close(fd) == 0 ? ND_OK : not_written(t, err);
}

const char *nd_temporary_target(const struct nd_temporary *t)
{
    return t->target;
}

/* If no file has the name, link to it directly; otherwise rename over that file. */
static int take_name(struct nd_temporary *t)
{
    if (!t->name && link_nameless(t, t->target, false) == 0)
        return 0;
    if (!t->name && (errno != EEXIST || name_it(t, "") != 0))
        return -1;
    return rename(t->name, t->target);
}

/* Take the name without replacing anything: EEXIST. */
static int take_new_name(struct nd_temporary *t)
{
    if (!t->name)
        return link_nameless(t, t->target, false);
    if (renameat2(AT_FDCWD, t->name, AT_FDCWD, t->target, RENAME_NOREPLACE) == 0)
        return 0;
    if ((errno != EINVAL && errno != ENOSYS) || link(t->name, t->target) != 0)
        return -1;
    (void)unlink(t->name); /* the file system has no rename without replacing */
    return 0;
}

static enum nd_status publish(struct nd_temporary *t, int (*take)(struct nd_temporary *t),
                              struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (take(t) != 0) {
        status = nd_fail(err,
                         errno == EEXIST   ? ND_ECHANGED
                         : errno == ENOMEM ? ND_ENOMEM
                                           : ND_EIO,
                         "%s: cannot be moved into place: %s", t->target, strerror(errno));
        if (t->name)
            unlink(t->name);
    }
    unclaim(t);
    return status;
}

enum nd_status nd_temporary_publish(struct nd_temporary *t, struct nd_error *err)
{
    return publish(t, take_name, err);
}

enum nd_status nd_temporary_publish_new(struct nd_temporary *t, struct nd_error *err)
{
    return publish(t, take_new_name, err);
}

/* Rename a file that has a name, which it takes over, unless a file has that name. */
static int rename_new(struct nd_temporary *t, char *name)
{
    char *before_name = t->name;
    sigset_t before;
    int made = -1;

    if (begin_naming(&before))
        made = renameat2(AT_FDCWD, t->name, AT_FDCWD, name, RENAME_NOREPLACE);
    if (made == 0)
        t->name = name;
    end_naming(&before);
    if (made == 0)
        free(before_name);
    return made;
}

enum nd_status nd_temporary_publish_for_now(struct nd_temporary *t, struct nd_error *err)
{
    char *name = strdup(t->target);
    enum nd_status status = ND_OK;

    if (!name)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else if ((t->name ? rename_new(t, name) : link_nameless(t, name, true)) != 0)
        status = nd_fail(err, errno == EEXIST ? ND_ECHANGED : ND_EIO,
                         "%s: cannot be moved into place: %s", t->target, strerror(errno));
    if (status == ND_OK) {
        close_held(t);
        return ND_OK;
    }
    free(name);
    nd_temporary_discard(t);
    return status;
}

void nd_temporary_keep(struct nd_temporary *t)
{
    if (t)
        unclaim(t);
}

enum nd_status nd_temporary_keep_beside(struct nd_temporary *t, char **name, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    int made = -1;

    *name = NULL;
    if (!t->name && name_it(t, "") != 0)
        status = not_written(t, err);
    for (unsigned i = 1; status == ND_OK && made != 0; i++) {
        free(*name);
        if (asprintf(name, i == 1 ? "%s.neardup-kept" : "%s.neardup-kept-%u", t->target, i) < 0) {
            *name = NULL;
            status = nd_fail(err, ND_ENOMEM, "out of memory");
            break;
        }
        made = renameat2(AT_FDCWD, t->name, AT_FDCWD, *name, RENAME_NOREPLACE);
        if (made != 0 && errno != EEXIST)
            status =
                nd_fail(err, ND_EIO, "%s: cannot be moved into place: %s", *name, strerror(errno));
    }
    if (made != 0 && t->name)
        unlink(t->name);
    unclaim(t);
    return status;
}

void nd_temporary_discard(struct nd_temporary *t)
{
    if (!t)
        return;
    if (t->name)
        unlink(t->name);
    unclaim(t);
}

int nd_temporary_spool(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600), because = EEXIST;
    sigset_t before;
    char *inside, *name;

    if (fd >= 0 || asprintf(&inside, "%s/", folder) < 0)
        return fd;
    while (fd < 0 && because == EEXIST && (name = make_name(inside, ""))) {
        if (begin_naming(&before))
            fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        because = errno;
        if (fd >= 0)
            unlink(name);
        end_naming(&before);
        free(name);
    }
    free(inside);
    errno = because;
    return fd;
}

/*
 * Whether a name has the form that make_name gives; *is_whole: that of a finished file, which is
 * not locked.
 */
static bool is_ours(const char *name, bool *is_whole)
{
    size_t n = sizeof prefix - 1;

    if (strncmp(name, prefix, n) != 0 ||
        strspn(name + n, "abcdefghijklmnopqrstuvwxyz234567") != RANDOM_CHARACTERS)
        return false;
    n += RANDOM_CHARACTERS;
    *is_whole = strcmp(name + n, whole_ending) == 0;
    return *is_whole || !name[n];
}

static void remove_if_stale(int folder, const char *name, bool is_whole)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about, named;

    if (fd < 0)
        return;
    /* Finished ones are not locked, but are published within a day. */
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        (!is_whole || about.st_mtime < time(NULL) - DAY) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == about.st_dev &&
        named.st_ino == about.st_ino)
        (void)unlinkat(folder, name, 0);
    (void)close(fd);
}

void nd_temporary_remove_stale(const char *target)
{
    char *folder = folder_of(target);

    if (folder)
        nd_temporary_remove_stale_in(folder);
    free(folder);
}

void nd_temporary_remove_stale_in(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *e;
    bool is_whole;

    if (!directory)
        return;
    for (int i = 0; i < STALE_NAMES && (e = readdir(directory)); i++)
        if (is_ours(e->d_name, &is_whole))
            remove_if_stale(dirfd(directory), e->d_name, is_whole);
    (void)closedir(directory);
}
