/* pool.c - the one place with threads: run a number of tasks, a job beside them, or work in turns
 */
#define _GNU_SOURCE
#include "base/pool.h"

#include "base/shares.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOB_LOOKS = 20, STACK_BYTES = 8 << 20 };
enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE };

struct nd_pool {
    unsigned n_threads; /* the caller and n_threads - 1 helpers */
    pthread_t *thread;
    unsigned n_started;
    int cpu; /* the caller's, where helpers stay on others; else -1 */

    pthread_mutex_t lock;
    pthread_cond_t wake; /* helpers: work or stop */
    pthread_cond_t done; /* the caller: all helpers idle, or the job is over */

    /* The current run: guarded by lock but for its tasks. */
    unsigned long round;
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

    /* nd_pool_each, and who leads: guarded by lock. */
    unsigned long eaches;
    void (*each)(void *context, unsigned worker);
    void *each_context;
    unsigned n_in_each; /* helpers */
    bool is_led;
    unsigned leader; /* who may call nd_pool_run: 0 where it is not led */

    pthread_mutex_t shared; /* nd_pool_lock */
    bool stop;

    pid_t process; /* in which the threads are */
};

struct helper {
    struct nd_pool *pool;
    unsigned worker;
    int cpu; /* where it stays; -1: anywhere */
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
    enum { LOOKS = 2000 }; /* half a millisecond, as long as a turn */

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

static void run_each(struct nd_pool *pool, unsigned worker)
{
    pthread_mutex_unlock(&pool->lock);
    pool->each(pool->each_context, worker);
    pthread_mutex_lock(&pool->lock);
    if (--pool->n_in_each == 0)
        tell(pool, &pool->done);
}

/* A part in the current run; the lock is held before and after, not meanwhile. */
static void join_run(struct nd_pool *pool, unsigned worker)
{
    pool->n_busy++;
    pthread_mutex_unlock(&pool->lock);
    work(pool, worker);
    pthread_mutex_lock(&pool->lock);
    if (--pool->n_busy == 0)
        tell(pool, &pool->done);
}

/*
 * Where there is a thread for every processor, each helper stays on one; the caller's is left to
 * the caller, who stays there while it takes part in nd_pool_each.  A kernel likes to wake a thread
 * beside the one that woke it, and takes milliseconds to part the two again; on two virtual
 * processors that made one run in two 5 to 10 percent slower.  Where threads are fewer, another
 * process may have the same idea: all may go where they like.
 */
_Static_assert(ND_POOL_THREADS_MAX <= CPU_SETSIZE, "a set has a bit for each processor");

static bool find_cpus(unsigned n_threads, int *cpu)
{
    cpu_set_t set;
    int own = sched_getcpu();
    unsigned worker = 0;

    if (own < 0 || sched_getaffinity(0, sizeof set, &set) != 0 ||
        (unsigned)CPU_COUNT(&set) != n_threads || !CPU_ISSET((size_t)own, &set))
        return false;
    cpu[worker++] = own;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set) && (int)i != own)
            cpu[worker++] = (int)i;
    return true;
}

