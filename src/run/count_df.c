/* count_df.c - count the features of a corpus into a df table: for the command, or for the run that needs it */

/*
 * Each worker counts into a builder of its own, which spills sorted runs to temporary files when
 * its memory is full; at the end all builders are merged into one table (src/feature/df_builder.c).
 * `--df auto` runs this as a first run over the same inputs, and the second run checks that the
 * inputs have not changed in between (nd_run_inputs_state).
 */
#include "run/count_df.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/system/descriptor.h"
#include "input/streams/sampling.h"
#include "recipe/recipe_struct.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct count_worker {
    struct nd_df_counter counter;
    struct nd_error error; /* status 0: no error so far */
};

struct df_run {
    struct nd_run run;
    struct count_worker *worker;
    unsigned n_workers;
};

static void count_one(void *context, struct nd_parsed *parsed, unsigned number)
{
    struct df_run *c = context;
    struct count_worker *w = &c->worker[number];

    if (w->error.status == ND_OK)
        (void)nd_df_counter_add(&w->counter, &parsed->document, &w->error); /* which it sets */
}

/* Bytes of each worker's builder: of a run in bounded memory they share a part of it. */
static uint64_t builder_memory(const struct nd_run_df_options *df, const struct nd_run *run,
                               unsigned n_workers)
{
    const uint64_t min = 1 << 20, usual = 256 << 20;
    uint64_t all = run->budget.total ? run->budget.array_bytes : usual;
    uint64_t memory = (df->memory_bytes ? df->memory_bytes : all) / n_workers;

    return memory < min ? min : memory;
}

static enum nd_status make_workers(struct df_run *c, const struct nd_run_df_options *df,
                                   struct nd_error *err)
{
    const struct nd_run_options *options = c->run.options;
    struct nd_feature_params features;
    struct nd_df_builder_params params;
    enum nd_status status =
        nd_recipe_df_features(options->recipe, df->features, &features, NULL, err);

    if (status != ND_OK)
        return status;
    c->n_workers = nd_pool_threads(c->run.pool);
    c->worker = calloc(c->n_workers, sizeof *c->worker);
    if (!c->worker)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    params =
        (struct nd_df_builder_params){.memory_bytes = builder_memory(df, &c->run, c->n_workers),
                                      .tmp = options->tmp,
                                      .features = &features,
                                      .keep_texts = df->keep_texts};
    for (unsigned i = 0; status == ND_OK && i < c->n_workers; i++)
        status = nd_df_counter_init(&c->worker[i].counter, &params, err);
    return status;
}

enum nd_status nd_run_df_read(struct nd_run *run, nd_run_batch *each, void *context,
                              struct nd_error *err)
{
    enum nd_status status = nd_run_each_batch(run, each, context, err);

    if (status == ND_OK)
        status = nd_run_judge(run, err);
    run->summary->seconds = nd_clock() - run->reporter.started;
    if (status == ND_OK && run->summary->documents == 0)
        status = nd_fail(err, ND_EINPUT, "the input has no documents");
    return status;
}

static enum nd_status end_batch(void *context, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    struct df_run *c = context;
    enum nd_status status = nd_run_each_document(&c->run, batch, NULL, NULL, err);

    for (unsigned i = 0; i < c->n_workers && status == ND_OK; i++)
        if ((status = c->worker[i].error.status) != ND_OK)
            *err = c->worker[i].error;
    return status;
}

static void warn_of_nothing(struct df_run *c)
{
    for (unsigned i = 0; i < c->n_workers; i++)
        if (c->worker[i].counter.has_counted)
            return;
    nd_reporter_warn(&c->run.reporter, "no document has a feature that can be counted");
}

/* To the file that the options name, or where there is one to the stream. */
static enum nd_status write_table(struct df_run *c, FILE *stream, struct nd_error *err)
{
    struct nd_df_builder **all = nd_alloc_array(c->n_workers, sizeof(struct nd_df_builder *));
    enum nd_status status;

    if (!all)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < c->n_workers; i++)
        all[i] = c->worker[i].counter.builder;
    status = stream ? nd_df_builder_write_stream(all, c->n_workers, stream, err)
                    : nd_df_builder_write(all, c->n_workers, c->run.options->output, err);
    free(all);
    return status;
}

static void release(struct df_run *c)
{
    for (unsigned i = 0; c->worker && i < c->n_workers; i++)
        nd_df_counter_release(&c->worker[i].counter);
    free(c->worker);
}

/* The table of a run that needs it: it goes to the stream, and the rest is for the run. */
struct for_run {
    FILE *stream;
    uint64_t sample_bytes; /* of a rehearsal; 0: all is counted */
    struct nd_df_tables *tables;
};

