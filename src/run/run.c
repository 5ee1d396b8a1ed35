/* run.c - a run from its options to its first batch, and the run that deduplicates */

/*
 * Every run over files checks its options, and opens the recipe and its df tables, the reader, the
 * engine and the outputs; in the end it warns, makes the summary, and publishes.  The struct nd_run
 * holds these parts. Between beginning and end, dedup goes through one_pass.c or
 * ordered.c; the other commands (src/uses) go through the batches by nd_run_each_batch, here.
 */
#include "run/run_parts.h"

#include <neardup/text.h>

#include "base/system/process.h"
#include "input/streams/sampling.h"
#include "old/against_run.h"
#include "reading/slice.h"
#include "recipe/recipe_struct.h"
#include "report/copies.h"
#include "report/json_member.h"
#include "report/run_page.h"
#include "run/forecast.h"
#include "run/manifest.h"
#include "sketches/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The share of ids in the 256 MB that a run may take beside its documents. */
enum { ID_BYTES_MAX = 96 << 20 };

/* Options that leave no place for a field in survivors, or nothing to say there. */
static enum nd_status check_copies(const struct nd_run_options *o, struct nd_error *err)
{
    const char *other = o->annotate     ? "annotate, which says it of each kept record"
                        : o->copy_to    ? "copy-to, which writes no records"
                        : o->link_to    ? "link-to, which writes no records"
                        : o->null_paths ? "null, which is of lists of paths"
                        : o->only_against
                            ? "only-against, which makes no clusters of the documents that it keeps"
                            : NULL;

    if (other)
        return nd_fail(err, ND_EINVAL, "copies-field does not go with %s", other);
    if (strlen(o->copies_field) > ND_MEMBER_KEY_MAX)
        return nd_fail(err, ND_EINVAL, "copies-field: the name has more than %d bytes",
                       ND_MEMBER_KEY_MAX);
    if (nd_input_charset(&o->input))
        return nd_fail(err, ND_EINVAL,
                       "copies-field adds UTF-8 to the records, which are in %.48s: convert them "
                       "first (iconv)",
                       o->input.charset);
    return ND_OK;
}

/* Options that say where records go. */
static enum nd_status check_survivors(const struct nd_run_options *o, struct nd_error *err)
{
    int folders = !!o->output_dir + !!o->copy_to + !!o->link_to;

    if (folders + (o->output && strcmp(o->output, "-") != 0) > 1)
        return nd_fail(err, ND_EINVAL,
                       "only one of output, output-dir, copy-to and link-to can be given");
    if (o->copies_field && check_copies(o, err) != ND_OK)
        return ND_EINVAL;
    if (o->annotate && (o->copy_to || o->link_to || o->null_paths))
        return nd_fail(err, ND_EINVAL,
                       "annotate writes records: use it with output or output-dir, not with %s",
                       o->copy_to   ? "copy-to"
                       : o->link_to ? "link-to"
                                    : "null");
    if (o->annotate && o->revisit)
        return nd_fail(err, ND_EINVAL, "revisit does not go with annotate, which removes nothing");
    if (o->annotate && nd_input_charset(&o->input))
        return nd_fail(
            err, ND_EINVAL,
            "annotate adds ids in UTF-8 to the records, which are in %.48s: convert them "
            "first (iconv)",
            o->input.charset);
    return ND_OK;
}

/* Options that have no meaning where the whole of a cluster is removed. */
static enum nd_status check_none(const struct nd_run_options *o,
                                 const struct nd_run_request *request, struct nd_error *err)
{
    if (strcmp(o->recipe->keep, "none") != 0)
        return ND_OK;
    if (!request->writes_survivors)
        return nd_fail(err, ND_EINVAL,
                       "keep: none would show no result of a cluster, of which this use shows one");
    if (o->append)
        return nd_fail(err, ND_EINVAL,
                       "append does not go with keep none: of a cluster nothing would be added, "
                       "and later documents of it would be kept");
    if (o->annotate)
        return nd_fail(err, ND_EINVAL, "annotate does not go with keep none: it removes nothing");
    if (o->revisit)
        return nd_fail(err, ND_EINVAL,
                       "revisit does not go with keep none: its records refer to kept ones");
    return ND_OK;
}

/* Options that have no meaning where new documents are not compared with one another. */
static enum nd_status check_only(const struct nd_run_options *o, struct nd_error *err)
{
    if (!o->n_against)
        return nd_fail(err, ND_EINVAL,
                       "only-against compares with the documents of against, and there are none");
    if (o->append || o->prefer_field)
        return nd_fail(err, ND_EINVAL,
                       "%s does not go with only-against, which does not compare the inputs with "
                       "one another",
                       o->append ? "append" : "prefer");
    if (o->recipe->dedup.cluster != ND_CLUSTER_STAR)
        return nd_fail(err, ND_EINVAL,
                       "only-against makes no clusters: cluster must be star, as by default");
    return ND_OK;
}

