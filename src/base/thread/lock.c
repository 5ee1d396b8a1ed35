/* lock.c - a lock for readers together or one writer; who waits sleeps */
#define _GNU_SOURCE
#include "base/thread/lock.h"

#include <pthread.h>
#include <stdlib.h>

struct nd_rwlock {
    pthread_rwlock_t lock;
};

struct nd_rwlock *nd_rwlock_new(void)
{
    struct nd_rwlock *l = calloc(1, sizeof *l);
    pthread_rwlockattr_t kind;

    if (!l)
        return NULL;
    /* Otherwise a continuous stream of readers would keep a writer out for ever. */
    pthread_rwlockattr_init(&kind);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&l->lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    return l;
}

/* The lock is not destroyed, because in the child of a fork it may appear to be held. */
void nd_rwlock_free(struct nd_rwlock *lock)
{
    free(lock);
}

void nd_rwlock_read(struct nd_rwlock *lock)
{
    pthread_rwlock_rdlock(&lock->lock);
}

void nd_rwlock_write(struct nd_rwlock *lock)
{
    pthread_rwlock_wrlock(&lock->lock);
}

void nd_rwlock_unlock(struct nd_rwlock *lock)
{
    pthread_rwlock_unlock(&lock->lock);
}
