/* temporary.c - files that nobody sees until they are whole */

/*
 * A process may be killed at any moment. Files without names vanish by themselves;
 * files with temporary names are removed by a signal handler, or, if the process had no chance to,
 * by the next run that writes to the same folder: it finds them by their names and by their missing
 * locks.
 */
#include "base/file/temporary.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "base/system/process.h"
#include "base/system/threads.h"

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
    enum { MOMENT_NS = 100000 };

    if (atomic_load(&n_publishing) || atomic_load(&has_published))
        return false;
    atomic_store(&abandoned, true);
    for (int i = 0; i < 20000 && atomic_load(&n_naming); i++)
        nd_thread_sleep_ns(MOMENT_NS);
    for (struct nd_temporary *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->state) == LIVE)
            (void)nd_path_remove(t->name);
    return true;
}

/*
 * From here to end_naming a name is created and its entry becomes LIVE. Meanwhile this thread
 * handles no signal, and a handler in another thread waits. False: the process is about to end.
 */
static bool begin_naming(struct nd_held_signals *before)
{
    nd_signals_hold(before);
    atomic_fetch_add(&n_naming, 1);
    if (!atomic_load(&abandoned))
        return true;
    errno = EINTR;
    return false;
}

static void end_naming(const struct nd_held_signals *before)
{
    int because = errno;

    atomic_fetch_sub(&n_naming, 1);
    nd_signals_release(before);
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
        (void)nd_descriptor_close(t->fd);
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
    return (size_t)(nd_path_name(target) - target);
}

/* "dir/" of "dir/name", "." of "name". */
static char *folder_of(const char *target)
{
    size_t len = folder_len(target);

    return nd_text_copy_n(len ? target : ".", len ? len : 1);
}

/* dir/.neardup-<random>, in the folder of the target so that a rename is enough. */
static char *make_name(const char *target, const char *ending)
{
    static const char digit[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char byte[RANDOM_CHARACTERS];
    char random[RANDOM_CHARACTERS + 1] = {0};
    char *name;

    if (!nd_random_bytes(byte, sizeof byte))
        return NULL;
    for (size_t i = 0; i < sizeof byte; i++)
        random[i] = digit[byte[i] % 32];
    if (nd_print_new(&name, "%.*s%s%s%s", (int)folder_len(target), target, prefix, random, ending) <
        0)
        return NULL;
    return name;
}

/* Whether the name still belongs to the open file. */
static bool is_still(const char *name, int fd)
{
    struct nd_file_about open_file, named;

    return nd_descriptor_about(fd, &open_file) && nd_path_about_itself(name, &named) &&
           nd_file_is_one(&open_file, &named);
}

/*
 * False: a process that removes stale files was faster. File systems without locks have no such
 * process.
 */
static bool lock_named(const char *name, int fd)
{
    if (nd_descriptor_lock(fd))
        return is_still(name, fd);
    return errno != EWOULDBLOCK;
}

/* -1: errno says why. */
static int open_named(struct nd_temporary *t, bool is_own)
{
    for (;;) {
        struct nd_held_signals before;
        int fd = -1;

        free(t->name);
        t->name = make_name(t->target, "");
        if (!t->name) {
            errno = ENOMEM;
            return -1;
        }
        if (begin_naming(&before))
            fd = nd_descriptor_open(t->name, ND_OPEN_BOTH | ND_OPEN_NEW |
                                                 (is_own ? (unsigned)ND_OPEN_OWN : 0));
        if (fd >= 0)
            atomic_store(&t->state, LIVE);
        end_naming(&before);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && lock_named(t->name, fd))
            return fd;
        atomic_store(&t->state, CLAIMED);
        if (fd >= 0)
            (void)nd_descriptor_close(fd);
    }
}

static int create_file(struct nd_temporary *t)
{
    struct nd_file_about replaced;
    bool replaces = nd_path_about(t->target, &replaced);
    char *folder = folder_of(t->target);

    if (!folder) {
        errno = ENOMEM;
        return -1;
    }
    t->fd = nd_descriptor_nameless(folder, true, replaces);
    free(folder);
    if (t->fd < 0)
        t->fd = open_named(t, replaces);
    if (t->fd >= 0 && replaces)
        nd_descriptor_inherit(t->fd, t->target);
    return t->fd < 0 ? -1 : 0;
}

static struct nd_temporary *begin(const char *target, struct nd_error *err)
{
    struct nd_temporary *t = claim();

    atomic_store(&has_published, false);
    if (t && (t->target = nd_text_copy(target)))
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

struct nd_temporary *nd_temporary_create_link(const char *target, const char *existing,
                                              struct nd_error *err)
{
    struct nd_temporary *t = begin(target, err);
    int made = -1;
    struct nd_held_signals before;

