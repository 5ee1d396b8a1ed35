/* run_outputs.c - the files that a run writes, from opening to publishing */
#include "pipeline/run_state.h"

#include "base/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nd_run_abandon(void)
{
    nd_temporary_abandon();
}

enum nd_status nd_run_open_outputs(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;

    if (o->summary && !(run->report = nd_output_open(o->summary, err)))
        return ND_EIO;
    if (o->dry_run)
        return ND_OK;
    run->survivors = nd_survivors_new(o, err);
    if (!run->survivors)
        return ND_EIO;
    if (o->clusters && !(run->clusters = nd_output_open(o->clusters, err)))
        return ND_EIO;
    if (!o->manifest)
        return ND_OK;
    run->manifest = nd_output_open(o->manifest, err);
    run->rows = run->manifest ? nd_spool_new(o->tmp, err) : NULL;
    return run->rows ? ND_OK : ND_EIO;
}

enum nd_status nd_run_survive(struct nd_run *run, uint32_t source, struct nd_view record,
                              struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (; status == ND_OK && run->sources_given <= source; run->sources_given++)
        status = nd_survivors_source(run->survivors,
                                     nd_reading_source(run->reading, run->sources_given), err);
    if (status == ND_OK && record.data)
        status = nd_survivors_add(run->survivors, record, err);
    return status;
}

void nd_pending_release(struct nd_pending *pending)
{
    nd_json_release(&pending->manifest);
    nd_json_release(&pending->clusters);
}

enum nd_status nd_run_write_pending(struct nd_run *run, struct nd_pending *pending,
                                    struct nd_error *err)
{
    struct nd_buffer *manifest = &pending->manifest.text, *clusters = &pending->clusters.text;
    enum nd_status status = ND_OK;

    if (pending->manifest.failed || pending->clusters.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (run->survivors)
        status = nd_survivors_flush(run->survivors, err);
    if (status == ND_OK && run->rows)
        status = nd_spool_append(run->rows, manifest->data, manifest->len, NULL, err);
    if (status == ND_OK && run->clusters)
        status = nd_output_write(run->clusters, clusters->data, clusters->len, err);
    manifest->len = clusters->len = 0;
    return status;
}

/* The header, then the rows that were spooled. */
static enum nd_status write_manifest(struct nd_run *run, struct nd_error *err)
{
    struct nd_buffer piece = {0};
    uint64_t bytes = nd_spool_bytes(run->rows), at = 0;
    enum nd_status status = nd_manifest_header(run, err);

    while (status == ND_OK && at < bytes) {
        size_t len = bytes - at < (1 << 20) ? (size_t)(bytes - at) : (size_t)1 << 20;

        status = nd_spool_read(run->rows, at, len, &piece, err);
        if (status == ND_OK)
            status = nd_output_write(run->manifest, piece.data, len, err);
        at += len;
    }
    nd_buffer_release(&piece);
    return status == ND_OK ? nd_output_finish(run->manifest, err) : status;
}

static void warn_of_double_ids(struct nd_run *run)
{
    char message[900];
    struct nd_problem problem = {ND_PROBLEM_WARNING, message};

    nd_run_forget_ids(run);
    if (!run->summary->double_ids)
        return;
    snprintf(message, sizeof message, "%s; %s%llu document%s with an id that another has",
             run->first_double, run->summary->ids_full ? "at least " : "",
             (unsigned long long)run->summary->double_ids,
             run->summary->double_ids == 1 ? "" : "s");
    nd_run_problem(run, &problem);
}

static enum nd_status complete(struct nd_run *run, struct nd_error *err)
{
    uint32_t n = nd_reading_sources(run->reading);
    enum nd_status status = ND_OK;

    if (run->survivors && n)
        status = nd_run_survive(run, n - 1, (struct nd_view){NULL, 0}, err);
    if (status == ND_OK && run->survivors)
        status = nd_survivors_finish(run->survivors, err);
    if (status == ND_OK && run->clusters)
        status = nd_output_finish(run->clusters, err);
    if (status == ND_OK && run->manifest)
        status = write_manifest(run, err);
    if (status == ND_OK && run->report)
        status = nd_summary_write(run, err);
    return status;
}

static enum nd_status publish(struct nd_run *run, struct nd_error *err)
{
    struct nd_output *file[] = {run->clusters, run->manifest, run->report};
    size_t n_published = 0;
    enum nd_status status = ND_OK;

    if (run->survivors)
        status = nd_survivors_publish(run->survivors, &n_published, err);
    run->clusters = run->manifest = run->report = NULL;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        if (status == ND_OK && file[i]) {
            status = nd_output_publish(file[i], err);
            n_published += status == ND_OK;
        } else {
            nd_output_discard(file[i]);
        }
    }
    run->summary->partly_published = status != ND_OK && n_published > 0;
    return status;
}

enum nd_status nd_run_finish(struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_run_check_strict(run, err);

    if (status != ND_OK)
        return status;
    /* An earlier result is not replaced by nothing because a name was mistyped. */
    if (run->summary->failed_inputs && !nd_reading_sources(run->reading))
        return nd_fail(err, ND_EINPUT, "no input could be read");
    warn_of_double_ids(run);
    nd_run_warn_of_fields(run);
    if (run->dedup)
        nd_run_warn_unsigned(run, run->dedup, "document");
    status = nd_summary_complete(run, err);
    if (status == ND_OK)
        status = complete(run, err);
    if (status == ND_OK)
        status = publish(run, err);
    return status;
}