static enum nd_status check_options(const struct nd_run_options *o,
                                    const struct nd_run_request *request, struct nd_error *err)
{
    if (!o->tmp || !o->input.id_field)
        return nd_fail(err, ND_EINVAL, "no %s: the options are not from nd_run_options_new",
                       o->tmp ? "id field" : "tmp");
    if (nd_recipe_params_check(o->recipe, err) != ND_OK)
        return ND_EINVAL;
    if (o->append && !o->n_against)
        return nd_fail(err, ND_EINVAL,
                       "append adds the survivors to the last file of against, and there is none");
    if (o->differs && !o->manifest)
        return nd_fail(
            err, ND_EINVAL,
            "differs adds to the rows of the manifest, and there is none: give manifest");
    if (o->only_against && check_only(o, err) != ND_OK)
        return ND_EINVAL;
    if (request->heeds_keep && check_none(o, request, err) != ND_OK)
        return ND_EINVAL;
    if (!o->n_paths)
        return nd_fail(err, ND_EINVAL, "no input: name files or folders, or - for standard input");
    if (request->writes_survivors && check_survivors(o, err) != ND_OK)
        return ND_EINVAL;
    if (o->max_bad.q && o->max_bad.p > o->max_bad.q)
        return nd_fail(err, ND_EINVAL, "max_bad: must be at most 1");
    return ND_OK;
}

void nd_run_want_markup(struct nd_input_options *input, const struct nd_method *m)
{
    for (unsigned i = 0; i < m->n_signatures; i++) {
        const struct nd_recipe_signature *s = &m->signature[i];

        input->markup |= (unsigned char)nd_feature_reads_markup(&s->feature, &s->weight);
        input->elements |= (unsigned char)nd_feature_reads_elements(&s->feature);
    }
}

/* Choose the fields that records keep, and ask for them.  The lengths of texts are made of these, or
 * come with sketch files. */
static enum nd_status want_record_fields(struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_record_fields_choose(&run->record, run->options, run->keep.field,
                                                    run->request->writes_records, err);

    for (size_t i = 0; status == ND_OK && i < run->record.n; i++)
        if ((*run->record.name[i] || run->sketches) &&
            nd_field_set_want(&run->fields, run->record.name[i]) == ND_FIELDS_MAX)
            status = nd_fail(err, ND_EINVAL, "record-field: too many fields are named");
    return status;
}

/* Collect what the options ask of the reader, before it is opened. */
static enum nd_status want_fields(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *options = run->options;
    const struct nd_run_request *request = run->request;
    struct nd_field_set *fields = &run->fields;
    enum nd_status status;

    run->input.markup |= request->reads_markup;
    for (unsigned i = 0; i < ND_RUN_ASKED; i++)
        run->asked[i] = nd_field_set_want(fields, request->fields[i]);
    run->comparable.within =
        nd_field_set_want(fields, request->heeds_within ? options->within : NULL);
    run->comparable.security =
        nd_field_set_want(fields, request->heeds_security ? options->security_field : NULL);
    run->keep_index = nd_field_set_want(fields, run->keep.field);
    if (run->sketches && request->heeds_keep && nd_keep_is_by_length(&run->keep))
        run->keep_index = nd_field_set_want(fields, ND_SKETCH_LENGTH_FIELD);
    run->prefer_index =
        nd_field_set_want(fields, request->heeds_prefer ? options->prefer_field : NULL);
    status = nd_comparable_want(&run->comparable, err);
    run->n_needed_fields = fields->count;
    return status == ND_OK ? want_record_fields(run, err) : status;
}

static enum nd_status watch_fields(struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_field_set_watch_method(&run->fields, &run->recipe->method, err);

    if (status == ND_OK)
        status = nd_field_set_watch_id(&run->fields, run->options->input.id_field, err);
    return status == ND_OK ? nd_comparable_watch(&run->comparable, err) : status;
}

static enum nd_status open_inputs(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *options = run->options;
    struct nd_reading_hooks hooks = run->request->reading;
    const unsigned threads = nd_pool_worthwhile(options->threads);

    run->pool = options->pin_threads ? nd_pool_new_pinned(threads, err) : nd_pool_new(threads, err);
    if (!run->pool)
        return err && err->status ? err->status : ND_ENOMEM;
    run->summary->threads = nd_pool_threads(run->pool);
    run->reporter.pool = run->comparable.pool = run->pool;
    run->outputs.publisher.pool = run->pool;
    if (options->memory) {
        run->budget = nd_budget_divide(options->memory, run->summary->threads);
        run->budget.in_use_before = nd_memory_in_use();
        run->ids.ids.bytes_max = run->budget.id_bytes;
        hooks.record_bytes = run->budget.record_bytes;
        hooks.batch_bytes = run->budget.batch_bytes;
    }
    hooks.problem = nd_reporter_tell;
    hooks.reporter = &run->reporter;
    hooks.sketches = run->sketches;
    run->input.n_fields = run->fields.count;
    run->reading =
        nd_reading_new(run->pool, options->paths, options->n_paths, &run->input, &hooks, err);
    run->outputs.reading = run->reading;
    if (!run->reading)
        return err && err->status ? err->status : ND_EINVAL;
    run->lookup =
        nd_lookup_new(run->reading, &run->input, 2 * run->summary->threads, options->tmp, err);
    return run->lookup ? ND_OK : ND_ENOMEM;
}

