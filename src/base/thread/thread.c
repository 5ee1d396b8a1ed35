/* thread.c - a mutex with its condition, for threads of a program that runs on */
#include "base/thread/thread.h"

void nd_monitor_init(struct nd_monitor *m)
{
    nd_mutex_init(&m->mutex);
    nd_condition_init(&m->changed);
}

void nd_monitor_release(struct nd_monitor *m)
{
    nd_condition_release(&m->changed);
    nd_mutex_release(&m->mutex);
}

void nd_monitor_enter(struct nd_monitor *m)
{
    nd_mutex_lock(&m->mutex);
}

void nd_monitor_leave(struct nd_monitor *m)
{
    nd_mutex_unlock(&m->mutex);
}

void nd_monitor_wait(struct nd_monitor *m)
{
    nd_condition_wait(&m->changed, &m->mutex);
}

bool nd_monitor_wait_until(struct nd_monitor *m, uint64_t ms)
{
    return nd_condition_wait_until(&m->changed, &m->mutex, ms);
}

void nd_monitor_notify(struct nd_monitor *m)
{
    nd_condition_tell_all(&m->changed);
}
