/* c_functions.h - functions that not every system's C library has, or not under one name */
#ifndef ND_BASE_SYSTEM_C_FUNCTIONS_H
#define ND_BASE_SYSTEM_C_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h> /* ssize_t */

/* Compare bytes or texts, A to Z being a to z: in ASCII whatever the locale. */
int nd_compare_caseless(const char *a, const char *b);
int nd_compare_caseless_n(const char *a, const char *b, size_t n);
/* The first place where `what` stands in memory, or NULL; the last byte of this value, or NULL. */
void *nd_find_bytes(const void *in, size_t in_bytes, const void *what, size_t what_bytes);
void *nd_find_last_byte(const void *in, int byte, size_t bytes);
/* Copy a text, or at most n bytes of it, and end it; the caller frees it.  NULL: out of memory. */
char *nd_text_copy(const char *text);
char *nd_text_copy_n(const char *text, size_t n);
/* Print to memory that the caller frees; < 0: out of memory. */
int nd_print_new(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Let memory of malloc have room for n elements; NULL: out of memory, and it is as it was. */
void *nd_resize_array(void *array, size_t n, size_t size);
/* Sort as qsort does; compare() gets the context. */
void nd_sort_with(void *base, size_t n, size_t size,
                  int (*compare)(const void *a, const void *b, void *context), void *context);
/* Read up to and including the next such byte, as getdelim does; -1: the end or an error. */
ssize_t nd_read_line(char **line, size_t *capacity, int end, FILE *from);
/* Go to a place from the beginning. */
bool nd_stream_seek(FILE *stream, uint64_t place);
/* Write without a lock. */
size_t nd_stream_write(const void *data, size_t size, size_t n, FILE *stream);
/* Read a number as in the locale "C". */
double nd_read_double(const char *text, char **end);
/* Memory that begins at a multiple of `alignment`, which `bytes` is too; NULL: out of memory. */
void *nd_aligned_alloc(size_t alignment, size_t bytes);
void nd_aligned_free(void *memory);

#endif
