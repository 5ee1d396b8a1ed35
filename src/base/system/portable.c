/* portable.c - what no system does otherwise, in the C that all of them have */
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"

#include <stdlib.h>

bool nd_file_is_one(const struct nd_file_about *a, const struct nd_file_about *b)
{
    return a->inode && a->inode == b->inode && a->device == b->device;
}

void *nd_resize_array(void *array, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return realloc(array, bytes ? bytes : 1);
}

void *nd_find_last_byte(const void *in, int byte, size_t bytes)
{
    const unsigned char *at = in;

    while (bytes)
        if (at[--bytes] == (unsigned char)byte)
            return (void *)(uintptr_t)&at[bytes];
    return NULL;
}
