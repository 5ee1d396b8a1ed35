/* json_fields.c - which fields an object has, and which one probably holds the text */
#include "input/json_fields.h"

#include <string.h>

enum { DEPTH_SHOWN = 4, PATH_MAX_BYTES = 128 };

/* Where in the object the walk is. */
struct way {
    struct nd_view key[DEPTH_SHOWN]; /* at each depth, of the object that is open below it */
    unsigned depth;                  /* of all brackets */
    unsigned in_arrays;              /* of them, arrays and what lies in them */
};

/* What stands between the quotes of token i. */
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

void nd_json_list_fields(struct nd_json_indexer *indexer, const char *text, size_t len,
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
            if (value != '{')
                add_field(list, &way, name,
                          value == '"' ? rank_of(string_at(text, len, at, i + 2, n)) : 0);
        }
    }
}
