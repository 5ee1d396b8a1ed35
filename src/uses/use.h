/* use.h - what the uses share: reading and sketching all documents, writing rows */
#ifndef ND_USES_USE_H
#define ND_USES_USE_H

#include <neardup/sketch.h>
#include <neardup/uses.h>

#include "run/run_parts.h"

/* The sketch and signatures of one document, computed in parallel. */
struct nd_use_sketch {
    uint64_t raw; /* hash of its bytes */
    uint64_t n_tokens, identity, simhash;
    uint32_t minhash[ND_MINHASH_COUNT]; /* if requested */
    struct nd_signature signature;      /* if requested; its words: */
    uint64_t *word;
    size_t capacity;
};

/* The tools by which one worker makes sketches and signatures. */
struct nd_use_worker {
    struct nd_sketcher *sketcher;
    struct nd_document_signer *signer[ND_RECIPE_SIGNATURES];
};

struct nd_use {
    struct nd_run run;
    struct nd_run_summary counts;
    struct nd_use_worker *worker;
    bool signs;                   /* the first signature of the recipe; set before the walk */
    struct nd_use_sketch *sketch; /* of each record of the batch */
    size_t n_sketches;
    const struct nd_reading_batch *batch; /* that is sketched, with these parts: */
    int parts;
    atomic_bool has_failed; /* a worker, for want of memory */
    nd_run_take *take;
    void *context; /* of `take` */
    struct nd_output *out;
    struct nd_json name;      /* scratch of nd_use_name */
    struct nd_json row, head; /* the names of the columns */
    bool is_json, has_head, in_row;
};

/*
 * Get ready to read. The options and the request must outlive the use. Undo with nd_use_end,
 * whatever the status.
 */
enum nd_status nd_use_begin(struct nd_use *use, const struct nd_run_options *options,
                            const struct nd_run_request *request,
                            const struct nd_run_events *events, struct nd_error *err);

/* A sketcher for each worker, and signers of the first signatures. */
enum nd_status nd_use_make_workers(struct nd_use *use, unsigned n_signatures, struct nd_error *err);

/*
 * Give each document to `take`, in order. parts: a set of enum nd_sketch_parts; -1: no sketches.
 * Bad records are reported. ND_EINPUT: what was read may not be published (nd_run_judge).
 */
enum nd_status nd_use_walk(struct nd_use *use, int parts, nd_run_take *take, void *context,
                           struct nd_error *err);

/* The sketch of the document at hand. */
static inline const struct nd_use_sketch *nd_use_sketch_of(const struct nd_use *use,
                                                           const struct nd_parsed *parsed)
{
    return &use->sketch[parsed - use->batch->parsed];
}

/* The name of a document, valid until the next call.  The walk ends where there was no memory. */
struct nd_name nd_use_name(struct nd_use *use, const struct nd_parsed *parsed);

/* Report the current document as a bad record; called from `take`. */
enum nd_status nd_use_bad(struct nd_use *use, const struct nd_parsed *parsed, const char *reason,
                          struct nd_error *err);

/*
 * Decide, in stars, about documents that are held: n records that have their bytes and sources, in
 * keep order.  decision[i] counts by this order.  labels[i]: the number of the set of its security
 * labels (nd_comparable_labels); NULL: nobody has any.  `what` they are, for a warning that none has
 * a signature; NULL: no warning.
 */
enum nd_status nd_use_decide(struct nd_use *use, struct nd_parsed *held, const uint32_t *labels,
                             size_t n, struct nd_decision *decision, const char *what,
                             struct nd_error *err);

/* Open the output: after the walk, or before it where each document gives a row. */
enum nd_status nd_use_open(struct nd_use *use, bool is_json, struct nd_error *err);
/*
 * Begin a row. Every row has the same cells in the same order; it is a JSON object, or a line of
 * TSV below a header line.
 */
void nd_cell_text(struct nd_use *use, const char *key, struct nd_view value);
void nd_cell_name(struct nd_use *use, const char *key, const struct nd_name *name);
void nd_cell_uint(struct nd_use *use, const char *key, uint64_t value);
void nd_cell_int(struct nd_use *use, const char *key, int64_t value);
void nd_cell_double(struct nd_use *use, const char *key, double value);
void nd_cell_none(struct nd_use *use, const char *key);
enum nd_status nd_row_end(struct nd_use *use, struct nd_error *err);
/* End a row by writing it to a stream, whose errors the caller checks: for a use without a run. */
enum nd_status nd_row_put(struct nd_use *use, FILE *stream, struct nd_error *err);

/* Publish where status is ND_OK, and release all.  summary may be NULL. */
enum nd_status nd_use_end(struct nd_use *use, enum nd_status status, uint64_t found,
                          struct nd_use_summary *summary, struct nd_error *err);

/* The summary of a use's run. */
struct nd_use_summary nd_run_use_summary(const struct nd_run_summary *counts, uint64_t found);

#endif
