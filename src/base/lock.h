/* lock.h - a lock for readers together or one writer; who waits sleeps */
#ifndef ND_BASE_LOCK_H
#define ND_BASE_LOCK_H

/*
 * Any number of readers, or one writer.  A writer that waits goes before readers that come later,
 * and readers that waited for a writer go before the next one.  A thread that holds it may not take
 * it again.  In the child of a fork it may be freed, whoever held it; it may be taken there only if
 * nobody held it.
 */
struct nd_rwlock;
struct nd_rwlock *nd_rwlock_new(void); /* NULL: out of memory */
void nd_rwlock_free(struct nd_rwlock *lock);
void nd_rwlock_read(struct nd_rwlock *lock);
void nd_rwlock_write(struct nd_rwlock *lock);
void nd_rwlock_unlock(struct nd_rwlock *lock);

#endif
