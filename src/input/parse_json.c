/* parse_json.c - a document from a line of JSON */
#include "input/json_fields.h"
#include "input/parser_state.h"

#include <stdio.h>
#include <string.h>

/* Whether one of the text fields is there, whatever it is. */
static bool has_text(const struct nd_parser *parser)
{
    for (size_t i = 0; i < parser->options.n_text_fields; i++)
        if (parser->value[i].kind != ND_JSON_ABSENT)
            return true;
    return false;
}

/* Behind the reason: what fields the record has instead. */
static void add_fields(struct nd_parsing *p, struct nd_view record)
{
    struct nd_field_list list = {.is_full = false};
    size_t used = strlen(p->bad->reason);
    char fields[sizeof p->bad->reason];

    nd_json_list_fields(p->parser->json, record.data, record.len, &list);
    nd_field_list_show(&list, fields, sizeof fields);
    (void)snprintf(p->bad->reason + used, sizeof p->bad->reason - used, ": the record has %s",
                   fields);
}

int nd_parse_json(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    const char *reason = "";
    enum nd_json_found found;
    int status = 1;

    for (int attempt = 0; attempt < 2; attempt++) {
        found = nd_json_walk(parser->json, record.data, record.len, parser->path, parser->n_paths,
                             &parser->arena, parser->value, &reason);
        if (found != ND_JSON_BAD_UTF8)
            break;
        status = nd_parsing_repair(p, &record);
        if (status != 1)
            return status;
    }
    if (found == ND_JSON_NO_MEMORY)
        return ND_ENOMEM;
    if (found != ND_JSON_INDEXED)
        return nd_parsing_refuse(p, "line is no JSON record: %s", reason);
    status = nd_parsing_finish(p);
    if (status == 0 && !has_text(parser))
        add_fields(p, record);
    return status;
}
