/* explain.c - two documents beside each other, and the verdict */
#include "reading/names.h"
#include "recipe/recipe_struct.h"
#include "run/run_parts.h"
#include "uses/two_documents.h"

enum nd_status nd_explain_both(const struct nd_recipe *recipe, const struct nd_held *held,
                               struct nd_explanation *e, struct nd_error *err)
{
    enum nd_status status = nd_explain_documents(recipe, ND_BOTH(held), e, err);

    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        const struct nd_document_name *name = &held[i].name;
        const struct nd_name id = {name->id_kind, {name->id, name->id_len}};

        if (!nd_name_copy(&e->name[i], &id, (struct nd_view){name->at, name->at_len}))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return status;
}

enum nd_status nd_run_explain(const struct nd_run_options *options, const char *a, const char *b,
                              const struct nd_run_events *events, struct nd_explanation *out,
                              struct nd_error *err)
{
    const char *const names[2] = {a, b};
    struct nd_held held[2] = {{0}, {0}};
    struct nd_error room = {0};
    struct nd_run run;
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *out = (struct nd_explanation){0};
    status = nd_finding_begin(&run, options, events, true, err);
    if (status == ND_OK)
        status = nd_find_both(&run, names, held, err);
    if (status == ND_OK)
        status = nd_explain_both(run.recipe, held, out, err);
    status = nd_finding_end(&run, status, err);
    if (status != ND_OK)
        nd_explanation_release(out);
    nd_held_release(&held[0]);
    nd_held_release(&held[1]);
    return status;
}
