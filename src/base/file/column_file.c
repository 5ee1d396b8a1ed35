/* column_file.c - columns that begin with a part of a file, or lie in a file of their own */

/*
 *     data                       mapped                                      bytes
 *     |== of a snapshot, private ==|== of the column's file, shared, or in memory ==|
 *
 * Either part may be empty.  The first one is not written to; it keeps its size.
 */
#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/system/descriptor.h"
#include "base/system/pages.h"

#define SMALL_PAGE ((size_t)1 << 16) /* a multiple of the page size of any machine */
#define STEP_MAX ((size_t)32 << 20)  /* no column of a file grows by more at a time */

/*
 * On a system that moves no pages and maps no file at reserved addresses, nothing of a column is
 * mapped from a snapshot, but read, and the column's own file is mapped anew whenever it grows.
 */

static size_t round_up(size_t bytes)
{
    return (bytes + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
}

/* Read in place of mapping. */
static bool read_column(struct nd_column *column, int fd, uint64_t offset, size_t bytes,
                        size_t room)
{
    size_t whole = round_up(bytes) + round_up(room);
    char *p = nd_table_alloc(whole);

    if (!p)
        return false;
    if (nd_descriptor_read_at(fd, p, bytes, offset) < 0) {
        nd_table_free(p, whole);
        return false;
    }
    *column = (struct nd_column){.data = p, .bytes = whole};
    return true;
}

bool nd_column_map(struct nd_column *column, int fd, uint64_t offset, size_t bytes, size_t room)
{
    size_t mapped = round_up(bytes), whole = mapped + round_up(room);
    char *p;

    if (!nd_pages_move_is_possible())
        return read_column(column, fd, offset, bytes, room);
    p = nd_address_reserve(whole);
    if (!p)
        return false;
    if ((whole > mapped && !nd_pages_fill(p + mapped, whole - mapped)) ||
        (mapped && !nd_pages_map(fd, offset, mapped, ND_MAP_PRIVATE, p))) {
        nd_pages_free(p, whole);
        return false;
    }
    *column = (struct nd_column){.data = p, .bytes = whole, .mapped = mapped};
    return true;
}

/* Both parts, the first of which keeps its size, move to where there is room for more.  From one
 * multiple of 2 MiB to another, the kernel moves the tables of pages, and not each page. */
bool nd_column_move(struct nd_column *column, size_t bytes)
{
    size_t rest = column->bytes - column->mapped;
    char *from = column->data, *to = nd_address_reserve(bytes);

    if (!to)
        return false;
    if (!nd_pages_move(from + column->mapped, rest, to + column->mapped, bytes - column->mapped)) {
        nd_pages_free(to, bytes);
        return false;
    }
    if (column->mapped && !nd_pages_move(from, column->mapped, to, column->mapped)) {
        (void)nd_pages_move(to + column->mapped, bytes - column->mapped, from + column->mapped,
                            rest);
        nd_pages_free(to, column->mapped);
        return false;
    }
    column->data = to;
    column->bytes = bytes;
    return true;
}

/* Map the whole file once more, longer than before. */
static bool map_anew(struct nd_column *column, size_t bytes)
{
    void *p = nd_pages_map(column->file - 1, 0, bytes, ND_MAP_SHARED, NULL);

    if (!p)
        return false;
    nd_table_free(column->data, column->bytes);
    column->data = p;
    column->bytes = bytes;
    return true;
}

bool nd_column_grow_file(struct nd_column *column, size_t need)
{
    size_t more = column->bytes / 8 < STEP_MAX ? column->bytes / 8 : STEP_MAX, rest;
    size_t bytes = round_up(need > column->bytes + more ? need : column->bytes + more);
    char *p;

    rest = column->bytes - column->mapped;
    /* Disk space is taken, so that no page of a mapping is without any when it is written to. */
    if (!nd_descriptor_take_space(column->file - 1, rest, bytes - column->mapped - rest))
        return false;
    if (!nd_pages_move_is_possible())
        return map_anew(column, bytes);
    if (rest)
        return nd_column_move(column, bytes);
    p = nd_address_reserve(bytes);
    if (!p)
        return false;
    if (!nd_pages_map(column->file - 1, 0, bytes, ND_MAP_SHARED, p)) {
        nd_pages_free(p, bytes);
        return false;
    }
    column->data = p;
    column->bytes = bytes;
    return true;
}

/* Let a file have all of a column, of which nothing is mapped. */
static bool back_anew(struct nd_column *column, int fd, size_t len)
{
    void *p = NULL;

    if (column->bytes) {
        if (!nd_descriptor_take_space(fd, 0, column->bytes) ||
            (len && !nd_descriptor_write_at(fd, column->data, len, 0)))
            return false;
        p = nd_pages_map(fd, 0, column->bytes, ND_MAP_SHARED, NULL);
        if (!p)
            return false;
        nd_table_free(column->data, column->bytes);
    }
    column->data = p;
    column->file = fd + 1;
    return true;
}

bool nd_column_back(struct nd_column *column, int fd, size_t len)
{
    /* The mapped part ends on a whole page, and the last page may have been written to. */
    size_t kept = column->mapped ? column->mapped - SMALL_PAGE : 0, rest = column->bytes - kept;
    char *place = (char *)column->data + kept;
    void *p;

    if (!nd_pages_move_is_possible())
        return back_anew(column, fd, len);
    if (rest) {
        if (!nd_descriptor_take_space(fd, 0, rest) ||
            (len > kept && !nd_descriptor_write_at(fd, place, len - kept, 0)))
            return false;
        p = nd_pages_map(fd, 0, rest, ND_MAP_SHARED, NULL);
        if (!p)
            return false;
        if (!nd_pages_move(p, rest, place, rest)) {
            nd_pages_free(p, rest);
            return false;
        }
    }
    column->mapped = kept;
    column->file = fd + 1;
    return true;
}

/* Map what is there of the file, which may be nothing. */
static bool view_anew(struct nd_column *view, const struct nd_column *column, size_t len)
{
    size_t bytes = len ? round_up(len) : SMALL_PAGE;
    void *p =
        len ? nd_pages_map(column->file - 1, 0, bytes, ND_MAP_READ, NULL) : nd_pages_alloc(bytes);

    if (p)
        *view = (struct nd_column){.data = p, .bytes = bytes};
    return p != NULL;
}

bool nd_column_view(struct nd_column *view, const struct nd_column *column, int fd, uint64_t offset,
                    size_t len)
{
    size_t mapped = len < column->mapped ? len : column->mapped, bytes = round_up(len);
    char *p;

    if (!nd_pages_move_is_possible())
        return view_anew(view, column, len);
    bytes = bytes ? bytes : SMALL_PAGE;
    p = nd_pages_alloc(bytes);
    if (!p)
        return false;
    *view = (struct nd_column){.data = p, .bytes = bytes};
    if ((mapped && !nd_pages_map(fd, offset, mapped, ND_MAP_READ, p)) ||
        (len > mapped &&
         !nd_pages_map(column->file - 1, 0, len - mapped, ND_MAP_READ, p + mapped))) {
        nd_column_release(view);
        return false;
    }
    return true;
}

void nd_column_restart(struct nd_column *column)
{
    nd_table_free(column->data, column->bytes);
    (void)nd_descriptor_resize(column->file - 1, 0);
    *column = (struct nd_column){.file = column->file};
}
