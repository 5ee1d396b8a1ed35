/* reporter.h - what a run tells its caller: problems, bad records, progress */
#ifndef ND_READING_REPORTER_H
#define ND_READING_REPORTER_H

#include <stdatomic.h>
#include <stdbool.h>

#include <neardup/run.h>

#include "base/json_out.h"
#include "base/thread/pool.h"
#include "reading/reading.h"

/*
 * The caller's functions are called only by the thread that started the run.  While several threads
 * work on batches of their own (one_pass.c), whatever one of them comes upon is queued, and that
 * thread delivers the queue between its batches.  Events are queued by whoever has the turn to
 * decide, so their order is that of the records, whatever the number of threads.
 */
struct nd_reporter {
    const struct nd_run_events *to;
    struct nd_run_summary *summary;    /* counts failed inputs, warnings and bad records */
    double started, processor_started; /* nd_clock, nd_processor_clock */
    bool is_strict;                    /* the first failed input or bad record ends the run */
    unsigned passes_before;            /* over the documents, before those that the run knows of */

    char failed_input[1024]; /* the first one's message */
    char first_bad[1024];    /* the first bad record's place, and its reason */
    struct nd_json place;    /* scratch */

    bool stops_early;      /* ND_BAD_MOST bad records before the first document end the run */
    bool has_document;     /* one has been met */
    struct nd_buffer held; /* the bad records before it: place and reason of each */
    unsigned n_held;

    bool is_queueing;              /* what follows waits, guarded by the lock of: */
    struct nd_pool *pool;          /* NULL: there is one thread yet */
    struct nd_buffer queue;        /* a byte of its kind and one or two strings each */
    struct nd_run_progress latest; /* of the progress only the latest is delivered */
    bool has_latest;
    atomic_bool is_out_of_memory; /* any worker may note it, for its own reasons too */
};
void nd_reporter_init(struct nd_reporter *r, const struct nd_run_events *to, bool is_strict,
                      struct nd_run_summary *summary);
void nd_reporter_release(struct nd_reporter *r);

void nd_reporter_problem(struct nd_reporter *r, const struct nd_problem *problem);
/* As nd_reporter_problem, as a hook of nd_reading. */
void nd_reporter_tell(void *reporter, const struct nd_problem *problem);
void nd_reporter_warn(struct nd_reporter *r, const char *format, ...) ND_PRINTF(2, 3);
/* A bad record is counted and told.  ND_EINPUT where the run is strict, or where it stops early
 * because nothing but bad records has come. */
enum { ND_BAD_MOST = 1000 };
enum nd_status nd_reporter_bad_record(struct nd_reporter *r, const struct nd_parsed *parsed,
                                      const char *reason, struct nd_error *err);

/* Note that a document was met, in the order of the records: bad records before it are told now. */
void nd_reporter_tell_held(struct nd_reporter *r);
static inline void nd_reporter_meet(struct nd_reporter *r)
{
    if (!r->has_document)
        nd_reporter_tell_held(r);
}
/* No document was met: tell the bad records whose reason is another than the first one's. */
void nd_reporter_tell_others(struct nd_reporter *r);

/* ND_EINPUT where a strict run met an input that failed. */
enum nd_status nd_reporter_check(const struct nd_reporter *r, struct nd_error *err);

/* The progress after a batch of the first of so many passes. */
struct nd_run_progress nd_progress_of(const struct nd_reading_batch *batch, unsigned passes);
/* After each batch.  ND_ECANCELLED: the caller wants to stop; ND_EINPUT as nd_reporter_check. */
enum nd_status nd_reporter_progress(struct nd_reporter *r, const struct nd_run_progress *progress,
                                    struct nd_error *err);

/* Deliver what is queued, as the thread that started the run.  ND_ECANCELLED, ND_ENOMEM. */
enum nd_status nd_reporter_deliver(struct nd_reporter *r, struct nd_error *err);

/* Seconds, from a moment that is always the same. */
double nd_clock(void);
/* Seconds of a processor that this process has used. */
double nd_processor_clock(void);

#endif
