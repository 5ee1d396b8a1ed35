/* first_document.c - what the first document tells of the others: its fields, and whether it has an id */
#include "run/run_parts.h"

#include <stdio.h>
#include <string.h>

#include "input/formats/formats.h"
#include "reading/names.h"
#include "run/manifest.h"

static void list_fields(struct nd_run *run, const struct nd_parsed *parsed)
{
    const struct nd_format_row *row = nd_format_row(parsed->source->format);
    struct nd_parser *parser;

    if (parsed->sketched || !row->list_fields || nd_input_charset(&run->input))
        return;
    parser = nd_parser_new(&run->input, NULL);
    if (parser) /* without memory there is no hint */
        row->list_fields(parser, parsed->source, parsed->record.bytes, &run->first);
    nd_parser_free(parser);
}

static void note_place(struct nd_run *run, const struct nd_parsed *parsed)
{
    struct nd_json place = {.failed = false};

    nd_place_append(&place, parsed->source, parsed->record.line);
    nd_json_bytes(&place, "", 1);
    if (!place.failed)
        snprintf(run->id_at, sizeof run->id_at, "%s", place.text.data);
    nd_json_release(&place);
}

void nd_run_meet_first(struct nd_run *run, const struct nd_parsed *parsed)
{
    run->has_first = true;
    list_fields(run, parsed);
    if (parsed->document.id_kind == ND_ID_NONE && run->first.id[0])
        note_place(run, parsed);
}

void nd_run_forget_first(struct nd_run *run)
{
    run->first = (struct nd_field_list){.is_full = false};
    run->has_first = run->reporter.has_document = false;
    run->id_at[0] = '\0';
}

void nd_run_tell_of_places(struct nd_run *run)
{
    char message[700];
    const struct nd_problem note = {ND_PROBLEM_NOTE, message};
    const char *field = run->options->input.id_field;

    if (!run->id_at[0] || strcmp(field, nd_input_options_default().id_field) != 0)
        return;
    snprintf(message, sizeof message,
             "without a field '%s' documents are named by their places, such as %s; --id-field %s "
             "would name them by that field",
             field, run->id_at, run->first.id);
    nd_reporter_problem(&run->reporter, &note);
}
