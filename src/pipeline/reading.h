/* reading.h - batches of parsed records, the next one read while this one is worked on */
#ifndef ND_PIPELINE_READING_H
#define ND_PIPELINE_READING_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/types.h>

#include "base/pool.h"

/* A record and what the parser made of it. */
struct nd_parsed {
    struct nd_record record;
    struct nd_document document;
    struct nd_bad_record *bad; /* NULL: a document */
    uint64_t key;              /* for the `parsed` hook to fill */
};

/*
 * Three batches are in flight: while one is parsed and decided, a job beside the pool writes what
 * the caller left of the one before and reads another into it; the one between has been read
 * already, so that nobody waits for the job.
 */
enum { ND_READING_SLOTS = 3 };
struct nd_reading_batch {
    struct nd_parsed *parsed;
    size_t count;
    unsigned slot; /* below ND_READING_SLOTS: where the caller keeps what the job is to write */
    size_t bytes;  /* of the records */
    uint64_t repaired;
    uint64_t done, total; /* nd_input_progress after this batch */
};

struct nd_reading_hooks {
    void *context;
    /* A record has been parsed; called by several workers at once.  NULL: nothing. */
    void (*parsed)(void *context, struct nd_parsed *parsed, unsigned worker);
    /* Write what was left of this slot: its records are still there.  NULL: nothing. */
    enum nd_status (*write)(void *context, unsigned slot, struct nd_error *err);
    /* A problem with an input, in the thread that calls nd_reading_next. */
    void (*problem)(void *context, const struct nd_problem *problem);
    /* The caller says by nd_reading_go_on when a thread has time for the job; else it begins with
     * the batch. */
    bool goes_on;
};

struct nd_reading;

struct nd_reading *nd_reading_new(struct nd_pool *pool, const char *const *paths, size_t n_paths,
                                  const struct nd_input_options *options,
                                  const struct nd_reading_hooks *hooks, struct nd_error *err);
/* Waits for the job.  NULL: nothing. */
void nd_reading_free(struct nd_reading *r);

/*
 * The next batch, valid until the next call but one, its documents until the next call.  1; 0: all
 * has been read and written; < 0: a status, from reading or from the write hook.
 */
int nd_reading_next(struct nd_reading *r, struct nd_reading_batch **batch, struct nd_error *err);

/* Begin to write and read beside the batch given last, if that has not begun. */
void nd_reading_go_on(struct nd_reading *r);

/*
 * Parse the batch after the one given last beside it: the stage for nd_pool_ahead, and where the
 * batch will be, which nd_reading_next then gives as it is.  The caller sees to it that the stage
 * has ended by then.  False: it has not been read yet.
 */
bool nd_reading_ahead(struct nd_reading *r, struct nd_stage *stage,
                      struct nd_reading_batch **batch);

/* For nd_input_reread. */
struct nd_input *nd_reading_input(struct nd_reading *r);

/* Sources met up to the last batch given; the same pointer as long as the reading lives. */
uint32_t nd_reading_sources(const struct nd_reading *r);
const struct nd_source *nd_reading_source(const struct nd_reading *r, uint32_t number);

#endif
