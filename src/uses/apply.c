/* apply.c - the survivors of what another run decided, without deciding again */

/*
 * The decisions are read first, and the documents then pass once: each is looked up by its name, in
 * parallel, and goes to the survivors or to the removed records, as dedup writes them. No text is
 * compared or kept.
 */
#include "run/removal.h"
#include "uses/decisions.h"
#include "uses/use.h"

#include <stdlib.h>
#include <string.h>

struct applying {
    struct nd_run run;
    struct nd_run_options options; /* the caller's, with what the manifest says of reading */
    struct nd_decisions decisions;
    struct nd_emitter emitter;
    struct nd_json (*scratch)[2]; /* of each worker; NULL: nothing is looked up yet */
    atomic_bool has_failed;       /* a worker, for want of memory */
};

/* ---- Whether places count --------------------------------------------------------------------- */

static bool is_input_of(const struct nd_manifest *m, const char *path, struct nd_json *room)
{
    room->text.len = 0;
    nd_name_value(room, (struct nd_view){path, strlen(path)});
    nd_json_bytes(room, "", 1);
    for (size_t i = 0; !room->failed && i < m->n_paths; i++)
        if (strcmp(m->paths[i], room->text.data) == 0)
            return true;
    return false;
}

/* Whether some input has a path that the manifest names: then its places are those of the inputs. */
static bool has_places(const struct applying *a, struct nd_json *room)
{
    const struct nd_input *input = nd_reading_input(a->run.reading);
    const struct nd_sketches *sketches = nd_reading_sketches(a->run.reading);
    const struct nd_manifest *m = &a->decisions.manifest;
    bool has = false;

    for (size_t i = 0; !sketches && !has && i < nd_input_files(input); i++)
        has = is_input_of(m, nd_input_file(input, i)->path, room);
    for (uint32_t i = 0; sketches && !has && i < nd_sketches_sources(sketches); i++)
        has = is_input_of(m, nd_sketches_source(sketches, i)->path, room);
    return has;
}

/* ---- The documents --------------------------------------------------------------------------- */

/* The `parsed` hook. */
static void find(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct applying *a = context;

    if (!nd_decisions_find(&a->decisions, parsed, a->scratch[worker]))
        atomic_store(&a->has_failed, true);
}

static enum nd_status put(struct applying *a, const struct nd_parsed *parsed, struct nd_error *err)
{
    bool is_removed = false;
    enum nd_status status = ND_OK;

    if (!parsed->bad) {
        status = nd_decisions_take(&a->decisions, parsed, &is_removed, err);
        nd_id_note(&a->run.ids, parsed);
    }
    a->run.summary->removed += is_removed;
    if (status != ND_OK)
        return status;
    return nd_emitter_put(&a->emitter, parsed, parsed->bad != NULL,
                          is_removed ? &nd_removal_of_leader : NULL, NULL,
                          nd_decisions_members(parsed), err);
}

static enum nd_status put_batch(void *context, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    struct applying *a = context;
    enum nd_status status = nd_run_each_document(&a->run, batch, NULL, NULL, err);

    if (status == ND_OK && atomic_load(&a->has_failed))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < batch->count; i++)
        status = put(a, &batch->parsed[i], err);
    return status == ND_OK ? nd_emitter_end_batch(&a->emitter, err) : status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status go_through(struct applying *a, const struct nd_apply_params *params,
                                 struct nd_error *err)
{
    struct nd_run *run = &a->run;
    enum nd_status status;

    a->scratch = calloc(nd_pool_threads(run->pool), sizeof *a->scratch);
    if (!a->scratch)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status =
        nd_decisions_sort(&a->decisions, has_places(a, &a->scratch[0][0]), params->partial, err);
    if (run->sketches && a->decisions.manifest.has_recipe)
        run->outputs.recipe = &a->decisions.manifest.recipe; /* it stands in their survivors */
    if (status == ND_OK && a->scratch[0][0].failed)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    run->outputs.copies_field = run->options->dry_run ? NULL : run->options->copies_field;
    if (status == ND_OK)
        status = nd_outputs_open(&run->outputs, err);
    if (status == ND_OK)
        status = nd_run_each_batch(run, put_batch, a, err);
    /* Documents of an input that failed are missing; the run says so. */
    if (status == ND_OK && !params->partial && !run->summary->failed_inputs)
        status = nd_decisions_check(&a->decisions, err);
    run->summary->applies = 1;
    run->summary->kept = run->summary->documents - run->summary->removed;
    return status == ND_OK ? nd_run_finish(run, NULL, err) : status;
}

static enum nd_status check(const struct nd_run_options *options,
                            const struct nd_apply_params *params, struct nd_error *err)
{
    bool reads_input = false;

    if (!params->decisions)
        return nd_fail(err, ND_EINVAL, "no decisions: name a manifest or a file of clusters");
    if (options->annotate || options->manifest || options->clusters || options->summary ||
        options->revisit)
        return nd_fail(
            err, ND_EINVAL,
            "apply decides nothing: it has no annotate, manifest, clusters, revisit or summary");
    for (size_t i = 0; i < options->n_paths; i++)
        reads_input |= strcmp(options->paths[i], "-") == 0;
    if (reads_input && strcmp(params->decisions, "-") == 0)
        return nd_fail(err, ND_EINVAL,
                       "decisions and documents cannot both come from standard input");
    return ND_OK;
}

static void release(struct applying *a, unsigned n_workers)
{
    for (unsigned i = 0; a->scratch && i < n_workers; i++) {
        nd_json_release(&a->scratch[i][0]);
        nd_json_release(&a->scratch[i][1]);
    }
    free(a->scratch);
    nd_emitter_release(&a->emitter);
}

enum nd_status nd_run_apply(const struct nd_run_options *options,
                            const struct nd_apply_params *params,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    struct applying a = {.options = *options};
    const struct nd_run_request request = {.reading = {.parsed = find, .context = &a},
                                           .reads = &params->decisions,
                                           .n_reads = 1,
                                           .ignores_signatures = true,
                                           .takes_sketches = true,
                                           .takes_recipe = true,
                                           .writes_output = !options->output_dir &&
                                                            !options->copy_to && !options->link_to,
                                           .writes_survivors = true,
                                           .writes_evidence = true,
                                           .may_replace = !options->copies_field,
                                           .is_dry = options->dry_run};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *summary = (struct nd_run_summary){0};
    a.decisions.counts = options->copies_field != NULL;
    status = check(options, params, err);
    if (status == ND_OK)
        status = nd_decisions_read(&a.decisions, params->decisions, err);
    if (status != ND_OK) {
        nd_decisions_release(&a.decisions);
        return nd_run_status(status, err);
    }
    nd_manifest_take_reading(&a.options.input, &a.decisions.manifest);
    a.emitter.run = &a.run;
    status = nd_run_begin(&a.run, &a.options, &request, events, summary, err);
    if (status == ND_OK)
        status = go_through(&a, params, err);
    release(&a, a.run.pool ? nd_pool_threads(a.run.pool) : 0);
    nd_run_end(&a.run);
    nd_decisions_release(&a.decisions);
    return nd_run_status(status, err);
}
