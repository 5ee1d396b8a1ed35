/* sketch_reader.h - an open sketch file, for those who read blocks and those who read single documents */
#ifndef ND_RECORD_SKETCH_READER_H
#define ND_RECORD_SKETCH_READER_H

#include <neardup/sketch_file.h>

#include "base/memory.h"
#include "record/sketch_file_layout.h"

struct nd_sketch_file {
    int fd;
    char *path, *recipe;
    union nd_sketch_head_page page;
    struct nd_sketch_head head; /* of this page */
    unsigned head_at;           /* which of the two it is */
    struct nd_sketch_file_info info;
    struct nd_buffer directory; /* blocks, then sources */
    uint64_t *first;            /* of each block: documents before it */
    struct nd_sketch_source *source;
    struct nd_buffer names; /* of the sources, each with a zero behind it */
};

#define ND_SKETCH_WRONG_ROW "the row of a document is not what was written"
#define ND_SKETCH_WRONG_SHINGLES "the shingles of a document are not what was written"

/* ND_EINPUT: "FILE: the sketch file is damaged: WHAT". */
enum nd_status nd_sketch_file_damaged(const struct nd_sketch_file *f, const char *what,
                                      struct nd_error *err);

/* Read exactly so many bytes; a file that ends before them is damaged.  ND_EIO. */
enum nd_status nd_sketch_file_read_at(const struct nd_sketch_file *f, void *data, size_t len,
                                      uint64_t at, struct nd_error *err);

/* The entry of a block in the directory. */
const struct nd_sketch_block_entry *nd_sketch_file_entry(const struct nd_sketch_file *f,
                                                         size_t number);

#endif
