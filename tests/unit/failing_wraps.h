/* failing_wraps.h - allocations of the static library that a test can make fail, one at a time */
#ifndef FAILING_WRAPS_H
#define FAILING_WRAPS_H

#include <stdatomic.h>
#include <stddef.h>

/* The linker sends the library's allocations here (--wrap, in tests/CMakeLists.txt). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static atomic_long countdown = -1; /* allocations until one fails; negative: none does */
static atomic_int has_failed;

static int fails(void)
{
    long before = atomic_load(&countdown);

    while (before >= 0 && !atomic_compare_exchange_weak(&countdown, &before, before - 1))
        ;
    if (before == 0)
        atomic_store(&has_failed, 1);
    return before == 0;
}

/* The blocks that are allocated and not freed, where the test is linked so that it sees both. */
#ifdef FAILING_COUNTS
void __real_free(void *p);
void __wrap_free(void *p);

static atomic_long blocks;

static void *counted(const void *before, void *now)
{
    blocks += now && !before;
    return now;
}

void __wrap_free(void *p)
{
    blocks -= p != NULL;
    __real_free(p);
}
#else
static void *counted(const void *before, void *now)
{
    (void)before;
    return now;
}
#endif

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(NULL, __real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(NULL, __real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : counted(p, __real_realloc(p, size));
}

/* And aligned memory, where the test is linked so. */
#ifdef FAILING_ALIGNED
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(align, size);
}
#endif

/* And tables, where the test is linked so that these are asked for, too. */
#ifdef FAILING_MAPS
#include <errno.h>
#include <sys/mman.h>

void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__real_mremap(void *p, size_t bytes, size_t new_bytes, int flags, void *to);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mremap(void *p, size_t bytes, size_t new_bytes, int flags, void *to);

void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
    if (fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, bytes, access, flags, file, offset);
}

/* Growing in place is tried first, and may fail at any time. */
void *__wrap_mremap(void *p, size_t bytes, size_t new_bytes, int flags, void *to)
{
    return flags && fails() ? MAP_FAILED : __real_mremap(p, bytes, new_bytes, flags, to);
}
#endif

#endif
