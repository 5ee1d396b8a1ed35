/* watch.h - what `plan` looks at while dedup goes through a sample */
#ifndef ND_READING_WATCH_H
#define ND_READING_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/dedup.h>
#include <neardup/run.h>

struct nd_run;
struct nd_output;
struct nd_parsed;

/* At most so many times the bytes of the sample are read, to choose it from them (slice.h). */
enum { ND_WATCH_READ = 10 };

/*
 * Functions are called in order, one at a time.  `number` counts the documents from 0 in one
 * pass, and in several passes the records.
 */
struct nd_run_watch {
    void *context;
    uint64_t sample_bytes; /* stored bytes of the documents that are gone through */
    /* As by the option, of a run over everything: the rehearsal has its share of it; 0: no limit. */
    uint64_t memory;
    /* A document was read.  False: out of memory. */
    bool (*read)(void *context, uint64_t number, const struct nd_parsed *parsed);
    /* In several passes: the engine has as `document` what was read as `number`.  False: out of
     * memory. */
    bool (*pushed)(void *context, uint64_t document, uint64_t number);
    void (*removed)(void *context, uint64_t number, uint64_t kept, enum nd_identical identical);
    /* All are decided, and the engine is still there; NULL: nothing is to be done then.  Under a limit
     * of memory there is none, and none of the above is called. */
    enum nd_status (*decided)(void *context, const struct nd_run *run, struct nd_error *err);
    /* The summary is complete. */
    enum nd_status (*ended)(void *context, const struct nd_run *run, struct nd_error *err);
    /* Write to options->output, if it is set; NULL: it counts as not set. */
    enum nd_status (*write)(void *context, struct nd_output *to, struct nd_error *err);
};

/* Whether a run with these options goes through its documents once. */
bool nd_run_takes_one_pass(const struct nd_run_options *options);

/*
 * nd_run_dedup over a sample, without survivors; only what the watch writes is published.  Bad
 * records end no run.
 */
enum nd_status nd_run_rehearse(const struct nd_run_options *options,
                               const struct nd_run_watch *watch, const struct nd_run_events *events,
                               struct nd_run_summary *summary, struct nd_error *err);

#endif
