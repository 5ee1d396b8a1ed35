/* run_fields.c - fields that were asked for and that no document has: most likely mistyped */
#include "pipeline/run_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WITHIN = 1, PREFER = 2, KEEP = 4, ID = 8 };

void nd_run_watch_fields(struct nd_run *run)
{
    const struct nd_run_options *o = run->options;

    run->unmet = 0;
    if (o->within)
        run->unmet |= WITHIN;
    if (o->prefer_field)
        run->unmet |= PREFER;
    if (run->keep.field)
        run->unmet |= KEEP;
    if (strcmp(o->input.id_field, nd_input_options_default().id_field) != 0)
        run->unmet |= ID;
}

void nd_run_meet_fields(struct nd_run *run, const struct nd_document *document, uint64_t key)
{
    if (nd_run_field(document, run->within_at).data)
        run->unmet &= ~(unsigned)WITHIN;
    if (nd_run_field(document, run->prefer_at).data)
        run->unmet &= ~(unsigned)PREFER;
    if (key != ND_KEEP_WITHOUT)
        run->unmet &= ~(unsigned)KEEP;
    if (document->id_kind != ND_ID_NONE)
        run->unmet &= ~(unsigned)ID;
}

static void ND_PRINTF(2, 3) warn(struct nd_run *run, const char *format, ...)
{
    char message[600];
    const struct nd_problem problem = {ND_PROBLEM_WARNING, message};
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    nd_run_problem(run, &problem);
}

static const char *kept_by(enum nd_keep_by by)
{
    switch (by) {
    case ND_KEEP_NEWEST: return "date";
    case ND_KEEP_LONGEST:
    case ND_KEEP_SHORTEST: return "text";
    default: return "number";
    }
}

void nd_run_warn_of_fields(struct nd_run *run)
{
    const struct nd_run_options *o = run->options;

    if (!run->summary->documents)
        return;
    if (run->unmet & WITHIN)
        warn(run, "within: no document has a field '%s': all are compared with one another",
             o->within);
    if (run->unmet & PREFER)
        warn(run, "prefer: no document has a field '%s'", o->prefer_field);
    if (run->unmet & KEEP)
        warn(run, "keep: no document has a %s in a field '%s': of equals the first is kept",
             kept_by(run->keep.by), run->keep.field);
    if (run->unmet & ID)
        warn(run, "id field: no document has an id in a field '%s': they are called by their place",
             o->input.id_field);
}
