/*
 * sketch_file.c - the sketches of every document in one file, which other commands read in their place
 *
 * The threads pack the rows of a batch's documents; they are added in the order of the input, so
 * that the file does not depend on the number of threads.
 */
#include <neardup/sketch_file.h>
#include <neardup/uses.h>

#include "old/sketch_packer.h"
#include "report/sketch_output.h"
#include "uses/use.h"

struct filing {
    struct nd_use use;
    const struct nd_reading_batch *batch;
    struct nd_sketch_packer *packer;
    struct nd_sketch_output *file;
    struct nd_sketch_writer *writer; /* of it */
};

static enum nd_status add(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct filing *f = context;

    return nd_sketch_writer_add(
        f->writer, nd_sketch_packer_row(f->packer, (size_t)(parsed - f->batch->parsed)), err);
}

static enum nd_status file_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct filing *f = context;
    enum nd_status status = nd_sketch_packer_run(f->packer, batch, err);

    f->batch = batch;
    return status == ND_OK ? nd_run_each_document(&f->use.run, batch, add, f, err) : status;
}

/* ---- The file ---- */

static enum nd_status add_sources(struct filing *f, struct nd_error *err)
{
    const struct nd_reading *reading = f->use.run.reading;
    enum nd_status status = ND_OK;

    for (uint32_t i = 0; status == ND_OK && i < nd_reading_sources(reading); i++) {
        const struct nd_source *source = nd_reading_source(reading, i);
        struct nd_sketch_source row = {source->path, source->entry, source->bytes_hash,
                                       source->records};

        status = nd_sketch_writer_add_source(f->writer, &row, err);
    }
    return status;
}

/* Complete the file; the publisher of the run gives it its name. */
static enum nd_status finish(struct filing *f, struct nd_error *err)
{
    enum nd_status status = add_sources(f, err);

    return status == ND_OK ? nd_sketch_output_finish(f->file, &f->use.run.outputs.publisher,
                                                     ND_PUBLISH_RESULT, err)
                           : status;
}

static enum nd_status open_file(struct filing *f, int no_shingles, struct nd_error *err)
{
    const struct nd_run *run = &f->use.run;
    const struct nd_input_part part = run->options->input.part;
    struct nd_sketch_writer_options options = {.keeps = nd_sketch_kept_of(run->recipe),
                                               .fields = (const char *const *)run->record.name,
                                               .n_fields = run->record.n,
                                               .part = part.number,
                                               .parts = part.of};

    if (no_shingles)
        options.keeps.shingles = 0;
    f->file = nd_sketch_output_open(run->options->output, run->recipe, &options, err);
    if (!f->file)
        return err->status;
    f->writer = nd_sketch_output_writer(f->file);
    f->packer = nd_sketch_packer_new(run->pool, run->recipe, f->writer, options.keeps, err);
    return f->packer ? ND_OK : err->status;
}

static enum nd_status write_all(struct filing *f, int no_shingles, struct nd_error *err)
{
    struct nd_run *run = &f->use.run;
    enum nd_status status = open_file(f, no_shingles, err);

    if (status == ND_OK)
        status = nd_run_each_batch(run, file_batch, f, err);
    if (status == ND_OK)
        status = nd_run_conclude(run, err);
    return status == ND_OK ? finish(f, err) : status;
}

enum nd_status nd_run_sketch_file(const struct nd_run_options *options, int keeps_shingles,
                                  const struct nd_run_events *events,
                                  struct nd_run_summary *summary, struct nd_error *err)
{
    static const struct nd_run_request request = {.writes_output = true, .writes_records = true};
    struct nd_error room = {0};
    struct filing f = {.batch = NULL};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_use_begin(&f.use, options, &request, events, err);
    if (status == ND_OK)
        status = write_all(&f, !keeps_shingles, err);
    nd_sketch_packer_free(f.packer);
    nd_sketch_output_free(f.file);
    status = nd_use_end(&f.use, status, 0, NULL, err);
    *summary = f.use.counts;
    return status;
}
