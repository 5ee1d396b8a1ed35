/* memory.h - allocation with checked sizes, growing buffers, arenas, tables on huge pages */
#ifndef ND_BASE_MEMORY_H
#define ND_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n * size bytes from malloc, or NULL where the product overflows or memory is out. */
void *nd_alloc_array(size_t n, size_t size);

/*
 * Make *array hold at least `need` elements of `size` bytes, growing by half; *capacity follows.
 * False: out of memory, the array as it was.
 */
bool nd_array_reserve(void **array, size_t *capacity, size_t need, size_t size);

/* Bytes that grow.  Starts from zeroes; 64 bytes beyond `len` are always readable once it holds
 * any. */
struct nd_buffer {
    char *data;
    size_t len, capacity;
};
#define ND_BUFFER_PADDING 64
bool nd_buffer_reserve(struct nd_buffer *b, size_t len);
bool nd_buffer_append(struct nd_buffer *b, const void *data, size_t len);
void nd_buffer_release(struct nd_buffer *b);

/* Memory that is given back all at once.  Starts from zeroes. */
struct nd_arena {
    struct nd_arena_block *first, *current;
    size_t used;
};
void *nd_arena_alloc(struct nd_arena *a, size_t bytes);
/* A copy with ND_BUFFER_PADDING readable bytes beyond. */
char *nd_arena_copy(struct nd_arena *a, const void *data, size_t len);
void nd_arena_reset(struct nd_arena *a);
void nd_arena_release(struct nd_arena *a);

/* Zeroed memory for tables with random access, on huge pages where the system has them.  NULL: none
 * left. */
void *nd_table_alloc(size_t bytes);
void nd_table_free(void *table, size_t bytes);
/* Let it take memory only as it is used, where the first page would be a huge one. */
void nd_table_begin_small(void *table, size_t bytes);
/* Have all its pages made now, at once, where they would soon be met one by one. */
void nd_table_touch(void *table, size_t bytes);
/*
 * Grow a table from nd_table_alloc in place or by moving its pages: what it held stays, the rest is
 * zero, and the two sizes never need memory at once.  False: no memory, the table as it was.
 */
bool nd_table_grow(void **table, size_t bytes, size_t new_bytes);
/* The same for a table whose content is not wanted: all of it is zero, and where the two sizes are
 * large they do not need address space at once either. */
bool nd_table_renew(void **table, size_t bytes, size_t new_bytes);

/* A long array on such a table, growing by an eighth once it is large, so that little stands empty.
 * Starts from zeroes. */
struct nd_column {
    void *data;
    size_t bytes; /* allocated */
};
bool nd_column_reserve(struct nd_column *column, size_t n, size_t size);
/* Give back what is behind the first n elements. */
void nd_column_shrink(struct nd_column *column, size_t n, size_t size);
void nd_column_release(struct nd_column *column);

/* A column, still empty, and how many bytes it should begin with. */
struct nd_column_wish {
    struct nd_column *column;
    size_t bytes;
};
/*
 * Make columns side by side, so that all of them stand on huge pages though each for itself may be
 * less than one.  From then on each grows and is released by itself.  False: out of memory, none is
 * made.
 */
bool nd_columns_make(const struct nd_column_wish *wish, size_t n);

#endif
