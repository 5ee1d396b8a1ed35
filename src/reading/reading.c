/* reading.c - batches of parsed records: one after the other for all threads, or one a thread */
#include "reading/reading.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/thread/thread.h"
#include "input/formats/formats.h"
#include "input/input_limit.h"
#include "loads/budget.h"
#include "reading/read_ahead.h"
#include "reading/slice.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The size of a worker's part of a batch, or of a batch of its own: with what is made of it, that
 * stays in a core's cache (2 MB took a quarter longer on small mails), and waking the workers costs
 * nothing beside it. Where records are so large that workers would wait for the last, and the
 * engine would have a handful at a time, up to eight times as much.
 */
enum {
    WORKER_BYTES = 3 << 16,
    WORKER_RECORDS = 32,
    BATCH_BYTES_MAX = 8 << 20,
    BATCH_RECORDS = 8192,
    TASK_RECORDS = 4,
    SLICED_TIMES = 4, /* at most so many times as long where a slice is left of them */
    SLOTS = 2,        /* or one a worker: a batch that is worked on, and one that is read */
    BUSY_WORKERS = 3,
    UNPACKED_FILES_MAX = 32,
    FRAME_THREADS_MAX = 15,
    UNPACKED_MAX = 32 << 20
};

struct batch_slot {
    struct nd_reading_batch seen;
    struct nd_batch batch;
    struct nd_sketched_batch sketched; /* where sketch files are read: */
    size_t block;                      /* the number of this one */
    size_t capacity;
    unsigned long ticket;        /* where each worker has batches of its own */
    struct nd_ahead_piece piece; /* that was read ahead */
    int state;                   /* of nd_input_read: 1, 0, < 0 */
    uint32_t n_sources;          /* met up to its end */
    struct nd_error error;
    struct nd_problem *problem; /* the messages are ours */
    size_t n_problems, problem_capacity;
    _Atomic(uint64_t) repaired;
    atomic_bool out_of_memory;
};

struct nd_reading {
    struct nd_pool *pool;
    struct nd_input *input;
    struct nd_reading_hooks hooks;
    struct nd_slice *slice; /* NULL: all documents are given */
    double block_share;     /* of the blocks of sketch files, where not all are read */
    size_t n_blocks_read;
    struct nd_parser **parser; /* one a worker: documents live in them */
    unsigned n_workers;
    unsigned n_sharing;                       /* workers that a batch is for */
    size_t batch_bytes, min_bytes, max_bytes; /* of a batch: of the next, and of any */
    struct batch_slot *slot;
    unsigned n_slots;
    struct nd_read_ahead *ahead; /* where each worker has batches of its own */
    struct batch_slot *coming;   /* being filled; what a job does counts once it is over */
    struct batch_slot *parsing;  /* by all workers */
    uint64_t n_given;            /* batches given to the caller */
    bool has_job, is_over;
    uint64_t unpacked; /* bytes of the records read so far */
    size_t next_block; /* of sketch files */
    uint32_t n_sources;
    _Atomic(uint64_t) n_repaired; /* documents */
};

/* Problems come up while a batch is read, and are told by the thread that asked for it. */
static void keep_problem(void *context, const struct nd_problem *problem)
{
    struct nd_reading *r = context;
    struct batch_slot *slot = r->coming;
    char *message = nd_text_copy(problem->message);

    if (!message || !ND_RESERVE(slot->problem, &slot->problem_capacity, slot->n_problems + 1)) {
        free(message);
        atomic_store(&slot->out_of_memory, true);
        return;
    }
    slot->problem[slot->n_problems++] = (struct nd_problem){problem->kind, message};
}

static void forget_problems(struct batch_slot *slot)
{
    for (size_t i = 0; i < slot->n_problems; i++)
        free((char *)(uintptr_t)slot->problem[i].message);
    slot->n_problems = 0;
}

