/* pool.c - the one place with threads: run a number of tasks, a job beside them, or work in turns
 */
#include "base/thread/pool.h"

#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/process.h"
#include "base/system/threads.h"
#include "base/thread/shares.h"

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_LOOKS = 20 };
enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE };

struct nd_pool {
    unsigned n_threads; /* the caller and n_threads - 1 helpers */
    struct nd_thread *thread;
    unsigned n_started;
    atomic_uint n_begun; /* helpers that have their number */
    unsigned *cpu;       /* where each worker stays, the caller first; NULL: anywhere */

    struct nd_mutex lock;
    struct nd_condition wake; /* signals the helpers: work, or stop */
    struct nd_condition done; /* signals the caller: all helpers are idle, or the job is over */

    /* The current run; guarded by `lock`, except for its tasks. */
    unsigned long round;
    struct nd_share *tasks; /* of each worker */
    void (*run)(void *context, size_t task, unsigned worker);
    void *context;
    int looks;       /* of an idle thread before it sleeps */
    bool is_open;    /* helpers may join this run */
    unsigned n_busy; /* helpers in the run; one that is at the job may miss it */

    /*
     * Changes whenever there may be something to do. An idle thread polls it for a while before it
     * sleeps.
     */
    atomic_uint news;

    enum job_state job_state;
    void (*job)(void *context);
    void *job_context;

    /* State of nd_pool_each and of leading; guarded by `lock`. */
    unsigned long eaches;
    void (*each)(void *context, unsigned worker);
    void *each_context;
    unsigned n_in_each; /* helpers */
    bool is_led;
    unsigned leader; /* the worker that may call nd_pool_run; 0, the caller, unless it is led */
    _Atomic(uint64_t) tasks_ns; /* as in nd_pool_led */
    uint64_t leaders_ns;

    struct nd_mutex shared; /* nd_pool_lock */

    atomic_uint n_waiting;  /* threads that would do tasks of who leads; changes under `lock` */
    atomic_bool is_writing; /* nd_pool_write_lock; set false under `lock` */
    struct reader {
        uint64_t waited; /* nd_pool_waited */
        atomic_bool is_in;
        char apart[55]; /* its own cache line */
    } * reader;         /* of each worker */

    bool stop;

    uint64_t process; /* the process that the threads belong to */
};

static void work(struct nd_pool *pool, unsigned worker)
{
    size_t task;

    while (nd_shares_take(pool->tasks, pool->n_threads, worker, &task))
        pool->run(pool->context, task, worker);
}

/*
 * Waking a sleeping thread takes tens of microseconds, as long as a short run, and the next run
 * usually comes soon. So an idle thread polls for a while, yielding to others that want the
 * processor. The lock is held before and after, not meanwhile. True: there is news.
 */
static bool look_out(struct nd_pool *pool, int looks)
{
    unsigned seen = atomic_load(&pool->news);

    nd_mutex_unlock(&pool->lock);
    for (int i = 0; i < looks && atomic_load(&pool->news) == seen; i++)
        nd_thread_yield();
    nd_mutex_lock(&pool->lock);
    return atomic_load(&pool->news) != seen;
}

static void await_news(struct nd_pool *pool, struct nd_condition *condition)
{
    if (!look_out(pool, pool->looks))
        nd_condition_wait(condition, &pool->lock);
}

/*
 * Wake the others; the lock is held.  The counter `news` is for threads that still look, the
 * condition for those that sleep.  No wake-up is lost: the state and `news` change only under the
 * lock, and a thread that decides to sleep has held it since it saw that `news` had not changed.
 */
static void tell(struct nd_pool *pool, struct nd_condition *condition)
{
    atomic_fetch_add(&pool->news, 1);
    nd_condition_tell_all(condition);
}

/* Run the waiting job. The lock is held before and after, not meanwhile. */
static void do_job(struct nd_pool *pool)
{
    pool->job_state = JOB_RUNNING;
    nd_mutex_unlock(&pool->lock);
    pool->job(pool->job_context);
    nd_mutex_lock(&pool->lock);
    pool->job_state = JOB_DONE;
    tell(pool, &pool->done);
}

