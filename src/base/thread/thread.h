/* thread.h - threads of a program that runs on: started, joined, woken by conditions */
#ifndef ND_BASE_THREAD_THREAD_H
#define ND_BASE_THREAD_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A mutex and its condition.  nd_pool is for work that is divided and ends; these are for threads
 * that wait for work: the writer of a store, the workers of a server.
 */
struct nd_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* waits by the monotonic clock */
};
bool nd_monitor_init(struct nd_monitor *m); /* false: out of memory */
void nd_monitor_release(struct nd_monitor *m);
void nd_monitor_enter(struct nd_monitor *m);
void nd_monitor_leave(struct nd_monitor *m);
/* Wait, within it, until it may have changed; or until a time of nd_monotonic_ms: false. */
void nd_monitor_wait(struct nd_monitor *m);
bool nd_monitor_wait_until(struct nd_monitor *m, uint64_t ms);
/* Wake all who wait. */
void nd_monitor_notify(struct nd_monitor *m);

/* Milliseconds of a clock that never goes back. */
uint64_t nd_monotonic_ms(void);
/* Nanoseconds of processor time that the calling thread has taken. */
uint64_t nd_thread_ns(void);

/* A thread that blocks all signals from outside.  False: it cannot be started. */
struct nd_thread {
    pthread_t id;
    void (*run)(void *context);
    void *context;
};
bool nd_thread_start(struct nd_thread *thread, void (*run)(void *context), void *context);
void nd_thread_join(struct nd_thread *thread);

#endif
