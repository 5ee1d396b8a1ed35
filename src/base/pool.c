/* pool.c - the one place with threads: run a number of tasks, and a job and work ahead beside them
 */
#define _GNU_SOURCE
#include "base/pool.h"

#include "base/shares.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOB_LOOKS = 20 };
enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE };
enum stage_state { STAGE_WAITING, STAGE_BEGINS, STAGE_OPEN };

struct nd_pool {
    unsigned n_threads; /* the caller and n_threads - 1 helpers */
    pthread_t *thread;
    unsigned n_started;

    pthread_mutex_t lock;
    pthread_cond_t wake; /* helpers: work or stop */
    pthread_cond_t done; /* the caller: all helpers idle, or the job is over */

    /* The current run: guarded by lock but for its tasks. */
    atomic_ulong round;
    struct nd_share *tasks; /* of each worker */
    void (*run)(void *context, size_t task, unsigned worker);
    void *context;
    bool is_open;    /* helpers may join this round */
    unsigned n_busy; /* helpers in it: one that is at the job may miss the round, and nobody waits
                        for it */

    /* Changes whenever there may be something to do: what an idle thread looks at for a while
     * before it sleeps. */
    atomic_uint news;

    enum job_state job_state;
    void (*job)(void *context);
    void *job_context;

    /* Work ahead: guarded by lock but for its tasks. */
    struct nd_stage stage[ND_STAGES];
    unsigned n_stages, at_stage;
    enum stage_state stage_state;
    struct nd_share *tasks_ahead; /* of the stage */
    unsigned n_busy_ahead;        /* threads at them */
    atomic_bool is_held;          /* no more of them are begun */
    bool stop;
};

struct helper {
    struct nd_pool *pool;
    unsigned worker;
};

static void work(struct nd_pool *pool, unsigned worker)
{
    size_t task;

    while (nd_shares_take(pool->tasks, pool->n_threads, worker, &task))
        pool->run(pool->context, task, worker);
}

/*
 * Waking a sleeping thread takes tens of microseconds, the time of a short run, and the next run
 * comes soon: so look a while, giving way to whoever else wants the processor.  The lock is held
 * before and after, not meanwhile.  True: there is news.
 */
static bool look_out(struct nd_pool *pool, int looks)
{
    unsigned seen = atomic_load(&pool->news);

    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < looks && atomic_load(&pool->news) == seen; i++)
        sched_yield();
    pthread_mutex_lock(&pool->lock);
    return atomic_load(&pool->news) != seen;
}

static void await_news(struct nd_pool *pool, pthread_cond_t *condition)
{
    enum { LOOKS = 200 };

    if (!look_out(pool, LOOKS))
        pthread_cond_wait(condition, &pool->lock);
}

/* Tell the others; the lock is held, as they look at the state only with it. */
static void tell(struct nd_pool *pool, pthread_cond_t *condition)
{
    atomic_fetch_add(&pool->news, 1);
    pthread_cond_broadcast(condition);
}

/* Run the waiting job; the lock is held before and after, not meanwhile. */
static void do_job(struct nd_pool *pool)
{
    pool->job_state = JOB_RUNNING;
    pthread_mutex_unlock(&pool->lock);
    pool->job(pool->job_context);
    pthread_mutex_lock(&pool->lock);
    pool->job_state = JOB_DONE;
    tell(pool, &pool->done);
}

/* The next stage, once all tasks of this one are done; the lock is held. */
static void pass_stage(struct nd_pool *pool)
{
    if (pool->stage_state != STAGE_OPEN || pool->n_busy_ahead ||
        !nd_shares_are_empty(pool->tasks_ahead, pool->n_threads))
        return;
    pool->at_stage++;
    pool->stage_state = STAGE_WAITING;
}

static void begin_stage(struct nd_pool *pool)
{
    const struct nd_stage *stage = &pool->stage[pool->at_stage];

    pool->stage_state = STAGE_BEGINS;
    pthread_mutex_unlock(&pool->lock);
    nd_shares_deal(pool->tasks_ahead, pool->n_threads, stage->begin(stage->context));
    pthread_mutex_lock(&pool->lock);
    pool->stage_state = STAGE_OPEN;
    pass_stage(pool);
    tell(pool, &pool->wake);
    pthread_cond_broadcast(&pool->done);
}

/* Tasks of the stage, until they are over or a run asks for the helpers. */
static void run_stage(struct nd_pool *pool, unsigned worker)
{
    const struct nd_stage *stage = &pool->stage[pool->at_stage];
    unsigned long seen = atomic_load(&pool->round);
    size_t task;

    pool->n_busy_ahead++;
    pthread_mutex_unlock(&pool->lock);
    while (!atomic_load(&pool->is_held) && atomic_load(&pool->round) == seen &&
           nd_shares_take(pool->tasks_ahead, pool->n_threads, worker, &task))
        stage->run(stage->context, task, worker);
    pthread_mutex_lock(&pool->lock);
    pool->n_busy_ahead--;
    pass_stage(pool);
    tell(pool, &pool->done);
}

/* Take a part in the work ahead, if there is one to take; the lock is held before and after. */
static bool go_ahead(struct nd_pool *pool, unsigned worker)
{
    if (pool->at_stage == pool->n_stages || atomic_load(&pool->is_held))
        return false;
    if (pool->stage_state == STAGE_WAITING)
        begin_stage(pool);
    else if (pool->stage_state == STAGE_OPEN &&
             !nd_shares_are_empty(pool->tasks_ahead, pool->n_threads))
        run_stage(pool, worker);
    else
        return false;
    return true;
}

