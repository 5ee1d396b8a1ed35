/* sketch_run.c - a run over sketch files: its recipe, and what it cannot do without the texts */
#include "run/run_parts.h"

/* Return the option that needs more of a document than its sketch; NULL: none does. */
static const char *needs_text(const struct nd_run *run)
{
    const struct nd_run_options *o = run->options;
    const struct nd_run_request *r = run->request;

    if (o->df_auto)
        return "df auto";
    if (r->texts_for)
        return r->texts_for;
    if (!r->writes_survivors || !run->sketches)
        return NULL;
    return o->annotate       ? "annotate"
           : o->copies_field ? "copies-field"
           : o->differs      ? "differs"
           : o->report       ? "report"
           : o->revisit      ? "revisit"
           : o->output_dir   ? "output-dir"
           : o->copy_to      ? "copy-to"
           : o->link_to      ? "link-to"
           : o->null_paths   ? "null"
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
    return ND_OK;
}

/* Check that files, or NULL, are by the run's recipe and have what is compared. */
static enum nd_status check_files(const struct nd_run *run, const struct nd_sketches *sketches,
                                  struct nd_error *err)
{
    if (sketches && run->recipe->dedup.forms != ND_FORMS_NONE)
        return nd_fail(err, ND_EINVAL,
                       "forms: %s is a sketch file, and this needs the documents themselves",
                       nd_sketches_path(sketches, 0));
    return sketches ? nd_sketches_fit(sketches, run->recipe, run->request->compares, err) : ND_OK;
}

/* Whether a table is named of which it is not known yet which one it is. */
static bool names_unknown_table(const struct nd_method *m)
{
    for (unsigned i = 0; i < m->n_signatures; i++)
        if ((*m->signature[i].df && !m->signature[i].df_version) ||
            (*m->signature[i].template_df && !m->signature[i].template_df_version))
            return true;
    return false;
}

/* A recipe that leaves the versions of its df tables open means those of the sketches.  Tables that it
 * names are opened, which tells their versions. */
static enum nd_status take_df_versions(struct nd_run *run, const struct nd_sketches *first,
                                       struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (nd_run_reads_texts(run) || names_unknown_table(&run->recipe->method))
        status = nd_df_tables_open(&run->tables, run->recipe, err);
    return status == ND_OK ? nd_sketches_take_df_versions(first, run->recipe, err) : status;
}

enum nd_status nd_run_take_sketches(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_request *r = run->request;
    int found = nd_sketches_open(run->options->paths, run->options->n_paths, &run->sketches, err);
    const struct nd_sketches *first;
    enum nd_status status;

    if (!found && run->options->sketches)
        return nd_fail(err, ND_EINVAL, "sketches: %s is not a sketch file", run->options->paths[0]);
    if (found >= 0 && r->takes_sketches && r->n_reads)
        found = nd_sketches_open(r->reads, r->n_reads, &run->sketches_beside, err);
    if (found < 0)
        return (enum nd_status)found;
    first = run->sketches ? run->sketches : run->sketches_beside;
    if (!first)
        return ND_OK;
    status = check_options(run, nd_sketches_path(first, 0), err);
    if (status == ND_OK)
        status = nd_sketches_take_recipe(first, run->recipe, r->takes_recipe, err);
    run->input.boilerplate = run->recipe->dedup.sketch.boilerplate;
    if (status == ND_OK)
        status = take_df_versions(run, first, err);
    if (status == ND_OK)
        status = check_files(run, run->sketches, err);
    return status == ND_OK ? check_files(run, run->sketches_beside, err) : status;
}
