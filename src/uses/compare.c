/* compare.c - two documents beside each other, by every measure */
#include "run/run_parts.h"
#include "uses/two_documents.h"

#include <neardup/uses.h>

#include "recipe/recipe_struct.h"

enum nd_status nd_run_compare(const struct nd_run_options *options,
                              const struct nd_compare_params *params, const char *a, const char *b,
                              const struct nd_run_events *events, struct nd_comparison *out,
                              struct nd_error *err)
{
    const char *const names[2] = {a, b};
    struct nd_held held[2] = {{0}, {0}};
    struct nd_error room = {0};
    struct nd_run run;
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *out = (struct nd_comparison){0};
    status = nd_compare_check(options->recipe, params, err);
    if (status != ND_OK)
        return status;
    status = nd_finding_begin(&run, options, events, params->parts & ND_COMPARE_WEIGHTS, err);
    if (status == ND_OK)
        status = nd_find_both(&run, names, held, err);
    if (status == ND_OK)
        status = nd_compare_documents(run.recipe, params, ND_BOTH(held), out, err);
    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        out->name[i] = held[i].name;
        held[i].name = (struct nd_document_name){0};
    }
    status = nd_finding_end(&run, status, err);
    if (status != ND_OK)
        nd_comparison_release(out);
    nd_held_release(&held[0]);
    nd_held_release(&held[1]);
    return status;
}
