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

enum nd_status nd_run_open_survivors(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    struct nd_survivors_params params = {
        .options = o,
        .publisher = &run->publisher,
        .stage = ND_PUBLISH_RESULT,
        .output = o->output,
        .folder = o->output_dir ? o->output_dir
                  : o->copy_to  ? o->copy_to
                                : o->link_to,
        .by_link = !o->output_dir && !o->copy_to,
        .may_replace = run->may_replace,
        .replaced = run->replaced,
    };

    run->survivors = nd_survivors_new(&params, err);
    if (!run->survivors || !o->removed)
        return run->survivors ? ND_OK : ND_EIO;
    params = (struct nd_survivors_params){.options = o,
                                          .publisher = &run->publisher,
                                          .stage = ND_PUBLISH_EVIDENCE,
                                          .output = o->removed};
    run->removed = nd_survivors_new(&params, err);
    return run->removed ? ND_OK : ND_EIO;
}

struct nd_output *nd_run_open_output(struct nd_run *run, struct nd_error *err)
{
    struct nd_output *out =
        nd_output_open(&run->publisher, run->options->output, ND_PUBLISH_RESULT, err);

    if (out && run->replaced.inode)
        nd_output_replace(out, &run->replaced);
    return out;
}

static struct nd_output *open_evidence(struct nd_run *run, const char *name, struct nd_error *err)
{
    return nd_output_open(&run->publisher, name, ND_PUBLISH_EVIDENCE, err);
}

enum nd_status nd_run_open_outputs(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    enum nd_status status;

    if (o->summary && !(run->report = open_evidence(run, o->summary, err)))
        return ND_EIO;
    if (o->dry_run)
        return ND_OK;
    status = nd_run_open_survivors(run, err);
    if (status != ND_OK)
        return status;
    if (o->clusters && !(run->clusters = open_evidence(run, o->clusters, err)))
        return ND_EIO;
    if (!o->manifest)
        return ND_OK;
    run->manifest = open_evidence(run, o->manifest, err);
    run->rows = run->manifest ? nd_spool_new(o->tmp, err) : NULL;
    return run->rows ? ND_OK : ND_EIO;
}

static enum nd_status put(struct nd_run *run, struct nd_survivors *to, uint32_t *given,
                          uint32_t source, struct nd_view record, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (; status == ND_OK && *given <= source; ++*given)
        status = nd_survivors_source(to, nd_reading_source(run->reading, *given), err);
    return status == ND_OK && record.data ? nd_survivors_add(to, record, err) : status;
}

enum nd_status nd_run_survive(struct nd_run *run, uint32_t source, struct nd_view record,
                              struct nd_error *err)
{
    return put(run, run->survivors, &run->sources_given[0], source, record, err);
}

enum nd_status nd_run_remove(struct nd_run *run, uint32_t source, struct nd_view record,
                             struct nd_error *err)
{
    return run->removed ? put(run, run->removed, &run->sources_given[1], source, record, err)
                        : ND_OK;
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
    return status;
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

/* Each is used up, whatever the result. */
static enum nd_status finish(struct nd_output **file, enum nd_status status, struct nd_error *err)
{
    struct nd_output *o = *file;

    *file = NULL;
    if (status == ND_OK && o)
        return nd_output_finish(o, err);
    nd_output_discard(o);
    return status;
}

static enum nd_status complete(struct nd_run *run, struct nd_output *out, struct nd_error *err)
{
    const struct nd_view none = {NULL, 0};
    uint32_t n = nd_reading_sources(run->reading);
    enum nd_status status = ND_OK;

    if (run->survivors && n)
        status = nd_run_survive(run, n - 1, none, err);
    if (status == ND_OK && n)
        status = nd_run_remove(run, n - 1, none, err);
    if (status == ND_OK && run->removed)
        status = nd_survivors_finish(run->removed, err);
    if (status == ND_OK && run->survivors)
        status = nd_survivors_finish(run->survivors, err);
    status = finish(&out, status, err);
    if (status == ND_OK)
        status = nd_run_judge_mirror(run, err);
    status = finish(&run->clusters, status, err);
    if (status == ND_OK && run->manifest)
        status = write_manifest(run, err);
    status = finish(&run->manifest, status, err);
    if (status == ND_OK && run->report)
        status = nd_summary_write(run, err);
    return finish(&run->report, status, err);
}

enum nd_status nd_run_publish(struct nd_run *run, struct nd_error *err)
{
    size_t n_published = 0;
    enum nd_status status = nd_publisher_publish(&run->publisher, &n_published, err);

    run->summary->partly_published = status != ND_OK && n_published > 0;
    if (status == ND_OK && run->survivors)
        nd_survivors_are_published(run->survivors);
    return status;
}

enum nd_status nd_run_finish(struct nd_run *run, struct nd_output *out, struct nd_error *err)
{
    enum nd_status status = nd_run_judge(run, err);

    if (status == ND_OK) {
        warn_of_double_ids(run);
        nd_run_warn_of_fields(run);
    }
    if (status == ND_OK && run->dedup)
        nd_run_warn_unsigned(run, run->dedup, "document");
    if (status == ND_OK)
        status = nd_summary_complete(run, err);
    if (status == ND_OK)
        return (status = complete(run, out, err)) == ND_OK ? nd_run_publish(run, err) : status;
    nd_output_discard(out);
    return status;
}
