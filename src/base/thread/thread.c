/* thread.c - threads of a program that runs on: started, joined, woken by conditions */
#define _POSIX_C_SOURCE 200809L
#include "base/thread/thread.h"

#include <signal.h>
#include <time.h>

bool nd_monitor_init(struct nd_monitor *m)
{
    pthread_condattr_t attributes;
    bool made;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&m->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (made && pthread_mutex_init(&m->mutex, NULL) != 0) {
        pthread_cond_destroy(&m->changed);
        return false;
    }
    return made;
}

void nd_monitor_release(struct nd_monitor *m)
{
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->mutex);
}

void nd_monitor_enter(struct nd_monitor *m)
{
    pthread_mutex_lock(&m->mutex);
}

void nd_monitor_leave(struct nd_monitor *m)
{
    pthread_mutex_unlock(&m->mutex);
}

void nd_monitor_wait(struct nd_monitor *m)
{
    pthread_cond_wait(&m->changed, &m->mutex);
}

bool nd_monitor_wait_until(struct nd_monitor *m, uint64_t ms)
{
    struct timespec until = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    return pthread_cond_timedwait(&m->changed, &m->mutex, &until) == 0;
}

void nd_monitor_notify(struct nd_monitor *m)
{
    pthread_cond_broadcast(&m->changed);
}

uint64_t nd_monotonic_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t nd_thread_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

static void *run_thread(void *argument)
{
    struct nd_thread *thread = argument;

    thread->run(thread->context);
    return NULL;
}

bool nd_thread_start(struct nd_thread *thread, void (*run)(void *context), void *context)
{
    sigset_t all, before;
    int failure;

    thread->run = run;
    thread->context = context;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&thread->id, NULL, run_thread, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

void nd_thread_join(struct nd_thread *thread)
{
    pthread_join(thread->id, NULL);
}
