/*
 * sketch_file.c - the sketches of every document in one file, which other commands read in their place
 *
 * Each worker makes the rows of its documents and packs them; they are added in the order of the
 * input, so that the file does not depend on the number of threads.
 */
#include <neardup/sketch_file.h>
#include <neardup/uses.h>

#include <stdlib.h>
#include <string.h>

#include "engine/document_row.h"
#include "pipeline/sketch_output.h"
#include "uses/use.h"

struct filing {
    struct nd_use use;
    const struct nd_reading_batch *batch;
    struct nd_packed_row *packed; /* one for each record of the batch */
    size_t capacity;
    struct nd_document_rows *rows; /* of each worker */

    struct nd_sketch_output *file;
    struct nd_sketch_writer *writer; /* of it */
};

/* ---- One document ---- */

static enum nd_status pack(struct filing *f, size_t task, unsigned worker)
{
    const struct nd_parsed *parsed = &f->batch->parsed[task];
    struct nd_sketch_row row = {.source = parsed->record.source,
                                .offset = parsed->record.offset,
                                .line = parsed->record.line};
    struct nd_document_rows *rows = &f->rows[worker];
    enum nd_status status = nd_document_rows_make(rows, &parsed->document, &row, NULL);

    return status == ND_OK
               ? nd_sketch_row_pack(f->writer, &row, rows->scratch, &f->packed[task], NULL)
               : status;
}

static void pack_one(void *context, size_t task, unsigned worker)
{
    struct filing *f = context;

    if (!f->batch->parsed[task].bad && pack(f, task, worker) != ND_OK)
        atomic_store(&f->use.has_failed, true);
}

/* ---- A batch ---- */

static enum nd_status add(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct filing *f = context;

    return nd_sketch_writer_add(f->writer, &f->packed[parsed - f->batch->parsed], err);
}

static bool reserve(struct filing *f, size_t n)
{
    size_t before = f->capacity;

    if (!ND_RESERVE(f->packed, &f->capacity, n))
        return false;
    if (f->capacity > before)
        memset(&f->packed[before], 0, (f->capacity - before) * sizeof *f->packed);
    return true;
}

static enum nd_status file_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct filing *f = context;

    f->batch = batch;
    if (!reserve(f, batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_pool_run(f->use.run.pool, batch->count, pack_one, f);
    if (atomic_load(&f->use.has_failed))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return nd_run_each_document(&f->use.run, batch, add, f, err);
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

static enum nd_status open_file(struct filing *f, int keeps_shingles, struct nd_error *err)
{
    const struct nd_run *run = &f->use.run;

    f->file = nd_sketch_output_open(run->options->output, run->recipe, keeps_shingles, err);
    if (!f->file)
        return err->status;
    f->writer = nd_sketch_output_writer(f->file);
    return ND_OK;
}

static enum nd_status make_workers(struct filing *f, struct nd_error *err)
{
    unsigned n = nd_pool_threads(f->use.run.pool);

    f->rows = calloc(n, sizeof *f->rows);
    if (!f->rows)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < n; i++)
        if (!nd_document_rows_init(&f->rows[i], f->use.run.recipe, err))
            return err->status;
    return ND_OK;
}

static enum nd_status write_all(struct filing *f, int keeps_shingles, struct nd_error *err)
{
    struct nd_run *run = &f->use.run;
    enum nd_status status = make_workers(f, err);

    if (status == ND_OK)
        status = open_file(f, keeps_shingles, err);
    if (status == ND_OK)
        status = nd_run_each_batch(run, file_batch, f, err);
    if (status == ND_OK)
        status = nd_run_conclude(run, err);
    return status == ND_OK ? finish(f, err) : status;
}

static void release(struct filing *f)
{
    unsigned n = f->use.run.pool ? nd_pool_threads(f->use.run.pool) : 0;

    for (unsigned i = 0; f->rows && i < n; i++)
        nd_document_rows_release(&f->rows[i]);
    for (size_t i = 0; i < f->capacity; i++)
        nd_packed_row_release(&f->packed[i]);
    nd_sketch_output_free(f->file);
    free(f->packed);
    free(f->rows);
}

enum nd_status nd_run_sketch_file(const struct nd_run_options *options, int keeps_shingles,
                                  const struct nd_run_events *events,
                                  struct nd_run_summary *summary, struct nd_error *err)
{
    static const struct nd_run_request request = {.writes_output = true};
    struct nd_error room = {0};
    struct filing f = {.batch = NULL};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_use_begin(&f.use, options, &request, events, err);
    if (status == ND_OK)
        status = write_all(&f, keeps_shingles, err);
    release(&f);
    status = nd_use_end(&f.use, status, 0, NULL, err);
    *summary = f.use.counts;
    return status;
}
