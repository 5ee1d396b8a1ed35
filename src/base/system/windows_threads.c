/* windows_threads.c - threads, locks, processors and clocks of Windows */
#ifdef _WIN32
#include "base/system/threads.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <process.h>
#include <stdlib.h>

/* ---- Mutexes and conditions: a pointer each, which zero makes ready ---- */

_Static_assert(sizeof(struct nd_mutex) == sizeof(SRWLOCK), "a mutex is an SRWLOCK");
_Static_assert(sizeof(struct nd_condition) == sizeof(CONDITION_VARIABLE),
               "and a condition one of Windows");

static SRWLOCK *lock_of(struct nd_mutex *m)
{
    return (SRWLOCK *)&m->lock;
}

static CONDITION_VARIABLE *variable_of(struct nd_condition *c)
{
    return (CONDITION_VARIABLE *)&c->variable;
}

void nd_mutex_init(struct nd_mutex *m)
{
    InitializeSRWLock(lock_of(m));
}

void nd_mutex_release(struct nd_mutex *m)
{
    (void)m;
}

void nd_mutex_lock(struct nd_mutex *m)
{
    AcquireSRWLockExclusive(lock_of(m));
}

void nd_mutex_unlock(struct nd_mutex *m)
{
    ReleaseSRWLockExclusive(lock_of(m));
}

static SRWLOCK process_lock = SRWLOCK_INIT;

void nd_mutex_lock_process(void)
{
    AcquireSRWLockExclusive(&process_lock);
}

void nd_mutex_unlock_process(void)
{
    ReleaseSRWLockExclusive(&process_lock);
}

void nd_condition_init(struct nd_condition *c)
{
    InitializeConditionVariable(variable_of(c));
}

void nd_condition_release(struct nd_condition *c)
{
    (void)c;
}

void nd_condition_wait(struct nd_condition *c, struct nd_mutex *m)
{
    (void)SleepConditionVariableSRW(variable_of(c), lock_of(m), INFINITE, 0);
}

bool nd_condition_wait_until(struct nd_condition *c, struct nd_mutex *m, uint64_t ms)
{
    uint64_t now = nd_monotonic_ms(), longest = INFINITE - 1;

    if (now >= ms)
        return false;
    if (ms - now < longest)
        longest = ms - now;
    return SleepConditionVariableSRW(variable_of(c), lock_of(m), (DWORD)longest, 0) ||
           nd_monotonic_ms() < ms;
}

void nd_condition_tell_all(struct nd_condition *c)
{
    WakeAllConditionVariable(variable_of(c));
}

/* ---- Locks for many readers ---- */

/*
 * Phases: a writer that has finished lets in all readers that wait at that moment, before the next
 * writer; readers that come while a writer waits, wait.
 */
struct nd_rwlock {
    struct nd_mutex mutex;
    struct nd_condition changed;
    uint64_t phase; /* writers that have finished */
    unsigned reading, waiting_readers, waiting_writers;
    unsigned let_in; /* readers that waited for the last writer, and do not read yet */
    bool is_writing;
};

struct nd_rwlock *nd_rwlock_new(void)
{
    struct nd_rwlock *lock = calloc(1, sizeof *lock);

    if (!lock)
        return NULL;
    nd_mutex_init(&lock->mutex);
    nd_condition_init(&lock->changed);
    return lock;
}

void nd_rwlock_free(struct nd_rwlock *lock)
{
    free(lock);
}

void nd_rwlock_read(struct nd_rwlock *lock)
{
    uint64_t came;

    nd_mutex_lock(&lock->mutex);
    came = lock->phase;
    lock->waiting_readers++;
    while (lock->is_writing || (lock->waiting_writers && lock->phase == came))
        nd_condition_wait(&lock->changed, &lock->mutex);
    lock->waiting_readers--;
    if (lock->phase != came)
        lock->let_in--;
    lock->reading++;
    nd_mutex_unlock(&lock->mutex);
}