static void init(struct nd_run *run, const struct nd_run_options *options,
                 const struct nd_run_request *request, const struct nd_run_events *events,
                 struct nd_run_summary *summary)
{
    *run = (struct nd_run){
        .options = options,
        .request = request,
        .summary = summary,
        .input = options->input,
        .ids.ids.bytes_max = ID_BYTES_MAX,
        .comparable = {.within = -1,
                       .security = -1,
                       .never = options->never,
                       .n_never = options->n_never},
        .outputs = {.options = options,
                    .request = request,
                    .publisher = {.level = options->output_level}},
    };
    run->comparable.fields = &run->fields;
    run->input.fields = run->fields.name;
    run->input.n_fields = 0;
    nd_reporter_init(&run->reporter, events, options->strict && !request->is_rehearsal, summary);
    run->reporter.stops_early = !options->max_bad.q && !request->hands_on_bad;
}

/* The recipe is the run's own: it opens tables, and a command may change it. */
static enum nd_status copy_recipe(struct nd_run *run, struct nd_error *err)
{
    const struct nd_recipe *from = run->options->recipe;

    run->recipe = from ? nd_recipe_copy(from, err) : nd_recipe_new(err);
    if (!run->recipe)
        return ND_ENOMEM;
    run->input.boilerplate = run->recipe->dedup.sketch.boilerplate;
    run->outputs.method = &run->recipe->method;
    run->outputs.recipe = run->recipe;
    return ND_OK;
}

enum nd_status nd_run_begin_recipe(struct nd_run *run, const struct nd_run_options *options,
                                   const struct nd_run_request *request,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err)
{
    enum nd_status status;

    init(run, options, request, events, summary);
    status = copy_recipe(run, err);
    return status == ND_OK ? nd_run_make_table(run, err) : status;
}

bool nd_run_reads_texts(const struct nd_run *run)
{
    return !run->sketches || (run->request->reads_documents && !run->sketches_beside);
}

static bool makes_signatures(const struct nd_run *run)
{
    return !run->request->ignores_signatures && nd_run_reads_texts(run);
}

enum nd_status nd_run_open_recipe(struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_recipe_params_check(run->recipe, err);

    if (status == ND_OK && makes_signatures(run))
        status = nd_df_tables_open(&run->tables, run->recipe, err);
    if (status != ND_OK)
        return status;
    nd_run_want_markup(&run->input, &run->recipe->method);
    status = nd_field_set_want_method(&run->fields, &run->recipe->method, err);
    run->input.n_fields = run->fields.count;
    return status;
}

enum nd_status nd_run_begin(struct nd_run *run, const struct nd_run_options *options,
                            const struct nd_run_request *request,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    enum nd_status status = check_options(options, request, err);

    *summary = (struct nd_run_summary){0};
    init(run, options, request, events, summary);
    if (status == ND_OK)
        status = copy_recipe(run, err);
    if (status == ND_OK)
        status = nd_keep_parse(options->recipe->keep, &run->keep, err);
    if (status == ND_OK)
        status = nd_run_take_sketches(run, err);
    if (status == ND_OK)
        status = want_fields(run, err);
    if (status == ND_OK)
        status = nd_run_make_table(run, err);
    if (status == ND_OK)
        status = nd_run_open_recipe(run, err);
    if (status == ND_OK && run->sketches)
        status = nd_sketches_want(run->sketches, run->fields.name, run->fields.count,
                                  run->n_needed_fields, err);
    if (status == ND_OK)
        status = watch_fields(run, err);
    if (status == ND_OK)
        status = open_inputs(run, err);
    return status == ND_OK ? nd_run_claim(run, err) : status;
}

struct nd_view nd_run_asked(const struct nd_run *run, const struct nd_document *document,
                            unsigned i)
{
    return nd_document_field(document, run->asked[i]);
}

enum nd_status nd_run_make_dedup(struct nd_run *run, enum nd_cluster cluster,
                                 const struct nd_text_source *source, struct nd_error *err)
{
    return nd_run_make_dedup_for(run, cluster, 0, source, err);
}

/*
 * The cache of shingles, in bytes, where documents come in an order of their own. The kept document
 * that one is compared with is then any of those before, not one of the latest, so that a larger
 * cache holds more and finds hardly more: on ota-small, 96 MB instead of 32 save no time.
 */
enum { ORDERED_CACHE_BYTES = 32 << 20 };

