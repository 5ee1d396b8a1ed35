/* hamming_collect.h - index files: entries from several places, to be written as one segment */
#ifndef ND_INDEX_HAMMING_COLLECT_H
#define ND_INDEX_HAMMING_COLLECT_H

#include "base/memory.h"
#include "index/hamming_file.h"

/* Starts from zeroes. */
struct nd_hamming_collection {
    size_t n, total, words;
    const uint64_t *row; /* `own`, or the caller's */
    uint64_t *own;
    uint32_t *id;
    const char **text; /* NULL: all are numbers so far; else those that are not NULL are texts */
    struct nd_arena arena;
};

/* Room for `total` entries.  borrowed: all rows, where they stand together.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_begin(struct nd_hamming_collection *c, size_t total, size_t words,
                                        const uint64_t *borrowed, struct nd_error *err);
/* What the open segments of a file hold.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_file(struct nd_hamming_collection *c,
                                       const struct nd_hamming_file *file, struct nd_error *err);
/* Entries from outside; numbers that are not given go on from first_number.  ND_EINVAL: an id that
 * can be none; ND_ENOMEM. */
enum nd_status nd_hamming_collect_entries(struct nd_hamming_collection *c,
                                          const struct nd_hamming_entries *entries,
                                          uint64_t first_number, struct nd_error *err);
/* What was collected: all ids numbers, or all texts.  As long as the collection is.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_finish(struct nd_hamming_collection *c,
                                         struct nd_hamming_source *source, struct nd_error *err);
void nd_hamming_collect_release(struct nd_hamming_collection *c);

#endif
