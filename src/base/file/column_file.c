/* column_file.c - columns that begin with a part of a file, or lie in a file of their own */

/*
 *     data                       mapped                                      bytes
 *     |== of a snapshot, private ==|== of the column's file, shared, or in memory ==|
 *
 * Either part may be empty.  The first one is not written to; it keeps its size.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL_PAGE ((size_t)1 << 16) /* a multiple of the page size of any machine */
#define STEP_MAX ((size_t)32 << 20)  /* no column of a file grows by more at a time */

static size_t round_up(size_t bytes)
{
    return (bytes + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
}

bool nd_column_map(struct nd_column *column, int fd, uint64_t offset, size_t bytes, size_t room)
{
    const int use = PROT_READ | PROT_WRITE;
    size_t mapped = round_up(bytes), whole = mapped + round_up(room);
    char *p = nd_address_reserve(whole);

    if (!p)
        return false;
    if (mmap(p + mapped, whole - mapped, use, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
        munmap(p, whole);
        return false;
    }
    if (mapped && mmap(p, mapped, use, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED) {
        munmap(p, whole);
        return false;
    }
    *column = (struct nd_column){.data = p, .bytes = whole, .mapped = mapped};
    return true;
}

/* Both parts, the first of which keeps its size, move to where there is room for more.  From one
 * multiple of 2 MiB to another, the kernel moves the tables of pages, and not each page. */
bool nd_column_move(struct nd_column *column, size_t bytes)
{
    const int how = MREMAP_MAYMOVE | MREMAP_FIXED;
    size_t rest = column->bytes - column->mapped;
    char *from = column->data, *to = nd_address_reserve(bytes);

    if (!to)
        return false;
    if (mremap(from + column->mapped, rest, bytes - column->mapped, how, to + column->mapped) ==
        MAP_FAILED) {
        munmap(to, bytes);
        return false;
    }
    if (column->mapped && mremap(from, column->mapped, column->mapped, how, to) == MAP_FAILED) {
        (void)mremap(to + column->mapped, bytes - column->mapped, rest, how, from + column->mapped);
        munmap(to, column->mapped);
        return false;
    }
    column->data = to;
    column->bytes = bytes;
    return true;
}

/* Take disk space, so that no page of a mapping is without any when it is written to. */
static bool take_space(int fd, size_t from, size_t to)
{
    int because;

    do
        because = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
    while (because == EINTR);
    errno = because;
    return because == 0;
}

bool nd_column_grow_file(struct nd_column *column, size_t need)
{
    size_t more = column->bytes / 8 < STEP_MAX ? column->bytes / 8 : STEP_MAX, rest;
    size_t bytes = round_up(need > column->bytes + more ? need : column->bytes + more);
    char *p;

    rest = column->bytes - column->mapped;
    if (!take_space(column->file - 1, rest, bytes - column->mapped))
        return false;
    if (rest)
        return nd_column_move(column, bytes);
    p = nd_address_reserve(bytes);
    if (!p)
        return false;
    if (mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, column->file - 1, 0) ==
        MAP_FAILED) {
        munmap(p, bytes);
        return false;
    }
    column->data = p;
    column->bytes = bytes;
    return true;
}

static bool write_at(int fd, const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = pwrite(fd, data + at, len - at, (off_t)at);

        if (n < 0 && errno != EINTR)
            return false;
        at += n < 0 ? 0 : (size_t)n;
    }
    return true;
}

bool nd_column_back(struct nd_column *column, int fd, size_t len)
{
    /* The mapped part ends on a whole page, and the last page may have been written to. */
    size_t kept = column->mapped ? column->mapped - SMALL_PAGE : 0, rest = column->bytes - kept;
    char *place = (char *)column->data + kept;
    void *p;

    if (rest) {
        if (!take_space(fd, 0, rest) || (len > kept && !write_at(fd, place, len - kept)))
            return false;
        p = mmap(NULL, rest, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
            return false;
        if (mremap(p, rest, rest, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
            munmap(p, rest);
            return false;
        }
    }
    column->mapped = kept;
    column->file = fd + 1;
    return true;
}

bool nd_column_view(struct nd_column *view, const struct nd_column *column, int fd, uint64_t offset,
                    size_t len)
{
    size_t mapped = len < column->mapped ? len : column->mapped, bytes = round_up(len);
    char *p = mmap(NULL, bytes ? bytes : SMALL_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return false;
    *view = (struct nd_column){.data = p, .bytes = bytes ? bytes : SMALL_PAGE};
    if ((mapped &&
         mmap(p, mapped, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED) ||
        (len > mapped && mmap(p + mapped, len - mapped, PROT_READ, MAP_SHARED | MAP_FIXED,
                              column->file - 1, 0) == MAP_FAILED)) {
        nd_column_release(view);
        return false;
    }
    return true;
}

void nd_column_restart(struct nd_column *column)
{
    nd_table_free(column->data, column->bytes);
    (void)!ftruncate(column->file - 1, 0);
    *column = (struct nd_column){.file = column->file};
}
