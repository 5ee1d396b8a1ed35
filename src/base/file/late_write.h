/* late_write.h - bytes whose place in a file is known, to be written there later */
#ifndef ND_BASE_FILE_LATE_WRITE_H
#define ND_BASE_FILE_LATE_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "base/system/descriptor.h"

/*
 * Pieces of memory that go behind one another to a regular file that nobody reads meanwhile.  Who
 * writes in turn only reserves the place, and writes the bytes after the turn, beside others who
 * write to other places.  Starts from zeroes; its memory is used again.
 */
struct nd_late_write {
    struct nd_piece *piece; /* the bytes are borrowed until they are written */
    size_t n_pieces, capacity;
    uint64_t bytes; /* of all pieces */
    int fd;
    uint64_t offset; /* of the first byte in the file */
};

/* Append bytes, as one piece with what stands before them in memory too.  ND_ENOMEM. */
enum nd_status nd_late_write_add(struct nd_late_write *w, const void *data, size_t len,
                                 struct nd_error *err);

/* Write all pieces, which are used up, to a place in a file; or, with no place, where the file stands.
 * ND_EIO with errno set. */
enum nd_status nd_write_pieces(int fd, struct nd_piece *piece, size_t n, const uint64_t *place);

/* Write all of it to its place, and forget it.  The error names nothing: ND_EIO with errno set; the
 * caller knows the file. */
enum nd_status nd_late_write_do(struct nd_late_write *w);

void nd_late_write_release(struct nd_late_write *w);

#endif