static void tell_problems(struct nd_reading *r, struct batch_slot *slot)
{
    for (size_t i = 0; i < slot->n_problems && r->hooks.problem; i++)
        r->hooks.problem(r->hooks.reporter, &slot->problem[i]);
    forget_problems(slot);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void adapt(struct nd_reading *r, size_t n_records)
{
    if (n_records < (size_t)r->n_sharing * WORKER_RECORDS)
        r->batch_bytes *= 2;
    else if (n_records > (size_t)r->n_sharing * WORKER_RECORDS * 4)
        r->batch_bytes /= 2;
    if (r->batch_bytes < r->min_bytes)
        r->batch_bytes = r->min_bytes;
    if (r->batch_bytes > r->max_bytes)
        r->batch_bytes = r->max_bytes;
}

static void forget(struct batch_slot *slot)
{
    for (size_t i = 0; i < slot->seen.count; i++)
        free(slot->seen.parsed[i].bad);
    slot->seen.count = 0;
}

/* Check whether a block is sampled. The first block of sketch files is in every sample. */
static bool is_sampled(const struct nd_reading *r, size_t block)
{
    return !block || r->block_share <= 0 || (double)nd_mix64(block) * 0x1p-64 < r->block_share;
}

/* The next block of the sketch files is the slot's: read at once, or by its worker later. */
static void fill_sketched(struct nd_reading *r, struct batch_slot *slot)
{
    const struct nd_sketches *sketches = r->hooks.sketches;

    while (r->next_block < nd_sketches_blocks(sketches) && !is_sampled(r, r->next_block))
        r->next_block++;
    r->is_over = r->next_block == nd_sketches_blocks(sketches);
    slot->n_sources = nd_sketches_sources(sketches);
    if (r->is_over)
        return;
    slot->state = 1;
    slot->block = r->next_block++;
    r->n_blocks_read++;
    slot->seen.done = slot->seen.unpacked = nd_sketches_bytes(sketches, slot->block + 1);
    slot->seen.total = nd_sketches_bytes(sketches, nd_sketches_blocks(sketches));
    if (!r->hooks.by_worker)
        slot->state =
            nd_sketches_read(sketches, slot->block, &slot->sketched, &slot->error) == ND_OK
                ? 1
                : (int)slot->error.status;
}

static void fill_slot(struct nd_reading *r, struct batch_slot *slot)
{
    forget(slot);
    slot->state = 0;
    if (r->is_over)
        return;
    if (r->hooks.sketches) {
        fill_sketched(r, slot);
        return;
    }
    slot->state =
        nd_input_read(r->input, r->batch_bytes, BATCH_RECORDS, &slot->batch, &slot->error);
    if (slot->state == 1) {
        adapt(r, slot->batch.count);
        r->unpacked += slot->batch.bytes;
    }
    slot->seen.unpacked = r->unpacked;
    r->is_over = slot->state != 1;
    slot->n_sources = (uint32_t)nd_input_sources(r->input);
    nd_input_progress(r->input, &slot->seen.done, &slot->seen.total);
}

/* Fill a slot. If workers read their own batches, the run counts the time. */
static void fill(struct nd_reading *r, struct batch_slot *slot)
{
    uint64_t began = r->slice && !r->hooks.by_worker ? nd_thread_ns() : 0;

    fill_slot(r, slot);
    if (began)
        nd_slice_spent(r->slice, r->n_workers, nd_thread_ns() - began, 0);
}

static void read_coming(void *context)
{
    struct nd_reading *r = context;

    fill(r, r->coming);
}

static void finish_job(struct nd_reading *r)
{
    if (r->has_job)
        nd_pool_finish(r->pool);
    r->has_job = false;
}

static void begin_job(struct nd_reading *r)
{
    r->coming = &r->slot[r->n_given % SLOTS];
    r->has_job = true;
    nd_pool_begin(r->pool, read_coming, r);
}

static bool make_parsers(struct nd_reading *r, const struct nd_input_options *options,
                         struct nd_error *err)
{
    r->n_slots = r->hooks.by_worker ? r->n_workers : SLOTS;
    r->parser = calloc(r->n_workers, sizeof(struct nd_parser *));
    r->slot = calloc(r->n_slots, sizeof *r->slot);
    if (!r->parser || !r->slot) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return false;
    }
    if (r->hooks.by_worker && !(r->ahead = nd_read_ahead_new(r->pool, r->n_workers, err)))
        return false;
    for (unsigned i = 0; i < r->n_workers; i++)
        if (!(r->parser[i] = nd_parser_new(options, err)))
            return false;
    return true;
}

