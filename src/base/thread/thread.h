/* thread.h - a mutex with its condition, for threads of a program that runs on */
#ifndef ND_BASE_THREAD_THREAD_H
#define ND_BASE_THREAD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/threads.h"

/*
 * A mutex and its condition.  nd_pool is for work that is divided and ends; these are for threads
 * that wait for work: the writer of a store, the workers of a server.
 */
struct nd_monitor {
    struct nd_mutex mutex;
    struct nd_condition changed;
};
void nd_monitor_init(struct nd_monitor *m);
void nd_monitor_release(struct nd_monitor *m);
void nd_monitor_enter(struct nd_monitor *m);
void nd_monitor_leave(struct nd_monitor *m);
/* Wait, within it, until it may have changed; or until a time of nd_monotonic_ms: false. */
void nd_monitor_wait(struct nd_monitor *m);
bool nd_monitor_wait_until(struct nd_monitor *m, uint64_t ms);
/* Wake all who wait. */
void nd_monitor_notify(struct nd_monitor *m);

#endif
