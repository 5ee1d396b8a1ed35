/* sampling.h - blocks spread over all inputs, in place of the whole of them */
#ifndef ND_INPUT_STREAMS_SAMPLING_H
#define ND_INPUT_STREAMS_SAMPLING_H

#include <stdbool.h>

#include <neardup/input.h>

/*
 * The stored bytes of all files, one file after the other, are divided into strides of one length,
 * and in each stride a block is chosen by a hash of the stride's number.  A record is in the sample
 * if its first byte is in a block.  So every byte has the same chance, wherever it is, and the
 * sample is the same whenever it is drawn.
 *
 *     files     |---- a ----|-- b --|------------- c -------------|
 *     strides   |       0       |       1       |       2       |
 *     blocks        [===]          [===]             [===]
 *
 * The stretches between blocks of a plain file of lines, or of groups of lines, are not read.
 * A compressed file or an archive is decompressed up to its last block.  Of inputs that cannot be
 * entered in the middle (CSV, where a line end may be within quotes), or that would take too long
 * to decompress, the sample is a beginning, of the same share.
 */
struct nd_sampling {
    bool is_on;
    uint64_t total;    /* stored bytes of all files */
    uint64_t stride;   /* so many stored bytes have one block … */
    uint64_t block;    /* … of so many */
    bool decompresses; /* what is compressed may be decompressed as far as it takes */

    /* The file at hand. */
    uint64_t start, size;
    bool is_beginning; /* only its first part is in the sample */

    uint64_t at;            /* the position up to which bytes were counted */
    uint64_t bytes;         /* stored bytes of the sample so far */
    uint64_t unpacked;      /* and bytes of its records */
    double skipped_seconds; /* of a processor, in decompressing what is in no block */
    uint64_t beginnings;    /* files of which the sample is a beginning, and their stored bytes: */
    uint64_t beginning_bytes;
};

/* A sample of about `bytes` of `total` stored bytes.  Where it would be all: nothing is left out. */
void nd_sampling_begin(struct nd_sampling *s, uint64_t total, uint64_t bytes);

/* The first position from here on that is in a block, which may be behind the end of all files;
 * UINT64_MAX: there is none, as the file has only a beginning.  *block: its number. */
uint64_t nd_sampling_next(const struct nd_sampling *s, uint64_t position, uint32_t *block);

/* How many bytes from here on are in the same block. */
uint64_t nd_sampling_left(const struct nd_sampling *s, uint64_t position);

/* The next file has so many stored bytes.  False: none of them is in the sample. */
bool nd_sampling_enter(struct nd_sampling *s, uint64_t size);

/* The sample of the file at hand is its beginning. */
void nd_sampling_take_beginning(struct nd_sampling *s);

/*
 * Read a sample of about so many stored bytes.  Called before anything is read.  ND_EINVAL: the
 * size of an input is not known, since it is no regular file; ND_ENOMEM.
 */
enum nd_status nd_input_sample(struct nd_input *input, uint64_t bytes, struct nd_error *err);

/* The figures of the sample so far. Only while nothing reads. */
const struct nd_sampling *nd_input_sampling(const struct nd_input *input);

#endif
