/* hamming_file.h - index files from within: bytes that are in memory already */
#ifndef ND_INDEX_HAMMING_FILE_H
#define ND_INDEX_HAMMING_FILE_H

#include "index/hamming_layout.h"

/* As nd_hamming_file_open, of bytes that stay the caller's; aligned to 8. */
enum nd_status nd_hamming_file_init(struct nd_hamming_file **file, const void *data, size_t len,
                                    struct nd_error *err);

#endif