static void run_each(struct nd_pool *pool, unsigned worker)
{
    nd_mutex_unlock(&pool->lock);
    pool->each(pool->each_context, worker);
    nd_mutex_lock(&pool->lock);
    if (--pool->n_in_each == 0)
        tell(pool, &pool->done);
}

/* For one who leads or is led: count the time. */
static void work_timed(struct nd_pool *pool, unsigned worker)
{
    uint64_t began = nd_thread_ns();

    work(pool, worker);
    atomic_fetch_add(&pool->tasks_ns, nd_thread_ns() - began);
}

/* Take part in the current run. The lock is held before and after, not meanwhile. */
static void join_run(struct nd_pool *pool, unsigned worker)
{
    bool is_led = pool->is_led;

    pool->n_busy++;
    nd_mutex_unlock(&pool->lock);
    if (is_led)
        work_timed(pool, worker);
    else
        work(pool, worker);
    nd_mutex_lock(&pool->lock);
    if (--pool->n_busy == 0)
        tell(pool, &pool->done);
}

/*
 * If there is a thread for every processor, each helper is bound to one; the caller's processor is
 * left to the caller, which is bound to it while it takes part in nd_pool_each. Otherwise the
 * kernel tends to wake a thread on the processor of the one that woke it, and takes milliseconds to
 * separate the two again; on two virtual processors that made every second run 5 to 10 percent
 * slower. With fewer threads than processors, another process may do the same, so threads are not
 * bound.
 */
_Static_assert((int)ND_POOL_THREADS_MAX <= (int)ND_PROCESSORS_MAX,
               "a set has a bit for each processor");

static bool is_in(const struct nd_processor_set *set, unsigned cpu)
{
    return set->bits[cpu / 64] >> cpu % 64 & 1;
}

static void add(struct nd_processor_set *set, unsigned cpu)
{
    set->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static unsigned count(const struct nd_processor_set *set)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ND_PROCESSORS_MAX; i++)
        n += is_in(set, i);
    return n;
}

/* False: out of memory. */
static bool find_cpus(struct nd_pool *pool)
{
    struct nd_processor_set set;
    int own = nd_processor_current();
    unsigned worker = 0;

    if (own < 0 || own >= ND_PROCESSORS_MAX || !nd_processor_set_get(&set) ||
        count(&set) != pool->n_threads || !is_in(&set, (unsigned)own))
        return true;
    pool->cpu = nd_alloc_array(pool->n_threads, sizeof *pool->cpu);
    if (!pool->cpu)
        return false;
    pool->cpu[worker++] = (unsigned)own;
    for (unsigned i = 0; i < ND_PROCESSORS_MAX; i++)
        if (is_in(&set, i) && i != (unsigned)own)
            pool->cpu[worker++] = i;
    return true;
}

/* Only a hint to the system; without it the work is the same. */
static void stay_on(unsigned cpu)
{
    struct nd_processor_set set = {{0}};

    add(&set, cpu);
    nd_processor_set_use(&set);
}

void nd_pool_unbound(const struct nd_pool *pool, void (*start)(void *context), void *context)
{
    struct nd_processor_set before, all = {{0}};
    bool is_bound = pool->cpu && nd_processor_set_get(&before);

    if (is_bound) {
        for (unsigned i = 0; i < pool->n_threads; i++)
            add(&all, pool->cpu[i]);
        nd_processor_set_use(&all);
    }
    start(context);
    if (is_bound)
        nd_processor_set_use(&before);
}

static void help(void *argument)
{
    struct nd_pool *pool = argument;
    unsigned worker = 1 + atomic_fetch_add(&pool->n_begun, 1);
    unsigned long seen = 0, eaches_seen = 0;

    if (pool->cpu)
        stay_on(pool->cpu[worker]);
    nd_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->round != seen) {
            seen = pool->round;
            if (pool->is_open)
                join_run(pool, worker);
        } else if (pool->eaches != eaches_seen) {
            eaches_seen = pool->eaches;
            run_each(pool, worker);
        } else if (pool->job_state == JOB_WAITING) {
            /*
             * Runs follow each other closely; the job is for the time in which the caller does what
             * only one thread can do.
             */
            if (!look_out(pool, JOB_LOOKS) && pool->job_state == JOB_WAITING)
                do_job(pool);
        } else if (pool->stop) {
            break;
        } else {
            await_news(pool, &pool->wake);
        }
    }
    nd_mutex_unlock(&pool->lock);
}