void nd_rwlock_write(struct nd_rwlock *lock)
{
    nd_mutex_lock(&lock->mutex);
    lock->waiting_writers++;
    while (lock->is_writing || lock->reading || lock->let_in)
        nd_condition_wait(&lock->changed, &lock->mutex);
    lock->waiting_writers--;
    lock->is_writing = true;
    nd_mutex_unlock(&lock->mutex);
}

void nd_rwlock_unlock(struct nd_rwlock *lock)
{
    nd_mutex_lock(&lock->mutex);
    if (lock->is_writing) {
        lock->is_writing = false;
        lock->phase++;
        lock->let_in = lock->waiting_readers;
    } else {
        lock->reading--;
    }
    nd_condition_tell_all(&lock->changed);
    nd_mutex_unlock(&lock->mutex);
}

/* ---- Threads ---- */

enum { STACK_BYTES = 8 << 20 };

static unsigned __stdcall run_thread(void *context)
{
    struct nd_thread *thread = context;

    thread->run(thread->context);
    return 0;
}

bool nd_thread_start(struct nd_thread *thread, void (*run)(void *context), void *context)
{
    thread->run = run;
    thread->context = context;
    thread->id = (HANDLE)_beginthreadex(NULL, STACK_BYTES, run_thread, thread,
                                        STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    return thread->id != NULL;
}

void nd_thread_join(struct nd_thread *thread)
{
    (void)WaitForSingleObject(thread->id, INFINITE);
    CloseHandle(thread->id);
}

uint64_t nd_thread_self(void)
{
    return GetCurrentThreadId();
}

bool nd_thread_is_self(const struct nd_thread *thread)
{
    return GetThreadId(thread->id) == GetCurrentThreadId();
}

void nd_thread_yield(void)
{
    (void)SwitchToThread();
}

void nd_thread_sleep_ns(uint64_t ns)
{
    Sleep((DWORD)((ns + 999999) / 1000000));
}

/* ---- Processors: those of the process's group, which has 64 at most ---- */

unsigned nd_processors(void)
{
    DWORD_PTR process, system;

    if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system) && process)
        return (unsigned)__builtin_popcountll(process);
    return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

bool nd_processor_set_get(struct nd_processor_set *set)
{
    DWORD_PTR process, system;

    *set = (struct nd_processor_set){0};
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system) || !process)
        return false; /* more than one group */
    set->bits[0] = process;
    return true;
}

void nd_processor_set_use(const struct nd_processor_set *set)
{
    if (set->bits[0])
        (void)SetThreadAffinityMask(GetCurrentThread(), set->bits[0]);
}

int nd_processor_current(void)
{
    return (int)GetCurrentProcessorNumber();
}

/* ---- Clocks ---- */

uint64_t nd_monotonic_ns(void)
{
    LARGE_INTEGER frequency, count;
    uint64_t per_second, ticks;

    (void)QueryPerformanceFrequency(&frequency);
    (void)QueryPerformanceCounter(&count);
    per_second = (uint64_t)frequency.QuadPart;
    ticks = (uint64_t)count.QuadPart;
    return ticks / per_second * 1000000000 + ticks % per_second * 1000000000 / per_second;
}

uint64_t nd_monotonic_ms(void)
{
    return nd_monotonic_ns() / 1000000;
}

static uint64_t ns_of(FILETIME kernel, FILETIME user)
{
    return 100 * (((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                  ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime));
}

uint64_t nd_thread_ns(void)
{
    FILETIME begin, end, kernel, user;

    return GetThreadTimes(GetCurrentThread(), &begin, &end, &kernel, &user) ? ns_of(kernel, user)
                                                                            : 0;
}

uint64_t nd_process_ns(void)
{
    FILETIME begin, end, kernel, user;

    return GetProcessTimes(GetCurrentProcess(), &begin, &end, &kernel, &user) ? ns_of(kernel, user)
                                                                              : 0;
}
#else
enum { ND_WINDOWS_THREADS_IS_FOR_OTHERS };
#endif
