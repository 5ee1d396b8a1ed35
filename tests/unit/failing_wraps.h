/* failing_wraps.h - allocations of the static library that a test can make fail, one at a time */
#ifndef FAILING_WRAPS_H
#define FAILING_WRAPS_H

#include <stddef.h>

/* The linker sends the library's allocations here (--wrap, in tests/CMakeLists.txt). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static long countdown = -1; /* allocations until one fails; negative: none does */
static int has_failed;

static int fails(void)
{
    int now = countdown == 0;

    has_failed |= now;
    countdown -= countdown >= 0;
    return now;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

#endif
