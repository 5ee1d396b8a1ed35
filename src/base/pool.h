/* pool.h - the one place with threads: run a number of tasks, a job beside them, or work in turns
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
 * The threads that are started block all signals from outside, so that the program's own threads
 * get them. ND_EINVAL: too many; ND_ENOMEM: they cannot be started. */
enum { ND_POOL_THREADS_MAX = 1024 };
struct nd_pool *nd_pool_new(unsigned n_threads, struct nd_error *err);
/* The same; where the threads are as many as the processors that the process may use, each that is
 * started stays on one of its own.  For a program that has one pool and nothing else to do. */
struct nd_pool *nd_pool_new_pinned(unsigned n_threads, struct nd_error *err);
/* In a child of the process that made the pool, where its threads are not: the memory alone. */
void nd_pool_free(struct nd_pool *pool);
unsigned nd_pool_threads(const struct nd_pool *pool);
/* Whether its threads are here: not in a child of the process that started them. */
bool nd_pool_is_here(const struct nd_pool *pool);

/*
 * Call run(context, task, worker) for every task 0 … n - 1 (at most 2^30), and return when all are
 * done.  Each worker begins with its own share of neighbouring tasks, the same in each run of n;
 * worker is 0 … threads - 1, and no two tasks run at once with the same worker.  Only the thread
 * that made the pool may call it, or the one that leads it, and no task may.
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
 * Let every thread of the pool call each(context, worker) once, to do whole pieces of work with
 * data of its own, and return when all have.  Where the pieces have an order, it is kept by turns.
 */
void nd_pool_each(struct nd_pool *pool, void (*each)(void *context, unsigned worker),
                  void *context);
/*
 * A turn starts from zero and goes through the tickets 0, 1, 2, …; none may be left out.  Wait
 * until it has come to this ticket …
 */
struct nd_turn {
    atomic_ulong now; /* the ticket whose turn it is */
};
void nd_pool_await(struct nd_pool *pool, struct nd_turn *turn, unsigned long ticket);
/* … and, of one turn of the pool, lead it until the turn is passed: nd_pool_run may be called, as
 * this worker, and those who wait to lead do tasks of it. */
void nd_pool_lead(struct nd_pool *pool, unsigned worker, struct nd_turn *turn,
                  unsigned long ticket);
/* Let the next ticket in. */
void nd_pool_pass(struct nd_pool *pool, struct nd_turn *turn);

/* Whether the calling thread is one that the pool has started. */
bool nd_pool_has_this_thread(const struct nd_pool *pool);

/* For a few instructions on what several threads change. */
void nd_pool_lock(struct nd_pool *pool);
void nd_pool_unlock(struct nd_pool *pool);

#endif
