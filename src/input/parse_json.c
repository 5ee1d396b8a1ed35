/* parse_json.c - a document from a line of JSON */
#include "input/parser_state.h"

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
    return nd_parsing_finish(p);
}
