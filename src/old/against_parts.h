/* against_parts.h - the parts of a run with old documents, for the files that make it up */
#ifndef ND_OLD_AGAINST_PARTS_H
#define ND_OLD_AGAINST_PARTS_H

#include <stdatomic.h>

#include <neardup/dedup.h>
#include <neardup/run.h>

#include "base/hash_set.h"
#include "candidates/seen_rows.h"
#include "candidates/short_texts.h"
#include "evidence/first_line.h"
#include "loads/budget.h"
#include "old/against_given.h"
#include "old/sketch_packer.h"
#include "reading/reading.h"
#include "sketches/checkpoint.h"
#include "sketches/fresh_rows.h"

/* No document. */
#define ND_AGAINST_NONE UINT32_MAX

enum { ND_AGAINST_ITEMS_MAX = 1024 };

/* A file that is read. */
struct nd_against_file {
    struct nd_sketch_file *own; /* NULL: the appender's */
    const struct nd_sketch_file *file;
    uint32_t group; /* in the table of what is quoted */
    struct nd_sketched_fields fields;
};

struct nd_against {
    struct nd_against_parts part;
    struct nd_against_file *seen;
    const struct nd_sketch_file **file; /* of each */
    struct nd_first_line_seen *line;    /* what the manifest says of each */
    size_t n_seen;
    struct nd_sketch_appender *appender; /* NULL: nothing is added */

    /* The new documents, and which one a record is. */
    struct nd_fresh_rows *fresh;
    struct nd_sketch_packer *packer;
    struct nd_checkpoint *checkpoint; /* NULL: rows are kept nowhere */
    const struct nd_reading *reading; /* once all has been read */
    uint32_t *document_of;            /* of a record; of a bad one that of the next */
    size_t n_records, record_capacity;
    const struct nd_reading_batch *batch;
    struct nd_short_texts *short_texts; /* NULL: no old document is found as a whole */
    struct nd_short_hit *short_of;      /* for each record, the first that it contains, or none */
    size_t short_capacity;
    uint64_t
        *short_files; /* with only-against, for each record: the bits of the files that have one */
    size_t short_files_capacity, n_words; /* words of bits for a record */
    struct nd_hash_set equal;             /* where short_texts: keys of the kept old documents */
    atomic_bool has_failed;
    uint64_t *kept; /* of each record a bit */

    struct nd_seen_rows old; /* those that matter */
    const uint32_t *order;
    size_t n_order;

    /* documents that are loaded */
    struct nd_dedup_item item[ND_AGAINST_ITEMS_MAX];
    struct nd_sketch_row item_row[ND_AGAINST_ITEMS_MAX];
    struct nd_sketch_room item_room[ND_AGAINST_ITEMS_MAX];
    uint64_t loaded_from;
    struct nd_sketch_room *room; /* of each worker */
    struct nd_error *error;      /* of each worker */
};

/* Find the short old documents in those of a batch, whose records come next. */
enum nd_status nd_against_look_for_short(struct nd_against *a, const struct nd_reading_batch *batch,
                                         struct nd_error *err);

#endif