static void *help(void *argument)
{
    struct helper helper = *(struct helper *)argument;
    struct nd_pool *pool = helper.pool;
    unsigned long seen = 0;

    free(argument);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->round != seen) {
            seen = pool->round;
            if (!pool->is_open)
                continue;
            pool->n_busy++;
            pthread_mutex_unlock(&pool->lock);
            work(pool, helper.worker);
            pthread_mutex_lock(&pool->lock);
            if (--pool->n_busy == 0)
                tell(pool, &pool->done);
        } else if (pool->job_state == JOB_WAITING) {
            /* Runs come close upon one another; the job is for the time when the caller is busy
             * with what only one can do. */
            if (!look_out(pool, JOB_LOOKS) && pool->job_state == JOB_WAITING)
                do_job(pool);
        } else if (pool->stop) {
            break;
        } else if (!go_ahead(pool, helper.worker)) {
            await_news(pool, &pool->wake);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static unsigned processors(void)
{
    cpu_set_t set;

    /* It refuses where there are more than the set has room for. */
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? (long)CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > ND_POOL_THREADS_MAX ? ND_POOL_THREADS_MAX : (unsigned)n;
}

static bool start_helper(struct nd_pool *pool, unsigned worker)
{
    struct helper *helper = malloc(sizeof *helper);

    if (!helper)
        return false;
    *helper = (struct helper){pool, worker};
    if (pthread_create(&pool->thread[pool->n_started], NULL, help, helper) != 0) {
        free(helper);
        return false;
    }
    pool->n_started++;
    return true;
}

struct nd_pool *nd_pool_new(unsigned n_threads, struct nd_error *err)
{
    struct nd_pool *pool;
    bool ok;

    if (n_threads > ND_POOL_THREADS_MAX) {
        nd_fail(err, ND_EINVAL, "threads = %u: at most %d", n_threads, ND_POOL_THREADS_MAX);
        return NULL;
    }
    pool = calloc(1, sizeof *pool);
    if (!pool) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    pool->n_threads = n_threads ? n_threads : processors();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->thread = calloc(pool->n_threads, sizeof *pool->thread);
    pool->tasks = nd_shares_new(pool->n_threads);
    pool->tasks_ahead = nd_shares_new(pool->n_threads);
    ok = pool->thread && pool->tasks && pool->tasks_ahead;
    for (unsigned worker = 1; ok && worker < pool->n_threads; worker++)
        ok = start_helper(pool, worker);
    if (!ok) {
        unsigned n = pool->n_threads;

        nd_pool_free(pool);
        nd_fail(err, ND_ENOMEM, "cannot start %u threads", n);
        return NULL;
    }
    return pool;
}

void nd_pool_free(struct nd_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_started; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->tasks_ahead);
    free(pool->tasks);
    free(pool->thread);
    free(pool);
}

void nd_once(atomic_bool *done, void (*make)(void *context), void *context)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    if (atomic_load(done))
        return;
    (void)pthread_mutex_lock(&mutex);
    if (!atomic_load(done))
        make(context);
    atomic_store(done, true);
    (void)pthread_mutex_unlock(&mutex);
}

unsigned nd_pool_threads(const struct nd_pool *pool)
{
    return pool->n_threads;
}

void nd_pool_run(struct nd_pool *pool, size_t n,
                 void (*run)(void *context, size_t task, unsigned worker), void *context)
{
    assert(n <= ND_SHARES_MOST);
    if (pool->n_started == 0 || n <= 1) {
        for (size_t task = 0; task < n; task++)
            run(context, task, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    nd_shares_deal(pool->tasks, pool->n_threads, n);
    pool->run = run;
    pool->context = context;
    pool->is_open = true;
    pool->round++;
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    pthread_mutex_lock(&pool->lock);
    pool->is_open = false;
    while (pool->n_busy)
        await_news(pool, &pool->done);
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_begin(struct nd_pool *pool, void (*job)(void *context), void *context)
{
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->job_context = context;
    pool->job_state = JOB_WAITING;
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_finish(struct nd_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->job_state == JOB_WAITING)
        do_job(pool);
    while (pool->job_state == JOB_RUNNING)
        await_news(pool, &pool->done);
    pool->job_state = JOB_NONE;
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_ahead(struct nd_pool *pool, const struct nd_stage *stages, unsigned n)
{
    pthread_mutex_lock(&pool->lock);
    memcpy(pool->stage, stages, n * sizeof *stages);
    pool->n_stages = n;
    pool->at_stage = 0;
    pool->stage_state = STAGE_WAITING;
    atomic_store(&pool->is_held, false);
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

/* Begin no more of it, and wait for what has begun; the lock is held before and after. */
static void end_ahead(struct nd_pool *pool)
{
    atomic_store(&pool->is_held, true);
    while (pool->n_busy_ahead || pool->stage_state == STAGE_BEGINS)
        await_news(pool, &pool->done);
    pool->n_stages = pool->at_stage = 0;
}

void nd_pool_reach(struct nd_pool *pool, unsigned stage)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->at_stage < pool->n_stages &&
           (pool->at_stage < stage || (pool->at_stage == stage && pool->stage_state != STAGE_OPEN)))
        if (!go_ahead(pool, 0))
            await_news(pool, &pool->done);
    end_ahead(pool);
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_drop(struct nd_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    end_ahead(pool);
    pthread_mutex_unlock(&pool->lock);
}
