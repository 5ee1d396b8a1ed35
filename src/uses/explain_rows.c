/* explain_rows.c - the rows of a manifest with the least resemblance, each explained */

/*
 * Reads the rows of lowest resemblance from a manifest, finds both documents of each row in the
 * inputs that the manifest names (row_documents.h), and explains each pair as explain.c does. If a
 * text is another one than in the run, the new resemblance differs from the recorded one, and the row
 * says so.
 */
#include "uses/row_documents.h"

#include <neardup/explain.h>

#include <math.h>
#include <stdlib.h>

struct manifest_rows {
    struct nd_manifest manifest;
    const struct nd_run_events *events;
    struct nd_row_documents documents;
};

/*
 * Both numbers are the shortest decimals of doubles computed in the same way, so any difference
 * means that the texts changed.
 */
static bool has_changed(const struct nd_manifest_row *row, const struct nd_overlap *o)
{
    uint64_t either = o->a + o->b - o->shared;

    return row->resemblance >= 0 &&
           fabs(row->resemblance - (either ? (double)o->shared / (double)either : 1)) > 1e-9;
}

static enum nd_status explain_row(struct manifest_rows *r, size_t i, const struct nd_recipe *recipe,
                                  const struct nd_explain_rows_params *params,
                                  struct nd_use_summary *summary, struct nd_error *err)
{
    const struct nd_manifest_row *row = &r->manifest.row[i];
    struct nd_held *held = &r->documents.held[2 * i];
    struct nd_explanation e = {.is_duplicate = 0};
    struct nd_explained_row out = {.number = row->number,
                                   .resemblance = row->resemblance,
                                   .kept_at = row->at[0],
                                   .removed_at = row->at[1],
                                   .missing = !held[0].is_found   ? row->at[0]
                                              : !held[1].is_found ? row->at[1]
                                                                  : NULL};
    enum nd_status status = ND_OK;

    if (!out.missing) {
        status = nd_explain_both(recipe, held, &e, err);
        out.explanation = &e;
        out.has_changed = has_changed(row, &e.overlap);
    }
    summary->found += !out.missing;
    summary->left_out += out.missing != NULL;
    if (status == ND_OK && params->each(params->context, &out) != 0)
        status = nd_fail(err, ND_ECANCELLED, "stopped");
    nd_explanation_release(&e);
    return status;
}

static enum nd_status run_rows(struct manifest_rows *r, const struct nd_run_options *options,
                               const struct nd_explain_rows_params *params,
                               struct nd_use_summary *summary, struct nd_error *err)
{
    static const struct nd_run_request request;
    struct nd_run run;
    enum nd_status status = nd_run_begin_recipe(&run, options, &request, r->events, NULL, err);

    if (status == ND_OK)
        status = nd_manifest_read(&r->manifest, params->manifest, params->lowest, err);
    if (status == ND_OK) {
        if (!params->own_recipe)
            *run.recipe = r->manifest.recipe;
        run.input = r->manifest.input;
        run.input.fields = run.fields.name;
        run.input.n_fields = 0;
        status = nd_run_open_recipe(&run, err);
    }
    if (status == ND_OK)
        status = nd_row_documents_find(&r->documents, &run, &r->manifest, false, err);
    for (size_t i = 0; i < r->manifest.n_rows && status == ND_OK; i++)
        status = explain_row(r, i, run.recipe, params, summary, err);
    summary->documents = r->manifest.n_removed;
    nd_run_end(&run);
    return status;
}

enum nd_status nd_run_explain_rows(const struct nd_run_options *options,
                                   const struct nd_explain_rows_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err)
{
    struct manifest_rows r = {.events = events};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *summary = (struct nd_use_summary){.documents = 0};
    if (!params->manifest || !params->each || params->lowest < 1 ||
        params->lowest > ND_EXPLAIN_ROWS_MAX)
        return nd_fail(err, ND_EINVAL,
                       "rows need a manifest, a number from 1 to %u, and a function",
                       ND_EXPLAIN_ROWS_MAX);
    if (options->df_auto)
        return nd_fail(err, ND_EINVAL,
                       "--df auto counts the documents that are read, which are only some of the "
                       "manifest's: name a table");
    status = run_rows(&r, options, params, summary, err);
    nd_row_documents_release(&r.documents);
    nd_manifest_release(&r.manifest);
    return nd_run_status(status, err);
}
