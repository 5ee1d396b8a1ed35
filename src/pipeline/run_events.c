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

void nd_run_problem(void *context, const struct nd_problem *problem)
{
    struct nd_run *run = context;

    if (problem->kind == ND_PROBLEM_FAILED) {
        if (!run->summary->failed_inputs)
            snprintf(run->failed_input, sizeof run->failed_input, "%s", problem->message);
        run->summary->failed_inputs++;
        if (run->options->strict) /* it will be the run's own error */
            return;
    } else {
        run->summary->warnings++;
    }
    if (run->events->problem)
        run->events->problem(run->events->context, problem);
}

enum nd_status nd_run_bad_record(struct nd_run *run, const struct nd_source *source, uint64_t line,
                                 const char *reason, struct nd_error *err)
{
    struct nd_json *room = &run->place_room;

    run->summary->bad_records++;
    room->text.len = 0;
    nd_place_append(room, source, line);
    nd_json_bytes(room, "", 1);
    if (room->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (run->options->strict)
        return nd_fail(err, ND_EINPUT, "%s: %s", room->text.data, reason);
    if (run->events->bad_record)
        run->events->bad_record(run->events->context, room->text.data, reason);
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
