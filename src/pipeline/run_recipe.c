/* run_recipe.c - what a recipe needs beside its text: df tables, fields and markup of documents */
#include "pipeline/run_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nd_run_want_field(struct nd_run *run, const char *field)
{
    if (!field)
        return -1;
    for (size_t i = 0; i < run->input.n_fields; i++)
        if (strcmp(run->fields[i], field) == 0)
            return (int)i;
    if (run->input.n_fields == ND_RUN_FIELDS)
        return ND_RUN_FIELDS;
    run->fields[run->input.n_fields] = field;
    return (int)run->input.n_fields++;
}

/* The fields that the lists of the signatures read. */
static enum nd_status want_fields(struct nd_run *run, struct nd_error *err)
{
    const struct nd_method *m = &run->recipe.method;
    enum nd_status status = ND_OK;

    if (!m->n_signatures)
        return ND_OK;
    run->field_names = malloc((size_t)m->n_signatures * ND_FEATURE_NAMES_MAX);
    if (!run->field_names)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < m->n_signatures && status == ND_OK; i++) {
        char *name = run->field_names + (size_t)i * ND_FEATURE_NAMES_MAX;
        size_t n = 0;

        status = nd_feature_field_names(&m->signature[i].feature, name, &n, err);
        for (; n > 0 && status == ND_OK; n--, name += strlen(name) + 1)
            if (nd_run_want_field(run, name) == ND_RUN_FIELDS)
                status =
                    nd_fail(err, ND_EINVAL, "the recipe names more than %d fields", ND_RUN_FIELDS);
    }
    return status;
}

void nd_run_want_markup(struct nd_input_options *input, const struct nd_method *m)
{
    for (unsigned i = 0; i < m->n_signatures; i++) {
        const struct nd_named_signature *s = &m->signature[i];

        input->markup |= (unsigned char)nd_feature_reads_markup(&s->feature, &s->weight);
        input->elements |= (unsigned char)nd_feature_reads_elements(&s->feature);
    }
}

/* Signatures that name the same file share the table.  NULL with err->status ND_OK: no path. */
static const struct nd_df *open_table(struct nd_run *run, const char *path, struct nd_error *err)
{
    unsigned n = 0;

    err->status = ND_OK;
    if (!*path)
        return NULL;
    for (; run->table[n]; n++)
        if (strcmp(run->table_path[n], path) == 0)
            return run->table[n];
    run->table_path[n] = path;
    run->table[n] = nd_df_open(path, err);
    return run->table[n];
}

static enum nd_status use_tables(struct nd_run *run, struct nd_named_signature *s,
                                 struct nd_error *err)
{
    const struct nd_df *table = open_table(run, s->df, err);

    if (err->status != ND_OK || nd_signature_use_table(s, table, err) != ND_OK)
        return err->status;
    table = open_table(run, s->template_df, err);
    if (err->status != ND_OK)
        return err->status;
    return nd_signature_use_template(s, table, err);
}

enum nd_status nd_run_open_recipe(struct nd_run *run, struct nd_error *err)
{
    struct nd_method *m = &run->recipe.method;
    enum nd_status checked = nd_recipe_params_check(&run->recipe, err);
    struct nd_error reason;

    if (checked != ND_OK)
        return checked;
    for (unsigned i = 0; i < m->n_signatures; i++) {
        enum nd_status status = use_tables(run, &m->signature[i], &reason);

        if (status != ND_OK)
            return nd_fail(err, status, "%s", reason.message);
    }
    nd_run_want_markup(&run->input, m);
    return want_fields(run, err);
}

void nd_run_close_recipe(struct nd_run *run)
{
    for (unsigned i = 0; i < 2 * ND_METHOD_SIGNATURES; i++)
        nd_df_close(run->table[i]);
    free(run->field_names);
}

/* What a recipe reads that gives no signature to any document. */
static const char *read_by(const struct nd_method *m)
{
    bool paths = false, text = false;

    for (unsigned i = 0; i < m->n_signatures; i++) {
        paths = paths || m->signature[i].feature.unit == ND_FEATURE_PATHS;
        text = text || !nd_feature_ignores_text(&m->signature[i].feature);
    }
    return text    ? "all are too short, or without what the recipe selects"
           : paths ? "the recipe reads the structure of HTML pages, not texts"
                   : "the recipe reads the links of HTML pages, or fields, not texts";
}

void nd_run_warn_unsigned(struct nd_run *run, const struct nd_dedup *dedup, const char *what)
{
    struct nd_dedup_stats stats;
    char text[256];
    const struct nd_problem problem = {ND_PROBLEM_WARNING, text};

    nd_dedup_get_stats(dedup, &stats);
    if (!stats.unsigned_documents || stats.signed_documents)
        return;
    snprintf(text, sizeof text, "no %s has a signature, so nothing is like it: %s", what,
             read_by(&run->recipe.method));
    nd_run_problem(run, &problem);
}

struct nd_dedup_params nd_run_dedup_params(const struct nd_recipe *recipe)
{
    struct nd_dedup_params params = recipe->dedup;

    params.method = recipe->method.n_signatures ? &recipe->method : NULL;
    return params;
}
