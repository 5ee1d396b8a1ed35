/* reading.c - batches of parsed records, the next one read while this one is worked on */
#define _GNU_SOURCE
#include "pipeline/reading.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * A worker's share of a batch: with what is made of it, that stays in a core's cache (2 MB took a
 * quarter longer on small mails), and waking the workers costs nothing beside it.  Where records
 * are so large that workers would wait for the last, up to eight times as much.
 */
enum {
    WORKER_BYTES = 3 << 16,
    WORKER_RECORDS = 32,
    BATCH_BYTES_MAX = 8 << 20,
    BATCH_RECORDS = 8192,
    TASK_RECORDS = 4
};

struct kept_problem {
    enum nd_problem_kind kind;
    char *message;
};

struct slot {
    struct nd_reading_batch seen;
    struct nd_batch batch;
    size_t capacity;
    int state;          /* of nd_input_read: 1, 0, < 0 */
    uint32_t n_sources; /* met up to its end */
    struct nd_error error;
    struct kept_problem *problem;
    size_t n_problems, problem_capacity;
    unsigned turn; /* whose parsers made its documents */
    bool is_parsed;
    _Atomic(uint64_t) repaired;
};

struct nd_reading {
    struct nd_pool *pool;
    struct nd_input *input;
    struct nd_reading_hooks hooks;
    struct nd_parser **parser[2]; /* by turn, one a worker: documents live in them */
    unsigned n_workers;
    size_t batch_bytes, least_bytes, most_bytes; /* of a batch: of the next, and of any */
    struct slot slot[ND_READING_SLOTS];
    struct slot *current; /* being worked on by the caller */
    struct slot *parsing;
    struct slot *coming; /* of the job; what it did counts once the job is over */
    uint64_t n_given;    /* batches given to the caller */
    uint64_t n_jobs;     /* begun: the i-th fills slot i % ND_READING_SLOTS */
    unsigned ahead;      /* batches read before they are asked for */
    enum nd_status wrote;
    struct nd_error write_error;
    bool has_job;
    atomic_bool out_of_memory;
    uint32_t n_sources;
};

/* Problems come up in the job, and are told by the thread that asked for the batch. */
static void keep_problem(void *context, const struct nd_problem *problem)
{
    struct nd_reading *r = context;
    struct slot *slot = r->coming;
    void *list = slot->problem;
    char *message = strdup(problem->message);

    if (!message || !nd_array_reserve(&list, &slot->problem_capacity, slot->n_problems + 1,
                                      sizeof *slot->problem)) {
        free(message);
        atomic_store(&r->out_of_memory, true);
        return;
    }
    slot->problem = list;
    slot->problem[slot->n_problems].kind = problem->kind;
    slot->problem[slot->n_problems++].message = message;
}

static void tell_problems(struct nd_reading *r, struct slot *slot)
{
    for (size_t i = 0; i < slot->n_problems; i++) {
        struct nd_problem problem = {slot->problem[i].kind, slot->problem[i].message};

        if (r->hooks.problem)
            r->hooks.problem(r->hooks.context, &problem);
        free(slot->problem[i].message);
    }
    slot->n_problems = 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void adapt(struct nd_reading *r, size_t n_records)
{
    if (n_records < (size_t)r->n_workers * WORKER_RECORDS)
        r->batch_bytes *= 2;
    else if (n_records > (size_t)r->n_workers * WORKER_RECORDS * 4)
        r->batch_bytes /= 2;
    if (r->batch_bytes < r->least_bytes)
        r->batch_bytes = r->least_bytes;
    if (r->batch_bytes > r->most_bytes)
        r->batch_bytes = r->most_bytes;
}

static void write_and_read(void *context)
{
    struct nd_reading *r = context;
    struct slot *slot = r->coming;

    if (r->wrote == ND_OK && slot->seen.count && r->hooks.write)
        r->wrote = r->hooks.write(r->hooks.context, slot->seen.slot, &r->write_error);
    slot->seen.count = 0;
    if (r->wrote != ND_OK) { /* what comes after is not read */
        slot->state = (int)r->wrote;
        slot->error = r->write_error;
        return;
    }
    slot->state =
        nd_input_read(r->input, r->batch_bytes, BATCH_RECORDS, &slot->batch, &slot->error);
    if (slot->state == 1)
        adapt(r, slot->batch.count);
    slot->n_sources = (uint32_t)nd_input_sources(r->input);
    nd_input_progress(r->input, &slot->seen.done, &slot->seen.total);
}

static void finish_job(struct nd_reading *r)
{
    if (r->has_job)
        nd_pool_finish(r->pool);
    r->has_job = false;
}

/* Whether the next job may begin: what its slot held is decided, or was never filled. */
static bool may_read(const struct nd_reading *r)
{
    return r->n_jobs < r->n_given + r->ahead;
}

static void begin_job(struct nd_reading *r)
{
    finish_job(r);
    r->coming = &r->slot[r->n_jobs++ % ND_READING_SLOTS];
    r->has_job = true;
    nd_pool_begin(r->pool, write_and_read, r);
}

void nd_reading_go_on(struct nd_reading *r)
{
    if (may_read(r))
        begin_job(r);
}

/* A second turn of parsers only where a batch may be parsed ahead. */
static bool make_parsers(struct nd_reading *r, const struct nd_input_options *options,
                         struct nd_error *err)
{
    for (unsigned turn = 0; turn < (r->n_workers > 1 ? 2U : 1U); turn++) {
        r->parser[turn] = calloc(r->n_workers, sizeof(struct nd_parser *));
        if (!r->parser[turn]) {
            nd_fail(err, ND_ENOMEM, "out of memory");
            return false;
        }
        for (unsigned i = 0; i < r->n_workers; i++)
            if (!(r->parser[turn][i] = nd_parser_new(options, err)))
                return false;
    }
    return true;
}

static void free_parsers(struct nd_reading *r)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; r->parser[turn] && i < r->n_workers; i++)
            nd_parser_free(r->parser[turn][i]);
        free(r->parser[turn]);
    }
}