/*
 * A thread that decompresses keeps some three busy that make sketches.  The window of a file holds
 * the pieces that have been read ahead and are not cut yet; where more files are decompressed at a
 * time, as much of each as a thread makes while the one before it is read.  With little memory there
 * is one file, with two batches.
 */
static bool unpack_ahead(struct nd_reading *r)
{
    size_t files = (r->n_workers + BUSY_WORKERS - 1) / BUSY_WORKERS;
    size_t window = (r->n_workers + 4) * r->max_bytes;

    if (r->hooks.batch_bytes)
        return nd_input_unpack_ahead(r->input, r->pool, 1, 2 * r->max_bytes, 0);
    files = smaller(files, UNPACKED_FILES_MAX);
    window = smaller(window, UNPACKED_MAX);
    return nd_input_unpack_ahead(r->input, r->pool, files, files > 1 ? UNPACKED_MAX : window,
                                 (unsigned)smaller(files, FRAME_THREADS_MAX));
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
    r->n_workers = nd_pool_threads(pool);
    r->n_sharing = hooks->by_worker ? 1 : r->n_workers;
    r->min_bytes = smaller((size_t)r->n_sharing * WORKER_BYTES, BATCH_BYTES_MAX);
    r->max_bytes = smaller(r->min_bytes * 8, BATCH_BYTES_MAX);
    if (hooks->batch_bytes && r->max_bytes > hooks->batch_bytes)
        r->max_bytes = hooks->batch_bytes;
    r->min_bytes = smaller(r->min_bytes, r->max_bytes);
    r->batch_bytes = r->min_bytes;
    r->input = nd_input_open(paths, n_paths, options, keep_problem, r, err);
    if (r->input && hooks->record_bytes)
        nd_input_limit_records(r->input, hooks->record_bytes);
    if (r->input && hooks->answers_pauses)
        nd_input_answer_pauses(r->input);
    if (r->input && r->n_workers > 1 && !unpack_ahead(r)) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        nd_reading_free(r);
        return NULL;
    }
    if (r->input && make_parsers(r, options, err))
        return r;
    nd_reading_free(r);
    return NULL;
}

void nd_reading_set_slice(struct nd_reading *r, struct nd_slice *slice, double share)
{
    size_t longer = share * (double)SLICED_TIMES > 1 ? (size_t)(1 / share) : SLICED_TIMES;

    r->slice = slice;
    r->min_bytes = smaller(r->min_bytes * longer, BATCH_BYTES_MAX);
    r->max_bytes = smaller(r->max_bytes * longer, BATCH_BYTES_MAX);
    r->batch_bytes = r->min_bytes;
}

void nd_reading_sample_blocks(struct nd_reading *r, double share)
{
    r->block_share = share;
}

double nd_reading_blocks_read(const struct nd_reading *r)
{
    size_t n = nd_sketches_blocks(r->hooks.sketches);

    return n ? (double)r->n_blocks_read / (double)n : 1;
}

enum nd_status nd_reading_list(struct nd_reading *r, struct nd_error *err)
{
    enum nd_status status;

    r->coming = &r->slot[0];
    status = nd_input_list(r->input, err);
    tell_problems(r, r->coming);
    return status;
}

static void release_slot(struct batch_slot *slot)
{
    forget_problems(slot);
    free(slot->problem);
    forget(slot);
    free(slot->seen.parsed);
    nd_sketched_batch_release(&slot->sketched);
    nd_batch_release(&slot->batch);
}

