/* failing_malloc.h - malloc and mmap of the test's own, which fail once where they are told to */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define HAS_OWN_MALLOC 1
#else
#define HAS_OWN_MALLOC 0

/* These stand before the C library's, for this program and what is linked into it. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

static atomic_long until_failure; /* 0: none will fail */

static bool fails(void)
{
    return atomic_load(&until_failure) > 0 && atomic_fetch_sub(&until_failure, 1) == 1;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(p, bytes);
}

void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
    if (flags & MAP_ANONYMOUS && fails())
        return MAP_FAILED;
    return (void *)(uintptr_t)syscall(SYS_mmap, at, bytes, access, flags, file, offset);
}
#endif

#endif
