/* stopped_writes.h - a writer whose system calls end it, or fail, where the test tells them to; and a
 * disk that loses power
 *
 * For a test program that is linked with -Wl,--wrap of pwrite, fdatasync and ftruncate.  It may wrap
 * more calls, each of which is a step().
 */
#ifndef STOPPED_WRITES_H
#define STOPPED_WRITES_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"

ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes);

/* The status of a process that a step ends; the bytes that a disk writes all or none of. */
enum { STOPPED = 77, PIECE = 64, OPS_MAX = 4096 };

/*
 * The event at the chosen step: nothing; the process ends before the step, or in the middle of it;
 * or the step fails, or it and all that follow do.
 */
static enum { GO_ON, END_BEFORE, END_WITHIN, FAIL, FAIL_FROM } then;
static long steps_left; /* until that happens */

/* The steps of one writer, as they come to the disk. */
static struct op {
    enum { WRITE, TRUNCATE, SYNC, RENAME } kind;
    uint64_t offset;
    size_t bytes;
    unsigned char *data;
} op[OPS_MAX];
static size_t n_ops;
static bool recording;

static bool stops_here(void)
{
    long left = then == GO_ON ? 1 : steps_left--;

    return left == 0 || (left < 0 && then == FAIL_FROM);
}

/* True: the step fails. */
static bool step(void)
{
    if (!stops_here())
        return false;
    if (then != FAIL && then != FAIL_FROM)
        _exit(STOPPED);
    errno = ENOSPC;
    return true;
}

static void record(int kind, uint64_t offset, const void *data, size_t bytes)
{
    if (!recording)
        return;
    assert_true(n_ops < OPS_MAX);
    op[n_ops].kind = (unsigned)kind;
    op[n_ops].offset = offset;
    op[n_ops].bytes = bytes;
    op[n_ops].data = malloc(bytes + 1);
    assert_non_null(op[n_ops].data);
    if (bytes)
        memcpy(op[n_ops].data, data, bytes);
    n_ops++;
}

static void forget_ops(void)
{
    while (n_ops)
        free(op[--n_ops].data);
}

/* A full disk takes a part. */
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    if (stops_here()) {
        if (then != END_BEFORE)
            (void)!__real_pwrite(fd, data, bytes / 2, offset);
        if (then != FAIL && then != FAIL_FROM)
            _exit(STOPPED);
        errno = ENOSPC;
        return -1;
    }
    record(WRITE, (uint64_t)offset, data, bytes);
    return __real_pwrite(fd, data, bytes, offset);
}

int __wrap_fdatasync(int fd)
{
    if (step())
        return -1;
    record(SYNC, 0, NULL, 0);
    return __real_fdatasync(fd);
}

int __wrap_ftruncate(int fd, off_t bytes)
{
    if (step())
        return -1;
    record(TRUNCATE, (uint64_t)bytes, NULL, 0);
    return __real_ftruncate(fd, bytes);
}

static bool is_lucky(void)
{
    static uint64_t tossed;

    return nd_mix64(++tossed) & 1;
}

/*
 * A disk that loses power after so many steps: what was written before the last sync is there; of
 * what came after it any pieces, in any order.  The file's length is one of those that it had.  image
 * is large enough for all of them; returns its length.
 */
static size_t image_after(const unsigned char *old, size_t old_len, size_t ended, size_t synced,
                          unsigned char *image)
{
    size_t len = old_len;

    memcpy(image, old, old_len);
    for (size_t i = 0; i < ended; i++) {
        const struct op *o = &op[i];
        bool is_sure = i < synced;

        if (o->kind == TRUNCATE && (is_sure || is_lucky())) {
            if (o->offset < len)
                memset(image + o->offset, 0, len - o->offset);
            len = o->offset;
        }
        for (size_t at = 0; o->kind == WRITE && at < o->bytes;) {
            size_t some = PIECE - (o->offset + at) % PIECE;

            some = some < o->bytes - at ? some : o->bytes - at;
            if (is_sure || is_lucky()) {
                memcpy(image + o->offset + at, o->data + at, some);
                if (o->offset + at + some > len)
                    len = o->offset + at + some;
            }
            at += some;
        }
    }
    return len;
}

#endif