enum nd_status nd_run_make_dedup_for(struct nd_run *run, enum nd_cluster cluster, size_t n,
                                     const struct nd_text_source *source, struct nd_error *err)
{
    struct nd_dedup_params params = nd_recipe_dedup_params(run->recipe);

    params.cluster = cluster;
    params.first_documents = n;
    if (run->budget.total)
        params.cache_bytes = run->budget.cache_bytes;
    else if (run->request->heeds_keep && run->keep.by != ND_KEEP_FIRST)
        params.cache_bytes = ORDERED_CACHE_BYTES;
    params.takes_sketches = run->sketches || run->sketches_beside || run->against || run->known;
    params.takes_no_texts = run->against || !nd_run_reads_texts(run);
    run->dedup = nd_dedup_new_on(run->pool, &params, source, err);
    if (!run->dedup)
        return err && err->status ? err->status : ND_EINVAL;
    if (!run->known || nd_dedup_takes_known(run->dedup))
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "%s: this recipe looks up samples of shingles, which are not kept: leave it out",
                   run->checkpoint ? "checkpoint" : "known-sketches");
}

enum nd_status nd_run_keep_nothing(void *context, uint64_t document, size_t item,
                                   struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

enum nd_status nd_run_keep_rows(struct nd_run *run, unsigned worker, size_t n, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_sketch_row row;

    for (size_t i = 0; run->checkpoint && status == ND_OK && i < n; i++)
        if (nd_dedup_made_row(run->dedup, worker, i, &row))
            status = nd_checkpoint_add(run->checkpoint, &row, err);
    return status;
}

void nd_run_retire_dedup(struct nd_run *run)
{
    struct nd_dedup_stats stats;

    if (!run->dedup)
        return;
    nd_dedup_get_stats(run->dedup, &stats);
    nd_dedup_stats_add(&run->past, &stats);
    run->has_past = true;
    nd_dedup_free(run->dedup);
    run->dedup = NULL;
}

void nd_run_end(struct nd_run *run)
{
    nd_dedup_free(run->dedup);
    nd_against_free(run->against);
    nd_checkpoint_close(run->checkpoint);
    nd_known_rows_free(run->known);
    if (run->summary)
        run->summary->wrote_in_place = run->outputs.publisher.wrote_in_place;
    nd_outputs_release(&run->outputs);
    nd_reading_free(run->reading);
    nd_slice_free(run->slice);
    nd_sketches_free(run->sketches);
    nd_sketches_free(run->sketches_beside);
    nd_lookup_free(run->lookup);
    nd_places_release(&run->places);
    nd_comparable_release(&run->comparable);
    nd_reporter_release(&run->reporter);
    nd_id_check_release(&run->ids);
    nd_cluster_sizes_release(&run->sizes);
    nd_examples_free(run->examples);
    nd_quoted_release(&run->quoted);
    nd_field_set_release(&run->fields);
    nd_pool_free(run->pool);
    nd_df_tables_close(&run->tables);
    nd_record_fields_release(&run->record);
    nd_recipe_free(run->recipe);
}

enum nd_status nd_run_status(enum nd_status status, struct nd_error *err)
{
    if (status == ND_OK)
        return ND_OK;
    if (err->status == ND_OK)
        return nd_fail(err, status, "failed without a reason: %s", nd_status_name(status));
    return err->status;
}

/* ---- Warnings ---- */

enum { ONE_IN = 100 };

void nd_run_warn_of_repairs(struct nd_run *run, const struct nd_reading *reading,
                            uint64_t documents, const char *what)
{
    const char *charset = nd_input_charset(&run->input);
    uint64_t repaired = nd_reading_repaired(reading);

    if (repaired > documents / ONE_IN)
        nd_reporter_warn(&run->reporter,
                         "%" PRIu64 " of %" PRIu64
                         " %ss are not valid %.48s; their invalid bytes became U+FFFD: if they are "
                         "in another charset, name it, as in --charset "
                         "windows-1252",
                         repaired, documents, what, charset ? charset : "UTF-8");
}

/* Explain why a recipe gives no signature to any document, by what it reads. */
static const char *read_by(const struct nd_method *m)
{
    bool paths = false, text = false;

    for (unsigned i = 0; i < m->n_signatures; i++) {
        paths = paths || nd_feature_reads_elements(&m->signature[i].feature);
        text = text || !nd_feature_ignores_text(&m->signature[i].feature);
    }
    return text    ? "all are too short or contain nothing that the recipe selects"
           : paths ? "the recipe reads the structure of HTML pages, not texts"
                   : "the recipe reads the links of HTML pages, or fields, not texts";
}

static void warn_unsigned(struct nd_run *run, const struct nd_dedup_stats *stats, const char *what)
{
    if (stats->unsigned_documents && !stats->signed_documents)
        nd_reporter_warn(&run->reporter, "no %s has a signature, so none can match: %s", what,
                         read_by(&run->recipe->method));
}

void nd_run_warn_unsigned(struct nd_run *run, const struct nd_dedup *dedup, const char *what)
{
    struct nd_dedup_stats stats;

    nd_dedup_get_stats(dedup, &stats);
    warn_unsigned(run, &stats, what);
}

static void warn_of_double_ids(struct nd_run *run)
{
    char warning[ND_ID_WARNING_BYTES];

    nd_id_check_forget(&run->ids, run->summary);
    if (nd_id_check_warning(&run->ids, run->summary, warning))
        nd_reporter_warn(&run->reporter, "%s", warning);
}

/* ---- Through the documents ---- */

/* Refuse documents that cannot take a field, while little has been done. */
static enum nd_status check_batch(struct nd_run *run, const struct nd_reading_batch *batch,
                                  struct nd_error *err)
{
    struct nd_outputs *o = &run->outputs;

    return o->copies_field ? nd_copies_check(o->copies_field, batch, &o->checked, err) : ND_OK;
}

enum nd_status nd_run_each_batch(struct nd_run *run, nd_run_batch *each, void *context,
                                 struct nd_error *err)
{
    unsigned passes = run->request->passes ? run->request->passes : 1;
    struct nd_reading_batch *batch;
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(run->reading, &batch, err)) > 0) {
        struct nd_run_progress progress = nd_progress_of(batch, passes);

        for (size_t i = 0; i < batch->count; i++)
            run->summary->documents += !batch->parsed[i].bad;
        run->summary->repaired += batch->repaired;
        status = check_batch(run, batch, err);
        if (status == ND_OK)
            status = each(context, batch, err);
        progress.documents = run->summary->documents;
        if (status == ND_OK && run->budget.total && !run->request->bounds_memory)
            status =
                nd_budget_check(&run->budget, progress.documents, batch->done, batch->total, err);
        if (status == ND_OK)
            status = nd_reporter_progress(&run->reporter, &progress, err);
    }
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

