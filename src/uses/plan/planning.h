/* planning.h - a plan while it is made: what the sample shows */
#ifndef ND_USES_PLAN_PLANNING_H
#define ND_USES_PLAN_PLANNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/plan.h>

#include "engine/candidate_count.h"
#include "reading/slice.h"

/* By what a document of the sample was removed; a level holds what is removed by it and by those
 * before it. */
enum nd_planning_level { ND_BY_BYTES, ND_BY_TOKENS, ND_BY_NEARNESS, ND_PLANNING_LEVELS };

/* The work and memory of the run when it had read so many documents. */
struct nd_planning_mark {
    uint64_t documents;
    double processor, time;
};

/* The sample while it is read, by the numbers of its documents. */
struct nd_planning {
    struct nd_planning_mark counting; /* what counting candidates took, which no run does */
    struct nd_planning_mark *mark;
    size_t n_marks, mark_capacity;
    struct nd_plan *plan;
    uint32_t *block;
    uint64_t *key;             /* in the slice (slice.h) */
    uint32_t *kept;            /* the document that stands for it; its own number: it is kept */
    unsigned char *removed_by; /* of those that are not: a level */
    unsigned char *is_document;
    uint32_t *pushed;       /* in several passes: by the engine's numbers, which document it is */
    uint32_t *engine_block; /* by the engine's numbers */
    size_t n, capacity[5];
    size_t n_pushed, pushed_capacity;
    double skipped_seconds; /* of a processor, in decompressing what is not in the sample */
    /* Documents of the inputs for one of the sample; and for one that was read, of which the slice
     * has the share `sliced`. */
    double scale, block_scale, sliced;
    bool has_slice;
    struct nd_slice_totals read;                  /* where there is a slice */
    struct nd_forecast share[ND_PLANNING_LEVELS]; /* removed up to a level */
    uint64_t cached_bytes;
    struct nd_candidate_count at_step[ND_PLAN_STEPS];
    struct nd_candidate_count pairs; /* of kept documents, at the run's threshold */
    enum nd_cluster cluster;
    bool one_pass;
    bool has_old; /* documents of sketch files come before all */
    double
        against_seconds; /* of a processor: what these took, which does not grow with the sample */
    double table_seconds,
        table_scale; /* of a df table that was counted, and for all of the inputs */
};

static inline struct nd_forecast nd_planning_exactly(double value)
{
    return (struct nd_forecast){value, value, value};
}

/* Documents of the inputs. */
static inline double nd_planning_documents(const struct nd_planning *p)
{
    return (double)p->plan->sample_documents * p->scale;
}

/* The shares of documents that are removed, and why.  ND_ENOMEM. */
enum nd_status nd_planning_shares(struct nd_planning *p, struct nd_error *err);

/* From the shares: candidates, then time, memory and disk. */
void nd_planning_candidates(struct nd_planning *p);
void nd_planning_costs(struct nd_planning *p);

/* The memory that documents take in the index and beside it, and the shingles of kept ones. */
double nd_planning_memory(const struct nd_planning *p, double documents, double kept);
double nd_planning_shingles(const struct nd_planning *p, double removed);

/*
 * Rehearse with the limit of memory of the options, and with others up to what one load needs, where
 * there is one (plan_memory.c): plan->memory.  Then, once the costs without a limit are known: the
 * peaks, and the figures become those of the options' limit.
 */
enum nd_status nd_planning_rehearse_limits(const struct nd_run_options *options,
                                           uint64_t sample_bytes,
                                           const struct nd_run_events *events, struct nd_plan *plan,
                                           struct nd_error *err);
void nd_planning_limits(struct nd_planning *p);

#endif
