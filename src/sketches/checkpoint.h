/* checkpoint.h - sketches kept in a folder as they are made, for the same run after a kill */
#ifndef ND_SKETCHES_CHECKPOINT_H
#define ND_SKETCHES_CHECKPOINT_H

#include <stdbool.h>

#include "sketches/known_rows.h"

/*
 * A folder of chunks: sketch files 000000.sketch and so on, each of which appears once it is whole.
 * A chunk is complete when it has 1/32 as many rows as all before it, and 4,096 at least: a kill
 * costs 3% of what was done, and 10^9 documents make some 320 files.  They are not synced: a power
 * cut may cost more of them, which their checksums tell.
 */
struct nd_checkpoint;

/*
 * Open or make the folder, which nobody else can open so until this is closed, and add its chunks to
 * `known`.  A chunk that is damaged is removed.  Chunks that are made get shingles or not.  NULL:
 * ND_EINVAL (another recipe made them, or another run has the folder), ND_EIO, ND_ENOMEM.
 */
struct nd_checkpoint *nd_checkpoint_open(const char *folder, const struct nd_recipe *recipe,
                                         const struct nd_sketch_writer_options *like,
                                         struct nd_known_rows *known, struct nd_error *err);
/* Without nd_checkpoint_finish, the rows of the chunk at hand are lost.  NULL: nothing. */
void nd_checkpoint_close(struct nd_checkpoint *checkpoint);

/* Keep a row; one thread at a time.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_checkpoint_add(struct nd_checkpoint *checkpoint, const struct nd_sketch_row *row,
                                 struct nd_error *err);
/* Keep a row that is packed, by a writer that keeps shingles or not as the chunks do. */
enum nd_status nd_checkpoint_add_packed(struct nd_checkpoint *checkpoint,
                                        const struct nd_packed_row *packed, struct nd_error *err);
/* Complete the chunk at hand. */
enum nd_status nd_checkpoint_finish(struct nd_checkpoint *checkpoint, struct nd_error *err);

#endif