enum nd_status nd_run_each_document(struct nd_run *run, const struct nd_reading_batch *batch,
                                    nd_run_take *take, void *context, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];

        if (parsed->bad) {
            status = nd_reporter_bad_record(&run->reporter, parsed, parsed->bad->reason, err);
            continue;
        }
        nd_run_meet(run, parsed);
        if (take)
            status = take(context, parsed, err);
    }
    return status;
}

enum nd_status nd_run_conclude(struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_run_judge(run, err);

    if (status != ND_OK)
        return status;
    warn_of_double_ids(run);
    if (run->summary->documents)
        nd_field_set_warn(&run->fields, &run->reporter, "document", run->first.names);
    nd_run_tell_of_places(run);
    nd_run_warn_of_repairs(run, run->reading, run->summary->documents, "document");
    return ND_OK;
}

/* ---- The end ---- */

static void complete_summary(struct nd_run *run)
{
    const struct nd_dedup_params *params = &run->recipe->dedup;
    struct nd_run_summary *summary = run->summary;

    for (uint32_t i = 0; i < nd_reading_sources(run->reading); i++)
        nd_summary_count_source(summary, nd_reading_source(run->reading, i));
    summary->never_documents =
        atomic_load(&run->comparable.n_alone) - atomic_load(&run->comparable.n_old_alone);
    summary->annotates = run->outputs.annotates;
    nd_run_retire_dedup(run);
    nd_dedup_stats_leave_out(&run->past, &run->old);
    nd_summary_complete(summary, run->has_past ? &run->past : NULL, params,
                        summary->lists_pairs ? NULL : run->measured);
    summary->spool_bytes = nd_lookup_spooled(run->lookup);
    summary->memory_bytes = run->budget.total;
    nd_quoted_summarise(&run->quoted, summary);
    summary->peak_bytes = nd_process_peak_bytes();
    summary->seconds = nd_clock() - run->reporter.started;
    summary->processor_seconds = nd_processor_clock() - run->reporter.processor_started;
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

/* ---- The page of what was removed ---- */

/* Write a place as the outputs do, where bytes that are no UTF-8 are escaped. */
static struct nd_view place_of(struct nd_json *room, const struct nd_at *at)
{
    struct nd_json value = {.failed = false};

    room->text.len = 0;
    nd_at_append(room, at);
    if (!nd_utf8_valid(room->text.data, room->text.len)) {
        nd_name_value(&value, (struct nd_view){room->text.data, room->text.len});
        room->text.len = 0;
        nd_json_bytes(room, value.text.data, value.text.len);
        room->failed |= value.failed;
        nd_json_release(&value);
    }
    return (struct nd_view){room->text.data, room->text.len};
}

bool nd_run_wants_example(struct nd_run *run, const struct nd_noted_removal *noted,
                          struct nd_example *example)
{
    const struct nd_decision *decision = noted->decision;

    if (decision->identical != ND_IDENTICAL_NO)
        return false;
    *example = (struct nd_example){
        .measure =
            decision->verified ? nd_measured_value(&run->recipe->dedup, &decision->overlap) : -1,
        .distance = decision->distance,
        .name = {noted->kept->name.text, noted->removed->name.text},
        .at = {place_of(noted->kept_at, &noted->kept->at),
               place_of(noted->removed_at, &noted->removed->at)},
    };
    return nd_examples_wants(run->examples, example);
}

void nd_run_count_clusters(struct nd_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        nd_cluster_step_count(run->clusters, run->sizes.members[i]);
}

/* Find the text of a kept document; that of the removed one is there. */
static enum nd_status find_kept_text(void *context, struct nd_example *example, unsigned worker,
                                     struct nd_error *err)
{
    struct nd_run *run = context;
    enum nd_status status =
        nd_lookup_text(run->lookup, &example->kept, worker, &example->text[0], err);

    example->text[0] = nd_text_there(example->text[0]);
    return status;
}

static enum nd_status write_page(struct nd_run *run, struct nd_error *err)
{
    struct nd_run_page page = nd_run_page_of(run->summary);
    char *recipe = NULL;
    size_t len = 0;
    enum nd_status status = nd_examples_end(run->examples, run->pool, find_kept_text, run, err);

    if (status == ND_OK)
        status = nd_recipe_canonical(run->recipe, &recipe, &len, NULL, err);
    page.recipe = (struct nd_view){recipe, len};
    page.clusters = run->clusters;
    page.examples = run->examples;
    if (status == ND_OK)
        status = nd_run_page_write(&page, run->outputs.report, err);
    free(recipe);
    return status;
}

/* The first line of the manifest needs the hashes of the inputs, and the summary all numbers. */
static enum nd_status complete(struct nd_run *run, struct nd_output *out, struct nd_error *err)
{
    struct nd_outputs *o = &run->outputs;
    enum nd_status status = nd_outputs_finish_records(o, err);

    status = finish(&out, status, err);
    if (status == ND_OK)
        status = nd_run_judge_mirror(run, err);
    if (status == ND_OK)
        status = nd_run_ask(run, err);
    status = finish(&o->clusters, status, err);
    status = finish(&o->revisits, status, err);
    if (status == ND_OK && o->manifest)
        status = nd_manifest_put_header(o->manifest, run->recipe, run->options, run->summary,
                                        run->reading, run->against, run->request, err);
    if (status == ND_OK && o->manifest)
        status = nd_outputs_copy_rows(o, err);
    status = finish(&o->manifest, status, err);
    if (status == ND_OK && o->summary && run->request->watch)
        status = run->request->watch->write(run->request->watch->context, o->summary, err);
    else if (status == ND_OK && o->summary)
        status = nd_summary_write(run->summary, o->survivors || nd_outputs_has_output(o),
                                  o->summary, err);
    status = finish(&o->summary, status, err);
    if (status == ND_OK && o->report)
        status = write_page(run, err);
    return finish(&o->report, status, err);
}

enum nd_status nd_run_finish(struct nd_run *run, struct nd_output *out, struct nd_error *err)
{
    enum nd_status status = nd_run_conclude(run, err);

    if (status != ND_OK) {
        nd_output_discard(out);
        return status;
    }
    if (run->request->watch && run->request->watch->decided)
        status = run->request->watch->decided(run->request->watch->context, run, err);
    nd_run_retire_dedup(run);
    if (run->has_past)
        warn_unsigned(run, &run->past, "document");
    complete_summary(run);
    if (status == ND_OK && run->request->watch)
        status = run->request->watch->ended(run->request->watch->context, run, err);
    if (status == ND_OK)
        status = complete(run, out, err);
    return status == ND_OK ? nd_outputs_publish(&run->outputs, run->summary, err) : status;
}

/* ---- Deduplicate ---- */

/* Survivors can leave at once only where no later document can take an earlier one's place, or
 * change what is written beside it. */
bool nd_run_takes_one_pass(const struct nd_run_options *o)
{
    struct nd_keep keep;

    return !o->memory && o->recipe && nd_keep_parse(o->recipe->keep, &keep, NULL) == ND_OK &&
           keep.by == ND_KEEP_FIRST && !o->prefer_field && !o->n_against && !o->annotate &&
           !o->copies_field && o->recipe->dedup.cluster == ND_CLUSTER_STAR;
}

/* Check that each document is removed for one document, whose labels can be compared with its own. */
static enum nd_status check_security(const struct nd_run *run, struct nd_error *err)
{
    enum nd_cluster cluster = run->recipe->dedup.cluster;

    if (!run->options->security_field)
        return ND_OK;
    if (run->keep.by == ND_KEEP_NONE)
        return nd_fail(err, ND_EINVAL,
                       "security-field does not go with keep none, which keeps no document that "
                       "those who may see a removed one may see");
    if (cluster == ND_CLUSTER_STAR)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "security-field: it says which document may stand for which other, and with "
                   "cluster = %s a document is removed for what a whole cluster has in common: use "
                   "cluster = star",
                   cluster == ND_CLUSTER_COMPONENTS ? "components" : "complete");
}

