/* parse_json.c - a document from a line of JSON */
#include "input/formats/field_list.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/parser.h"

#include <stdio.h>
#include <string.h>

/* ---- Which fields an object has, and which one probably holds the text ---- */

enum { DEPTH_SHOWN = 4, PATH_MAX_BYTES = 128 };

/* The place of the walk in the object. */
struct way {
    struct nd_view key[DEPTH_SHOWN]; /* at each depth, of the object that is open below it */
    unsigned depth;                  /* of all brackets */
    unsigned in_arrays;              /* of them, arrays and what lies in them */
};

/* The text between the quotes of token i. */
static struct nd_view string_at(const char *text, size_t len, const uint32_t *at, size_t i,
                                size_t n)
{
    size_t begin = at[i] + 1, end = i + 1 < n ? at[i + 1] : len;

    while (end > begin && text[end - 1] != '"')
        end--;
    return (struct nd_view){text + begin, end > begin ? end - begin - 1 : 0};
}

/* Texts are long, and have spaces, where addresses and hashes have none. */
static uint64_t rank_of(struct nd_view value)
{
    return (uint64_t)value.len << (memchr(value.data, ' ', value.len) ? 16 : 0);
}

static void add_field(struct nd_field_list *list, const struct way *way, struct nd_view name,
                      uint64_t rank)
{
    char path[PATH_MAX_BYTES];
    size_t used = 0;

    for (unsigned d = 1; d <= way->depth; d++) {
        struct nd_view part = d < way->depth ? way->key[d] : name;

        if (used + part.len + 1 > sizeof path)
            return;
        if (d > 1)
            path[used++] = '.';
        memcpy(path + used, part.data, part.len);
        used += part.len;
    }
    nd_field_list_add(list, (struct nd_view){path, used}, rank);
}

static void pass_bracket(struct way *way, char bracket)
{
    if (bracket == '{' || bracket == '[') {
        way->depth++;
        way->in_arrays += way->in_arrays || bracket == '[';
    } else {
        way->depth--;
        way->in_arrays -= way->in_arrays > 0;
    }
}

/* The fields of one object that nd_json_walk has accepted; those of nested objects are paths. */
static void list_fields(struct nd_json_indexer *indexer, const char *text, size_t len,
                        struct nd_field_list *list)
{
    struct way way = {.depth = 0};
    const uint32_t *at;
    size_t n;

    if (nd_json_index(indexer, text, len, &at, &n) != ND_JSON_INDEXED)
        return;
    for (size_t i = 0; i < n; i++) {
        char c = text[at[i]];

        if (c == '{' || c == '[' || c == '}' || c == ']') {
            pass_bracket(&way, c);
        } else if (c == '"' && i + 2 < n && text[at[i + 1]] == ':' && !way.in_arrays &&
                   way.depth > 0 && way.depth < DEPTH_SHOWN) {
            struct nd_view name = string_at(text, len, at, i, n);
            char value = text[at[i + 2]];

            way.key[way.depth] = name;
            if (way.depth == 1 && value != '{' && value != '[')
                nd_field_list_offer_id(list, name);
            if (value != '{')
                add_field(list, &way, name,
                          value == '"' ? rank_of(string_at(text, len, at, i + 2, n)) : 0);
        }
    }
}

static void list_record(struct nd_parser *parser, const struct nd_source *source,
                        struct nd_view record, struct nd_field_list *list)
{
    (void)source;
    list_fields(parser->json, record.data, record.len, list);
}

/* ---- A document from a line of JSON ---- */

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

    list_fields(p->parser->json, record.data, record.len, &list);
    nd_field_list_show(&list, fields, sizeof fields);
    (void)snprintf(p->bad->reason + used, sizeof p->bad->reason - used, ": the record has %s",
                   fields);
}

static int parse_json(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    const char *reason = "";
    enum nd_json_found found;
    int status = parser->options.charset ? nd_parsing_decode(p, &record) : 1;

    if (status != 1)
        return status;
    for (int attempt = 0; attempt < 2; attempt++) {
        found = nd_json_walk(parser->json, record.data, record.len, parser->path, parser->n_paths,
                             parser->options.n_text_fields, &parser->arena, parser->value, &reason);
        if (found != ND_JSON_BAD_UTF8)
            break;
        status = nd_parsing_repair(p, &record);
        if (status != 1)
            return status;
    }
    if (found == ND_JSON_NO_MEMORY)
        return ND_ENOMEM;
    if (found != ND_JSON_INDEXED)
        return nd_parsing_refuse(p, "not a JSON object: %s", reason);
    status = nd_parsing_finish(p, record);
    if (status == 0 && !has_text(parser))
        add_fields(p, record);
    return status;
}

/* An object that begins with a key, or an empty one. */
static bool looks_like(const char *p, size_t len)
{
    size_t i = 1;

    if (len < 2 || *p != '{')
        return false;
    while (i < len && (p[i] == ' ' || p[i] == '\t'))
        i++;
    return i < len && (p[i] == '"' || p[i] == '}');
}

/*
 * JSON that is not one record a line gives nothing but bad lines.  An array of objects, or an
 * object that goes on beyond the first line, is told by its first bytes.
 */
static const char *find_mistake(const char *head, size_t len)
{
    size_t i = 0, j;

    while (i < len && nd_is_white(head[i]))
        i++;
    for (j = i + 1; j < len && (head[j] == ' ' || head[j] == '\t' || head[j] == '\r'); j++)
        ;
    if (j >= len)
        return NULL;
    if (head[i] == '[' && (head[j] == '\n' || head[j] == '{'))
        return "is one JSON array, not JSON Lines: make each element a line (jq -c '.[]')";
    if (head[i] == '{' && head[j] == '\n')
        return "is JSON over several lines, not JSON Lines: make each object a line (jq -c .)";
    return NULL;
}

const struct nd_format_row nd_format_jsonl = {
    .word = "jsonl",
    .name = "JSON Lines",
    .suffixes = "jsonl ndjson json jsonlines",
    .cut = &nd_cut_lines,
    .parse = parse_json,
    .looks_like = looks_like,
    .find_mistake = find_mistake,
    .list_fields = list_record,
    .has_fields = true,
};
