/* use.h - what track, collapse, mirrors and template share: reading all documents, writing rows */
#ifndef ND_PIPELINE_USE_H
#define ND_PIPELINE_USE_H

#include <neardup/sketch.h>
#include <neardup/uses.h>

#include "pipeline/run_state.h"

/* Of one document, made in parallel. */
struct nd_use_sketch {
    uint64_t raw; /* hash of its bytes */
    uint64_t n_tokens, identity, simhash;
    uint32_t minhash[ND_MINHASH_COUNT]; /* where asked for */
    struct nd_signature signature;      /* likewise; its words: */
    uint64_t *word;
    size_t capacity;
};

struct nd_use {
    struct nd_run run;
    struct nd_run_options options;
    struct nd_run_summary counts;
    struct nd_sketcher **sketcher; /* one a worker */
    /* Set before the walk: the first signature of the recipe, too. */
    bool signs;
    struct nd_named_signer **signer; /* one a worker */
    struct nd_use_sketch *sketch;    /* of the batch */
    size_t n_sketches;
    struct nd_output *out;
    struct nd_json row, head; /* head: the names of the columns */
    bool is_json, has_head, in_row;
};

/*
 * Ready to read.  `first` and `second` are fields wanted of each document, NULL for none: see
 * nd_use_first.  Undo with nd_use_end whatever the status.
 */
enum nd_status nd_use_begin(struct nd_use *use, const struct nd_run_options *options,
                            const struct nd_run_files *files, const char *first, const char *second,
                            const struct nd_run_events *events, struct nd_error *err);

/* Values of the fields; data NULL where absent. */
struct nd_view nd_use_first(const struct nd_use *use, const struct nd_document *document);
struct nd_view nd_use_second(const struct nd_use *use, const struct nd_document *document);

/* A document that was read; all is valid during the call. */
struct nd_use_item {
    const struct nd_parsed *parsed;
    const struct nd_source *source;
    struct nd_name name;
    const struct nd_use_sketch *sketch; /* NULL: none asked for */
};

/*
 * `take` each document, in order.  parts: of enum nd_sketch_parts; -1: no sketches.  A bad record
 * is told of; ND_EINPUT where what was read may not be published (nd_run_judge).
 */
enum nd_status nd_use_walk(struct nd_use *use, int parts,
                           enum nd_status (*take)(void *context, const struct nd_use_item *item,
                                                  struct nd_error *err),
                           void *context, struct nd_error *err);

/* Report a document that was read as a bad record, from within `take`. */
enum nd_status nd_use_bad(struct nd_use *use, const struct nd_use_item *item, const char *reason,
                          struct nd_error *err);

/* The output, once all has been read. */
enum nd_status nd_use_open(struct nd_use *use, bool is_json, struct nd_error *err);
/* A row: cells in the same order in every row; a JSON object, or TSV below a head. */
void nd_cell_text(struct nd_use *use, const char *key, struct nd_view value);
void nd_cell_name(struct nd_use *use, const char *key, const struct nd_name *name);
void nd_cell_uint(struct nd_use *use, const char *key, uint64_t value);
void nd_cell_int(struct nd_use *use, const char *key, int64_t value);
void nd_cell_double(struct nd_use *use, const char *key, double value);
void nd_cell_none(struct nd_use *use, const char *key);
enum nd_status nd_row_end(struct nd_use *use, struct nd_error *err);

/* Publish where status is ND_OK, and release all. */
enum nd_status nd_use_end(struct nd_use *use, enum nd_status status, uint64_t found,
                          struct nd_use_summary *summary, struct nd_error *err);

#endif
