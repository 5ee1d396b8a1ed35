/* external_sort.h - records sorted in bounded memory: what does not fit waits in a temporary file */
#ifndef ND_BASE_FILE_EXTERNAL_SORT_H
#define ND_BASE_FILE_EXTERNAL_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/*
 * Records of one size, of which each begins with a 64-bit key, in the order of their keys; records
 * with equal keys in the order of `compare`, and otherwise in the order in which they were added.
 *
 *     add        memory fills with records; each time it is full, they are sorted and written to a
 *                file as a run
 *     next       all runs are merged; where they are too many for the memory, some of them are first
 *                merged into longer ones (Knuth, The Art of Computer Programming, volume 3, §5.4)
 *
 * Records that fit into memory are written to no file.
 */
struct nd_external_sort;

struct nd_external_sort_options {
    /* The folder for runs, which outlives the sort. */
    const char *tmp;
    /* A multiple of 8. */
    size_t record_bytes;
    /* For records and buffers; at least 64 KB, or it counts as that. */
    size_t memory_bytes;
    /* Negative where a comes first; NULL: none does. */
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

/* NULL: ND_ENOMEM. */
struct nd_external_sort *nd_external_sort_new(const struct nd_external_sort_options *options,
                                              struct nd_error *err);
/* NULL is allowed. */
void nd_external_sort_free(struct nd_external_sort *s);

/* Not after nd_external_sort_next.  ND_ENOMEM, ND_EIO: nothing but freeing may follow. */
enum nd_status nd_external_sort_add(struct nd_external_sort *s, const void *record,
                                    struct nd_error *err);

/* The next record in order, valid until the next call: 1; 0: there is none; < 0: as above. */
int nd_external_sort_next(struct nd_external_sort *s, const void **record, struct nd_error *err);

/* Bytes that were written to files, merges of runs included. */
uint64_t nd_external_sort_spilled(const struct nd_external_sort *s);

#endif