static enum nd_status begin_sample(struct df_run *c, const struct for_run *to, struct nd_error *err)
{
    return to->sample_bytes
               ? nd_input_sample(nd_reading_input(c->run.reading), to->sample_bytes, err)
               : ND_OK;
}

static void note_counted(const struct df_run *c, struct nd_df_tables *tables)
{
    const struct nd_sampling *sampling = nd_input_sampling(nd_reading_input(c->run.reading));

    tables->counted_inputs = nd_run_inputs_state(&c->run);
    tables->counting_seconds = nd_processor_clock() - c->run.reporter.processor_started;
    tables->counted_scale =
        sampling->is_on && sampling->bytes ? (double)sampling->total / (double)sampling->bytes : 1;
}

/*
 * To the file that the options name, or for a run (NULL: there is none).  The tables that the recipe
 * names need not be there yet.
 */
static enum nd_status build(const struct nd_run_options *options,
                            const struct nd_run_df_options *df, const struct for_run *to,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    struct df_run c = {.worker = NULL};
    const struct nd_run_request request = {.reading = {.parsed = count_one, .context = &c},
                                           .ignores_signatures = true,
                                           .writes_output = !to,
                                           .is_rehearsal = to != NULL};
    enum nd_status status = nd_run_begin(&c.run, options, &request, events, summary, err);

    if (status == ND_OK && to)
        status = begin_sample(&c, to, err);
    if (status == ND_OK)
        status = make_workers(&c, df, err);
    if (status == ND_OK)
        status = nd_run_df_read(&c.run, end_batch, &c, err);
    if (status == ND_OK)
        warn_of_nothing(&c);
    if (status == ND_OK)
        status = write_table(&c, to ? to->stream : NULL, err);
    if (status == ND_OK && to)
        note_counted(&c, to->tables);
    release(&c);
    nd_run_end(&c.run);
    return nd_run_status(status, err);
}

enum nd_status nd_run_df_build(const struct nd_run_options *options,
                               const struct nd_run_df_options *df,
                               const struct nd_run_events *events, struct nd_run_summary *summary,
                               struct nd_error *err)
{
    struct nd_error room = {0};

    err = err ? err : &room;
    *err = (struct nd_error){0};
    if (!options->output || strcmp(options->output, "-") == 0)
        return nd_fail(err, ND_EINVAL, "a df table needs a file as its output");
    return build(options, df, NULL, events, summary, err);
}

/* ---- A table counted from the inputs of the run that needs it ---- */

/* The input is opened twice, so every input must be readable from the start again. */
static enum nd_status check_inputs(const struct nd_run_options *o, struct nd_error *err)
{
    struct nd_file_about about;

    if (!o->n_paths)
        return nd_fail(err, ND_EINVAL,
                       "--df auto: there is no corpus to count, and two documents are not enough");
    for (size_t i = 0; i < o->n_paths; i++) {
        bool is_standard = strcmp(o->paths[i], "-") == 0;

        if (is_standard || (nd_path_about(o->paths[i], &about) && about.kind != ND_FILE_REGULAR &&
                            about.kind != ND_FILE_FOLDER))
            return nd_fail(err, ND_EINVAL,
                           "--df auto: the input is read twice, but %s can be read only once; make "
                           "the table first, with neardup df build",
                           is_standard ? "standard input" : o->paths[i]);
    }
    return ND_OK;
}

/*
 * Find the place where the table goes: *target, the file behind a link, and *there, the table that
 * stands there, or NULL.  It is written once and never replaced: sketches that were made with it
 * would be stale.
 */
static enum nd_status find_place(const char *name, char **target, struct nd_df **there,
                                 struct nd_error *err)
{
    struct nd_error reason;
    struct nd_file_about about;
    enum nd_status status;

    if (nd_output_descriptor(name) >= 0)
        return nd_fail(err, ND_EIO, "%s: is not a regular file, which a df table must be", name);
    status = nd_output_target(name, target, err);
    if (status != ND_OK)
        return status;
    if (!*target)
        return nd_fail(err, ND_EIO, "%s: is not a regular file, which a df table must be", name);
    if (!nd_path_about(*target, &about))
        return ND_OK;
    *there = nd_df_open(*target, &reason);
    if (!*there)
        return nd_fail(err, ND_EINVAL, "%s: already exists and is not replaced by a df table: %s",
                       name, reason.message);
    return ND_OK;
}

