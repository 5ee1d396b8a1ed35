/* plain_posix.c - what macOS and other systems do instead of what linux.c does */

/*
 * ND_PLAIN_SYSTEM compiles this file on Linux in place of linux.c, so that all tests can run on it
 * (cmake -DNEARDUP_PLAIN_SYSTEM=ON).  What only macOS has is compiled here and linked, but no macOS
 * has run it.
 */
#if !defined _WIN32 && (!defined __linux__ || defined ND_PLAIN_SYSTEM)
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
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <sys/random.h>
#include <xlocale.h>
#endif

/* ---- Files ---- */

int nd_descriptor_nameless(const char *folder, bool is_to_be_named, bool is_own)
{
    (void)folder;
    (void)is_to_be_named;
    (void)is_own;
    errno = ENOTSUP;
    return -1;
}

int nd_descriptor_name(int fd, const char *path)
{
    (void)fd;
    (void)path;
    errno = ENOTSUP;
    return -1;
}

bool nd_descriptor_path(int fd, char path[64])
{
    snprintf(path, 64, "/dev/fd/%d", fd);
    return true;
}

int nd_path_rename_new(const char *from, const char *to)
{
#ifdef __APPLE__
    if (renamex_np(from, to, RENAME_EXCL) == 0)
        return 0;
    if (errno != ENOTSUP)
        return -1;
#endif
    if (link(from, to) != 0)
        return -1;
    (void)unlink(from);
    return 0;
}

/* macOS leaves data in the disk's own memory unless it is asked for more than fsync. */
bool nd_descriptor_sync_data(int fd)
{
#ifdef __APPLE__
    if (fcntl(fd, F_FULLFSYNC) == 0)
        return true;
#endif
    return fsync(fd) == 0;
}

/* Write zeroes behind the file's end, and what it has once more. */
bool nd_descriptor_take_space(int fd, uint64_t at, uint64_t bytes)
{
    static const char zeroes[1 << 16];
    struct nd_file_about about;

    if (!nd_descriptor_about(fd, &about))
        return false;
    bytes += at;
    for (at = about.bytes; at < bytes; at += sizeof zeroes) {
        size_t some = bytes - at < sizeof zeroes ? (size_t)(bytes - at) : sizeof zeroes;

        if (!nd_descriptor_write_at(fd, zeroes, some, at))
            return false;
    }
    return true;
}

void nd_descriptor_hint_whole(int fd)
{
    (void)fd;
}

void nd_descriptor_hint_part(int fd, uint64_t at, uint64_t bytes)
{
    (void)fd;
    (void)at;
    (void)bytes;
}

/* ---- Pages ---- */

bool nd_pages_move_is_possible(void)
{
    return false;
}

bool nd_pages_extend(void *pages, size_t bytes, size_t new_bytes)
{
    (void)pages;
    (void)bytes;
    (void)new_bytes;
    return false;
}

void *nd_pages_move(void *pages, size_t bytes, void *place, size_t new_bytes)
{
    (void)pages;
    (void)bytes;
    (void)place;
    (void)new_bytes;
    return NULL;
}

/* New memory in place of the old one is what every system understands. */
void nd_pages_hint(void *pages, size_t bytes, enum nd_pages_hint hint)
{
    if (hint == ND_PAGES_FORGET)
        (void)nd_pages_fill(pages, bytes);
}

/* ---- Threads and processors ---- */

void nd_condition_init(struct nd_condition *c)
{
#ifdef __APPLE__
    (void)pthread_cond_init(&c->variable, NULL);
#else
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->variable, &attributes);
    (void)pthread_condattr_destroy(&attributes);
#endif
}

bool nd_condition_wait_until(struct nd_condition *c, struct nd_mutex *m, uint64_t ms)
{
#ifdef __APPLE__
    uint64_t now = nd_monotonic_ms(), left = ms > now ? ms - now : 0;
    const struct timespec wait = {.tv_sec = (time_t)(left / 1000),
                                  .tv_nsec = (long)(left % 1000) * 1000000};

    return pthread_cond_timedwait_relative_np(&c->variable, &m->lock, &wait) == 0;
#else
    const struct timespec until = {.tv_sec = (time_t)(ms / 1000),
                                   .tv_nsec = (long)(ms % 1000) * 1000000};

    return pthread_cond_timedwait(&c->variable, &m->lock, &until) == 0;
#endif
}

unsigned nd_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : (unsigned)n;
}

bool nd_processor_set_get(struct nd_processor_set *set)
{
    (void)set;
    return false;
}

void nd_processor_set_use(const struct nd_processor_set *set)
{
    (void)set;
}

int nd_processor_current(void)
{
    return -1;
}

/* ---- The process ---- */

/* getentropy gives 256 bytes at most. */
bool nd_random_bytes(void *to, size_t bytes)
{
    for (char *at = to; bytes;) {
        size_t some = bytes < 256 ? bytes : 256;

        if (getentropy(at, some) != 0)
            return false;
        at += some;
        bytes -= some;
    }
    return true;
}

uint64_t nd_process_peak_bytes(void)
{
#ifdef __APPLE__
    const uint64_t unit = 1;
#else
    const uint64_t unit = 1024;
#endif
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * unit : 0;
}

/* It is what it was at its most. */
uint64_t nd_process_bytes(void)
{
    return nd_process_peak_bytes();
}

bool nd_process_path(char *path, size_t capacity)
{
#ifdef __APPLE__
    uint32_t bytes = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;

    return _NSGetExecutablePath(path, &bytes) == 0;
#else
    ssize_t len = readlink("/proc/self/exe", path, capacity);

    if (len <= 0 || (size_t)len >= capacity)
        return false;
    path[len] = '\0';
    return true;
#endif
}

/* ---- Functions of the C library ---- */

#ifdef __APPLE__
struct sort_order {
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

static int context_first(void *context, const void *a, const void *b)
{
    const struct sort_order *order = context;

    return order->compare(a, b, order->context);
}

void nd_sort_with(void *base, size_t n, size_t size,
                  int (*compare)(const void *a, const void *b, void *context), void *context)
{
    struct sort_order order = {compare, context};

    qsort_r(base, n, size, &order, context_first);
}
#else
void nd_sort_with(void *base, size_t n, size_t size,
                  int (*compare)(const void *a, const void *b, void *context), void *context)
{
    qsort_r(base, n, size, compare, context);
}
#endif

size_t nd_stream_write(const void *data, size_t size, size_t n, FILE *stream)
{
    return fwrite(data, size, n, stream);
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
enum { ND_PLAIN_POSIX_IS_FOR_OTHERS };
#endif
