/* pool.h - the one place with threads: run a number of tasks, and a job and work ahead beside them
 */
#ifndef ND_BASE_POOL_H
#define ND_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <neardup/error.h>

struct nd_pool;

/* Call make(context) the first time that the process asks for this, whichever thread does; when it
 * returns the call is over.  *done starts as false.  For third-party libraries that have a state.
 */
void nd_once(atomic_bool *done, void (*make)(void *context), void *context);

/* n_threads workers, the calling thread among them; 0: one a processor that the process may use.
 * ND_EINVAL: too many; ND_ENOMEM: they cannot be started. */
enum { ND_POOL_THREADS_MAX = 1024 };
struct nd_pool *nd_pool_new(unsigned n_threads, struct nd_error *err);
void nd_pool_free(struct nd_pool *pool);
unsigned nd_pool_threads(const struct nd_pool *pool);

/*
 * Call run(context, task, worker) for every task 0 … n - 1 (at most 2^30), and return when all are
 * done.  Each worker begins with its own share of neighbouring tasks, the same in each run of n;
 * worker is 0 … threads - 1, and no two tasks run at once with the same worker.  Only the thread
 * that made the pool may call it, and no task may.
 */
void nd_pool_run(struct nd_pool *pool, size_t n,
                 void (*run)(void *context, size_t task, unsigned worker), void *context);

/*
 * Let job(context) run beside the coming nd_pool_run calls, at most one at a time; nd_pool_finish
 * waits for it, and runs it itself where no worker has begun it.
 */
void nd_pool_begin(struct nd_pool *pool, void (*job)(void *context), void *context);
void nd_pool_finish(struct nd_pool *pool);

/*
 * Work ahead, for threads that have nothing else to do: stages one after the other, each of tasks
 * that run like those of nd_pool_run.  A run, and the job, go before it.
 */
struct nd_stage {
    /* How many tasks there are; called once, by some thread, when the stage before is over. */
    size_t (*begin)(void *context);
    void (*run)(void *context, size_t task, unsigned worker);
    void *context;
};
enum { ND_STAGES = 4 }; /* at most */
/* Only when the work ahead that was given before has been ended. */
void nd_pool_ahead(struct nd_pool *pool, const struct nd_stage *stages, unsigned n);
/*
 * Take part until all stages before this one are over and it has begun; then end the work: what is
 * left of it is not done, and nobody is at it any more.  Nothing was given: nothing.
 */
void nd_pool_reach(struct nd_pool *pool, unsigned stage);
/* End it at once. */
void nd_pool_drop(struct nd_pool *pool);

#endif