struct nd_reading *nd_reading_new(struct nd_pool *pool, const char *const *paths, size_t n_paths,
                                  const struct nd_input_options *options,
                                  const struct nd_reading_hooks *hooks, struct nd_error *err)
{
    struct nd_reading *r = calloc(1, sizeof *r);

    if (!r) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    r->pool = pool;
    r->hooks = *hooks;
    for (unsigned i = 0; i < ND_READING_SLOTS; i++)
        r->slot[i].seen.slot = i;
    r->n_workers = nd_pool_threads(pool);
    r->ahead = r->n_workers > 1 ? ND_READING_SLOTS - 1 : 1;
    r->least_bytes = least((size_t)r->n_workers * WORKER_BYTES, BATCH_BYTES_MAX);
    r->most_bytes = least(r->least_bytes * 8, BATCH_BYTES_MAX);
    r->batch_bytes = r->least_bytes;
    r->input = nd_input_open(paths, n_paths, options, keep_problem, r, err);
    if (r->input && make_parsers(r, options, err))
        return r;
    nd_reading_free(r);
    return NULL;
}

static void forget(struct slot *slot)
{
    for (size_t i = 0; i < slot->seen.count; i++)
        free(slot->seen.parsed[i].bad);
    slot->seen.count = 0;
}

static void release_slot(struct slot *slot)
{
    for (size_t i = 0; i < slot->n_problems; i++)
        free(slot->problem[i].message);
    free(slot->problem);
    forget(slot);
    free(slot->seen.parsed);
    nd_batch_release(&slot->batch);
}

void nd_reading_free(struct nd_reading *r)
{
    if (!r)
        return;
    finish_job(r);
    for (unsigned i = 0; i < ND_READING_SLOTS; i++)
        release_slot(&r->slot[i]);
    free_parsers(r);
    if (r->input)
        nd_input_close(r->input);
    free(r);
}

static void parse_one(struct nd_reading *r, struct slot *slot, struct nd_parsed *parsed,
                      unsigned worker)
{
    struct nd_bad_record bad;
    uint64_t repaired = 0;
    int result =
        nd_parser_parse(r->parser[slot->turn][worker], nd_reading_source(r, parsed->record.source),
                        parsed->record.bytes, &parsed->document, &repaired, &bad);

    if (result == 0) {
        parsed->bad = malloc(sizeof bad);
        if (parsed->bad)
            *parsed->bad = bad;
    }
    if (result < 0 || (result == 0 && !parsed->bad))
        atomic_store(&r->out_of_memory, true);
    if (repaired)
        atomic_fetch_add(&slot->repaired, repaired);
    if (result == 1 && r->hooks.parsed)
        r->hooks.parsed(r->hooks.context, parsed, worker);
}

static void parse_task(void *context, size_t task, unsigned worker)
{
    struct nd_reading *r = context;
    struct slot *slot = r->parsing;
    size_t from = task * TASK_RECORDS, to = from + TASK_RECORDS;

    for (size_t i = from; i < to && i < slot->seen.count; i++)
        parse_one(r, slot, &slot->seen.parsed[i], worker);
}

