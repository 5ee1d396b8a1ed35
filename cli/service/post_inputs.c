/* post_inputs.c - neardup client post and query: the documents of files, folders and pipes */
#define _GNU_SOURCE
#include "service/post.h"

#include "base/thread/thread.h"
#include "service/journal.h"

#include <stdlib.h>
#include <string.h>

enum {
    READ_BYTES = 1 << 20, /* read from the input at once … */
    READ_RECORDS = 1000   /* … and at most so many records */
};

struct post_inputs {
    struct post *post;
    struct nd_input *input;
    struct journal journal;
    struct nd_batch read; /* records of which `next` is the next */
    size_t next;
    uint64_t started_ms;
};

/* The next record of the inputs: 1; 0: they are at their end. */
static int read_record(struct post_inputs *p, struct nd_record *record,
                       const struct nd_source **source, struct nd_error *err)
{
    if (p->next == p->read.count) {
        int result = nd_input_read(p->input, READ_BYTES, READ_RECORDS, &p->read, err);

        p->next = 0;
        if (result <= 0)
            return result;
    }
    *record = p->read.records[p->next++];
    *source = nd_input_source(p->input, record->source);
    return 1;
}

static int next_record(void *context, struct nd_record *record, const struct nd_source **source,
                       struct nd_error *err)
{
    return read_record(context, record, source, err);
}

/* Pass over the records that the journal says are done, and check that the last is where it was. */
static enum nd_status skip_done(struct post_inputs *p, struct nd_error *err)
{
    const struct nd_source *source;
    struct nd_record record;
    enum nd_status status = ND_OK;
    char *at;

    for (uint64_t n = 0; n < p->journal.records; n++) {
        int result = read_record(p, &record, &source, err);

        if (result <= 0)
            return (enum nd_status)result; /* nothing is left */
    }
    if (!p->journal.records)
        return ND_OK;
    at = post_place(source, &record);
    if (!at)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else if (!journal_is_last(&p->journal, at))
        status = nd_fail(err, ND_EINPUT, "%s: ends at %s, where the input has %s: it has changed",
                         p->journal.name, p->journal.at, at);
    free(at);
    return status;
}

static void show_progress(struct post_inputs *p)
{
    const struct nd_run_events *events = post_events(p->post);
    struct nd_run_progress progress = {
        .documents = post_counts(p->post)->answered, .pass = 1, .passes = 1};

    nd_input_progress(p->input, &progress.bytes_done, &progress.bytes_total);
    progress.bytes_unpacked = progress.bytes_done;
    progress.seconds = (double)(nd_monotonic_ms() - p->started_ms) / 1000;
    events->progress(events->context, &progress);
}

static enum nd_status note_written(void *context, uint64_t records, const char *at,
                                   struct nd_error *err)
{
    struct post_inputs *p = context;

    show_progress(p);
    return journal_write(&p->journal, p->journal.records + records, at, err);
}

static enum nd_status open_inputs(struct post_inputs *p, struct client *c, struct nd_error *err)
{
    const struct words *paths = &c->settings->paths; /* the first is the part of the command */
    const char *const standard_input[] = {"-"};
    const struct nd_run_events *events = post_events(p->post);
    enum nd_status status = journal_read(&p->journal, c->options->resume, err);

    if (status != ND_OK)
        return status;
    p->started_ms = nd_monotonic_ms();
    p->input = nd_input_open(paths->count > 1 ? paths->at + 1 : standard_input,
                             paths->count > 1 ? paths->count - 1 : 1, post_input_options(p->post),
                             events->problem, events->context, err);
    return p->input ? skip_done(p, err) : err->status;
}

static int post_paths(struct client *c, struct post *post)
{
    struct post_inputs p = {.post = post};
    const struct post_source source = {&p, next_record, note_written};
    struct nd_error err = {.status = ND_OK};
    enum nd_status status = open_inputs(&p, c, &err);

    if (status == ND_OK)
        status = post_run(post, &source, &err);
    if (status == ND_OK)
        journal_remove(&p.journal);
    nd_batch_release(&p.read);
    nd_input_close(p.input);
    return post_finish(post, status, &err);
}

int client_post(struct client *c)
{
    const char *output = run_option(c->settings, "output");
    struct nd_error err;
    struct post *post;
    int result;

    if (c->options->resume && output && strcmp(output, "-") != 0) {
        say("--resume goes on where the answers ended, and --output begins a new file: write >>%s",
            output);
        return 2;
    }
    post = post_new(c, strcmp(c->settings->paths.at[0], "post") == 0, &err);
    if (!post)
        return client_failed(&err);
    result = post_paths(c, post);
    post_free(post);
    return result;
}