void nd_reading_free(struct nd_reading *r)
{
    if (!r)
        return;
    finish_job(r);
    for (unsigned i = 0; r->slot && i < r->n_slots; i++)
        release_slot(&r->slot[i]);
    free(r->slot);
    nd_read_ahead_free(r->ahead);
    for (unsigned i = 0; r->parser && i < r->n_workers; i++)
        nd_parser_free(r->parser[i]);
    free(r->parser);
    if (r->input)
        nd_input_close(r->input);
    free(r);
}

bool nd_parsed_make(struct nd_parsed *parsed, struct nd_parser *parser, uint64_t *repaired)
{
    struct nd_bad_record bad;
    int result = nd_parser_parse(parser, parsed->source, parsed->record.bytes, &parsed->document,
                                 repaired, &bad);

    if (result == 0 && (parsed->bad = malloc(sizeof bad)))
        *parsed->bad = bad;
    return result > 0 || (result == 0 && parsed->bad);
}

struct nd_bad_record nd_bad_record_too_long(uint64_t bytes, unsigned threads)
{
    struct nd_bad_record bad;
    char text[ND_BUDGET_TEXT];

    snprintf(bad.reason, sizeof bad.reason,
             "a record of %" PRIu64 " bytes needs more memory: --memory %s", bytes,
             nd_budget_text(nd_budget_for_record(bytes, threads), text));
    return bad;
}

static bool note_too_long(struct nd_parsed *parsed, unsigned threads)
{
    parsed->bad = malloc(sizeof *parsed->bad);
    if (parsed->bad)
        *parsed->bad = nd_bad_record_too_long(parsed->record.skipped_bytes, threads);
    return parsed->bad != NULL;
}

static void parse_one(struct nd_reading *r, struct batch_slot *slot, struct nd_parsed *parsed,
                      unsigned worker)
{
    uint64_t repaired = 0;
    bool is_made = parsed->record.skipped_bytes
                       ? note_too_long(parsed, r->n_workers)
                       : nd_parsed_make(parsed, r->parser[worker], &repaired);

    if (!is_made)
        atomic_store(&slot->out_of_memory, true);
    if (repaired)
        atomic_fetch_add(&slot->repaired, repaired);
    if (repaired && !nd_format_row(parsed->source->format)->names_charset)
        atomic_fetch_add(&r->n_repaired, 1);
    if (is_made && !parsed->bad && r->hooks.parsed)
        r->hooks.parsed(r->hooks.context, parsed, worker);
}

/* The documents of a block of sketch files, which is all that is made of them. */
static bool list_sketched(const struct nd_reading *r, struct batch_slot *slot, unsigned worker)
{
    const struct nd_sketched_batch *from = &slot->sketched;
    const struct nd_sketched_fields *fields = nd_sketches_fields(r->hooks.sketches);

    atomic_store(&slot->repaired, 0);
    if (!ND_RESERVE(slot->seen.parsed, &slot->capacity, from->block.n)) {
        atomic_store(&slot->out_of_memory, true);
        return false;
    }
    slot->seen.count = from->block.n;
    slot->seen.bytes = from->packed.len;
    for (size_t i = 0; i < from->block.n; i++) {
        slot->seen.parsed[i] =
            (struct nd_parsed){.record = from->record[i],
                               .source = nd_reading_source(r, from->record[i].source),
                               .document = nd_sketched_document(&from->block.rows[i], fields,
                                                                from->field + i * fields->n,
                                                                from->replaced + i * fields->n),
                               .sketched = &from->block.rows[i]};
        slot->seen.parsed[i].record.block = (uint32_t)slot->block;
        if (r->hooks.parsed)
            r->hooks.parsed(r->hooks.context, &slot->seen.parsed[i], worker);
    }
    return true;
}

/* The records as they are, still to be parsed. */
static bool list_records(const struct nd_reading *r, struct batch_slot *slot)
{
    if (!ND_RESERVE(slot->seen.parsed, &slot->capacity, slot->batch.count)) {
        atomic_store(&slot->out_of_memory, true);
        return false;
    }
    slot->seen.count = slot->batch.count;
    slot->seen.bytes = slot->batch.bytes;
    for (size_t i = 0; i < slot->seen.count; i++) {
        const struct nd_record *record = &slot->batch.records[i];

        slot->seen.parsed[i] =
            (struct nd_parsed){.record = *record, .source = nd_reading_source(r, record->source)};
    }
    atomic_store(&slot->repaired, 0);
    return true;
}