/* A wish: without it the work is the same. */
static void stay_on(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

static void *help(void *argument)
{
    struct helper helper = *(struct helper *)argument;
    struct nd_pool *pool = helper.pool;
    unsigned long seen = 0, eaches_seen = 0;

    free(argument);
    if (helper.cpu >= 0)
        stay_on(helper.cpu);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->round != seen) {
            seen = pool->round;
            if (pool->is_open)
                join_run(pool, helper.worker);
        } else if (pool->eaches != eaches_seen) {
            eaches_seen = pool->eaches;
            run_each(pool, helper.worker);
        } else if (pool->job_state == JOB_WAITING) {
            /* Runs come close upon one another; the job is for the time when the caller is busy
             * with what only one can do. */
            if (!look_out(pool, JOB_LOOKS) && pool->job_state == JOB_WAITING)
                do_job(pool);
        } else if (pool->stop) {
            break;
        } else {
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

/* Without a size of its own a thread's stack would be as small as the process's limit says. */
static int create(pthread_t *thread, struct helper *helper)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (!error)
        error = pthread_create(thread, &attributes, help, helper);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

static bool start_helper(struct nd_pool *pool, unsigned worker, int cpu)
{
    struct helper *helper = malloc(sizeof *helper);

    if (!helper)
        return false;
    *helper = (struct helper){pool, worker, cpu};
    if (create(&pool->thread[pool->n_started], helper) != 0) {
        free(helper);
        return false;
    }
    pool->n_started++;
    return true;
}

/*
 * What comes from outside is for the threads of the program; what an instruction of the thread
 * itself raises (a mapped file was cut short) must not be blocked: the process would die of it even
 * where it has a handler.
 */
static void signals_of_others(sigset_t *set)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

/* A thread begins with the signal mask of who starts it. */
static bool start_helpers(struct nd_pool *pool, bool is_pinned)
{
    int cpu[ND_POOL_THREADS_MAX];
    bool stay = is_pinned && find_cpus(pool->n_threads, cpu), ok = true;
    sigset_t all, before;

    pool->cpu = stay ? cpu[0] : -1;
    signals_of_others(&all);
    if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0)
        return false;
    for (unsigned worker = 1; ok && worker < pool->n_threads; worker++)
        ok = start_helper(pool, worker, stay ? cpu[worker] : -1);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static struct nd_pool *make_pool(unsigned n_threads, bool is_pinned, struct nd_error *err)
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
    pool->process = getpid();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->shared, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->thread = calloc(pool->n_threads, sizeof *pool->thread);
    pool->tasks = nd_shares_new(pool->n_threads);
    ok = pool->thread && pool->tasks && start_helpers(pool, is_pinned);
    if (!ok) {
        unsigned n = pool->n_threads;

        nd_pool_free(pool);
        nd_fail(err, ND_ENOMEM, "cannot start %u threads", n);
        return NULL;
    }
    return pool;
}

struct nd_pool *nd_pool_new(unsigned n_threads, struct nd_error *err)
{
    return make_pool(n_threads, false, err);
}

struct nd_pool *nd_pool_new_pinned(unsigned n_threads, struct nd_error *err)
{
    return make_pool(n_threads, true, err);
}

bool nd_pool_is_here(const struct nd_pool *pool)
{
    return pool->n_started == 0 || pool->process == getpid();
}

/* A lock that another thread held when the process forked stays held in the child: what is here of
 * the threads is left alone there. */
static void stop_helpers(struct nd_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_started; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->shared);
    pthread_mutex_destroy(&pool->lock);
}

void nd_pool_free(struct nd_pool *pool)
{
    if (!pool)
        return;
    if (nd_pool_is_here(pool))
        stop_helpers(pool);
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
            run(context, task, pool->leader);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    if (pool->is_led)
        nd_shares_give(pool->tasks, pool->n_threads, pool->leader, n);
    else
        nd_shares_deal(pool->tasks, pool->n_threads, n);
    pool->run = run;
    pool->context = context;
    pool->is_open = true;
    pool->round++;
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(pool, pool->leader);
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

void nd_pool_each(struct nd_pool *pool, void (*each)(void *context, unsigned worker), void *context)
{
    cpu_set_t before;
    bool stays;

    pthread_mutex_lock(&pool->lock);
    pool->each = each;
    pool->each_context = context;
    pool->eaches++;
    pool->n_in_each = pool->n_started;
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
    stays = pool->cpu >= 0 && sched_getaffinity(0, sizeof before, &before) == 0;
    if (stays)
        stay_on(pool->cpu);
    each(context, 0);
    if (stays)
        (void)sched_setaffinity(0, sizeof before, &before);
    pthread_mutex_lock(&pool->lock);
    while (pool->n_in_each)
        await_news(pool, &pool->done);
    pool->is_led = false;
    pool->leader = 0;
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_await(struct nd_pool *pool, struct nd_turn *turn, unsigned long ticket)
{
    if (atomic_load(&turn->now) == ticket)
        return;
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&turn->now) != ticket)
        await_news(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_lead(struct nd_pool *pool, unsigned worker, struct nd_turn *turn, unsigned long ticket)
{
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&turn->now) != ticket) {
        if (pool->is_open && !nd_shares_are_empty(pool->tasks, pool->n_threads))
            join_run(pool, worker);
        else
            await_news(pool, &pool->wake);
    }
    pool->is_led = true;
    pool->leader = worker;
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_pass(struct nd_pool *pool, struct nd_turn *turn)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&turn->now, 1);
    tell(pool, &pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void nd_pool_lock(struct nd_pool *pool)
{
    pthread_mutex_lock(&pool->shared);
}

void nd_pool_unlock(struct nd_pool *pool)
{
    pthread_mutex_unlock(&pool->shared);
}

bool nd_pool_has_this_thread(const struct nd_pool *pool)
{
    for (unsigned i = 0; i < pool->n_started; i++)
        if (pthread_equal(pool->thread[i], pthread_self()))
            return true;
    return false;
}
