/* evaluation.h - what results are held against: the ids of the documents, and the truth */
#ifndef ND_USES_EVAL_EVALUATION_H
#define ND_USES_EVAL_EVALUATION_H

#include "uses/eval/attributes.h"
#include "uses/eval/relation.h"
#include "uses/use.h"

/* Starts from zeroes. */
struct nd_evaluation {
    const struct nd_eval_params *params;
    struct nd_eval_ids ids;
    struct nd_relation truth;
    struct nd_attributes attributes; /* by which results are divided, if it is of documents */
    bool has_documents;              /* the ids are those of documents, and no others count */
    bool all; /* every pair of them counts, not only those that the truth labels */
};

/*
 * Read the documents that the options name, if any, and the truth. The parameters must outlive the
 * evaluation. Undo with nd_evaluation_release, whatever the status. ND_EINVAL: the universe must be
 * said; ND_EINPUT: file, line and reason.
 */
enum nd_status nd_evaluation_read(struct nd_evaluation *e, const struct nd_run_options *options,
                                  const struct nd_eval_params *params,
                                  const struct nd_run_events *events, struct nd_error *err);
/* Number the ids of the documents that the options name, and note their attributes, unless NULL.
 * ND_EINPUT: an id comes again. */
enum nd_status nd_eval_ids_read(struct nd_eval_ids *ids, struct nd_attributes *attributes,
                                const struct nd_run_options *options,
                                const struct nd_run_events *events, struct nd_error *err);
void nd_evaluation_release(struct nd_evaluation *e);

#endif