static size_t tasks_of(const struct batch_slot *slot)
{
    return (slot->seen.count + TASK_RECORDS - 1) / TASK_RECORDS;
}

static void parse_task(void *context, size_t task, unsigned worker)
{
    struct nd_reading *r = context;
    size_t from = task * TASK_RECORDS, to = from + TASK_RECORDS;
    uint64_t began = r->slice ? nd_thread_ns() : 0;

    for (size_t i = from; i < to && i < r->parsing->seen.count; i++)
        parse_one(r, r->parsing, &r->parsing->seen.parsed[i], worker);
    if (r->slice)
        nd_slice_spent(r->slice, worker, nd_thread_ns() - began, 0);
}

/* ---- Of a sample: leave out what is not in its slice ---- */

static void cut_batch(struct nd_reading *r, struct batch_slot *slot, unsigned worker)
{
    if (!nd_slice_cut(r->slice, slot->seen.parsed, &slot->seen.count, worker))
        atomic_store(&slot->out_of_memory, true);
}

static void slice_task(void *context, size_t task, unsigned worker)
{
    struct nd_reading *r = context;
    size_t from = task * TASK_RECORDS, to = from + TASK_RECORDS;
    uint64_t began = nd_thread_ns();

    for (size_t i = from; i < to && i < r->parsing->seen.count; i++)
        nd_slice_note(&r->parsing->seen.parsed[i]);
    nd_slice_spent(r->slice, worker, 0, nd_thread_ns() - began);
}

/* A worker has parsed its batch, since `began`. */
static void slice_own(struct nd_reading *r, struct batch_slot *slot, unsigned worker,
                      uint64_t began)
{
    uint64_t parsed = nd_thread_ns();

    for (size_t i = 0; i < slot->seen.count; i++)
        nd_slice_note(&slot->seen.parsed[i]);
    cut_batch(r, slot, worker);
    nd_slice_spent(r->slice, worker, parsed - began, nd_thread_ns() - parsed);
}

static void parse_by_all(struct nd_reading *r, struct batch_slot *slot)
{
    for (unsigned i = 0; i < r->n_workers; i++)
        nd_parser_reset(r->parser[i]);
    r->parsing = slot;
    if (r->hooks.sketches)
        (void)list_sketched(r, slot, 0);
    else if (list_records(r, slot))
        nd_pool_run(r->pool, tasks_of(slot), parse_task, r);
    if (!r->slice)
        return;
    nd_pool_run(r->pool, tasks_of(slot), slice_task, r);
    cut_batch(r, slot, 0);
}

/* Take the result of reading a slot; 1: its batch is there. */
static int take(struct nd_reading *r, struct batch_slot *slot, struct nd_error *err)
{
    tell_problems(r, slot);
    r->n_sources = slot->n_sources > r->n_sources ? slot->n_sources : r->n_sources;
    if (slot->state < 0 && err)
        *err = slot->error;
    return slot->state;
}

