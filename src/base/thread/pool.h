/* pool.h - the one place with threads: run a number of tasks, a job beside them, or work in turns
 */
#ifndef ND_BASE_THREAD_POOL_H
#define ND_BASE_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

struct nd_pool;

/*
 * Call make(context) at the first call in the process, in whichever thread that is; later and
 * concurrent calls return after it has returned. *done starts as false. For third-party libraries
 * with global state.
 */
void nd_once(atomic_bool *done, void (*make)(void *context), void *context);

/*
 * Start a pool of n_threads workers, including the calling thread; 0: one for each processor that
 * the process may use. The started threads block all signals from outside, so that the program's
 * own threads get them. ND_EINVAL: too many; ND_ENOMEM: they cannot be started.
 */
enum { ND_POOL_THREADS_MAX = 1024 };
struct nd_pool *nd_pool_new(unsigned n_threads, struct nd_error *err);
/*
 * Start a pool as nd_pool_new does; if there are as many threads as processors that the process may
 * use, each started thread is bound to a processor. For a program that has one pool and does
 * nothing else.
 */
struct nd_pool *nd_pool_new_pinned(unsigned n_threads, struct nd_error *err);
/*
 * The most threads that are worth starting for work on data in memory: n_threads, but no more than
 * two for each processor that the process may use, or eight, as some may wait for a disk.  More
 * push one another's data out of the caches; 64 threads on two processors took 1.7 times the
 * processor time of two.
 */
unsigned nd_pool_worthwhile(unsigned n_threads);
/*
 * In a child of the process that made the pool, where its threads do not exist, this frees only the
 * memory.
 */
void nd_pool_free(struct nd_pool *pool);
unsigned nd_pool_threads(const struct nd_pool *pool);
/* How many of them can run at the same time. */
unsigned nd_pool_processors(const struct nd_pool *pool);
/*
 * Call start(context), which starts threads that are no workers, so that they are bound to no
 * processor although the caller, a worker, may be.
 */
void nd_pool_unbound(const struct nd_pool *pool, void (*start)(void *context), void *context);
/* Whether its threads exist in this process: not in a child of the process that started them. */
bool nd_pool_is_here(const struct nd_pool *pool);
/*
 * In such a child, where the calling thread is the only one yet: let the calling thread do everything
 * from now on.  Nothing may have been run when the process forked.
 */
void nd_pool_go_alone(struct nd_pool *pool);

/*
 * Call run(context, task, worker) for every task 0 … n - 1 (at most 2^30), and return when all are
 * done. Each worker begins with its own range of consecutive tasks, the same in every run of n.
 * worker is 0 … threads - 1, and no two tasks run at the same time with the same worker. Only the
 * thread that made the pool may call it, or the one that leads it; no task may.
 */
void nd_pool_run(struct nd_pool *pool, size_t n,
                 void (*run)(void *context, size_t task, unsigned worker), void *context);

/*
 * Let job(context) run beside the next nd_pool_run calls; at most one job at a time. nd_pool_finish
 * waits for it, and runs it itself if no worker has started it.
 */
void nd_pool_begin(struct nd_pool *pool, void (*job)(void *context), void *context);
void nd_pool_finish(struct nd_pool *pool);

/*
 * Have every thread of the pool call each(context, worker) once, to do whole pieces of work with
 * data of its own, and return when all have returned. The order of the pieces is kept by turns
 * (below).
 */
void nd_pool_each(struct nd_pool *pool, void (*each)(void *context, unsigned worker),
                  void *context);
/*
 * A turn starts at zero and goes through the tickets 0, 1, 2, …, none of which may be skipped. Wait
 * until it has reached this ticket …
 */
struct nd_ticket_lock {
    atomic_ulong serving; /* the ticket being served */
};
void nd_pool_await(struct nd_pool *pool, struct nd_ticket_lock *lock, unsigned long ticket);
/* Await the turn as a worker that meanwhile does tasks of the leader; or until it has passed the
 * ticket. */
void nd_pool_await_helping(struct nd_pool *pool, unsigned worker, struct nd_ticket_lock *lock,
                           unsigned long ticket);
/*
 * … and, for one turn of the pool, also lead the pool until the turn is passed: nd_pool_run may be
 * called as this worker, and threads that wait to lead do its tasks.
 */
void nd_pool_lead(struct nd_pool *pool, unsigned worker, struct nd_ticket_lock *lock,
                  unsigned long ticket);
/* Admit the next ticket. */
void nd_pool_pass(struct nd_pool *pool, struct nd_ticket_lock *lock);
/* Let all who wait with nd_pool_await_helping go on, now and later: no ticket is served any more. */
void nd_pool_pass_all(struct nd_pool *pool, struct nd_ticket_lock *lock);
/*
 * Nanoseconds of processor time that runs of more than one task took, of all that leaders have made:
 * their tasks, on whichever threads; and the leaders, from the first task until the last was done,
 * whether they worked or waited.  To be read when nobody leads.
 */
struct nd_pool_led {
    uint64_t tasks, leaders;
};
struct nd_pool_led nd_pool_led(const struct nd_pool *pool);

/*
 * A lock beside the turns: for any workers to read, or for the one that leads to write.  Readers hold
 * it for short whiles and wait for nothing meanwhile; while they wait for it they do tasks of who
 * leads.  The order of who gets it changes no result, so what is read must not depend on it.
 */
void nd_pool_read_lock(struct nd_pool *pool, unsigned worker);
void nd_pool_read_unlock(struct nd_pool *pool, unsigned worker);
void nd_pool_write_lock(struct nd_pool *pool);
void nd_pool_write_unlock(struct nd_pool *pool);

/* Nanoseconds of processor time that a worker has spent in waiting for this lock and in
 * nd_pool_await_helping, helping included; for the worker itself. */
uint64_t nd_pool_waited(const struct nd_pool *pool, unsigned worker);

/* Whether the calling thread was started by the pool. */
bool nd_pool_has_this_thread(const struct nd_pool *pool);

/* A lock for a few instructions on data shared by several threads. */
void nd_pool_lock(struct nd_pool *pool);
void nd_pool_unlock(struct nd_pool *pool);

/*
 * ---- Workers lent to threads of the program's own, whose calls come at the same time ----
 *
 * Which call has the working memory of which worker of a pool.  NULL: no memory.
 */
struct nd_lending;
struct nd_lending *nd_lending_new(const struct nd_pool *pool);
/* Do as nd_pool_go_alone; nothing may have been lent. */
void nd_lending_go_alone(struct nd_lending *lending);
void nd_lending_free(struct nd_lending *lending);

/* Borrow any worker that is free; wait until one is.  False: this thread has one already, or
 * belongs to the pool, and would wait for itself. */
bool nd_lending_borrow(struct nd_lending *lending, unsigned *worker);
/* Borrow all workers, as worker 0, to call nd_pool_run; false: a thread has one. */
bool nd_lending_borrow_all(struct nd_lending *lending);
/* For who has one worker: and the others, if no thread has any of them. */
bool nd_lending_borrow_rest(struct nd_lending *lending);
/* Give back what this thread has: the worker, and all others where it has them. */
void nd_lending_give_back(struct nd_lending *lending, unsigned worker);

#endif
