/* run_begin.c - what a run needs before its first batch */
#include "pipeline/run_state.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* Of the 256 MB that a run may take beside its documents. */
enum { ID_BYTES_MAX = 96 << 20 };

struct nd_run_options nd_run_options_default(void)
{
    return (struct nd_run_options){
        .recipe = nd_recipe_default(),
        .input = nd_input_options_default(),
        .output = "-",
        .tmp = "/tmp",
    };
}

static enum nd_status check_options(const struct nd_run_options *o, struct nd_error *err)
{
    int folders = !!o->output_dir + !!o->copy_to + !!o->link_to;

    if (!o->tmp || !o->input.id_field)
        return nd_fail(err, ND_EINVAL, "no %s: start from nd_run_options_default()",
                       o->tmp ? "id field" : "tmp");
    if (nd_recipe_params_check(&o->recipe, err) != ND_OK)
        return ND_EINVAL;
    if (!o->n_paths)
        return nd_fail(err, ND_EINVAL, "no input: name files or folders, or - for standard input");
    if (folders + (o->output && strcmp(o->output, "-") != 0) > 1)
        return nd_fail(err, ND_EINVAL,
                       "only one of output, output-dir, copy-to and link-to can be given");
    if (o->max_bad.q && o->max_bad.p > o->max_bad.q)
        return nd_fail(err, ND_EINVAL, "max_bad: more than all records");
    return ND_OK;
}

struct nd_view nd_run_field(const struct nd_document *document, int at)
{
    if (at < 0 || (size_t)at >= document->n_fields)
        return (struct nd_view){NULL, 0};
    return document->fields[at].value;
}

enum nd_status nd_run_begin(struct nd_run *run, const struct nd_run_options *options,
                            const struct nd_run_files *files, const struct nd_run_events *events,
                            struct nd_run_summary *summary, const struct nd_reading_hooks *hooks,
                            struct nd_error *err)
{
    static const struct nd_run_events none;
    struct nd_reading_hooks own = *hooks;
    enum nd_status status = check_options(options, err);

    *run = (struct nd_run){
        .options = options,
        .events = events ? events : &none,
        .summary = summary,
        .started = nd_run_clock(),
        .recipe = options->recipe,
        .input = options->input,
        .ids.bytes_max = ID_BYTES_MAX,
    };
    *summary = (struct nd_run_summary){0};
    if (status == ND_OK)
        status = nd_keep_parse(options->recipe.keep, &run->keep, err);
    if (status != ND_OK)
        return status;
    run->input.fields = run->fields;
    run->input.n_fields = 0;
    run->within_at = nd_run_want_field(run, options->within);
    run->site_at = nd_run_want_field(run, options->site);
    run->keep_at = nd_run_want_field(run, run->keep.field);
    run->prefer_at = nd_run_want_field(run, options->prefer_field);
    nd_run_watch_fields(run);
    status = nd_run_open_recipe(run, err);
    if (status != ND_OK)
        return status;
    run->pool = options->recipe.dedup.pin_threads
                    ? nd_pool_new_pinned(options->recipe.dedup.threads, err)
                    : nd_pool_new(options->recipe.dedup.threads, err);
    if (!run->pool)
        return err && err->status ? err->status : ND_ENOMEM;
    summary->threads = nd_pool_threads(run->pool);
    own.context = run;
    own.problem = nd_run_problem;
    run->reading =
        nd_reading_new(run->pool, options->paths, options->n_paths, &run->input, &own, err);
    if (!run->reading)
        return err && err->status ? err->status : ND_EINVAL;
    run->lookup = nd_lookup_new(run->reading, &run->input, summary->threads, options->tmp, err);
    return run->lookup ? nd_run_claim(run, files, err) : ND_ENOMEM;
}

enum nd_status nd_run_make_dedup(struct nd_run *run, const struct nd_text_source *source,
                                 struct nd_error *err)
{
    const struct nd_dedup_params params = nd_run_dedup_params(&run->recipe);

    run->dedup = nd_dedup_new_on(run->pool, &params, source, err);
    if (run->dedup)
        return ND_OK;
    return err && err->status ? err->status : ND_EINVAL;
}

void nd_run_end(struct nd_run *run)
{
    nd_dedup_free(run->dedup);
    nd_output_discard(run->clusters);
    nd_output_discard(run->manifest);
    nd_output_discard(run->report);
    run->summary->wrote_in_place = run->publisher.wrote_in_place;
    nd_publisher_release(&run->publisher);
    nd_survivors_free(run->survivors); /* removes folders that are empty */
    nd_survivors_free(run->removed);
    nd_reading_free(run->reading);
    nd_lookup_free(run->lookup);
    nd_spool_free(run->rows);
    nd_pending_release(&run->pending);
    for (unsigned i = 0; i < 2; i++)
        nd_json_release(&run->name_room[i]);
    nd_json_release(&run->place_room);
    nd_buffer_release(&run->told);
    nd_places_release(&run->places);
    nd_groups_release(&run->groups);
    nd_hash_set_release(&run->ids);
    free(run->members);
    nd_pool_free(run->pool);
    nd_run_close_recipe(run);
}