static enum nd_status check_parsed(struct batch_slot *slot, struct nd_error *err)
{
    slot->seen.repaired = atomic_load(&slot->repaired);
    if (atomic_load(&slot->out_of_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

int nd_reading_next(struct nd_reading *r, struct nd_reading_batch **batch, struct nd_error *err)
{
    struct batch_slot *slot = &r->slot[r->n_given % SLOTS];
    enum nd_status status;
    int result;

    if (!r->has_job)
        begin_job(r);
    finish_job(r);
    result = take(r, slot, err);
    if (result <= 0)
        return result;
    r->n_given++;
    begin_job(r);
    parse_by_all(r, slot);
    *batch = &slot->seen;
    status = check_parsed(slot, err);
    return status == ND_OK ? 1 : (int)status;
}

unsigned long nd_reading_begin(struct nd_reading *r, unsigned worker)
{
    struct batch_slot *slot = &r->slot[worker];
    uint64_t began = r->slice ? nd_thread_ns() : 0;

    slot->ticket = nd_read_ahead_begin(r->ahead, &slot->piece);
    if (slot->piece.len) {
        forget(slot);
        nd_batch_read_ahead(r->input, &slot->batch, &slot->piece);
    }
    if (r->slice)
        nd_slice_spent(r->slice, worker, nd_thread_ns() - began, 0);
    return slot->ticket;
}

/* The piece of the file that is the batch's, where it was not known before. */
static void read_piece(struct nd_reading *r, struct batch_slot *slot)
{
    struct nd_ahead_piece piece = nd_read_ahead_piece(r->ahead, slot->ticket);

    if (!piece.len || (piece.source == slot->piece.source && piece.offset == slot->piece.offset &&
                       piece.len == slot->piece.len))
        return;
    slot->piece = piece;
    nd_batch_read_ahead(r->input, &slot->batch, &piece);
}

void nd_reading_fill(struct nd_reading *r, unsigned worker)
{
    struct batch_slot *slot = r->coming = &r->slot[worker];
    struct nd_ahead_place place;
    bool is_divided = r->n_workers > 1 && !r->hooks.sketches;

    forget(slot);
    if (is_divided)
        read_piece(r, slot);
    fill(r, slot);
    if (is_divided) /* a reading that failed is nowhere */
        nd_read_ahead_end(r->ahead, slot->ticket,
                          slot->state == 1 && nd_input_ahead_place(r->input, &place) ? &place
                                                                                     : NULL,
                          r->batch_bytes);
}

void nd_reading_parse(struct nd_reading *r, unsigned worker, struct nd_reading_batch **batch)
{
    struct batch_slot *slot = &r->slot[worker];
    uint64_t began = r->slice ? nd_thread_ns() : 0;

    *batch = &slot->seen;
    if (slot->state == 1 && r->hooks.sketches) {
        slot->state =
            (int)nd_sketches_read(r->hooks.sketches, slot->block, &slot->sketched, &slot->error);
        if (slot->state == ND_OK)
            slot->state = list_sketched(r, slot, worker);
    } else if (slot->state == 1 && list_records(r, slot)) {
        nd_parser_reset(r->parser[worker]);
        for (size_t i = 0; i < slot->seen.count; i++)
            parse_one(r, slot, &slot->seen.parsed[i], worker);
    }
    if (r->slice && slot->state == 1 && !atomic_load(&slot->out_of_memory))
        slice_own(r, slot, worker, began);
}

int nd_reading_take(struct nd_reading *r, unsigned worker, struct nd_error *err)
{
    struct batch_slot *slot = &r->slot[worker];
    int result = take(r, slot, err);
    enum nd_status status = check_parsed(slot, err);

    return result >= 0 && status != ND_OK ? (int)status : result;
}

struct nd_input *nd_reading_input(struct nd_reading *r)
{
    return r->input;
}

const struct nd_sketches *nd_reading_sketches(const struct nd_reading *r)
{
    return r->hooks.sketches;
}

enum nd_status nd_reading_reread(struct nd_reading *r, uint32_t source, uint64_t offset, size_t len,
                                 struct nd_buffer *bytes, struct nd_error *err)
{
    if (r->hooks.sketches)
        return nd_sketches_reread(r->hooks.sketches, offset, len, source, bytes, err);
    return nd_input_reread(r->input, source, offset, len, &bytes->data, &bytes->capacity, err);
}

uint64_t nd_reading_unpack_ns(const struct nd_reading *r)
{
    return r->input ? nd_input_unpack_ns(r->input) : 0;
}

uint64_t nd_reading_repaired(const struct nd_reading *r)
{
    return atomic_load(&r->n_repaired);
}

uint32_t nd_reading_sources(const struct nd_reading *r)
{
    return r->n_sources;
}

const struct nd_source *nd_reading_source(const struct nd_reading *r, uint32_t number)
{
    return r->hooks.sketches ? nd_sketches_source(r->hooks.sketches, number)
                             : nd_input_source(r->input, number);
}
