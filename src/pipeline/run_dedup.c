/* run_dedup.c - deduplicate files */
#include "pipeline/run_state.h"

/* Survivors can leave at once only where no later document can take an earlier one's place. */
static bool takes_one_pass(const struct nd_run_options *o)
{
    struct nd_keep keep;

    return nd_keep_parse(o->recipe.keep, &keep, NULL) == ND_OK && keep.by == ND_KEEP_FIRST &&
           !o->prefer_field && o->recipe.dedup.cluster == ND_CLUSTER_STAR;
}

enum nd_status nd_run_dedup(const struct nd_run_options *options,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    struct nd_error room = {0};
    struct nd_run run;
    const struct nd_run_files files = {.writes_output = !options->dry_run && !options->output_dir &&
                                                        !options->copy_to && !options->link_to,
                                       .may_replace = true};
    bool one_pass = takes_one_pass(options);
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_run_begin(&run, options, &files, events, summary,
                          one_pass ? &nd_one_pass_hooks : &nd_ordered_hooks, err);
    if (status == ND_OK)
        status = nd_run_open_outputs(&run, err);
    if (status == ND_OK)
        status = one_pass ? nd_run_one_pass(&run, err) : nd_run_ordered(&run, err);
    if (status == ND_OK)
        status = nd_run_finish(&run, NULL, err);
    nd_run_end(&run);
    return nd_run_status(status, err);
}
