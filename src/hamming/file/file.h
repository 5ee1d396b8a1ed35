/* file.h - index files from within: open ones, and bytes that are in memory already */
#ifndef ND_HAMMING_FILE_FILE_H
#define ND_HAMMING_FILE_FILE_H

#include "hamming/file/segment.h"

struct nd_hamming_file {
    const unsigned char *data;
    size_t len;
    void *map;    /* NULL: the bytes are the caller's */
    bool is_lazy; /* what nd_hamming_file_check reads was not read */
    struct nd_hamming_header header;
    unsigned holders;                /* bit i: page i has this header */
    struct nd_hamming_recipe recipe; /* len 0: none; checked with the segments */
    struct nd_hamming_scheme scheme;
    unsigned first, n; /* segments that are open: from the first on to the last */
    struct nd_hamming_segment segment[ND_HAMMING_SEGMENTS_MAX];
};

/* How many bytes the ids take beyond what numbers would; 0 where all are numbers. */
uint64_t nd_hamming_text_bytes(const struct nd_hamming_entries *entries);
/* nd_hamming_file_plan, where ids are texts that take so many bytes more than numbers. */
enum nd_status nd_hamming_file_plan_texts(const struct nd_hamming_shape *shape, uint64_t count,
                                          uint64_t text_bytes, struct nd_hamming_plan *plan,
                                          struct nd_error *err);

/* As nd_hamming_file_open and _check, of bytes that stay the caller's; aligned to 64.  _init_lazily:
 * without _check. */
enum nd_status nd_hamming_file_init(struct nd_hamming_file **file, const void *data, size_t len,
                                    struct nd_error *err);

enum nd_status nd_hamming_file_init_lazily(struct nd_hamming_file **file, const void *data,
                                           size_t len, struct nd_error *err);

/*
 * Read the header and map the file, with no segment open yet.  Messages name `path`.  Statuses of
 * nd_hamming_file_open.
 */
enum nd_status nd_hamming_file_map(struct nd_hamming_file **file, int fd, const char *path,
                                   struct nd_error *err);
/* Check and open the segments from `first` on, once; all of them, unless file->is_lazy. */
enum nd_status nd_hamming_file_open_from(struct nd_hamming_file *file, unsigned first,
                                         const char *path, struct nd_error *err);

#endif
