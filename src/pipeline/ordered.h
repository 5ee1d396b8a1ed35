/* ordered.h - what a run in several passes remembers of every record */
#ifndef ND_PIPELINE_ORDERED_H
#define ND_PIPELINE_ORDERED_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/loader.h"
#include "pipeline/run_state.h"

/* Why a document was removed; 48 bytes, of removed ones only. */
struct nd_verdict {
    uint32_t kept, via; /* numbers of records, in input order */
    uint16_t distance;
    uint8_t identical, verified, was_cut;
    struct nd_overlap overlap;
    double via_resemblance;
};

#define ND_NO_VERDICT UINT32_MAX
enum { ND_DISTANCE_NONE = UINT16_MAX };

/* Records are numbered in input order; run->places knows where each of them is. */
struct nd_ordered {
    struct nd_run *run;
    struct nd_loader *loader;
    uint64_t *key;    /* of the keep policy */
    uint32_t *prefer; /* place in --prefer; NULL: not asked for */
    uint32_t *group;  /* NULL: no --within */
    uint8_t *is_bad;
    uint32_t *verdict_of; /* place in `verdict`, or ND_NO_VERDICT: kept, or bad */
    size_t count, capacity;
    uint32_t *order; /* the documents in keep order: what is pushed as 0, 1, 2 … */
    size_t n_order;
    struct nd_verdict *verdict;
    struct nd_agreement *agreement; /* of each verdict, one a signature; NULL: no signatures */
    size_t n_verdicts, verdict_capacity, agreement_capacity;
};

/* order.c: the first pass, and the order it leads to. */
enum nd_status nd_ordered_collect(struct nd_ordered *o, struct nd_error *err);
enum nd_status nd_ordered_sort(struct nd_ordered *o, struct nd_error *err);

/* Remember that a record is removed, and why, as the last of o->verdict. */
enum nd_status nd_ordered_note(struct nd_ordered *o, uint32_t number,
                               const struct nd_decision *decision, struct nd_error *err);

/* Progress: `done` of `total` records of a pass. */
enum nd_status nd_ordered_tell(struct nd_ordered *o, unsigned pass, size_t done, size_t total,
                               struct nd_error *err);

/* Load the next documents in keep order and list them for the engine; *n of them. */
enum nd_status nd_ordered_items(struct nd_ordered *o, size_t from, struct nd_dedup_item **items,
                                size_t *n, struct nd_error *err);

/* The text of the document pushed as `document`, for the engine. */
enum nd_status nd_ordered_fetch(void *context, uint64_t document, unsigned worker,
                                struct nd_view *text, struct nd_error *err);
enum nd_status nd_ordered_keep(void *context, uint64_t document, size_t item, struct nd_error *err);

/* run_components.c: the second pass where clusters are components. */
enum nd_status nd_ordered_components(struct nd_ordered *o, struct nd_error *err);
/* emit.c: the last pass. */
enum nd_status nd_ordered_emit(struct nd_ordered *o, struct nd_error *err);

#endif
