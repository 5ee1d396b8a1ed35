/* block_ring.c - blocks worked on beside one another, which come out in the order they went in */
#include "input/streams/block_ring.h"

#include <stdlib.h>

bool nd_block_ring_is_full(const struct nd_block_ring *r)
{
    return r->filled - r->passed == r->n;
}

size_t nd_block_ring_next(const struct nd_block_ring *r)
{
    return (size_t)(r->filled % r->n);
}

size_t nd_block_ring_oldest(const struct nd_block_ring *r)
{
    return (size_t)(r->passed % r->n);
}

/* Within the monitor: work on the next block that nobody has taken.  False: there is none. */
static bool work_on_next(struct nd_block_ring *r)
{
    struct nd_ring_block *b;
    size_t place;

    if (r->taken == r->filled)
        return false;
    place = (size_t)(r->taken++ % r->n);
    b = &r->block[place];
    nd_monitor_leave(&r->monitor);
    b->has_failed = !r->work(r->owner, place);
    nd_monitor_enter(&r->monitor);
    b->is_done = true;
    nd_monitor_notify(&r->monitor);
    return true;
}

static void work_until_over(void *context)
{
    struct nd_block_ring *r = context;

    nd_monitor_enter(&r->monitor);
    while (!r->is_over)
        if (!work_on_next(r))
            nd_monitor_wait(&r->monitor);
    nd_monitor_leave(&r->monitor);
}

/* A thread that cannot be started is not missed. */
static void start_threads(void *context)
{
    struct nd_block_ring *r = context;

    while (r->n_started < r->n_threads &&
           nd_thread_start(&r->thread[r->n_started], work_until_over, r))
        r->n_started++;
    r->n_threads = r->n_started;
}

void nd_block_ring_close(struct nd_block_ring *r, bool more)
{
    nd_monitor_enter(&r->monitor);
    r->filled++;
    nd_monitor_notify(&r->monitor);
    nd_monitor_leave(&r->monitor);
    if (!more || r->n_started == r->n_threads)
        return;
    if (r->pool)
        nd_pool_unbound(r->pool, start_threads, r);
    else
        start_threads(r);
}

bool nd_block_ring_pass(struct nd_block_ring *r)
{
    struct nd_ring_block *b = &r->block[nd_block_ring_oldest(r)];

    nd_monitor_enter(&r->monitor);
    while (!b->is_done)
        if (!work_on_next(r))
            nd_monitor_wait(&r->monitor);
    nd_monitor_leave(&r->monitor);
    b->is_done = false;
    r->passed++;
    return !b->has_failed;
}

bool nd_block_ring_init(struct nd_block_ring *r, size_t n, unsigned threads)
{
    r->n = n;
    r->n_threads = threads;
    r->block = calloc(n, sizeof *r->block);
    r->thread = calloc(threads + 1, sizeof *r->thread);
    if (r->block && r->thread) {
        nd_monitor_init(&r->monitor);
        return true;
    }
    free(r->block);
    free(r->thread);
    return false;
}

void nd_block_ring_release(struct nd_block_ring *r)
{
    nd_monitor_enter(&r->monitor);
    r->is_over = true;
    nd_monitor_notify(&r->monitor);
    nd_monitor_leave(&r->monitor);
    for (unsigned i = 0; i < r->n_started; i++)
        nd_thread_join(&r->thread[i]);
    nd_monitor_release(&r->monitor);
    free(r->block);
    free(r->thread);
}
