/* hamming_file.h - index files from within: open ones, and bytes that are in memory already */
#ifndef ND_INDEX_HAMMING_FILE_H
#define ND_INDEX_HAMMING_FILE_H

#include "index/hamming_segment.h"

struct nd_hamming_file {
    const unsigned char *data;
    size_t len;
    void *map; /* NULL: the bytes are the caller's */
    struct nd_hamming_copies copies;
    struct nd_hamming_header header;
    struct nd_hamming_plan plan;
    struct nd_hamming_scheme scheme;
    struct nd_hamming_order *order; /* the scheme's */
    unsigned first, n;              /* segments that are open: from the first on to the last */
    struct nd_hamming_segment segment[ND_HAMMING_SEGMENTS_MAX];
};

/* As nd_hamming_file_open, of bytes that stay the caller's; aligned to 8. */
enum nd_status nd_hamming_file_init(struct nd_hamming_file **file, const void *data, size_t len,
                                    struct nd_error *err);

/*
 * Read the header and map the file, with no segment open yet.  Messages name `path`.  Statuses of
 * nd_hamming_file_open.
 */
enum nd_status nd_hamming_file_map(struct nd_hamming_file **file, int fd, const char *path,
                                   struct nd_error *err);
/* Check and open the segments from `first` on, once. */
enum nd_status nd_hamming_file_open_from(struct nd_hamming_file *file, unsigned first,
                                         const char *path, struct nd_error *err);

#endif
