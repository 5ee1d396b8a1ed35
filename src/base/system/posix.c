/* posix.c - threads, clocks, pages and the process, as all systems but Windows have them */
#ifndef _WIN32
#define _GNU_SOURCE
#include "base/system/c_functions.h"
#include "base/system/pages.h"
#include "base/system/process.h"
#include "base/system/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- Mutexes and conditions ---- */

void nd_mutex_init(struct nd_mutex *m)
{
    (void)pthread_mutex_init(&m->lock, NULL);
}

void nd_mutex_release(struct nd_mutex *m)
{
    (void)pthread_mutex_destroy(&m->lock);
}

void nd_mutex_lock(struct nd_mutex *m)
{
    (void)pthread_mutex_lock(&m->lock);
}

void nd_mutex_unlock(struct nd_mutex *m)
{
    (void)pthread_mutex_unlock(&m->lock);
}

static pthread_mutex_t of_process = PTHREAD_MUTEX_INITIALIZER;

void nd_mutex_lock_process(void)
{
    (void)pthread_mutex_lock(&of_process);
}

void nd_mutex_unlock_process(void)
{
    (void)pthread_mutex_unlock(&of_process);
}

void nd_condition_release(struct nd_condition *c)
{
    (void)pthread_cond_destroy(&c->variable);
}

void nd_condition_wait(struct nd_condition *c, struct nd_mutex *m)
{
    (void)pthread_cond_wait(&c->variable, &m->lock);
}

void nd_condition_tell_all(struct nd_condition *c)
{
    (void)pthread_cond_broadcast(&c->variable);
}

struct nd_rwlock {
    pthread_rwlock_t lock;
};

struct nd_rwlock *nd_rwlock_new(void)
{
    struct nd_rwlock *l = calloc(1, sizeof *l);
    pthread_rwlockattr_t kind;

    if (!l)
        return NULL;
    /* Otherwise a continuous stream of readers would keep a writer out for ever. */
    (void)pthread_rwlockattr_init(&kind);
#ifdef __GLIBC__
    (void)pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    (void)pthread_rwlock_init(&l->lock, &kind);
    (void)pthread_rwlockattr_destroy(&kind);
    return l;
}

/* The lock is not destroyed, because in the child of a fork it may appear to be held. */
void nd_rwlock_free(struct nd_rwlock *lock)
{
    free(lock);
}

void nd_rwlock_read(struct nd_rwlock *lock)
{
    (void)pthread_rwlock_rdlock(&lock->lock);
}

void nd_rwlock_write(struct nd_rwlock *lock)
{
    (void)pthread_rwlock_wrlock(&lock->lock);
}

void nd_rwlock_unlock(struct nd_rwlock *lock)
{
    (void)pthread_rwlock_unlock(&lock->lock);
}

/* ---- Threads ---- */

enum { STACK_BYTES = 8 << 20 };

/*
 * Signals from outside are for the program's own threads. Signals raised by an instruction of the
 * thread itself (a mapped file was truncated) must not be blocked: the process would die even if it
 * has a handler.
 */
static void signals_of_others(sigset_t *set)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

static void *run_thread(void *argument)
{
    struct nd_thread *thread = argument;

    thread->run(thread->context);
    return NULL;
}

/* Without an explicit size, a thread's stack would be as small as the process's limit. */
static int create(struct nd_thread *thread)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (!error)
        error = pthread_create(&thread->id, &attributes, run_thread, thread);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

/* A thread inherits the signal mask of the thread that starts it. */
bool nd_thread_start(struct nd_thread *thread, void (*run)(void *context), void *context)
{
    sigset_t all, before;
    int error;

    thread->run = run;
    thread->context = context;
    signals_of_others(&all);
    if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0)
        return false;
    error = create(thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

void nd_thread_join(struct nd_thread *thread)
{
    (void)pthread_join(thread->id, NULL);
}

uint64_t nd_thread_self(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}

bool nd_thread_is_self(const struct nd_thread *thread)
{
    return pthread_equal(thread->id, pthread_self()) != 0;
}

void nd_thread_yield(void)
{
    (void)sched_yield();
}

void nd_thread_sleep_ns(uint64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};

    (void)nanosleep(&pause, NULL);
}

/* ---- Clocks ---- */

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;

    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t nd_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t nd_monotonic_ms(void)
{
    return nd_monotonic_ns() / 1000000;
}

uint64_t nd_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t nd_process_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- Pages ---- */

enum { USE = PROT_READ | PROT_WRITE };