static unsigned processors(void)
{
    unsigned n = nd_processors();

    return n > ND_POOL_THREADS_MAX ? ND_POOL_THREADS_MAX : n;
}

unsigned nd_pool_worthwhile(unsigned n_threads)
{
    unsigned most = 2 * processors();

    if (n_threads <= 8 || n_threads <= most || n_threads > ND_POOL_THREADS_MAX)
        return n_threads;
    return most < 8 ? 8 : most;
}

static bool start_helpers(struct nd_pool *pool)
{
    bool ok = true;

    for (unsigned worker = 1; ok && worker < pool->n_threads; worker++) {
        ok = nd_thread_start(&pool->thread[pool->n_started], help, pool);
        pool->n_started += ok;
    }
    return ok;
}

/* Half a millisecond, about as long as a turn.  Of more threads than processors, those that look take
 * the time of those that work. */
enum { LOOKS = 2000, LOOKS_CROWDED = 4 };

static struct nd_pool *make_pool(unsigned n_threads, bool is_pinned, struct nd_error *err)
{
    struct nd_pool *pool;
    bool ok;

    if (n_threads > ND_POOL_THREADS_MAX) {
        nd_fail(err, ND_EINVAL, "threads = %u: must be at most %d", n_threads, ND_POOL_THREADS_MAX);
        return NULL;
    }
    pool = calloc(1, sizeof *pool);
    if (!pool) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    pool->n_threads = n_threads ? n_threads : processors();
    pool->looks = pool->n_threads > processors() ? LOOKS_CROWDED : LOOKS;
    pool->process = nd_process_number();
    nd_mutex_init(&pool->lock);
    nd_mutex_init(&pool->shared);
    nd_condition_init(&pool->wake);
    nd_condition_init(&pool->done);
    pool->thread = calloc(pool->n_threads, sizeof *pool->thread);
    pool->reader = calloc(pool->n_threads, sizeof *pool->reader);
    pool->tasks = nd_shares_new(pool->n_threads);
    ok = pool->thread && pool->reader && pool->tasks && (!is_pinned || find_cpus(pool)) &&
         start_helpers(pool);
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

/* The locks may look held, by a helper that was about to sleep; it is not in this process. */
void nd_pool_go_alone(struct nd_pool *pool)
{
    nd_mutex_init(&pool->lock);
    nd_mutex_init(&pool->shared);
    nd_condition_init(&pool->wake);
    nd_condition_init(&pool->done);
    pool->n_started = 0;
    pool->process = nd_process_number();
}

bool nd_pool_is_here(const struct nd_pool *pool)
{
    return pool->n_started == 0 || pool->process == nd_process_number();
}

/*
 * In the child of a fork, a lock that another thread held stays held, so the threads' state is not
 * touched there.
 */
static void stop_helpers(struct nd_pool *pool)
{
    nd_mutex_lock(&pool->lock);
    pool->stop = true;
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_started; i++)
        nd_thread_join(&pool->thread[i]);
    nd_condition_release(&pool->done);
    nd_condition_release(&pool->wake);
    nd_mutex_release(&pool->shared);
    nd_mutex_release(&pool->lock);
}

void nd_pool_free(struct nd_pool *pool)
{
    if (!pool)
        return;
    if (nd_pool_is_here(pool))
        stop_helpers(pool);
    nd_aligned_free(pool->tasks);
    free(pool->reader);
    free(pool->thread);
    free(pool->cpu);
    free(pool);
}

void nd_once(atomic_bool *done, void (*make)(void *context), void *context)
{
    if (atomic_load(done))
        return;
    nd_mutex_lock_process();
    if (!atomic_load(done))
        make(context);
    atomic_store(done, true);
    nd_mutex_unlock_process();
}

unsigned nd_pool_processors(const struct nd_pool *pool)
{
    unsigned n = processors();

    return n < pool->n_threads ? n : pool->n_threads;
}

unsigned nd_pool_threads(const struct nd_pool *pool)
{
    return pool->n_threads;
}