static enum nd_status compare_with(const struct nd_df *there, const char *name,
                                   const struct nd_df *table, struct nd_error *err)
{
    if (!there || nd_df_fingerprint(table) == nd_df_fingerprint(there))
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "%s: already exists, a df table of version 0x%016" PRIx64
                   ", but this input gives 0x%016" PRIx64
                   "; use it with --df %s, or choose another name to keep both",
                   name, nd_df_fingerprint(there), nd_df_fingerprint(table), name);
}

static int tell_progress(void *context, const struct nd_run_progress *progress)
{
    const struct nd_run *run = context;
    const struct nd_run_events *to = run->reporter.to;
    struct nd_run_progress now = *progress;

    now.passes = 1 + (run->request->passes ? run->request->passes : 1);
    return to->progress ? to->progress(to->context, &now) : 0;
}

/* Problems with the input are reported and judged when it is read again. */
static enum nd_status count(struct nd_run *run, int fd, struct nd_error *err)
{
    const struct nd_run_events events = {.context = run, .progress = tell_progress};
    struct nd_run_summary summary;
    struct nd_run_df_options df = {.features = NULL};
    FILE *stream = nd_descriptor_stream(fd, "wb+");
    enum nd_status status;

    for (unsigned i = 0; !df.features && i < run->recipe->method.n_signatures; i++)
        if (nd_signature_needs_df(&run->recipe->method.signature[i]))
            df.features = run->recipe->method.signature[i].name;
    if (stream) {
        const struct for_run to = {
            stream, run->request->watch ? run->request->watch->sample_bytes : 0, &run->tables};

        status = build(run->options, &df, &to, &events, &summary, err);
    } else {
        status = nd_fail(err, ND_EIO, "%s: %s", run->options->df_auto, strerror(errno));
    }
    if (stream && fclose(stream) != 0 && status == ND_OK)
        status = nd_fail(err, ND_EIO, "%s: cannot be written: %s", run->options->df_auto,
                         strerror(errno));
    return status;
}

static enum nd_status count_into(struct nd_run *run, const char *target, const struct nd_df *there,
                                 struct nd_error *err)
{
    const char *name = run->options->df_auto;
    char path[64];
    int fd = -1;
    struct nd_temporary *file = nd_temporary_create(target, &fd, err);
    enum nd_status status = file ? count(run, fd, err) : ND_EIO;

    if (status == ND_OK) {
        (void)nd_descriptor_path(fd, path); /* it has not been published yet */
        run->tables.table[0] = nd_df_open(path, err);
        run->tables.path[0] = name;
        status = run->tables.table[0] ? compare_with(there, name, run->tables.table[0], err)
                                      : err->status;
    }
    if (status == ND_OK && !there && !run->request->is_dry) {
        status = nd_temporary_finish(file, false, err);
        if (status == ND_OK)
            return nd_publisher_add(&run->outputs.publisher, file, ND_PUBLISH_EVIDENCE, NULL, err);
    }
    nd_temporary_discard(file); /* the table stays mapped */
    return status;
}

enum nd_status nd_run_make_table(struct nd_run *run, struct nd_error *err)
{
    const char *name = run->options->df_auto;
    struct nd_df *there = NULL;
    char *target = NULL;
    enum nd_status status;

    if (!name || run->request->ignores_signatures)
        return ND_OK;
    status = nd_recipe_set_df(run->recipe, name, err);
    if (status == ND_OK)
        status = check_inputs(run->options, err);
    if (status == ND_OK)
        status = find_place(name, &target, &there, err);
    if (status == ND_OK)
        status = count_into(run, target, there, err);
    nd_df_close(there);
    free(target);
    run->tables.is_counted = true;
    run->reporter.passes_before = 1;
    return status;
}

uint64_t nd_run_inputs_state(const struct nd_run *run)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    uint64_t state = nd_input_files(input);

    for (size_t i = 0; i < nd_input_files(input); i++) {
        const struct nd_file_mark m = nd_input_file_mark(nd_input_file(input, i));
        const uint64_t part[] = {m.device, m.inode, m.bytes, (uint64_t)m.seconds,
                                 (uint64_t)m.nanoseconds};

        for (size_t k = 0; k < sizeof part / sizeof *part; k++)
            state = nd_mix64(state ^ part[k]) + k;
    }
    return state;
}

enum nd_status nd_run_check_counted(const struct nd_run *run, struct nd_error *err)
{
    if (!run->tables.is_counted || nd_run_inputs_state(run) == run->tables.counted_inputs)
        return ND_OK;
    return nd_fail(err, ND_ECHANGED,
                   "the input changed while it was read, so %s would not be its df table",
                   run->options->df_auto);
}
