/* reporter.c - what a run tells its caller: problems, bad records, progress */

/*
 * Collects problems, bad records and progress, and delivers them to the caller's functions. While
 * several threads work, events are queued under a lock, and only the thread that started the run
 * delivers them: a caller need not be thread-safe, and the order of events does not depend on the
 * number of threads.
 */
#include "reading/reporter.h"

#include "base/system/threads.h"
#include "reading/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

double nd_clock(void)
{
    return (double)nd_monotonic_ns() * 1e-9;
}

double nd_processor_clock(void)
{
    return (double)nd_process_ns() * 1e-9;
}

void nd_reporter_init(struct nd_reporter *r, const struct nd_run_events *to, bool is_strict,
                      struct nd_run_summary *summary)
{
    static const struct nd_run_events none;

    *r = (struct nd_reporter){.to = to ? to : &none,
                              .summary = summary,
                              .started = nd_clock(),
                              .processor_started = nd_processor_clock(),
                              .is_strict = is_strict};
}

/* The first kinds of events are those of enum nd_problem_kind. */
enum { EVENT_BAD_RECORD = ND_PROBLEM_NOTE + 1 };

static void deliver(const struct nd_reporter *r, int kind, const char *text, const char *reason)
{
    const struct nd_problem problem = {(enum nd_problem_kind)kind, text};

    if (kind == EVENT_BAD_RECORD && r->to->bad_record)
        r->to->bad_record(r->to->context, text, reason);
    else if (kind != EVENT_BAD_RECORD && r->to->problem)
        r->to->problem(r->to->context, &problem);
}

static void deliver_all(const struct nd_reporter *r, const struct nd_buffer *queue)
{
    size_t at = 0;

    while (at < queue->len) {
        const char *text = queue->data + at + 1, *reason = NULL;
        int kind = (unsigned char)queue->data[at];

        at += 1 + strlen(text) + 1;
        if (kind == EVENT_BAD_RECORD) {
            reason = queue->data + at;
            at += strlen(reason) + 1;
        }
        deliver(r, kind, text, reason);
    }
}

/* Deliver an event at once, or queue it: it appears whole in the queue or not at all. */
static void tell(struct nd_reporter *r, int kind, const char *text, const char *reason)
{
    const char first = (char)kind;
    struct nd_buffer *queue = &r->queue;
    size_t before;

    if (!r->is_queueing) {
        deliver(r, kind, text, reason);
        return;
    }
    nd_pool_lock(r->pool);
    before = queue->len;
    if (!nd_buffer_append(queue, &first, 1) || !nd_buffer_append(queue, text, strlen(text) + 1) ||
        (reason && !nd_buffer_append(queue, reason, strlen(reason) + 1))) {
        queue->len = before;
        atomic_store(&r->is_out_of_memory, true);
    }
    nd_pool_unlock(r->pool);
}

enum nd_status nd_reporter_deliver(struct nd_reporter *r, struct nd_error *err)
{
    struct nd_run_progress progress;
    struct nd_buffer queue;
    bool is_new;