static enum nd_status watch_options(struct nd_run *run, struct nd_error *err)
{
    const struct nd_watched_field prefer = {.key = "prefer", .field = run->options->prefer_field};
    enum nd_status status = nd_field_set_watch_within(&run->fields, run->options->within,
                                                      run->options->security_field, err);

    if (status == ND_OK)
        status = nd_field_set_watch(&run->fields, &prefer, err);
    return status == ND_OK ? nd_field_set_watch_keep(&run->fields, &run->keep, err) : status;
}

/* The rows of texts that were sketched before. */
static enum nd_status open_known(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    enum nd_status status = ND_OK;

    if (!o->checkpoint && !o->n_known_sketches)
        return ND_OK;
    if (run->sketches)
        return nd_fail(err, ND_EINVAL, "%s cannot be had with inputs that are sketch files",
                       o->checkpoint ? "checkpoint" : "known-sketches");
    run->known = nd_known_rows_new(run->recipe, nd_pool_threads(run->pool), o->tmp,
                                   run->budget.known_bytes, err);
    if (!run->known)
        return ND_ENOMEM;
    for (size_t i = 0; status == ND_OK && i < o->n_known_sketches; i++) {
        struct nd_sketch_file *file = nd_sketch_file_open(o->known_sketches[i], err);

        if (!file)
            return err->status;
        status = nd_sketch_file_fits(file, run->recipe, err);
        if (status == ND_OK)
            status = nd_known_rows_add(run->known, file, err);
        else
            nd_sketch_file_close(file);
    }
    if (status == ND_OK && o->checkpoint) {
        struct nd_sketch_writer_options rows = {
            .keeps = {nd_sketch_kept_of(run->recipe).minima, 0}};

        if (run->against)
            rows = nd_against_like(run->against);
        run->checkpoint = nd_checkpoint_open(o->checkpoint, run->recipe, &rows, run->known, err);
        status = run->checkpoint ? ND_OK : err->status;
    }
    if (status == ND_OK)
        status = nd_known_rows_end(run->known, err);
    if (status == ND_OK && run->against)
        nd_against_use(run->against, run->known, run->checkpoint);
    return status;
}