/* The number of tasks in which r->parsing is parsed. */
static size_t begin_parsing(void *context)
{
    struct nd_reading *r = context;
    struct slot *slot = r->parsing;
    void *parsed = slot->seen.parsed;

    if (!nd_array_reserve(&parsed, &slot->capacity, slot->batch.count, sizeof *slot->seen.parsed)) {
        atomic_store(&r->out_of_memory, true);
        return 0;
    }
    slot->seen.parsed = parsed;
    slot->seen.count = slot->batch.count;
    slot->seen.bytes = slot->batch.bytes;
    for (size_t i = 0; i < slot->seen.count; i++)
        slot->seen.parsed[i] = (struct nd_parsed){.record = slot->batch.records[i]};
    slot->turn = r->n_workers > 1 && r->current ? !r->current->turn : 0;
    for (unsigned i = 0; i < r->n_workers; i++)
        nd_parser_reset(r->parser[slot->turn][i]);
    atomic_store(&slot->repaired, 0);
    slot->is_parsed = true;
    return (slot->seen.count + TASK_RECORDS - 1) / TASK_RECORDS;
}

bool nd_reading_ahead(struct nd_reading *r, struct nd_stage *stage, struct nd_reading_batch **batch)
{
    struct slot *slot = &r->slot[r->n_given % ND_READING_SLOTS];
    bool is_there = r->n_jobs > r->n_given && !(r->has_job && r->coming == slot);

    if (!is_there || slot->state != 1 || slot->is_parsed || r->n_workers == 1)
        return false;
    r->parsing = slot;
    *stage = (struct nd_stage){begin_parsing, parse_task, r};
    *batch = &slot->seen;
    return true;
}

/* Unless that was done ahead. */
static enum nd_status parse(struct nd_reading *r, struct slot *slot, struct nd_error *err)
{
    if (!slot->is_parsed) {
        size_t n_tasks;

        r->parsing = slot;
        n_tasks = begin_parsing(r);
        nd_pool_run(r->pool, n_tasks, parse_task, r);
    }
    slot->is_parsed = false;
    slot->seen.repaired = atomic_load(&slot->repaired);
    if (atomic_load(&r->out_of_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

/* What the jobs up to this slot's came to; 1: its batch is there. */
static int take_coming(struct nd_reading *r, struct slot *slot, struct nd_error *err)
{
    while (r->n_jobs <= r->n_given || (r->n_given == 0 && r->n_jobs < r->ahead))
        begin_job(r);
    if (r->coming == slot)
        finish_job(r);
    tell_problems(r, slot);
    r->n_sources = slot->n_sources;
    if (slot->state < 0 && err)
        *err = slot->error;
    return slot->state;
}

/* The end: what is left of the last batches has still to be written, in their order. */
static enum nd_status write_rest(struct nd_reading *r, struct nd_error *err)
{
    enum nd_status status;

    finish_job(r);
    status = r->wrote;
    if (status != ND_OK && err)
        *err = r->write_error;
    for (uint64_t i = 1; i < ND_READING_SLOTS; i++) {
        struct slot *slot = &r->slot[(r->n_given + i) % ND_READING_SLOTS];

        if (status == ND_OK && slot->seen.count && r->hooks.write)
            status = r->hooks.write(r->hooks.context, slot->seen.slot, err);
        forget(slot);
    }
    return status;
}

static void forget_bad(struct slot *slot)
{
    for (size_t i = 0; i < slot->seen.count; i++) {
        free(slot->seen.parsed[i].bad);
        slot->seen.parsed[i].bad = NULL;
    }
}

int nd_reading_next(struct nd_reading *r, struct nd_reading_batch **batch, struct nd_error *err)
{
    struct slot *slot = &r->slot[r->n_given % ND_READING_SLOTS];
    int result;

    if (r->current)
        forget_bad(r->current);
    result = take_coming(r, slot, err);
    if (result == 0)
        result = (int)write_rest(r, err);
    if (result <= 0)
        return result;
    r->n_given++;
    if (!r->hooks.goes_on)
        nd_reading_go_on(r);
    *batch = &slot->seen;
    result = (int)parse(r, slot, err);
    r->current = slot;
    return result == 0 ? 1 : result;
}

struct nd_input *nd_reading_input(struct nd_reading *r)
{
    return r->input;
}

uint32_t nd_reading_sources(const struct nd_reading *r)
{
    return r->n_sources;
}

const struct nd_source *nd_reading_source(const struct nd_reading *r, uint32_t number)
{
    return nd_input_source(r->input, number);
}