    /* The caller's functions may be slow, so the queue is taken away before they are called. */
    nd_pool_lock(r->pool);
    queue = r->queue;
    progress = r->latest;
    is_new = r->has_latest;
    r->queue = (struct nd_buffer){0};
    r->has_latest = false;
    nd_pool_unlock(r->pool);
    deliver_all(r, &queue);
    nd_buffer_release(&queue);
    if (atomic_load(&r->is_out_of_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (is_new && r->to->progress && r->to->progress(r->to->context, &progress))
        return nd_fail(err, ND_ECANCELLED, "stopped");
    return ND_OK;
}

void nd_reporter_problem(struct nd_reporter *r, const struct nd_problem *problem)
{
    if (problem->kind == ND_PROBLEM_FAILED) {
        if (!r->summary->failed_inputs)
            snprintf(r->failed_input, sizeof r->failed_input, "%s", problem->message);
        r->summary->failed_inputs++;
        if (r->is_strict) /* it will be the run's own error */
            return;
    } else if (problem->kind == ND_PROBLEM_WARNING) {
        r->summary->warnings++;
    }
    tell(r, (int)problem->kind, problem->message, NULL);
}

void nd_reporter_tell(void *reporter, const struct nd_problem *problem)
{
    nd_reporter_problem(reporter, problem);
}

void nd_reporter_warn(struct nd_reporter *r, const char *format, ...)
{
    char message[1200];
    const struct nd_problem problem = {ND_PROBLEM_WARNING, message};
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    nd_reporter_problem(r, &problem);
}

/* ---- Bad records before the first document ---- */

/*
 * If the text field is wrong, every record is bad for the same reason. Such a run ends after
 * ND_BAD_MOST records with one message. So bad records are held until a document comes.
 */
static enum nd_status hold(struct nd_reporter *r, const char *place, const char *reason,
                           struct nd_error *err)
{
    if (!nd_buffer_append(&r->held, place, strlen(place) + 1) ||
        !nd_buffer_append(&r->held, reason, strlen(reason) + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (++r->n_held < ND_BAD_MOST)
        return ND_OK;
    nd_reporter_tell_others(r);
    return nd_fail(err, ND_EINPUT, "the first %d records are all bad; the first: %s", ND_BAD_MOST,
                   r->first_bad);
}

/* Compare two reasons up to what they say of the record, as in "text is absent". */
static bool is_alike(const char *reason, const char *other)
{
    size_t len = strcspn(reason, ":");

    return len == strcspn(other, ":") && strncmp(reason, other, len) == 0;
}

/* Tell all that is held; or, given a reason, only what is like neither it nor the one told last. */
static void tell_held(struct nd_reporter *r, const char *alike)
{
    struct nd_buffer held = r->held;
    const char *last = NULL;

    r->held = (struct nd_buffer){0};
    r->n_held = 0;
    for (size_t at = 0; at < held.len;) {
        const char *place = held.data + at, *reason = place + strlen(place) + 1;

        if (!alike || (!is_alike(reason, alike) && !(last && is_alike(reason, last)))) {
            tell(r, EVENT_BAD_RECORD, place, reason);
            last = reason;
        }
        at += strlen(place) + 1 + strlen(reason) + 1;
    }
    nd_buffer_release(&held);
}

void nd_reporter_release(struct nd_reporter *r)
{
    tell_held(r, NULL); /* a run that failed for another reason has some left */
    nd_buffer_release(&r->queue);
    nd_json_release(&r->place);
}

void nd_reporter_tell_held(struct nd_reporter *r)
{
    r->has_document = true;
    tell_held(r, NULL);
}

void nd_reporter_tell_others(struct nd_reporter *r)
{
    char first[sizeof r->first_bad] = "";

    if (r->held.len)
        snprintf(first, sizeof first, "%s", r->held.data + strlen(r->held.data) + 1);
    tell_held(r, first);
}

enum nd_status nd_reporter_bad_record(struct nd_reporter *r, const struct nd_parsed *parsed,
                                      const char *reason, struct nd_error *err)
{
    struct nd_json *place = &r->place;

    r->summary->bad_records++;
    if (parsed->source->file)
        parsed->source->file->bad_records++;
    place->text.len = 0;
    nd_place_append(place, parsed->source, parsed->record.line);
    nd_json_bytes(place, "", 1);
    if (place->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (r->is_strict)
        return nd_fail(err, ND_EINPUT, "%s: %s", place->text.data, reason);
    if (!r->first_bad[0])
        snprintf(r->first_bad, sizeof r->first_bad, "%s: %s", place->text.data, reason);
    if (r->stops_early && !r->has_document)
        return hold(r, place->text.data, reason, err);
    tell(r, EVENT_BAD_RECORD, place->text.data, reason);
    return ND_OK;
}

enum nd_status nd_reporter_check(const struct nd_reporter *r, struct nd_error *err)
{
    if (r->is_strict && r->summary->failed_inputs)
        return nd_fail(err, ND_EINPUT, "%s", r->failed_input);
    return ND_OK;
}

struct nd_run_progress nd_progress_of(const struct nd_reading_batch *batch, unsigned passes)
{
    return (struct nd_run_progress){.bytes_done = batch->done,
                                    .bytes_total = batch->total,
                                    .bytes_unpacked = batch->unpacked,
                                    .pass = 1,
                                    .passes = passes};
}

enum nd_status nd_reporter_progress(struct nd_reporter *r, const struct nd_run_progress *progress,
                                    struct nd_error *err)
{
    struct nd_run_progress now = *progress;
    enum nd_status status = nd_reporter_check(r, err);

    if (status != ND_OK)
        return status;
    now.seconds = nd_clock() - r->started;
    now.pass += r->passes_before;
    now.passes += r->passes_before;
    if (r->is_queueing) {
        nd_pool_lock(r->pool);
        r->latest = now;
        r->has_latest = true;
        nd_pool_unlock(r->pool);
        return ND_OK;
    }
    if (r->to->progress && r->to->progress(r->to->context, &now))
        return nd_fail(err, ND_ECANCELLED, "stopped");
    return ND_OK;
}
