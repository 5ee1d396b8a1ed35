/* outputs.c - the files that a run writes, from opening to publishing */
#include "report/outputs.h"

#include "base/file/temporary.h"
#include "input/formats/formats.h"
#include "input/library/text_filter.h"
#include "input/streams/pack.h"
#include "report/revisit.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 };

int nd_run_abandon(void)
{
    if (!nd_temporary_abandon())
        return false;
    nd_filter_abandon();
    return true;
}

/* Check that an output's name does not say that it holds what it will not: records or sketches. */
static enum nd_status check_name(const char *name, bool is_sketches, struct nd_error *err)
{
    static const char ending[] = ".sketch";
    size_t len = name ? strlen(name) : 0, n = sizeof ending - 1;

    if (!len || nd_output_descriptor(name) >= 0)
        return ND_OK;
    if (is_sketches && nd_name_is_of_records(name))
        return nd_fail(
            err, ND_EINVAL,
            "'%s' is named like a file of records, but what survives of a sketch file is "
            "a sketch file: name it FILE.sketch",
            name);
    if (!is_sketches && len > n && strcmp(name + len - n, ending) == 0)
        return nd_fail(
            err, ND_EINVAL,
            "'%s' is named like a sketch file, but the output is records: give it another "
            "name, and make sketches of it (neardup sketch); or add the survivors to a "
            "sketch file (dedup --against FILE.sketch --append)",
            name);
    return ND_OK;
}

/* The survivors of sketch files are a sketch file.  *asked: they have a place to go. */
static enum nd_status check_sketches(const struct nd_outputs *o, bool *asked, struct nd_error *err)
{
    const struct nd_run_options *options = o->options;
    bool has_evidence = options->manifest || options->clusters || options->removed;

    *asked = options->output != NULL;
    if (options->output ? strcmp(options->output, "-") != 0 : has_evidence)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "what survives of a sketch file is a sketch file, which needs a name: add -o "
                   "FILE.sketch%s",
                   o->request->writes_evidence
                       ? ", or ask for --clusters or --manifest alone, or for --dry-run"
                       : "");
}

enum nd_status nd_outputs_open_survivors(struct nd_outputs *o, struct nd_error *err)
{
    const struct nd_sketches *sketches = nd_reading_sketches(o->reading);
    bool asked = true;
    const struct nd_run_options *options = o->options;
    struct nd_survivors_params params = {
        .options = options,
        .publisher = &o->publisher,
        .stage = ND_PUBLISH_RESULT,
        .output = options->output,
        .folder = options->output_dir ? options->output_dir
                  : options->copy_to  ? options->copy_to
                                      : options->link_to,
        .by_link = !options->output_dir && !options->copy_to,
        .may_replace = o->request->may_replace,
        .replaced = o->replaced,
        .sketches = sketches ? o->recipe : NULL,
        .like =
            sketches ? nd_sketches_like(sketches) : (struct nd_sketch_writer_options){.part = 0},
    };

    if (sketches && check_sketches(o, &asked, err) != ND_OK)
        return ND_EINVAL;
    if (check_name(options->output, sketches != NULL, err) != ND_OK ||
        (o->request->writes_evidence &&
         check_name(options->removed, sketches != NULL, err) != ND_OK))
        return ND_EINVAL;

    params.copies_field = o->copies_field;
    if (o->annotates)
        params.annotates = o->method;
    o->survivors = asked ? nd_survivors_new(&params, err) : NULL;
    if ((asked && !o->survivors) || !o->request->writes_evidence || !options->removed)
        return o->survivors || !asked ? ND_OK : ND_EIO;
    params = (struct nd_survivors_params){.options = options,
                                          .publisher = &o->publisher,
                                          .stage = ND_PUBLISH_EVIDENCE,
                                          .output = options->removed,
                                          .sketches = params.sketches,
                                          .like = params.like};
    o->removed = nd_survivors_new(&params, err);
    return o->removed ? ND_OK : ND_EIO;
}

struct nd_output *nd_outputs_open_one(struct nd_outputs *o, struct nd_error *err)
{
    struct nd_output *out =
        nd_output_open(&o->publisher, o->options->output, ND_PUBLISH_RESULT, err);

    if (out && o->replaced.inode)
        nd_output_replace(out, &o->replaced);
    return out;
}

static struct nd_output *open_evidence(struct nd_outputs *o, const char *name, struct nd_error *err)
{
    return nd_output_open(&o->publisher, name, ND_PUBLISH_EVIDENCE, err);
}

enum nd_status nd_outputs_open_summary(struct nd_outputs *o, struct nd_error *err)
{
    if (!o->request->writes_summary || !o->options->summary)
        return ND_OK;
    o->summary = open_evidence(o, o->options->summary, err);
    return o->summary ? ND_OK : ND_EIO;
}

