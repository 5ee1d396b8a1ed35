/* pages.h - address space, memory in whole pages, files mapped into memory */
#ifndef ND_BASE_SYSTEM_PAGES_H
#define ND_BASE_SYSTEM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t nd_page_bytes(void);

/* Memory that is zero, in pages of its own; NULL: none. */
void *nd_pages_alloc(size_t bytes);
/* Address space without memory; NULL: none left. */
void *nd_pages_reserve(size_t bytes);
/* Give back memory or addresses, or a part in whole pages of either.  Windows: the addresses of a part
 * are free only once all parts are. */
void nd_pages_free(void *pages, size_t bytes);
/* Put memory that is zero at addresses that are reserved.  False: out of memory. */
bool nd_pages_fill(void *place, size_t bytes);

/* Whether pages can be moved and files be mapped at addresses that are reserved: of these systems,
 * Linux.  Where not, nd_pages_extend, nd_pages_move and places for files fail, and callers copy. */
bool nd_pages_move_is_possible(void);
/* Let memory grow where it is.  False: it cannot. */
bool nd_pages_extend(void *pages, size_t bytes, size_t new_bytes);
/* Move memory to reserved addresses, or NULL: to any, and let it be new_bytes long, new ones zero.
 * Return where it is; NULL: nothing has changed. */
void *nd_pages_move(void *pages, size_t bytes, void *place, size_t new_bytes);

/* Hints; the system may ignore them, except for ND_PAGES_FORGET, after which memory of nd_pages_alloc
 * reads as zero. */
enum nd_pages_hint { ND_PAGES_HUGE, ND_PAGES_SMALL, ND_PAGES_TOUCH, ND_PAGES_FORGET };
void nd_pages_hint(void *pages, size_t bytes, enum nd_pages_hint hint);

enum nd_pages_map {
    ND_MAP_READ,    /* read only */
    ND_MAP_PRIVATE, /* what is written stays in memory */
    ND_MAP_SHARED   /* what is written goes to the file */
};
/*
 * Map bytes of a file from a multiple of 64 KiB on; `place`: at these addresses, which are reserved, or
 * NULL: at any.  NULL with errno.  Unmap with nd_pages_free, the whole of it on Windows.  If the file
 * gets shorter, reading past its end is a fault (nd_signals_on_lost_page); Windows refuses to cut a
 * file that is mapped.
 */
void *nd_pages_map(int fd, uint64_t offset, size_t bytes, enum nd_pages_map how, void *place);

#endif
