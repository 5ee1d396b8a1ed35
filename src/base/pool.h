/* pool.h - the one place with threads: run a number of tasks, and one job beside them */
#ifndef ND_BASE_POOL_H
#define ND_BASE_POOL_H

#include <stddef.h>

#include <neardup/error.h>

struct nd_pool;

/* n_threads workers, the calling thread among them; 0: one a processor that the process may use. */
struct nd_pool *nd_pool_new(unsigned n_threads, struct nd_error *err);
void nd_pool_free(struct nd_pool *pool);
unsigned nd_pool_threads(const struct nd_pool *pool);

/*
 * Call run(context, task, worker) for every task 0 … n - 1, and return when all are done.  Tasks
 * start in order; worker is 0 … threads - 1, and no two tasks run at once with the same worker.
 * Only the thread that made the pool may call it, and no task may.
 */
void nd_pool_run(struct nd_pool *pool, size_t n,
                 void (*run)(void *context, size_t task, unsigned worker), void *context);

/*
 * Let job(context) run beside the coming nd_pool_run calls, at most one at a time; nd_pool_finish
 * waits for it, and runs it itself where no worker has begun it.
 */
void nd_pool_begin(struct nd_pool *pool, void (*job)(void *context), void *context);
void nd_pool_finish(struct nd_pool *pool);

#endif