/* Last of all: a run that ends before has published everything but this, and can be run again. */
enum nd_status nd_run_append(struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_against_append(run->against, err);

    struct nd_error why;

    if (status == ND_OK || !err)
        return status;
    why = *err;
    run->summary->partly_published = true;
    return nd_fail(err, status, "%.800s; all other outputs are published: run it again",
                   why.message);
}

static enum nd_status read_forecast(struct nd_run *run, struct nd_error *err)
{
    const char *path = run->options->predicted;
    int is_other = 0;
    enum nd_status status = nd_forecast_read(path, run->options->recipe, run->summary->threads,
                                             run->summary->forecast, &is_other, err);

    run->summary->has_forecast = status == ND_OK;
    if (is_other)
        nd_reporter_warn(&run->reporter,
                         "%s: predicts a run with another recipe or another number of threads",
                         path);
    return status;
}

enum nd_status nd_run_open_against(struct nd_run *run, struct nd_error *err)
{
    const struct nd_against_parts parts = {.options = run->options,
                                           .recipe = run->recipe,
                                           .pool = run->pool,
                                           .budget = &run->budget,
                                           .record = &run->record,
                                           .fields = &run->fields,
                                           .comparable = &run->comparable,
                                           .summary = run->summary};
    double began;

    if (!run->options->n_against)
        return ND_OK;
    began = nd_processor_clock();
    run->against = nd_against_new(&parts, err);
    run->against_seconds = nd_processor_clock() - began;
    return run->against ? ND_OK : ND_EINVAL;
}

/* Whether texts that are near one another are documents that are: some signature reads them. */
static bool compares_texts(const struct nd_method *m)
{
    for (unsigned i = 0; i < m->n_signatures; i++)
        if (!nd_feature_ignores_text(&m->signature[i].feature))
            return true;
    return !m->n_signatures;
}

/* In a rehearsal what is limited is as much smaller as the sample is, so that it has as many loads;
 * but a record may be as long as in the run, and arrays may have a place for each. */
static void shrink_budget(struct nd_budget *b, double share)
{
    b->cache_bytes = (size_t)((double)b->cache_bytes * share);
    b->sort_bytes = (size_t)((double)b->sort_bytes * share);
    b->link_sort_bytes = (size_t)((double)b->link_sort_bytes * share);
    b->link_filter_bytes = (size_t)((double)b->link_filter_bytes * share);
    b->link_rows_bytes = (size_t)((double)b->link_rows_bytes * share);
    b->engine_bytes = (size_t)((double)b->engine_bytes * share);
}

/* A sample: of some blocks of the inputs, a slice. */
static enum nd_status begin_sample(struct nd_run *run, struct nd_error *err)
{
    const struct nd_sketches *sketches = nd_reading_sketches(run->reading);
    const double bytes = (double)run->request->watch->sample_bytes;
    const double read =
        compares_texts(&run->recipe->method) ? bytes * (double)ND_WATCH_READ : bytes;
    enum nd_status status = ND_OK;
    double total, share;