enum nd_status nd_outputs_open_manifest(struct nd_outputs *o, struct nd_error *err)
{
    if (!o->options->manifest)
        return ND_OK;
    o->manifest = open_evidence(o, o->options->manifest, err);
    o->rows = o->manifest ? nd_spool_new(o->options->tmp, err) : NULL;
    return o->rows ? ND_OK : ND_EIO;
}

static enum nd_status open_revisits(struct nd_outputs *o, struct nd_error *err)
{
    char *text = NULL;
    size_t len;
    enum nd_status status = nd_recipe_canonical(o->recipe, &text, &len, &o->fingerprint, err);

    free(text);
    if (status != ND_OK)
        return status;
    o->revisits = open_evidence(o, o->options->revisit, err);
    return o->revisits ? ND_OK : ND_EIO;
}

enum nd_status nd_outputs_open(struct nd_outputs *o, struct nd_error *err)
{
    const struct nd_run_options *options = o->options;
    enum nd_status status = nd_outputs_open_summary(o, err);

    if (status != ND_OK || !o->request->writes_survivors || o->request->is_dry)
        return status;
    status = nd_outputs_open_survivors(o, err);
    if (status != ND_OK)
        return status;
    if (options->clusters && !(o->clusters = open_evidence(o, options->clusters, err)))
        return ND_EIO;
    if (options->revisit && (status = open_revisits(o, err)) != ND_OK)
        return status;
    if (options->report && !(o->report = open_evidence(o, options->report, err)))
        return ND_EIO;
    return nd_outputs_open_manifest(o, err);
}

static enum nd_status put(const struct nd_outputs *o, struct nd_survivors *to, uint32_t *given,
                          const struct nd_record *record, struct nd_view bytes,
                          struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (; status == ND_OK && *given <= record->source; ++*given)
        status = nd_survivors_source(to, nd_reading_source(o->reading, *given), err);
    return status == ND_OK && bytes.data ? nd_survivors_add(to, record->line, bytes, err) : status;
}

enum nd_status nd_outputs_survive(struct nd_outputs *o, const struct nd_record *record,
                                  struct nd_view bytes, struct nd_error *err)
{
    if (bytes.data)
        nd_source_count_kept(nd_reading_source(o->reading, record->source));
    return put(o, o->survivors, &o->sources_given[0], record, bytes, err);
}

enum nd_status nd_outputs_remove(struct nd_outputs *o, const struct nd_record *record,
                                 struct nd_error *err)
{
    return o->removed ? put(o, o->removed, &o->sources_given[1], record, record->bytes, err)
                      : ND_OK;
}

/* Write the records of a batch, each as a member of its own, behind a warcinfo. */
static enum nd_status write_revisits(struct nd_outputs *o, struct nd_json *records,
                                     struct nd_error *err)
{
    const struct nd_cut *cut = nd_format_cut(ND_FORMAT_WARC, ND_UNIT_FILE);
    struct nd_view rest = {records->text.data, records->text.len};
    enum nd_status status = ND_OK;

    while (status == ND_OK && rest.len) {
        size_t len = cut->part(rest);

        if (o->has_revisit)
            status = nd_output_divide(o->revisits, err);
        if (status == ND_OK)
            status = nd_output_write(o->revisits, rest.data, len, err);
        o->has_revisit = true;
        rest.data += len;
        rest.len -= len;
    }
    return status;
}

static enum nd_status put_revisits(struct nd_outputs *o, struct nd_json *records,
                                   struct nd_error *err)
{
    struct nd_json info = {.failed = false};
    enum nd_status status = ND_OK;

    if (!o->revisits || !records->text.len)
        return ND_OK;
    if (!o->has_revisit) {
        nd_revisit_info(&info, (struct nd_view){records->text.data, records->text.len},
                        o->fingerprint);
        status =
            info.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : write_revisits(o, &info, err);
        nd_json_release(&info);
    }
    if (status == ND_OK)
        status = write_revisits(o, records, err);
    records->text.len = 0;
    return status;
}

enum nd_status nd_outputs_put_rows(struct nd_outputs *o, struct nd_rows *rows, struct nd_error *err)
{
    struct nd_buffer *manifest = &rows->manifest.text, *clusters = &rows->clusters.text;
    enum nd_status status = ND_OK;

