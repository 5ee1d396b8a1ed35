/* memory.h - allocation with checked sizes, growing buffers, arenas, tables on huge pages */
#ifndef ND_BASE_MEMORY_H
#define ND_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n * size bytes from malloc; NULL if the product overflows or if out of memory. */
void *nd_alloc_array(size_t n, size_t size);

/*
 * Make an array hold at least `need` elements, growing by half:
 *
 *     ND_RESERVE(list->item, &list->capacity, list->n + 1)
 *
 * The first argument is a pointer to the elements, of any type; the capacity counts elements.
 * False: out of memory, and both are as they were.
 */
#define ND_RESERVE(array, capacity, need)                                                          \
    nd_array_reserve(&(array), (capacity), (need), sizeof *(array))
/* Grow an array as ND_RESERVE does, given the address of the pointer.  It is read and written as
 * bytes, since no pointer but void * may be accessed through a void **. */
bool nd_array_reserve(void *array, size_t *capacity, size_t need, size_t size);

/*
 * A growing buffer. Starts from zeroes. Once it holds anything, 64 bytes beyond `len` are always
 * readable.
 */
struct nd_buffer {
    char *data;
    size_t len, capacity;
};
#define ND_BUFFER_PADDING 64
bool nd_buffer_reserve(struct nd_buffer *b, size_t len);
bool nd_buffer_append(struct nd_buffer *b, const void *data, size_t len);
void nd_buffer_release(struct nd_buffer *b);

/* Memory that is freed all at once. Starts from zeroes. */
struct nd_arena {
    struct nd_arena_block *first, *current;
    size_t used;
};
void *nd_arena_alloc(struct nd_arena *a, size_t bytes);
/* A copy with ND_BUFFER_PADDING readable bytes beyond. */
char *nd_arena_copy(struct nd_arena *a, const void *data, size_t len);
void nd_arena_reset(struct nd_arena *a);
void nd_arena_release(struct nd_arena *a);

/*
 * Allocate zeroed memory for tables with random access, on huge pages if the system has them. NULL:
 * out of memory.
 */
void *nd_table_alloc(size_t bytes);
void nd_table_free(void *table, size_t bytes);
/* Have memory be taken only as it is used, even if the first page would be a huge one. */
void nd_table_begin_small(void *table, size_t bytes);
/* Allocate all its pages now, if they will soon be used one by one. */
void nd_table_touch(void *table, size_t bytes);
/* Give back the memory of a part that is not needed, except for huge pages that are not all its own.
 * The address space stays. */
void nd_table_forget(void *part, size_t bytes);
/*
 * Grow a table from nd_table_alloc in place or by moving its pages: what it held stays, the rest is
 * zero, and the two sizes never need memory at once.  `table` is the address of a pointer, as
 * above.  False: no memory, the table as it was.
 */
bool nd_table_grow(void *table, size_t bytes, size_t new_bytes);
/*
 * Grow a table whose content is not needed: all of it becomes zero, and for large tables
 * the two sizes do not need address space at the same time either.
 */
bool nd_table_renew(void *table, size_t bytes, size_t new_bytes);

/*
 * A long array on such a table, which grows by an eighth once it is large, so that little of it is
 * unused. Starts from zeroes.
 */
struct nd_column {
    void *data;
    size_t bytes;  /* allocated */
    size_t mapped; /* of them, at the beginning, from a file */
    int file;      /* the descriptor plus 1 of the file that has the rest; 0: it is in memory */
};
/*
 * An empty column that begins with `bytes` of a file, at a multiple of the page size, with room for
 * `room` more.  Pages are read as they are needed, and what is written to them stays in memory.
 * The file must not get shorter.  False: no memory, or the file cannot be mapped (errno says why).
 */
bool nd_column_map(struct nd_column *column, int fd, uint64_t offset, size_t bytes, size_t room);
/*
 * Let a file that nobody else uses have the column's `len` bytes and all that comes, except for
 * whole pages that were mapped before.  The pages of the file are not anonymous memory, and the
 * system can write them to it and forget them.  Disk space is taken before it is used: without any,
 * nd_column_reserve fails with the reason in errno.  Such a column may not be shrunk.  From here on
 * the column owns the descriptor.  False, and nothing has changed: the reason is in errno.
 */
bool nd_column_back(struct nd_column *column, int fd, size_t len);
/* Empty the column and its file. */
void nd_column_restart(struct nd_column *column);
/*
 * Map the first `len` bytes of such a column once more, to be read only; where it begins with a
 * part of another file, `fd` and `offset` are those that nd_column_map was given.  They stay as they
 * are while the column grows.  False: the reason is in errno.
 */
bool nd_column_view(struct nd_column *view, const struct nd_column *column, int fd, uint64_t offset,
                    size_t len);
/* Room for n elements of this size.  False: no memory, or no disk space (errno), the column as it
 * was. */
bool nd_column_reserve(struct nd_column *column, size_t n, size_t size);
/* Free the memory after the first n elements. */
void nd_column_shrink(struct nd_column *column, size_t n, size_t size);
void nd_column_release(struct nd_column *column);
/* For column_file.c: address space that begins on a huge page, without memory; NULL: there is none. */
void *nd_address_reserve(size_t bytes);
/* For memory.c: the two kinds of columns with files grow, to `bytes` of whole pages, or to at least
 * `need`. */
bool nd_column_move(struct nd_column *column, size_t bytes);
bool nd_column_grow_file(struct nd_column *column, size_t need);

/* An empty column, and how many bytes it should have at first. */
struct nd_column_request {
    struct nd_column *column;
    size_t bytes;
};
/*
 * Allocate columns next to each other, so that all lie on huge pages even if each is smaller than
 * one. From then on each grows and is released independently. False: out of memory, and none is
 * allocated.
 */
bool nd_columns_make(const struct nd_column_request *request, size_t n);

#endif
