/* input_ahead.h - bytes of a file that are read before the call that cuts them into records */
#ifndef ND_INPUT_AHEAD_H
#define ND_INPUT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/input.h>

#include "base/thread/pool.h"
#include "input/streams/file_piece.h"

/*
 * Reading a file and cutting it into records are two things: only the cutting must go through the
 * file in order.  So several threads may each read a piece of it, where it is a plain file, and hand
 * the pieces to nd_input_read in the order of the file.  The bytes are an offer: what does not go on
 * where the input is by then is dropped, and nd_input_read reads by itself what it lacks.  So a
 * piece that could not be read, or not whole, needs no error here; the same error comes up there,
 * at its place.
 */

/* The place of the input in the file from which it cuts records. */
struct nd_ahead_place {
    uint32_t source;
    int fd;            /* open until the input is closed; -1 for a compressed file */
    uint64_t unpacked; /* number of the stream of a compressed file; 0: the file is plain */
    uint64_t read_to;  /* offset of the first byte that it has not read */
    uint64_t cut_to;   /* and of the first one that is in no record yet */
    uint64_t size;     /* of the file when it was opened; of a compressed one, more than it has */
};

/* Between two calls of nd_input_read, of which the last one succeeded.  False: it reads no file of
 * which pieces can be read ahead. */
bool nd_input_ahead_place(const struct nd_input *input, struct nd_ahead_place *place);

/*
 * Decompress files on threads of their own (ahead_stream.h), as many at a time as `files` says, each
 * into a window of so many bytes: the file that is read, and those that follow it.  Frames of zstd
 * are decompressed by so many threads more; 0: one after the other.  Before anything is read.
 * False: out of memory.
 */
bool nd_input_unpack_ahead(struct nd_input *input, const struct nd_pool *pool, size_t files,
                           size_t window_bytes, unsigned frame_threads);
/* Nanoseconds of processor time that those threads took for the files read so far. */
uint64_t nd_input_unpack_ns(const struct nd_input *input);

/* Read a piece into the memory of a batch, for the next nd_input_read with it.  The records that the
 * batch has are gone.  Safe from any thread that has the batch, whatever the input does. */
void nd_batch_read_ahead(struct nd_input *input, struct nd_batch *batch,
                         const struct nd_ahead_piece *piece);

/* For nd_input_read, at its beginning: take what was read ahead, if it goes on where the input is.
 * False: out of memory. */
bool nd_input_take_ahead(struct nd_input *input, struct nd_batch *batch);

#endif