/* The time from here on is the leader's, until nd_pool_run adds what it is at the end. */
static void lead_run(struct nd_pool *pool)
{
    pool->leaders_ns -= nd_thread_ns();
    work_timed(pool, pool->leader);
}

/* The leader does short runs alone if nobody waits for anything, as dealing them out would take
 * longer.  With the write lock others will soon wait. */
static bool is_alone(struct nd_pool *pool)
{
    return pool->is_led && !atomic_load(&pool->is_writing) && !atomic_load(&pool->n_waiting);
}

static void run_alone(struct nd_pool *pool, size_t n,
                      void (*run)(void *context, size_t task, unsigned worker), void *context)
{
    uint64_t began = nd_thread_ns(), spent;

    for (size_t task = 0; task < n; task++)
        run(context, task, pool->leader);
    spent = nd_thread_ns() - began;
    pool->leaders_ns += spent;
    atomic_fetch_add(&pool->tasks_ns, spent);
}

static void end_run(struct nd_pool *pool)
{
    nd_mutex_lock(&pool->lock);
    pool->is_open = false;
    while (pool->n_busy)
        await_news(pool, &pool->done);
    nd_mutex_unlock(&pool->lock);
}

void nd_pool_run(struct nd_pool *pool, size_t n,
                 void (*run)(void *context, size_t task, unsigned worker), void *context)
{
    assert(n <= ND_SHARES_MAX);
    if (pool->n_started == 0 || n <= 1) {
        for (size_t task = 0; task < n; task++)
            run(context, task, pool->leader);
        return;
    }
    if (is_alone(pool)) {
        run_alone(pool, n, run, context);
        return;
    }
    nd_mutex_lock(&pool->lock);
    if (pool->is_led)
        nd_shares_give(pool->tasks, pool->n_threads, pool->leader, n);
    else
        nd_shares_deal(pool->tasks, pool->n_threads, n);
    pool->run = run;
    pool->context = context;
    pool->is_open = true;
    pool->round++;
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
    if (pool->is_led)
        lead_run(pool);
    else
        work(pool, pool->leader);
    end_run(pool);
    if (pool->is_led)
        pool->leaders_ns += nd_thread_ns();
}

void nd_pool_begin(struct nd_pool *pool, void (*job)(void *context), void *context)
{
    nd_mutex_lock(&pool->lock);
    pool->job = job;
    pool->job_context = context;
    pool->job_state = JOB_WAITING;
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
}

void nd_pool_finish(struct nd_pool *pool)
{
    nd_mutex_lock(&pool->lock);
    if (pool->job_state == JOB_WAITING)
        do_job(pool);
    while (pool->job_state == JOB_RUNNING)
        await_news(pool, &pool->done);
    pool->job_state = JOB_NONE;
    nd_mutex_unlock(&pool->lock);
}

void nd_pool_each(struct nd_pool *pool, void (*each)(void *context, unsigned worker), void *context)
{
    struct nd_processor_set before;
    bool stays;

    nd_mutex_lock(&pool->lock);
    pool->each = each;
    pool->each_context = context;
    pool->eaches++;
    pool->n_in_each = pool->n_started;
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
    stays = pool->cpu && nd_processor_set_get(&before);
    if (stays)
        stay_on(pool->cpu[0]);
    each(context, 0);
    if (stays)
        nd_processor_set_use(&before);
    nd_mutex_lock(&pool->lock);
    while (pool->n_in_each)
        await_news(pool, &pool->done);
    pool->is_led = false;
    pool->leader = 0;
    nd_mutex_unlock(&pool->lock);
}

/*
 * Ticket locks.  With nd_pool_each the workers handle batches b = 0, 1, 2, … at the same time, but
 * some steps (read the input, decide, write) must happen in the order of the batches.  Each such
 * step has a lock of its own; the worker of batch b waits for ticket b and admits ticket b + 1 when
 * it is done:
 *
 *      worker 0   read 0 | parse 0 | decide 0 | write 0 | read 2 | …
 *      worker 1            read 1  | parse 1  | decide 1 | write 1 | …
 *
 * The worker whose ticket is served may also lead: it deals out tasks with nd_pool_run, and those
 * who wait to lead do them in place of sleeping.  There is one leader at a time, since all leaders
 * of a pool share one ticket lock.
 */
