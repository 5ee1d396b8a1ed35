/* sorted_rows.h - texts of any length that are added in one order and read in another, from a file */
#ifndef ND_BASE_FILE_SORTED_ROWS_H
#define ND_BASE_FILE_SORTED_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

/*
 * Texts lie in a file in the order in which they are added.  In bounded memory are their keys with
 * their places, which are sorted (external_sort.h); texts that are added with one key, one after the
 * other, have one place.
 */
struct nd_sorted_rows;

/* The folder of its files, which it copies; memory for keys, beside a buffer of one megabyte.  NULL:
 * ND_EIO, ND_ENOMEM. */
struct nd_sorted_rows *nd_sorted_rows_new(const char *tmp, size_t memory_bytes,
                                          struct nd_error *err);
/* NULL is allowed. */
void nd_sorted_rows_free(struct nd_sorted_rows *r);

/* Not after nd_sorted_rows_next.  ND_EIO, ND_ENOMEM: nothing but freeing may follow. */
enum nd_status nd_sorted_rows_add(struct nd_sorted_rows *r, uint64_t key, const char *text,
                                  size_t len, struct nd_error *err);

/* Some of the texts, in the order of their keys, those with equal keys as they were added; valid
 * until the next call.  1; 0: there are no more; < 0: as above. */
int nd_sorted_rows_next(struct nd_sorted_rows *r, struct nd_view *texts, struct nd_error *err);

/* Bytes that were written to files, or are about to be. */
uint64_t nd_sorted_rows_spilled(const struct nd_sorted_rows *r);

#endif