    if (!t)
        return NULL;
    do {
        free(t->name);
        t->name = make_name(target, "");
        errno = ENOMEM;
        if (!t->name)
            break;
        if (begin_naming(&before))
            made = nd_path_link(existing, t->name);
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
    struct nd_held_signals before;
    int made = -1;

    if (begin_naming(&before))
        made = nd_descriptor_name(t->fd, name);
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

    (void)nd_descriptor_lock(t->fd);
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
    struct nd_held_signals before;
    int made = -1;

    if (!name) {
        errno = ENOMEM;
        return -1;
    }
    if (begin_naming(&before))
        made = nd_path_rename(t->name, name);
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

    if (sync && !nd_descriptor_sync(t->fd))
        return not_written(t, err);
    t->is_held = atomic_fetch_add(&n_held, 1) < HELD_MAX;
    if (t->is_held)
        twin = nd_descriptor_copy(t->fd);
    else
        atomic_fetch_sub(&n_held, 1);
    if (twin >= 0) /* some file systems report a full disk only when a descriptor is closed */
        return nd_descriptor_close(twin) == 0 ? ND_OK : not_written(t, err);
    if (t->name ? rename_whole(t) != 0 : name_it(t, whole_ending) != 0)
        return not_written(t, err);
    fd = t->fd;
    t->fd = -1;
    if (t->is_held)
        atomic_fetch_sub(&n_held, 1);
    t->is_held = false;
    return nd_descriptor_close(fd) == 0 ? ND_OK : not_written(t, err);
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
    return nd_path_rename(t->name, t->target);
}

/* Take the name without replacing anything: EEXIST. */
static int take_new_name(struct nd_temporary *t)
{
    return t->name ? nd_path_rename_new(t->name, t->target) : link_nameless(t, t->target, false);
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
            (void)nd_path_remove(t->name);
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
    struct nd_held_signals before;
    int made = -1;

    if (begin_naming(&before))
        made = nd_path_rename_new(t->name, name);
    if (made == 0)
        t->name = name;
    end_naming(&before);
    if (made == 0)
        free(before_name);
    return made;
}

enum nd_status nd_temporary_publish_for_now(struct nd_temporary *t, struct nd_error *err)
{
    char *name = nd_text_copy(t->target);
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
        if (nd_print_new(name, i == 1 ? "%s.neardup-kept" : "%s.neardup-kept-%u", t->target, i) <
            0) {
            *name = NULL;
            status = nd_fail(err, ND_ENOMEM, "out of memory");
            break;
        }
        made = nd_path_rename_new(t->name, *name);
        if (made != 0 && errno != EEXIST)
            status =
                nd_fail(err, ND_EIO, "%s: cannot be moved into place: %s", *name, strerror(errno));
    }
    if (made != 0 && t->name)
        (void)nd_path_remove(t->name);
    unclaim(t);
    return status;
}

void nd_temporary_discard(struct nd_temporary *t)
{
    if (!t)
        return;
    if (t->name)
        (void)nd_path_remove(t->name);
    unclaim(t);
}

int nd_temporary_spool(const char *folder)
{
    int fd = nd_descriptor_nameless(folder, false, true), because = EEXIST;
    struct nd_held_signals before;
    char *inside, *name;

    if (fd >= 0 || nd_print_new(&inside, "%s/", folder) < 0)
        return fd;
    while (fd < 0 && because == EEXIST && (name = make_name(inside, ""))) {
        if (begin_naming(&before))
            fd = nd_descriptor_open(name, ND_OPEN_BOTH | ND_OPEN_NEW | ND_OPEN_OWN);
        because = errno;
        if (fd >= 0)
            (void)nd_path_remove(name);
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

static void remove_if_stale(const char *name, bool is_whole)
{
    int fd = nd_descriptor_open(name, ND_OPEN_READ | ND_OPEN_ITSELF | ND_OPEN_NOW);
    struct nd_file_about about, named;

    if (fd < 0)
        return;
    /* Finished ones are not locked, but are published within a day. */
    if (nd_descriptor_about(fd, &about) && about.kind == ND_FILE_REGULAR &&
        nd_descriptor_is_own(fd) && (!is_whole || about.seconds < time(NULL) - DAY) &&
        nd_descriptor_lock(fd) && nd_path_about_itself(name, &named) &&
        nd_file_is_one(&about, &named))
        (void)nd_path_remove(name);
    (void)nd_descriptor_close(fd);
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
    struct nd_folder_list *list = nd_folder_list_open(folder);
    const char *entry;
    bool is_whole;
    char *name;

    if (!list)
        return;
    for (int i = 0; i < STALE_NAMES && (entry = nd_folder_list_next(list)); i++) {
        if (!is_ours(entry, &is_whole) || nd_print_new(&name, "%s/%s", folder, entry) < 0)
            continue;
        remove_if_stale(name, is_whole);
        free(name);
    }
    nd_folder_list_close(list);
}
