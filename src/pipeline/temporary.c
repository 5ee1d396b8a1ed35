/* temporary.c - files under a temporary name, until they are whole */
#define _GNU_SOURCE
#include "pipeline/temporary.h"

#include <neardup/run.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static atomic_bool abandoned;

void nd_run_abandon(void)
{
    atomic_store(&abandoned, true);
    for (struct nd_temporary *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->state) == LIVE)
            unlink(t->name);
}

static struct nd_temporary *claim(void)
{
    struct nd_temporary *t;

    for (t = atomic_load(&first); t; t = t->next) {
        int unused = UNUSED;

        if (atomic_compare_exchange_strong(&t->state, &unused, CLAIMED))
            return t;
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

struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err)
{
    struct nd_temporary *t = claim();

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
        *fd = open(t->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd < 0)
            atomic_store(&t->state, CLAIMED);
    } while (*fd < 0 && errno == EEXIST);
    if (*fd < 0) {
        nd_fail(err, ND_EIO, "%s: cannot be created: %s", target, strerror(errno));
        unclaim(t);
        return NULL;
    }
    return t;
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
