/* change.h - an index file that is changed: locked, written anew or appended to; and what goes into it */
#ifndef ND_HAMMING_FILE_CHANGE_H
#define ND_HAMMING_FILE_CHANGE_H

#include "base/memory.h"
#include "hamming/file/file.h"

/* A file that is to be changed or made, and what it is to hold: segments of the old one, then one
 * with the entries. */
struct nd_hamming_change {
    const char *path;                /* as messages call it */
    char *name;                      /* the file behind links */
    int fd;                          /* of the file, locked; -1: there is none yet */
    struct nd_hamming_header header; /* its segments: those that are kept */
    const struct nd_hamming_file *old;
    struct nd_hamming_entries entries;      /* all ids are numbers, or all are texts */
    uint64_t max_bytes;                     /* of the whole; 0: any */
    const struct nd_hamming_recipe *recipe; /* NULL: none */
};

/*
 * Lock the file that is to be changed, and remove what a killed writer left beside it.  If this
 * fails there is nothing to release.  ND_EIO, also where another process is writing it; ND_ENOMEM.
 */
enum nd_status nd_hamming_change_open(struct nd_hamming_change *c, const char *path,
                                      bool must_exist, struct nd_error *err);
void nd_hamming_change_release(struct nd_hamming_change *c);

/* Begin a file without segments. */
void nd_hamming_change_begin(struct nd_hamming_change *c, const struct nd_hamming_plan *plan,
                             const struct nd_hamming_shape *shape,
                             const struct nd_hamming_recipe *recipe);
/* Keep the first segments of a file.  Where none is kept, the tables are planned for the number of
 * entries that there will be. */
enum nd_status nd_hamming_change_keep(struct nd_hamming_change *c,
                                      const struct nd_hamming_file *file, unsigned kept,
                                      uint64_t count, struct nd_error *err);

/* Write the file anew, and let it take the name, which belongs to the locked file or to none. */
enum nd_status nd_hamming_change_replace(struct nd_hamming_change *c, struct nd_error *err);
/* Append a segment in place, in the four steps of change.c. */
enum nd_status nd_hamming_change_append(struct nd_hamming_change *c, struct nd_error *err);

/* Entries from several places, to be written as one segment.  Starts from zeroes. */
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
void nd_hamming_collect_release(struct nd_hamming_collection *c);
/* What the open segments of a file hold.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_file(struct nd_hamming_collection *c,
                                       const struct nd_hamming_file *file, struct nd_error *err);
/* One entry of a segment, whose fingerprint is `row`.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_entry(struct nd_hamming_collection *c,
                                        const struct nd_hamming_segment *s, uint64_t entry,
                                        const uint64_t *row, struct nd_error *err);
/* Entries from outside; numbers that are not given go on from first_number.  ND_EINVAL: a text that
 * cannot be an id; ND_ENOMEM. */
enum nd_status nd_hamming_collect_entries(struct nd_hamming_collection *c,
                                          const struct nd_hamming_entries *entries,
                                          uint64_t first_number, struct nd_error *err);
/* What was collected: all ids numbers, or all texts.  As long as the collection is.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_finish(struct nd_hamming_collection *c,
                                         struct nd_hamming_entries *entries, struct nd_error *err);

#endif
