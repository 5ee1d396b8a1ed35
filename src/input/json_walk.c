/* json_walk.c - the grammar of JSON over the index of tokens, taking the wanted values on the way
 */
#include "input/json_walk.h"
#include "input/json_text.h"

#include <string.h>

struct walk {
    const char *text;
    size_t len;
    const uint32_t *at; /* where the tokens begin */
    size_t n, i;        /* how many; the one that comes next */
    struct nd_arena *arena;
    struct nd_view rest[ND_JSON_PATHS_MAX]; /* of each path, what is left of it at this depth */
    unsigned found_at[ND_JSON_PATHS_MAX];   /* the depth its value was found at; 0: not yet */
    struct nd_json_value *values;
    size_t n_paths;
    const char *reason;
    bool no_memory;
};

static bool fail(struct walk *w, const char *reason)
{
    w->reason = reason;
    return false;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The first byte of the next token, 0 where there is none. */
static char next_byte(const struct walk *w)
{
    return w->i < w->n ? w->text[w->at[w->i]] : 0;
}

/* Take the next token: all bytes of it, without the white space behind. */
static struct nd_view take_token(struct walk *w)
{
    size_t begin = w->at[w->i++], end = w->i < w->n ? w->at[w->i] : w->len;

    while (end > begin + 1 && is_white(w->text[end - 1]))
        end--;
    return (struct nd_view){w->text + begin, end - begin};
}

/* Take a string token: what stands between its quotes. */
static bool take_string(struct walk *w, struct nd_view *inside)
{
    struct nd_view token = take_token(w);

    if (token.len < 2 || token.data[token.len - 1] != '"')
        return fail(w, "a string is not closed");
    *inside = (struct nd_view){token.data + 1, token.len - 2};
    return true;
}

static bool unescape(struct walk *w, struct nd_view raw, struct nd_view *out)
{
    char *made;

    *out = raw;
    if (!memchr(raw.data, '\\', raw.len))
        return true;
    made = nd_arena_alloc(w->arena, raw.len + ND_BUFFER_PADDING);
    if (!made) {
        w->no_memory = true;
        return false;
    }
    out->data = made;
    out->len = nd_json_unescape(raw.data, raw.len, made);
    if (out->len == SIZE_MAX)
        return fail(w, "a string has a wrong escape");
    memset(made + out->len, 0, ND_BUFFER_PADDING);
    return true;
}

static void store(struct walk *w, uint64_t wanted, unsigned depth, struct nd_json_value value)
{
    for (; wanted; wanted &= wanted - 1) {
        unsigned i = (unsigned)__builtin_ctzll(wanted);

        if (w->found_at[i] == 0 || depth < w->found_at[i]) {
            w->found_at[i] = depth;
            w->values[i] = value;
        }
    }
}

static bool take_string_value(struct walk *w, uint64_t wanted, unsigned depth)
{
    struct nd_json_value value = {.kind = ND_JSON_STRING};
    struct nd_view inside;

    if (!take_string(w, &inside))
        return false;
    if (!wanted)
        return nd_json_escapes_valid(inside.data, inside.len) ||
               fail(w, "a string has a wrong escape");
    if (!unescape(w, inside, &value.bytes))
        return false;
    store(w, wanted, depth, value);
    return true;
}

static bool is_word(struct nd_view token, const char *word)
{
    return token.len == strlen(word) && memcmp(token.data, word, token.len) == 0;
}

static bool take_scalar(struct walk *w, uint64_t wanted, unsigned depth)
{
    struct nd_view token = take_token(w);
    enum nd_json_kind kind;

    if (is_word(token, "null"))
        kind = ND_JSON_NULL;
    else if (is_word(token, "true") || is_word(token, "false"))
        kind = ND_JSON_BOOL;
    else if (nd_json_number_valid(token.data, token.len))
        kind = ND_JSON_NUMBER;
    else
        return fail(w, "something is no string, number, object, array, true, false or null");
    store(w, wanted, depth, (struct nd_json_value){kind, token});
    return true;
}

static bool take_value(struct walk *w, uint64_t wanted, uint64_t below, unsigned depth);

/* Which of the paths `open` at this depth the key ends, and which go on below it. */
static void match_key(const struct walk *w, struct nd_view key, uint64_t open, uint64_t *wanted,
                      uint64_t *below)
{
    *wanted = *below = 0;
    for (; open; open &= open - 1) {
        unsigned i = (unsigned)__builtin_ctzll(open);
        const struct nd_view *rest = &w->rest[i];

        if (rest->len < key.len || memcmp(rest->data, key.data, key.len) != 0)
            continue;
        if (rest->len == key.len)
            *wanted |= UINT64_C(1) << i;
        else if (rest->data[key.len] == '.')
            *below |= UINT64_C(1) << i;
    }
}

static void shorten(struct walk *w, uint64_t below, size_t by)
{
    for (; below; below &= below - 1) {
        unsigned i = (unsigned)__builtin_ctzll(below);

        w->rest[i].data += by;
        w->rest[i].len -= by;
    }
}

static bool take_member(struct walk *w, uint64_t open, unsigned depth)
{
    struct nd_view raw, key;
    uint64_t wanted = 0, below = 0;
    bool ok;

    if (next_byte(w) != '"')
        return fail(w, w->i < w->n ? "a key is no string" : "it ends too early");
    if (!take_string(w, &raw) || !unescape(w, raw, &key))
        return false;
    if (next_byte(w) != ':')
        return fail(w, w->i < w->n ? "a ':' is missing" : "it ends too early");
    w->i++;
    if (open)
        match_key(w, key, open, &wanted, &below);
    shorten(w, below, key.len + 1);
    ok = take_value(w, wanted, below, depth);
    for (; below; below &= below - 1) { /* give the paths their length back */
        unsigned i = (unsigned)__builtin_ctzll(below);

        w->rest[i].data -= key.len + 1;
        w->rest[i].len += key.len + 1;
    }
    return ok;
}

/* An object or array, its bracket not yet taken; `open`: paths to look for among its members. */
static bool take_container(struct walk *w, uint64_t open, unsigned depth)
{
    bool is_object = next_byte(w) == '{';
    char close = is_object ? '}' : ']';

    if (depth > ND_JSON_DEPTH_MAX)
        return fail(w, "it is nested too deep");
    w->i++;
    if (next_byte(w) == close) {
        w->i++;
        return true;
    }
    for (;;) {
        char c;

        if (!(is_object ? take_member(w, open, depth) : take_value(w, 0, 0, depth)))
            return false;
        c = next_byte(w);
        if (c != ',' && c != close)
            return fail(w, w->i < w->n ? "a ',' is missing" : "it ends too early");
        w->i++;
        if (c == close)
            return true;
    }
}

static bool take_value(struct walk *w, uint64_t wanted, uint64_t below, unsigned depth)
{
    char c = next_byte(w);
    size_t begin;

    if (w->i == w->n)
        return fail(w, "it ends too early");
    if (c == '"')
        return take_string_value(w, wanted, depth);
    if (c != '{' && c != '[')
        return take_scalar(w, wanted, depth);
    begin = w->at[w->i];
    if (!take_container(w, c == '{' ? below : 0, depth + 1))
        return false;
    store(w, wanted, depth,
          (struct nd_json_value){c == '{' ? ND_JSON_OBJECT : ND_JSON_ARRAY,
                                 {w->text + begin, w->at[w->i - 1] + 1 - begin}});
    return true;
}

static bool take_record(struct walk *w)
{
    uint64_t all = w->n_paths == 64 ? UINT64_MAX : (UINT64_C(1) << w->n_paths) - 1;

    if (next_byte(w) != '{')
        return fail(w, "it is no object");
    if (!take_container(w, all, 1))
        return false;
    return w->i == w->n || fail(w, "something follows the object");
}

enum nd_json_found nd_json_walk(struct nd_json_indexer *indexer, const char *text, size_t len,
                                const struct nd_view *paths, size_t n_paths, struct nd_arena *arena,
                                struct nd_json_value *values, const char **reason)
{
    struct walk w;
    enum nd_json_found found = nd_json_index(indexer, text, len, &w.at, &w.n);

    switch (found) {
    case ND_JSON_INDEXED: break;
    case ND_JSON_OPEN_STRING: *reason = "a string is not closed"; return ND_JSON_NOTHING;
    case ND_JSON_RAW_CONTROL:
        *reason = "a control character in a string is not escaped";
        return ND_JSON_NOTHING;
    case ND_JSON_NOTHING: *reason = "it is empty"; return ND_JSON_NOTHING;
    case ND_JSON_TOO_LONG: *reason = "it is 4 GB or longer"; return ND_JSON_NOTHING;
    default: return found;
    }
    w.text = text;
    w.len = len;
    w.i = 0;
    w.arena = arena;
    w.values = values;
    w.n_paths = n_paths;
    w.no_memory = false;
    for (size_t i = 0; i < n_paths; i++) {
        w.rest[i] = paths[i];
        w.found_at[i] = 0;
        values[i] = (struct nd_json_value){.kind = ND_JSON_ABSENT};
    }
    if (take_record(&w))
        return ND_JSON_INDEXED;
    *reason = w.reason;
    return w.no_memory ? ND_JSON_NO_MEMORY : ND_JSON_NOTHING;
}
