/* segment.h - index files: one segment, opened, searched, written */
#ifndef ND_HAMMING_FILE_SEGMENT_H
#define ND_HAMMING_FILE_SEGMENT_H

#include "hamming/file/opened.h"

/*
 * Check a segment's bytes (aligned to 8), and point at them.  They are `place->bytes`.  The list of
 * chunks, the groups, ids that are texts, values in the block code and the checksums of units are
 * checked now, all else when it is read.  ND_EINPUT, ND_ENOMEM; where it fails there is nothing to
 * close.
 */
enum nd_status nd_hamming_segment_open(struct nd_hamming_segment *segment,
                                       const struct nd_hamming_scheme *scheme,
                                       const struct nd_hamming_place *place,
                                       const unsigned char *data, struct nd_error *err);
void nd_hamming_segment_close(struct nd_hamming_segment *segment);

/* Check all of an open segment that _open did not.  ND_EINPUT. */
enum nd_status nd_hamming_segment_check(const struct nd_hamming_segment *segment,
                                        const unsigned char *data, struct nd_error *err);

/* Check the checksums of a segment, and nothing else.  ND_EINPUT. */
enum nd_status nd_hamming_segment_check_sums(const struct nd_hamming_place *place,
                                             const struct nd_hamming_header *header,
                                             const unsigned char *data, struct nd_error *err);

/* Read the fingerprints of n entries from number `first` on.  False: the file is damaged there. */
bool nd_hamming_segment_rows(const struct nd_hamming_segment *segment, uint64_t first, size_t n,
                             uint64_t *row);

/* ND_EINPUT: something that was read is not what was written. */
enum nd_status nd_hamming_damaged_there(struct nd_error *err);

/* Answer all queries of a search (segment_lookup.c).  sink.out_of_memory: not all are answered. */
void nd_hamming_segment_search(const struct nd_hamming_segment *segment,
                               struct nd_hamming_search *search);

/*
 * Write a segment of 1 … 2^32 - 1 entries at place->offset of a file, and fill in the rest of
 * *place.  All ids are texts, or texts is NULL and all are numbers.  ND_ENOMEM, ND_EIO (of `name`).
 * The file may then hold part of it.
 */
enum nd_status nd_hamming_segment_write(const struct nd_hamming_scheme *scheme,
                                        const struct nd_hamming_entries *entries, int fd,
                                        const char *name, struct nd_hamming_place *place,
                                        struct nd_error *err);

/* Write all bytes at an offset of a file.  ND_EIO. */
enum nd_status nd_hamming_write_at(int fd, const char *name, const void *data, size_t bytes,
                                   uint64_t offset, struct nd_error *err);

/* Bits that numbers below n take. */
static inline unsigned nd_hamming_number_bits(uint64_t n)
{
    return n < 2 ? 1 : 64 - (unsigned)__builtin_clzll(n - 1);
}

#endif