    if (rows->manifest.failed || rows->clusters.failed || rows->revisits.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (o->survivors)
        status = nd_survivors_flush(o->survivors, err);
    if (status == ND_OK)
        status = put_revisits(o, &rows->revisits, err);
    if (status == ND_OK && o->rows)
        status = nd_spool_append(o->rows, manifest->data, manifest->len, NULL, err);
    if (status == ND_OK && o->clusters)
        status = nd_output_write(o->clusters, clusters->data, clusters->len, err);
    manifest->len = clusters->len = 0;
    return status;
}

void nd_outputs_borrow(struct nd_outputs *o, struct nd_late_writes *late)
{
    if (o->survivors)
        nd_survivors_borrow(o->survivors, &late->survivors);
    if (o->removed)
        nd_survivors_borrow(o->removed, &late->removed);
}

enum nd_status nd_outputs_return(struct nd_outputs *o, struct nd_rows *rows,
                                 struct nd_late_writes *late, struct nd_error *err)
{
    const struct nd_buffer *manifest = &rows->manifest.text, *clusters = &rows->clusters.text;
    enum nd_status status = ND_OK;

    if (rows->manifest.failed || rows->clusters.failed || rows->revisits.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = put_revisits(o, &rows->revisits, err);
    if (status == ND_OK && o->removed)
        status = nd_survivors_return(o->removed, err);
    if (status == ND_OK && o->survivors)
        status = nd_survivors_return(o->survivors, err);
    if (status == ND_OK && o->survivors)
        status = nd_survivors_flush(o->survivors, err);
    if (status == ND_OK && o->rows)
        status =
            nd_spool_append_late(o->rows, manifest->data, manifest->len, &late->rows, NULL, err);
    if (status != ND_OK || !o->clusters)
        return status;
    nd_output_borrow(o->clusters, &late->clusters);
    status = nd_output_write(o->clusters, clusters->data, clusters->len, err);
    return status == ND_OK ? nd_output_return(o->clusters, err) : status;
}

enum nd_status nd_outputs_write_late(const struct nd_outputs *o, struct nd_rows *rows,
                                     struct nd_late_writes *late, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (o->removed)
        status = nd_survivors_write_late(o->removed, &late->removed, err);
    if (status == ND_OK && o->survivors)
        status = nd_survivors_write_late(o->survivors, &late->survivors, err);
    if (status == ND_OK && o->rows)
        status = nd_spool_write_late(o->rows, &late->rows, err);
    if (status == ND_OK && o->clusters)
        status = nd_output_write_late(o->clusters, &late->clusters, err);
    rows->manifest.text.len = rows->clusters.text.len = 0;
    return status;
}

void nd_late_writes_release(struct nd_late_writes *late)
{
    nd_late_write_release(&late->survivors);
    nd_late_write_release(&late->removed);
    nd_late_write_release(&late->clusters);
    nd_late_write_release(&late->rows);
}

enum nd_status nd_outputs_finish_records(struct nd_outputs *o, struct nd_error *err)
{
    const uint32_t n = nd_reading_sources(o->reading);
    const struct nd_record none = {.source = n - 1};
    enum nd_status status = ND_OK;

    if (o->survivors && n)
        status = nd_outputs_survive(o, &none, none.bytes, err);
    if (status == ND_OK && n)
        status = nd_outputs_remove(o, &none, err);
    if (status == ND_OK && o->removed)
        status = nd_survivors_finish(o->removed, err);
    if (status == ND_OK && o->survivors)
        status = nd_survivors_finish(o->survivors, err);
    return status;
}

enum nd_status nd_outputs_copy_rows(struct nd_outputs *o, struct nd_error *err)
{
    struct nd_buffer piece = {0};
    uint64_t bytes = nd_spool_bytes(o->rows), at = 0;
    enum nd_status status = ND_OK;

    while (status == ND_OK && at < bytes) {
        size_t len = bytes - at < PIECE_BYTES ? (size_t)(bytes - at) : (size_t)PIECE_BYTES;

        status = nd_spool_read(o->rows, at, len, &piece, err);
        if (status == ND_OK)
            status = nd_output_write(o->manifest, piece.data, len, err);
        at += len;
    }
    nd_buffer_release(&piece);
    return status;
}

enum nd_status nd_outputs_publish(struct nd_outputs *o, struct nd_run_summary *summary,
                                  struct nd_error *err)
{
    size_t n_published = 0;
    enum nd_status status = nd_publisher_publish(&o->publisher, &n_published, err);

    summary->partly_published = status != ND_OK && n_published > 0;
    if (status == ND_OK && o->survivors)
        nd_survivors_are_published(o->survivors);
    return status;
}

void nd_outputs_release(struct nd_outputs *o)
{
    nd_output_discard(o->clusters);
    nd_output_discard(o->revisits);
    nd_output_discard(o->manifest);
    nd_output_discard(o->summary);
    nd_output_discard(o->report);
    nd_publisher_release(&o->publisher);
    nd_survivors_free(o->survivors); /* removes folders that are empty, so after the publisher */
    nd_survivors_free(o->removed);
    nd_spool_free(o->rows);
}