static void *or_null(void *map)
{
    return map == MAP_FAILED ? NULL : map;
}

size_t nd_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *nd_pages_alloc(size_t bytes)
{
    return or_null(mmap(NULL, bytes, USE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void *nd_pages_reserve(size_t bytes)
{
    return or_null(
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void nd_pages_free(void *pages, size_t bytes)
{
    (void)munmap(pages, bytes);
}

bool nd_pages_fill(void *place, size_t bytes)
{
    return mmap(place, bytes, USE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void *nd_pages_map(int fd, uint64_t offset, size_t bytes, enum nd_pages_map how, void *place)
{
    int flags = (how == ND_MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED) | (place ? MAP_FIXED : 0);

    return or_null(
        mmap(place, bytes, how == ND_MAP_READ ? PROT_READ : USE, flags, fd, (off_t)offset));
}

/* ---- A program's main ---- */

void nd_process_begin(int *n_arguments, char ***argument)
{
    (void)n_arguments;
    (void)argument;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool nd_process_has_stack(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= bytes;
}

/* The program's wishes are of the process, as its handlers of signals are. */
static bool (*abandon)(void);
static void (*lost)(void);

static void stop(int signal_number)
{
    if (abandon())
        raise(signal_number); /* SA_RESETHAND: the default action, once the handler returns */
}

/* All signals that end a process, except those that mean a fault of the program itself. */
static const int stops[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGXCPU,
                            SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF,
#ifdef SIGPOLL
                            SIGPOLL,
#endif
                            SIGABRT, SIGTRAP, SIGSYS};

void nd_signals_on_stop(bool (*call)(void))
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART},
                     before;

    abandon = call;
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof stops / sizeof *stops; i++)
        if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), */
    signal(SIGXFSZ, SIG_IGN); /* as is a file that may not grow */
}

static void stop_at_lost_page(int signal_number)
{
    static atomic_flag is_stopping = ATOMIC_FLAG_INIT;

    (void)signal_number;
    while (atomic_flag_test_and_set(&is_stopping)) /* another thread will end the process */
        pause();
    lost();
}

void nd_signals_on_lost_page(void (*call)(void))
{
    struct sigaction action = {.sa_handler = stop_at_lost_page};

    lost = call;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void nd_process_die(const char *message, int status)
{
    (void)!write(STDERR_FILENO, message, strlen(message));
    _exit(status);
}

void nd_process_die_of_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

void nd_process_become(const char *path, char **argument)
{
    execvp(path, argument);
}

/* ---- For all ---- */

_Static_assert(sizeof(sigset_t) <= sizeof(struct nd_held_signals), "a mask has room");

void nd_signals_hold(struct nd_held_signals *held)
{
    sigset_t all, before;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    memcpy(held, &before, sizeof before);
}

void nd_signals_release(const struct nd_held_signals *held)
{
    sigset_t before;

    memcpy(&before, held, sizeof before);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void *nd_library_load(const char *file)
{
    return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

const char *nd_library_why(void)
{
    return dlerror();
}

void *nd_library_function(void *library, const char *name)
{
    return dlsym(library, name);
}

uint64_t nd_process_number(void)
{
    return (uint64_t)getpid();
}

/* ---- Functions of the C library ---- */

int nd_compare_caseless(const char *a, const char *b)
{
    return strcasecmp(a, b);
}

int nd_compare_caseless_n(const char *a, const char *b, size_t n)
{
    return strncasecmp(a, b, n);
}

void *nd_find_bytes(const void *in, size_t in_bytes, const void *what, size_t what_bytes)
{
    return memmem(in, in_bytes, what, what_bytes);
}

char *nd_text_copy(const char *text)
{
    return strdup(text);
}

char *nd_text_copy_n(const char *text, size_t n)
{
    return strndup(text, n);
}

int nd_print_new(char **text, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vasprintf(text, format, arguments);
    va_end(arguments);
    return n;
}

ssize_t nd_read_line(char **line, size_t *capacity, int end, FILE *from)
{
    return getdelim(line, capacity, end, from);
}

bool nd_stream_seek(FILE *stream, uint64_t place)
{
    return fseeko(stream, (off_t)place, SEEK_SET) == 0;
}

/* ---- Memory ---- */

void *nd_aligned_alloc(size_t alignment, size_t bytes)
{
    return aligned_alloc(alignment, bytes);
}

void nd_aligned_free(void *memory)
{
    free(memory);
}
#else
enum { ND_POSIX_IS_FOR_OTHERS };
#endif
