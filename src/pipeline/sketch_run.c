/* sketch_run.c - a run over sketch files: its recipe, and what it cannot do without the texts */
#include "pipeline/run.h"

/* What needs more of a document than its sketch; NULL: nothing. */
static const char *needs_text(const struct nd_run *run)
{
    const struct nd_run_options *o = run->options;
    const struct nd_run_request *r = run->request;

    if (r->heeds_within && o->within)
        return "within";
    if (r->heeds_within && o->n_never)
        return "never";
    if (r->heeds_prefer && o->prefer_field)
        return "prefer";
    if (o->df_auto)
        return "df auto";
    if (!r->writes_survivors)
        return NULL;
    return o->annotate     ? "annotate"
           : o->output_dir ? "output-dir"
           : o->copy_to    ? "copy-to"
           : o->link_to    ? "link-to"
           : o->null_paths ? "null"
                           : NULL;
}

static enum nd_status check_options(const struct nd_run *run, const char *path,
                                    struct nd_error *err)
{
    const char *option = needs_text(run);

    if (!run->request->takes_sketches)
        return nd_fail(err, ND_EINVAL,
                       "%s is a sketch file: this command needs the documents themselves", path);
    if (option)
        return nd_fail(err, ND_EINVAL,
                       "%s: %s is a sketch file, and this needs the documents themselves", option,
                       path);
    if (run->request->heeds_prefer && run->keep.by != ND_KEEP_FIRST && run->keep.by != ND_KEEP_LAST)
        return nd_fail(err, ND_EINVAL,
                       "keep: of a sketch file, such as %s, only the first or the last document of "
                       "a cluster can be kept: '%s' needs the documents themselves",
                       path, run->recipe->keep);
    return ND_OK;
}

static enum nd_status check_shingles(const struct nd_run *run, struct nd_error *err)
{
    const char *path = nd_sketches_without_shingles(run->sketches);

    if (!path || run->recipe->dedup.verify == ND_VERIFY_NONE || !run->request->compares)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "%s: was made with --no-shingles, so nothing can be verified: add --verify none",
                   path);
}

enum nd_status nd_run_take_sketches(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    int found = nd_sketches_open(o->paths, o->n_paths, &run->sketches, err);
    enum nd_status status;

    if (found <= 0)
        return (enum nd_status)found;
    status = check_options(run, nd_sketches_path(run->sketches, 0), err);
    if (status == ND_OK)
        status = nd_sketches_take_recipe(run->sketches, run->recipe, err);
    return status == ND_OK ? check_shingles(run, err) : status;
}
