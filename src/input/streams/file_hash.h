/* file_hash.h - the hash of a file's bytes in their order, to which several threads may add */
#ifndef ND_INPUT_STREAMS_FILE_HASH_H
#define ND_INPUT_STREAMS_FILE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct nd_file_hash;
struct nd_file_hash *nd_file_hash_new(void); /* NULL: out of memory */
void nd_file_hash_free(struct nd_file_hash *h);

/* Add bytes that stand at an offset of the file, but for those that were added before. */
void nd_file_hash_add(struct nd_file_hash *h, const void *bytes, uint64_t offset, size_t len);

/*
 * Add bytes if they are the next ones, or else do nothing.  Threads that have read a piece of the
 * file ahead offer it, so that less is left to be hashed in the turn to read.
 */
void nd_file_hash_offer(struct nd_file_hash *h, const void *bytes, uint64_t offset, size_t len);

uint64_t nd_file_hash_value(struct nd_file_hash *h);

#endif
