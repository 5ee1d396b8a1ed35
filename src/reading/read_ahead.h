/* read_ahead.h - which piece of a file each batch is made of, known before its turn to be cut */
#ifndef ND_READING_READ_AHEAD_H
#define ND_READING_READ_AHEAD_H

#include <stdbool.h>

#include <neardup/error.h>

#include "base/thread/pool.h"
#include "input/input_ahead.h"

/*
 * Batches are cut from a file in turn, each by its worker, but the bytes may be read before the
 * turn, by several workers at the same time.  For that each batch must know where its bytes stand
 * while those before it are still being cut.  So a plain file is divided into pieces one behind the
 * other, and each batch that begins gets the next:
 *
 *      worker 0   read piece 0 | cut 0 | …
 *      worker 1   read piece 1         | cut 1 | …
 *
 * The record across two pieces goes on, when piece 1 is cut, with what was left of piece 0.
 * Anything else (pipes, compressed files, many small files) is read in the turn.
 */
struct nd_read_ahead;

/* For batches of so many workers at a time, which are at least two. */
struct nd_read_ahead *nd_read_ahead_new(struct nd_pool *pool, unsigned n_workers,
                                        struct nd_error *err);
void nd_read_ahead_free(struct nd_read_ahead *a);

/* A batch begins: its ticket, and its piece, of length 0 where there is none.  Any thread. */
unsigned long nd_read_ahead_begin(struct nd_read_ahead *a, struct nd_ahead_piece *piece);
/* In the turn of a batch: its piece, which may have been given to it since it began. */
struct nd_ahead_piece nd_read_ahead_piece(struct nd_read_ahead *a, unsigned long ticket);
/* At the end of its turn: where the input is now (NULL: in no file of which pieces are read ahead),
 * and how long pieces shall be. */
void nd_read_ahead_end(struct nd_read_ahead *a, unsigned long ticket,
                       const struct nd_ahead_place *place, size_t piece_bytes);

#endif
