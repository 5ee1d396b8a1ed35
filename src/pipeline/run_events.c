/* run_events.c - what a run tells its caller: problems, bad records, progress */
#define _GNU_SOURCE
#include "pipeline/run_state.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum nd_status nd_run_status(enum nd_status status, struct nd_error *err)
{
    if (status == ND_OK)
        return ND_OK;
    if (err->status == ND_OK)
        return nd_fail(err, status, "failed without a reason: %s", nd_status_name(status));
    return err->status;
}

double nd_run_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The first ones are those of enum nd_problem_kind. */
enum told { TOLD_BAD_RECORD = ND_PROBLEM_NOTE + 1 };

static void deliver(const struct nd_run *run, int kind, const char *text, const char *reason)
{
    const struct nd_run_events *events = run->events;
    const struct nd_problem problem = {(enum nd_problem_kind)kind, text};

    if (kind == TOLD_BAD_RECORD && events->bad_record)
        events->bad_record(events->context, text, reason);
    else if (kind != TOLD_BAD_RECORD && events->problem)
        events->problem(events->context, &problem);
}

/* In the order of the calls.  What several threads come upon waits for the one that runs. */
static void tell(struct nd_run *run, int kind, const char *text, const char *reason)
{
    const char first = (char)kind;
    struct nd_buffer *told = &run->told;
    size_t before;

    if (!run->tells_later) {
        deliver(run, kind, text, reason);
        return;
    }
    nd_pool_lock(run->pool);
    before = told->len;
    if (!nd_buffer_append(told, &first, 1) || !nd_buffer_append(told, text, strlen(text) + 1) ||
        (reason && !nd_buffer_append(told, reason, strlen(reason) + 1))) {
        told->len = before;
        atomic_store(&run->is_out_of_memory, true);
    }
    nd_pool_unlock(run->pool);
}

static void deliver_all(const struct nd_run *run, const struct nd_buffer *told)
{
    size_t at = 0;

    while (at < told->len) {
        const char *text = told->data + at + 1, *reason = NULL;
        int kind = (unsigned char)told->data[at];

        at += 1 + strlen(text) + 1;
        if (kind == TOLD_BAD_RECORD) {
            reason = told->data + at;
            at += strlen(reason) + 1;
        }
        deliver(run, kind, text, reason);
    }
}

enum nd_status nd_run_tell_now(struct nd_run *run, struct nd_error *err)
{
    struct nd_run_progress progress;
    struct nd_buffer told;
    bool is_new;

    nd_pool_lock(run->pool);
    told = run->told;
    progress = run->progress;
    is_new = run->has_progress;
    run->told = (struct nd_buffer){0};
    run->has_progress = false;
    nd_pool_unlock(run->pool);
    deliver_all(run, &told);
    nd_buffer_release(&told);
    if (atomic_load(&run->is_out_of_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (is_new && run->events->progress && run->events->progress(run->events->context, &progress))
        return nd_fail(err, ND_ECANCELLED, "stopped");
    return ND_OK;
}

void nd_run_problem(void *context, const struct nd_problem *problem)
{
    struct nd_run *run = context;

    if (problem->kind == ND_PROBLEM_FAILED) {
        if (!run->summary->failed_inputs)
            snprintf(run->failed_input, sizeof run->failed_input, "%s", problem->message);
        run->summary->failed_inputs++;
        if (run->options->strict) /* it will be the run's own error */
            return;
    } else if (problem->kind == ND_PROBLEM_WARNING) {
        run->summary->warnings++;
    }
    tell(run, (int)problem->kind, problem->message, NULL);
}

enum nd_status nd_run_bad_record(struct nd_run *run, const struct nd_source *source, uint64_t line,
                                 const char *reason, struct nd_error *err)
{
    struct nd_json *room = &run->place_room;

    run->summary->bad_records++;
    source->file->bad_records++;
    room->text.len = 0;
    nd_place_append(room, source, line);
    nd_json_bytes(room, "", 1);
    if (room->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (run->options->strict)
        return nd_fail(err, ND_EINPUT, "%s: %s", room->text.data, reason);
    if (!run->first_bad[0])
        snprintf(run->first_bad, sizeof run->first_bad, "%s: %s", room->text.data, reason);
    tell(run, TOLD_BAD_RECORD, room->text.data, reason);
    return ND_OK;
}

enum nd_status nd_run_check_strict(struct nd_run *run, struct nd_error *err)
{
    if (run->options->strict && run->summary->failed_inputs)
        return nd_fail(err, ND_EINPUT, "%s", run->failed_input);
    return ND_OK;
}

enum nd_status nd_run_tell(struct nd_run *run, const struct nd_run_progress *progress,
                           struct nd_error *err)
{
    struct nd_run_progress now = *progress;
    enum nd_status status = nd_run_check_strict(run, err);

    if (status != ND_OK)
        return status;
    now.seconds = nd_run_clock() - run->started;
    if (run->tells_later) {
        nd_pool_lock(run->pool);
        run->progress = now;
        run->has_progress = true;
        nd_pool_unlock(run->pool);
        return ND_OK;
    }
    if (run->events->progress && run->events->progress(run->events->context, &now))
        return nd_fail(err, ND_ECANCELLED, "stopped");
    return ND_OK;
}

void nd_run_forget_ids(struct nd_run *run)
{
    if (!run->ids.count)
        return;
    run->summary->ids_full = run->ids.is_full;
    run->summary->ids_remembered = run->ids.count;
    nd_hash_set_release(&run->ids);
}

/* "17" and 17 are two ids. */
static uint64_t id_hash(const struct nd_document *document)
{
    return nd_mix64(nd_hash_bytes(document->id.data, document->id.len) + document->id_kind);
}

void nd_run_expect_id(const struct nd_run *run, const struct nd_document *document)
{
    if (document->id_kind != ND_ID_NONE)
        nd_hash_set_expect(&run->ids, id_hash(document));
}

void nd_run_note_id(struct nd_run *run, const struct nd_document *document,
                    const struct nd_source *source, uint64_t line)
{
    struct nd_json *room = &run->place_room;
    char place[300], id[100];

    if (document->id_kind == ND_ID_NONE)
        return;
    if (!nd_hash_set_add(&run->ids, id_hash(document)))
        return;
    if (run->summary->double_ids++)
        return;
    room->text.len = 0;
    nd_place_append(room, source, line);
    nd_name_show((struct nd_view){room->text.data, room->text.len}, place, sizeof place);
    nd_name_show(document->id, id, sizeof id);
    snprintf(run->first_double, sizeof run->first_double, "%s: the id '%s' stood before", place,
             id);
}