void nd_pool_await(struct nd_pool *pool, struct nd_ticket_lock *lock, unsigned long ticket)
{
    if (atomic_load(&lock->serving) == ticket)
        return;
    nd_mutex_lock(&pool->lock);
    while (atomic_load(&lock->serving) != ticket)
        await_news(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
}

/* Do tasks of who leads, or wait for news.  The lock is held before and after, not meanwhile. */
static void help_or_wait(struct nd_pool *pool, unsigned worker)
{
    atomic_fetch_add(&pool->n_waiting, 1);
    if (pool->is_open && !nd_shares_are_empty(pool->tasks, pool->n_threads))
        join_run(pool, worker);
    else
        await_news(pool, &pool->wake);
    atomic_fetch_sub(&pool->n_waiting, 1);
}

void nd_pool_await_helping(struct nd_pool *pool, unsigned worker, struct nd_ticket_lock *lock,
                           unsigned long ticket)
{
    struct reader *own = &pool->reader[worker];

    if (atomic_load(&lock->serving) >= ticket)
        return;
    own->waited -= nd_thread_ns();
    nd_mutex_lock(&pool->lock);
    while (atomic_load(&lock->serving) < ticket)
        help_or_wait(pool, worker);
    nd_mutex_unlock(&pool->lock);
    own->waited += nd_thread_ns();
}

void nd_pool_lead(struct nd_pool *pool, unsigned worker, struct nd_ticket_lock *lock,
                  unsigned long ticket)
{
    nd_mutex_lock(&pool->lock);
    while (atomic_load(&lock->serving) != ticket)
        help_or_wait(pool, worker);
    pool->is_led = true;
    pool->leader = worker;
    nd_mutex_unlock(&pool->lock);
}

void nd_pool_pass_all(struct nd_pool *pool, struct nd_ticket_lock *lock)
{
    nd_mutex_lock(&pool->lock);
    atomic_store(&lock->serving, ULONG_MAX);
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
}

void nd_pool_pass(struct nd_pool *pool, struct nd_ticket_lock *lock)
{
    nd_mutex_lock(&pool->lock);
    atomic_fetch_add(&lock->serving, 1);
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
}

/*
 * Each reader has a flag of its own, so that readers share no cache line.  A reader sets its flag and
 * then looks whether there is a writer; a writer says that it is there and then looks at the flags.
 * All four are sequentially consistent, so that at least one of the two sees the other.
 */
void nd_pool_read_lock(struct nd_pool *pool, unsigned worker)
{
    struct reader *own = &pool->reader[worker];

    if (pool->n_started == 0)
        return;
    for (atomic_store(&own->is_in, true); atomic_load(&pool->is_writing);
         atomic_store(&own->is_in, true)) {
        atomic_store(&own->is_in, false);
        own->waited -= nd_thread_ns();
        nd_mutex_lock(&pool->lock);
        while (atomic_load(&pool->is_writing))
            help_or_wait(pool, worker);
        nd_mutex_unlock(&pool->lock);
        own->waited += nd_thread_ns();
    }
}

uint64_t nd_pool_waited(const struct nd_pool *pool, unsigned worker)
{
    return pool->reader[worker].waited;
}

void nd_pool_read_unlock(struct nd_pool *pool, unsigned worker)
{
    atomic_store(&pool->reader[worker].is_in, false);
}

/* A reader is soon gone, unless it has lost its processor. */
static void await_reader(struct nd_pool *pool, const struct reader *reader)
{
    uint64_t began;

    if (!atomic_load(&reader->is_in))
        return;
    began = nd_thread_ns();
    while (atomic_load(&reader->is_in))
        nd_thread_yield();
    pool->leaders_ns += nd_thread_ns() - began;
}

void nd_pool_write_lock(struct nd_pool *pool)
{
    if (pool->n_started == 0)
        return;
    atomic_store(&pool->is_writing, true);
    for (unsigned i = 0; i < pool->n_threads; i++)
        await_reader(pool, &pool->reader[i]);
}

void nd_pool_write_unlock(struct nd_pool *pool)
{
    if (pool->n_started == 0)
        return;
    nd_mutex_lock(&pool->lock);
    atomic_store(&pool->is_writing, false);
    tell(pool, &pool->wake);
    nd_mutex_unlock(&pool->lock);
}

struct nd_pool_led nd_pool_led(const struct nd_pool *pool)
{
    return (struct nd_pool_led){atomic_load(&pool->tasks_ns), pool->leaders_ns};
}

void nd_pool_lock(struct nd_pool *pool)
{
    nd_mutex_lock(&pool->shared);
}

void nd_pool_unlock(struct nd_pool *pool)
{
    nd_mutex_unlock(&pool->shared);
}

bool nd_pool_has_this_thread(const struct nd_pool *pool)
{
    for (unsigned i = 0; i < pool->n_started; i++)
        if (nd_thread_is_self(&pool->thread[i]))
            return true;
    return false;
}

/* ---- Workers lent to threads of the program's own ---- */

struct nd_lending {
    const struct nd_pool *pool;
    struct nd_mutex lock;
    struct nd_condition given_back;
    unsigned n_lent;
    bool all_lent; /* to the one thread that has one */
    struct loan {
        bool is_lent;
        uint64_t to; /* nd_thread_self */
    } loan[];        /* of each worker */
};

struct nd_lending *nd_lending_new(const struct nd_pool *pool)
{
    struct nd_lending *lending =
        calloc(1, sizeof *lending + nd_pool_threads(pool) * sizeof *lending->loan);

    if (!lending)
        return NULL;
    lending->pool = pool;
    nd_mutex_init(&lending->lock);
    nd_condition_init(&lending->given_back);
    return lending;
}

void nd_lending_go_alone(struct nd_lending *lending)
{
    nd_mutex_init(&lending->lock);
    nd_condition_init(&lending->given_back);
}

/*
 * Free it. Nothing that was made before a fork may be asked in the child, not even whether it is
 * locked.
 */
void nd_lending_free(struct nd_lending *lending)
{
    if (lending && nd_pool_is_here(lending->pool)) {
        nd_condition_release(&lending->given_back);
        nd_mutex_release(&lending->lock);
    }
    free(lending);
}

/* This thread must not wait: it has a worker, or works for one that has. */
static bool is_inside(const struct nd_lending *lending)
{
    for (unsigned i = 0; lending->n_lent && i < nd_pool_threads(lending->pool); i++)
        if (lending->loan[i].is_lent && lending->loan[i].to == nd_thread_self())
            return true;
    return nd_pool_has_this_thread(lending->pool);
}

static void lend(struct nd_lending *lending, unsigned worker)
{
    lending->loan[worker] = (struct loan){true, nd_thread_self()};
    lending->n_lent++;
}

bool nd_lending_borrow(struct nd_lending *lending, unsigned *worker)
{
    bool ok;

    nd_mutex_lock(&lending->lock);
    ok = !is_inside(lending);
    while (ok && (lending->all_lent || lending->n_lent == nd_pool_threads(lending->pool)))
        nd_condition_wait(&lending->given_back, &lending->lock);
    for (*worker = 0; ok && lending->loan[*worker].is_lent; ++*worker)
        ;
    if (ok)
        lend(lending, *worker);
    nd_mutex_unlock(&lending->lock);
    return ok;
}

bool nd_lending_borrow_all(struct nd_lending *lending)
{
    bool ok;

    nd_mutex_lock(&lending->lock);
    ok = lending->n_lent == 0;
    if (ok) {
        lend(lending, 0);
        lending->all_lent = true;
    }
    nd_mutex_unlock(&lending->lock);
    return ok;
}

bool nd_lending_borrow_rest(struct nd_lending *lending)
{
    bool ok;

    nd_mutex_lock(&lending->lock);
    ok = lending->n_lent == 1;
    lending->all_lent |= ok;
    nd_mutex_unlock(&lending->lock);
    return ok;
}

void nd_lending_give_back(struct nd_lending *lending, unsigned worker)
{
    nd_mutex_lock(&lending->lock);
    lending->loan[worker].is_lent = false;
    lending->n_lent--;
    lending->all_lent = false;
    nd_condition_tell_all(&lending->given_back);
    nd_mutex_unlock(&lending->lock);
}
