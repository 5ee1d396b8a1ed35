/* linux.c - what Linux does that other systems do not, or do otherwise */
#if defined __linux__ && !defined ND_PLAIN_SYSTEM
#define _GNU_SOURCE
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "base/system/pages.h"
#include "base/system/process.h"
#include "base/system/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- Files ---- */

/* O_EXCL: it gets no name later.  A later name is given through /proc, which must be there. */
int nd_descriptor_nameless(const char *folder, bool is_to_be_named, bool is_own)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | (is_to_be_named ? 0 : O_EXCL),
                  is_own ? 0600 : 0666);
    char path[64];

    if (fd < 0 || !is_to_be_named)
        return fd;
    (void)nd_descriptor_path(fd, path);
    if (access(path, F_OK) == 0)
        return fd;
    (void)close(fd);
    errno = ENOTSUP;
    return -1;
}

int nd_descriptor_name(int fd, const char *path)
{
    char open_file[64];

    (void)nd_descriptor_path(fd, open_file);
    return linkat(AT_FDCWD, open_file, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

bool nd_descriptor_path(int fd, char path[64])
{
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return true;
}

/* musl has no function for it. */
static int rename_new(const char *from, const char *to)
{
#ifdef __GLIBC__
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
#else
    enum { NO_REPLACE = 1 };

    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NO_REPLACE);
#endif
}

/* Some file systems have no rename without replacing. */
int nd_path_rename_new(const char *from, const char *to)
{
    if (rename_new(from, to) == 0)
        return 0;
    if ((errno != EINVAL && errno != ENOSYS) || link(from, to) != 0)
        return -1;
    (void)unlink(from);
    return 0;
}

bool nd_descriptor_sync_data(int fd)
{
    return fdatasync(fd) == 0;
}

bool nd_descriptor_take_space(int fd, uint64_t at, uint64_t bytes)
{
    int because;

    if (bytes == 0)
        return true;
    do
        because = posix_fallocate(fd, (off_t)at, (off_t)bytes);
    while (because == EINTR);
    errno = because;
    return because == 0;
}

void nd_descriptor_hint_whole(int fd)
{
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
}

void nd_descriptor_hint_part(int fd, uint64_t at, uint64_t bytes)
{
    (void)posix_fadvise(fd, (off_t)at, (off_t)bytes, POSIX_FADV_WILLNEED);
}

/* ---- Pages ---- */

/*
 * The thread sanitizer follows mmap and munmap but not mremap: it takes earlier writes of other
 * threads to the pages' new address for races.
 */
bool nd_pages_move_is_possible(void)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    return true;
#endif
}

bool nd_pages_extend(void *pages, size_t bytes, size_t new_bytes)
{
    return mremap(pages, bytes, new_bytes, 0) != MAP_FAILED;
}

void *nd_pages_move(void *pages, size_t bytes, void *place, size_t new_bytes)
{
    void *p = place ? mremap(pages, bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place)
                    : mremap(pages, bytes, new_bytes, MREMAP_MAYMOVE);

    return p == MAP_FAILED ? NULL : p;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void nd_pages_hint(void *pages, size_t bytes, enum nd_pages_hint hint)
{
    static const int advice[] = {
        [ND_PAGES_HUGE] = MADV_HUGEPAGE,
        [ND_PAGES_SMALL] = MADV_NOHUGEPAGE,
        [ND_PAGES_TOUCH] = MADV_POPULATE_WRITE,
        [ND_PAGES_FORGET] = MADV_DONTNEED,
    };

    (void)madvise(pages, bytes, advice[hint]);
}

/* ---- Threads and processors ---- */

void nd_condition_init(struct nd_condition *c)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->variable, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

bool nd_condition_wait_until(struct nd_condition *c, struct nd_mutex *m, uint64_t ms)
{
    const struct timespec until = {.tv_sec = (time_t)(ms / 1000),
                                   .tv_nsec = (long)(ms % 1000) * 1000000};

    return pthread_cond_timedwait(&c->variable, &m->lock, &until) == 0;
}

/* sched_getaffinity fails if there are more processors than the set has bits. */
unsigned nd_processors(void)
{
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? (long)CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : (unsigned)n;
}

_Static_assert(sizeof(cpu_set_t) == sizeof(struct nd_processor_set) &&
                   CPU_SETSIZE == ND_PROCESSORS_MAX && sizeof(long) == sizeof(uint64_t),
               "a set is a set of the system, bit by bit");

bool nd_processor_set_get(struct nd_processor_set *set)
{
    return sched_getaffinity(0, sizeof *set, (cpu_set_t *)(void *)set) == 0;
}

void nd_processor_set_use(const struct nd_processor_set *set)
{
    (void)sched_setaffinity(0, sizeof *set, (const cpu_set_t *)(const void *)set);
}

int nd_processor_current(void)
{
    return sched_getcpu();
}

/* ---- The process ---- */

bool nd_random_bytes(void *to, size_t bytes)
{
    return getrandom(to, bytes, 0) == (ssize_t)bytes;
}

uint64_t nd_process_peak_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

uint64_t nd_process_bytes(void)
{
    FILE *file = nd_stream_open("/proc/self/statm", "r");
    unsigned long long resident = 0, shared = 0;
    int found = file ? fscanf(file, "%*u %llu %llu", &resident, &shared) : 0;

    if (file)
        (void)fclose(file);
    return found == 2 && resident > shared ? (resident - shared) * (uint64_t)nd_page_bytes() : 0;
}

bool nd_process_path(char *path, size_t capacity)
{
    ssize_t len = readlink("/proc/self/exe", path, capacity);

    if (len <= 0 || (size_t)len >= capacity)
        return false;
    path[len] = '\0';
    return true;
}

/* ---- Functions of the C library ---- */

void nd_sort_with(void *base, size_t n, size_t size,
                  int (*compare)(const void *a, const void *b, void *context), void *context)
{
    qsort_r(base, n, size, compare, context);
}

size_t nd_stream_write(const void *data, size_t size, size_t n, FILE *stream)
{
    return fwrite_unlocked(data, size, n, stream);
}

double nd_read_double(const char *text, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the locale that always exists */
    double number;

    if (!c)
        return strtod(text, end);
    number = strtod_l(text, end, c);
    freelocale(c);
    return number;
}
#else
enum { ND_LINUX_IS_FOR_LINUX };
#endif
