/* file_piece.h - a piece of a file that is read before it is cut into records */
#ifndef ND_INPUT_STREAMS_FILE_PIECE_H
#define ND_INPUT_STREAMS_FILE_PIECE_H

#include <stddef.h>
#include <stdint.h>

/* A piece of a file to read ahead; of length 0: none. */
struct nd_ahead_piece {
    uint32_t source;
    int fd;
    uint64_t unpacked; /* number of the stream of a compressed file; 0: the file is plain */
    uint64_t offset;
    size_t len;
};

#endif