    if (!sketches)
        status = nd_input_sample(nd_reading_input(run->reading),
                                 read < 0x1p62 ? (uint64_t)read : UINT64_MAX, err);
    if (status != ND_OK)
        return status;
    total = sketches ? (double)nd_sketches_bytes(sketches, nd_sketches_blocks(sketches))
                     : (double)nd_input_sampling(nd_reading_input(run->reading))->total;
    if (sketches && read < total)
        nd_reading_sample_blocks(run->reading, read / total);
    share = bytes / (read < total ? read : total);
    if (run->budget.total && bytes < total)
        shrink_budget(&run->budget, bytes / total);
    if (!(share < 1))
        return ND_OK;
    run->slice = nd_slice_new(share, nd_pool_threads(run->pool));
    if (!run->slice)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_reading_set_slice(run->reading, run->slice, share);
    return ND_OK;
}

/* Open what `dedup` alone reads and writes, beside what every run does. */
static enum nd_status open_beside_inputs(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_watch *watch = run->request->watch;
    enum nd_status status = run->options->predicted ? read_forecast(run, err) : ND_OK;

    if (status == ND_OK && watch)
        status = begin_sample(run, err);
    if (status == ND_OK)
        status = check_security(run, err);
    if (status == ND_OK)
        status = watch_options(run, err);
    if (status == ND_OK)
        status = nd_outputs_open(&run->outputs, err);
    if (status == ND_OK && run->outputs.report && !(run->examples = nd_examples_new()))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = nd_run_open_against(run, err);
    return status == ND_OK ? open_known(run, err) : status;
}

/* Return the request of `dedup`, which makes the keys of the order in `run` if not in one pass. */
static struct nd_run_request request_of(const struct nd_run_options *options, bool one_pass,
                                        const struct nd_run_watch *watch, struct nd_run *run)
{
    const struct nd_run_request request = {
        .reading = {.by_worker = one_pass,
                    .parsed = one_pass ? NULL : nd_ordered_make_key,
                    .context = run},
        .takes_sketches = true,
        .compares = true,
        .bounds_memory = !options->n_against,
        .heeds_keep = true,
        .heeds_within = true,
        .heeds_security = true,
        .heeds_prefer = true,
        .writes_output = !options->output_dir && !options->copy_to && !options->link_to,
        .writes_survivors = true,
        .writes_summary = true,
        .writes_evidence = true,
        .may_replace = !options->annotate && !options->copies_field,
        .is_dry = options->dry_run,
        .reads = &options->predicted,
        .n_reads = options->predicted != NULL,
        .is_rehearsal = watch != NULL,
        .watch = watch,
        .passes = options->memory ? ND_BOUNDED_PASSES
                  : one_pass      ? 1
                                  : 3};

    return request;
}

static enum nd_status dedup(const struct nd_run_options *options, const struct nd_run_watch *watch,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    struct nd_error room = {0};
    bool one_pass = nd_run_takes_one_pass(options);
    struct nd_run run;
    const struct nd_run_request request = request_of(options, one_pass, watch, &run);
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_run_begin(&run, options, &request, events, summary, err);
    run.outputs.annotates = options->annotate && !options->dry_run;
    run.outputs.copies_field = options->dry_run ? NULL : options->copies_field;
    run.outputs.publisher.syncs |= options->append;
    if (status == ND_OK)
        status = open_beside_inputs(&run, err);
    if (status == ND_OK)
        status = run.budget.total && !run.against ? nd_run_bounded(&run, err)
                 : one_pass                       ? nd_run_one_pass(&run, err)
                                                  : nd_run_ordered(&run, err);
    if (status == ND_OK && run.checkpoint)
        status = nd_checkpoint_finish(run.checkpoint, err);
    if (status == ND_OK)
        status = nd_run_finish(&run, NULL, err);
    if (status == ND_OK && run.against)
        status = nd_run_append(&run, err);
    nd_run_end(&run);
    return nd_run_status(status, err);
}

enum nd_status nd_run_dedup(const struct nd_run_options *options,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    return dedup(options, NULL, events, summary, err);
}

enum nd_status nd_run_rehearse(const struct nd_run_options *options,
                               const struct nd_run_watch *watch, const struct nd_run_events *events,
                               struct nd_run_summary *summary, struct nd_error *err)
{
    struct nd_run_options rehearsal = *options;

    rehearsal.memory = watch->memory;
    rehearsal.summary = watch->write ? options->output : NULL;
    rehearsal.output = rehearsal.output_dir = rehearsal.copy_to = rehearsal.link_to = NULL;
    rehearsal.removed = rehearsal.manifest = rehearsal.clusters = rehearsal.report = NULL;
    rehearsal.revisit = NULL;
    rehearsal.predicted = NULL;
    rehearsal.annotate = rehearsal.append = rehearsal.differs = 0;
    rehearsal.copies_field = NULL;
    rehearsal.dry_run = 1;
    return dedup(&rehearsal, watch, events, summary, err);
}
