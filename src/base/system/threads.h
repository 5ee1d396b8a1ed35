/* threads.h - threads, mutexes, conditions, processors and clocks as the system has them */
#ifndef ND_BASE_SYSTEM_THREADS_H
#define ND_BASE_SYSTEM_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
typedef void *nd_system_mutex;     /* SRWLOCK */
typedef void *nd_system_condition; /* CONDITION_VARIABLE */
typedef void *nd_system_thread;    /* HANDLE */
#else
#include <pthread.h>
typedef pthread_mutex_t nd_system_mutex;
typedef pthread_cond_t nd_system_condition;
typedef pthread_t nd_system_thread;
#endif

struct nd_mutex {
    nd_system_mutex lock;
};
struct nd_condition {
    nd_system_condition variable; /* waits by the monotonic clock */
};

void nd_mutex_init(struct nd_mutex *m);
void nd_mutex_release(struct nd_mutex *m);
void nd_mutex_lock(struct nd_mutex *m);
void nd_mutex_unlock(struct nd_mutex *m);
/* The one lock that is there from the beginning, for what happens once in a process. */
void nd_mutex_lock_process(void);
void nd_mutex_unlock_process(void);

void nd_condition_init(struct nd_condition *c);
void nd_condition_release(struct nd_condition *c);
/* Unlock, wait until told, or for no reason, and lock again. */
void nd_condition_wait(struct nd_condition *c, struct nd_mutex *m);
/* False: this time of nd_monotonic_ms has come. */
bool nd_condition_wait_until(struct nd_condition *c, struct nd_mutex *m, uint64_t ms);
void nd_condition_tell_all(struct nd_condition *c);

/*
 * A lock that any number of readers hold, or one writer.  A waiting writer goes before readers that
 * come later (macOS and musl: as their pthread_rwlock has it), and readers that waited for a writer go before the next writer.  A
 * thread that holds it must not take it again.  In the child of a fork it may be freed whoever held
 * it, but taken only if nobody held it.
 */
struct nd_rwlock;
struct nd_rwlock *nd_rwlock_new(void); /* NULL: out of memory */
void nd_rwlock_free(struct nd_rwlock *lock);
void nd_rwlock_read(struct nd_rwlock *lock);
void nd_rwlock_write(struct nd_rwlock *lock);
void nd_rwlock_unlock(struct nd_rwlock *lock);

/* A thread with a stack of 8 MiB that signals from outside do not interrupt.  It stays where it is from
 * its start to its end. */
struct nd_thread {
    nd_system_thread id;
    void (*run)(void *context);
    void *context;
};
bool nd_thread_start(struct nd_thread *thread, void (*run)(void *context), void *context);
void nd_thread_join(struct nd_thread *thread);
/* A number that the calling thread has and no other that runs. */
uint64_t nd_thread_self(void);
bool nd_thread_is_self(const struct nd_thread *thread);
/* Let others run. */
void nd_thread_yield(void);
void nd_thread_sleep_ns(uint64_t ns);

/* How many processors this process may use, at least 1. */
unsigned nd_processors(void);
/* A set of processors by their numbers.  macOS binds no thread: there is none. */
enum { ND_PROCESSORS_MAX = 1024 };
struct nd_processor_set {
    uint64_t bits[ND_PROCESSORS_MAX / 64];
};
/* The processors that the calling thread may use.  False: the system does not say. */
bool nd_processor_set_get(struct nd_processor_set *set);
/* A hint: let the calling thread use only these. */
void nd_processor_set_use(const struct nd_processor_set *set);
/* The number of the one that runs the calling thread; -1: the system does not say. */
int nd_processor_current(void);

/* ---- Clocks ---- */

/* A clock that never goes back. */
uint64_t nd_monotonic_ms(void);
uint64_t nd_monotonic_ns(void);
/* Nanoseconds of processor time that the calling thread, and all threads of the process, have taken. */
uint64_t nd_thread_ns(void);
uint64_t nd_process_ns(void);

#endif
