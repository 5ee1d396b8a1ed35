/* ahead_stream.h - bytes of another stream, made by a thread of their own before they are read */
#ifndef ND_INPUT_STREAMS_AHEAD_STREAM_H
#define ND_INPUT_STREAMS_AHEAD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/streams/byte_stream.h"

/*
 * Decompressing goes through a file in order, and so does whoever reads the stream.  But the two
 * need not wait for one another: a thread decompresses into a window, as far as it has room, and the
 * reader finds the bytes there.  They are the stream's in any case; only when they are made depends
 * on the threads.
 *
 * Bytes of the window may also be copied before they are read (nd_ahead_copy), by any thread, which
 * the reader then passes over (nd_ahead_take).  Positions are those in the stream, from 0.
 */
struct nd_ahead_stream;

/*
 * Begin to read `inner`, which belongs to the caller, must outlive the stream, and is the thread's
 * until the stream ends or is closed.  NULL: the thread could not be started, or memory is short;
 * `inner` is as it was.
 */
struct nd_ahead_stream *nd_ahead_stream_new(struct nd_stream *inner, size_t window_bytes);

/* As a stream: its end and its failure are those of the inner one, at their place. */
struct nd_stream *nd_ahead_as_stream(struct nd_ahead_stream *a);

/* The position of the reader, not counting bytes that it has peeked at or put back. */
uint64_t nd_ahead_position(const struct nd_ahead_stream *a);

/*
 * Copy the bytes from `from` on, as soon as they are made; fewer at the end, and none if the reader
 * has passed `from` or the stream is closed.  Any thread, while the stream is not freed.
 */
size_t nd_ahead_copy(struct nd_ahead_stream *a, uint64_t from, char *out, size_t len);

/* The reader passes over bytes that were copied.  Nothing may wait in the stream. */
void nd_ahead_take(struct nd_ahead_stream *a, size_t len);

/* Let the thread and all copies end; only nd_stream_close may follow, and nd_ahead_ns. */
void nd_ahead_stop(struct nd_ahead_stream *a);

/* Processor time of the thread, once it was stopped. */
uint64_t nd_ahead_ns(const struct nd_ahead_stream *a);

#endif
