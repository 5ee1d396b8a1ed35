/* change.h - an index file that is changed: locked, written anew or appended to; and what goes into it */
#ifndef ND_HAMMING_FILE_CHANGE_H
#define ND_HAMMING_FILE_CHANGE_H

#include "base/memory.h"
#include "hamming/file/file.h"

/* A segment that a file is to hold: one of the old file that is kept, or a new one, of so many
 * entries. */
struct nd_hamming_piece {
    unsigned part;
    bool is_kept;
    unsigned old;   /* the number of the one that is kept */
    uint64_t count; /* of a new one */
};

/*
 * Gives the entries of a new segment: all ids are numbers, or all are texts.  They stay until the
 * next call.  Statuses as of nd_hamming_file_add.
 */
typedef enum nd_status nd_hamming_collect(void *context, const struct nd_hamming_piece *piece,
                                          struct nd_hamming_entries *entries, struct nd_error *err);

/* Writes a new segment at place->offset, and fills in the rest of *place, as
 * nd_hamming_segment_write does. */
typedef enum nd_status nd_hamming_write(void *context, const struct nd_hamming_piece *piece,
                                        const struct nd_hamming_scheme *scheme, int fd,
                                        const char *name, struct nd_hamming_place *place,
                                        struct nd_error *err);

/* A file that is to be changed or made, and what it is to hold. */
struct nd_hamming_change {
    const char *path;                /* as messages call it */
    char *name;                      /* the file behind links */
    int fd;                          /* of the file, locked; -1: there is none yet */
    struct nd_hamming_header header; /* its segments: those that are written so far */
    const struct nd_hamming_file *old;
    struct nd_hamming_piece piece[ND_HAMMING_SEGMENTS_MAX];
    unsigned n_pieces;
    nd_hamming_collect *collect; /* called for the new pieces, in order; or `write` is */
    nd_hamming_write *write;
    void *context;
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
/* Go on from a file: keep its first segments.  Where none is kept, not even a later one, the tables
 * are planned for the number of entries that there will be. */
enum nd_status nd_hamming_change_keep(struct nd_hamming_change *c,
                                      const struct nd_hamming_file *file, unsigned kept,
                                      bool keeps_later, uint64_t count, struct nd_error *err);
/* Append a piece.  ND_EINVAL: there are too many. */
enum nd_status nd_hamming_change_add_kept(struct nd_hamming_change *c, unsigned old, unsigned part,
                                          struct nd_error *err);
enum nd_status nd_hamming_change_add_new(struct nd_hamming_change *c, uint64_t count, unsigned part,
                                         struct nd_error *err);
/* Append new pieces of n entries: the first has the part's number, and at most `first` entries where
 * that is not 0; each of the others is a part of its own, full but for the last one. */
enum nd_status nd_hamming_change_add_parts(struct nd_hamming_change *c, uint64_t n, uint64_t first,
                                           unsigned part, struct nd_error *err);

/*
 * Set the function that supplies the entries of the new pieces, in order.  `context` must live until
 * they are written.
 */
void nd_hamming_change_collect(struct nd_hamming_change *c, nd_hamming_collect *collect,
                               void *context);

/* Write the file anew, and let it take the name, which belongs to the locked file or to none. */
enum nd_status nd_hamming_change_replace(struct nd_hamming_change *c, struct nd_error *err);
/* Append the new pieces in place, in the four steps of change.c: the others are the first segments
 * of the old file. */
enum nd_status nd_hamming_change_append(struct nd_hamming_change *c, struct nd_error *err);

/* A new file after a plan.  Statuses as of nd_hamming_file_build. */
enum nd_status nd_hamming_build_planned(const char *path, const struct nd_hamming_plan *plan,
                                        const struct nd_hamming_shape *shape,
                                        const struct nd_hamming_entries *entries,
                                        struct nd_error *err);

/* Entries from several places, to be written as one segment.  Starts from zeroes; one that is
 * released can begin again. */
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
/* n entries of a segment from number `first` on.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_segment(struct nd_hamming_collection *c,
                                          const struct nd_hamming_segment *s, uint64_t first,
                                          uint64_t n, struct nd_error *err);
/* One entry of a segment, whose fingerprint is `row`.  ND_ENOMEM. */
enum nd_status nd_hamming_collect_entry(struct nd_hamming_collection *c,
                                        const struct nd_hamming_segment *s, uint64_t entry,
                                        const uint64_t *row, struct nd_error *err);
/* n entries from outside, from number `first` on; the first of all has number `before`, where
 * numbers are not given as ids.  ND_EINVAL: a text that cannot be an id; ND_ENOMEM. */
enum nd_status nd_hamming_collect_entries(struct nd_hamming_collection *c,
                                          const struct nd_hamming_entries *entries, size_t first,
                                          size_t n, uint64_t before, struct nd_error *err);
/*
 * Give all that was collected: all ids numbers, or all texts. As long as the collection is.
 * ND_ENOMEM.
 */
enum nd_status nd_hamming_collect_finish(struct nd_hamming_collection *c,
                                         struct nd_hamming_entries *entries, struct nd_error *err);

#endif
