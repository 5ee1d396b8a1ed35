/* lock.h - a lock for readers together or one writer; who waits sleeps */
#ifndef ND_BASE_THREAD_LOCK_H
#define ND_BASE_THREAD_LOCK_H

/*
 * Held by any number of readers or by one writer. A waiting writer goes before readers that come
 * later, and readers that waited for a writer go before the next writer. A thread that holds the
 * lock must not take it again. In the child of a fork it may be freed whoever held it, but taken
 * only if nobody held it.
 */
struct nd_rwlock;
struct nd_rwlock *nd_rwlock_new(void); /* NULL: out of memory */
void nd_rwlock_free(struct nd_rwlock *lock);
void nd_rwlock_read(struct nd_rwlock *lock);
void nd_rwlock_write(struct nd_rwlock *lock);
void nd_rwlock_unlock(struct nd_rwlock *lock);

#endif
