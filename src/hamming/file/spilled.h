/* spilled.h - a segment of an index file written in bounded memory */
#ifndef ND_HAMMING_FILE_SPILLED_H
#define ND_HAMMING_FILE_SPILLED_H

#include "base/file/spool.h"
#include "hamming/file/layout.h"

/*
 * Entries that wait in temporary files.  An entry is a row of `words` words, then its id in two: a
 * number below 2^32 and 0, or where its text is among the texts, and the text's length plus 1.
 */
struct nd_hamming_spilled {
    struct nd_spool *rows, *texts;
    size_t words;
    uint64_t n;
    const char *tmp;     /* a folder for sorting */
    size_t memory_bytes; /* for sorting and buffers */
};
enum { ND_HAMMING_SPILLED_ID_WORDS = 2 };
static inline size_t nd_hamming_spilled_bytes(size_t words)
{
    return (words + ND_HAMMING_SPILLED_ID_WORDS) * sizeof(uint64_t);
}

/*
 * Write a segment of the n entries from number `first` on, 1 … 2^32 - 1, of the layout compact and
 * Elias-Fano: the bytes that nd_hamming_segment_write writes of them.  The file is open for reading
 * too.  Statuses as of that, and ND_EIO where a temporary file cannot be used.
 */
enum nd_status nd_hamming_spilled_write(const struct nd_hamming_spilled *spilled,
                                        const struct nd_hamming_scheme *scheme, uint64_t first,
                                        uint64_t n, int fd, const char *name,
                                        struct nd_hamming_place *place, struct nd_error *err);

/* The id of an entry: its digits, written to `number` (ND_HAMMING_NUMBER_MAX bytes), or its text,
 * read into *buffer.  `id` has the two words of the entry.  NULL: a failure, in *err. */
const char *nd_hamming_spilled_id(const struct nd_hamming_spilled *spilled, const uint64_t *id,
                                  char *number, struct nd_buffer *buffer, size_t *len,
                                  struct nd_error *err);

#endif
