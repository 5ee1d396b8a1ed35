/*
 * json_walk.c - the grammar of JSON over the index of tokens, taking the wanted values on the way
 */

/*
 * simdjson's first stage finds where every token begins and checks the UTF-8 (jsonl_simdjson.cpp).
 * This file goes through that index once. It checks the whole grammar, so that an invalid record is
 * refused even if the wanted values are intact, and takes the values of the requested paths on the
 * way. Paths are tracked as bit sets, one bit for each path, so an object without wanted keys costs
 * little.
 */
#include "input/formats/json_walk.h"

#include "base/replaced_hash.h"
#include "base/utf8.h"
#include "base/view.h"
#include "input/formats/lines.h"
#include "simd/json/json_kernels.h"

#include <stdint.h>
#include <string.h>

/* ---- The scalars of JSON (RFC 8259): strings, numbers, words ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of the four digits after \u; -1: they are not hexadecimal. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_surrogate(uint32_t c)
{
    return c >= 0xD800 && c <= 0xDFFF;
}

/*
 * Decode the escape after "\u" at p, a surrogate pair as one character; a lone surrogate as itself.
 */
static const char *unicode_escape(const char *p, const char *end, uint32_t *c)
{
    int32_t high = hex4(p, end), low;

    if (high < 0)
        return NULL;
    p += 4;
    *c = (uint32_t)high;
    if (!is_surrogate(*c))
        return p;
    if (high <= 0xDBFF && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        low = hex4(p + 2, end);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *c = 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
            p += 6;
        }
    }
    return p;
}

/* Decode the escape at p (its backslash) into *c; returns the position after it, or NULL. */
static const char *escape(const char *p, const char *end, uint32_t *c)
{
    if (end - p < 2)
        return NULL;
    if (p[1] == 'u')
        return unicode_escape(p + 2, end, c);
    *c = (unsigned char)p[1] < 128 ? nd_json_kernels()->escape[(unsigned char)p[1]] : 0;
    return *c ? p + 2 : NULL;
}

bool nd_json_escapes_valid(const char *p, size_t len)
{
    const char *end = p + len;
    uint32_t c;

    while (p && p < end && (p = memchr(p, '\\', (size_t)(end - p))))
        if (!(p = escape(p, end, &c)))
            return false;
    return true;
}

/* The kernels leave \u, and invalid escapes, to the inner loop. */
size_t nd_json_unescape(const char *p, size_t len, char *out, unsigned char *has_surrogates)
{
    const struct nd_json_kernels *kernels = nd_json_kernels();
    const char *end = p + len;
    char *o = out;

    for (;;) {
        size_t made;

        p += kernels->unescape((const uint8_t *)p, (size_t)(end - p), (uint8_t *)o, &made);
        o += made;
        if (p == end)
            return (size_t)(o - out);
        do {
            uint32_t c;

            p = escape(p, end, &c);
            if (!p)
                return SIZE_MAX;
            if (is_surrogate(c)) {
                *has_surrogates = 1;
                c = 0xFFFD;
            }
            o += nd_utf8_put(o, c);
        } while (p < end && *p == '\\');
    }
}

bool nd_json_next_replaced(const char **at, const char *end, uint32_t *packed)
{
    const char *p = *at;

    while (p < end) {
        uint32_t c = 0;
        char bytes[4];

        if (*p == '\\') {
            p = escape(p, end, &c);
            if (!p)
                return false;
            if (!is_surrogate(c) && c != 0xFFFD)
                continue;
            *packed = nd_replaced_pack(bytes, (unsigned)nd_utf8_put(bytes, c));
        } else if (end - p >= 3 && memcmp(p, "\xEF\xBF\xBD", 3) == 0) {
            *packed = 0;
            p += 3;
        } else {
            p++;
            continue;
        }
        *at = p;
        return true;
    }
    return false;
}

static size_t digits(const char *p, size_t len)
{
    size_t n = 0;

    while (n < len && p[n] >= '0' && p[n] <= '9')
        n++;
    return n;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
bool nd_json_number_valid(const char *p, size_t len)
{
    const char *end = p + len;
    size_t n;

    if (p < end && *p == '-')
        p++;
    n = digits(p, (size_t)(end - p));
    if (n == 0 || (n > 1 && *p == '0'))
        return false;
    p += n;
    if (p < end && *p == '.') {
        n = digits(p + 1, (size_t)(end - p) - 1);
        if (n == 0)
            return false;
        p += n + 1;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        n = digits(p, (size_t)(end - p));
        if (n == 0)
            return false;
        p += n;
    }
    return p == end;
}

/* ---- The grammar of JSON over the index of tokens, taking the wanted values on the way ---- */

/* The progress of collecting the values of a path through arrays. */
struct json_list {
    struct nd_json_value *last;
    unsigned open;             /* nesting depth of arrays that it is going through */
    uint64_t element, last_in; /* elements so far; the element that `last` belongs to */
    bool is_complete;          /* the first such array has ended */
    bool has_key;              /* a key outside of arrays matched the whole path */
};

struct json_walk {
    const char *text;
    size_t len;
    const uint32_t *at; /* start of each token */
    size_t n, i;        /* number of tokens; index of the next one */
    struct nd_arena *arena;
    struct nd_view rest[ND_JSON_PATHS_MAX]; /* what is left of each path at this depth */
    unsigned found_at[ND_JSON_PATHS_MAX];   /* depth at which its value was found; 0: not yet */
    struct nd_json_value *values;
    size_t n_paths;
    uint64_t lists;                           /* the paths through arrays */
    struct json_list list[ND_JSON_PATHS_MAX]; /* theirs */
    const char *reason;
    bool no_memory;
};

static bool fail(struct json_walk *w, const char *reason)
{
    w->reason = reason;
    return false;
}

/* The first byte of the next token; 0: there is none. */
static char next_byte(const struct json_walk *w)
{
    return w->i < w->n ? w->text[w->at[w->i]] : 0;
}

/* Take the next token: all of its bytes, without the white space after it. */
static struct nd_view take_token(struct json_walk *w)
{
    size_t begin = w->at[w->i++], end = w->i < w->n ? w->at[w->i] : w->len;

    while (end > begin + 1 && nd_is_white(w->text[end - 1]))
        end--;
    return (struct nd_view){w->text + begin, end - begin};
}

/* Take a string token: the bytes between its quotes. */
static bool take_string(struct json_walk *w, struct nd_view *inside)
{
    struct nd_view token = take_token(w);

    if (token.len < 2 || token.data[token.len - 1] != '"')
        return fail(w, "a string is not closed");
    *inside = (struct nd_view){token.data + 1, token.len - 2};
    return true;
}

static bool unescape(struct json_walk *w, struct nd_view raw, struct nd_view *out,
                     unsigned char *has_surrogates)
{
    char *made;

    *out = raw;
    *has_surrogates = 0;
    if (!memchr(raw.data, '\\', raw.len))
        return true;
    made = nd_arena_alloc(w->arena, raw.len + ND_BUFFER_PADDING);
    if (!made) {
        w->no_memory = true;
        return false;
    }
    out->data = made;
    out->len = nd_json_unescape(raw.data, raw.len, made, has_surrogates);
    if (out->len == SIZE_MAX)
        return fail(w, "a string has an invalid escape");
    memset(made + out->len, 0, ND_BUFFER_PADDING);
    return true;
}

/* Append a value to those that a path has already. */
static void append(struct json_walk *w, unsigned i, struct nd_json_value value)
{
    struct json_list *list = &w->list[i];
    struct nd_json_value *next = nd_arena_alloc(w->arena, sizeof *next);

    if (!next) {
        w->no_memory = true;
        return;
    }
    *next = value;
    w->values[i].has_surrogates |= value.has_surrogates;
    list->last = list->last->next = next;
}

/* The value of a key outside of arrays, for a path through arrays: it comes first. */
static void store_key(struct json_walk *w, unsigned i, unsigned depth, struct nd_json_value value)
{
    if (w->list[i].has_key && depth >= w->found_at[i])
        return;
    w->list[i].has_key = true;
    w->found_at[i] = depth;
    w->values[i] = value;
}

/* The value of an element, which has exactly one for a path. */
static void store_element(struct json_walk *w, unsigned i, unsigned depth,
                          struct nd_json_value value)
{
    struct json_list *list = &w->list[i];

    if (list->has_key || list->is_complete)
        return;
    if (!list->last) {
        w->values[i] = value;
        list->last = &w->values[i];
    } else if (list->last_in != list->element) {
        append(w, i, value);
    } else if (depth < w->found_at[i]) {
        *list->last = value;
    } else {
        return;
    }
    list->last_in = list->element;
    w->found_at[i] = depth;
}

static void store(struct json_walk *w, uint64_t wanted, unsigned depth, struct nd_json_value value)
{
    for (; wanted; wanted &= wanted - 1) {
        unsigned i = (unsigned)__builtin_ctzll(wanted);

        if (w->lists >> i & 1) {
            w->list[i].open ? store_element(w, i, depth, value) : store_key(w, i, depth, value);
        } else if (w->found_at[i] == 0 || depth < w->found_at[i]) {
            w->found_at[i] = depth;
            w->values[i] = value;
        } else if (depth == w->found_at[i]) {
            w->values[i].is_doubled = true;
        }
    }
}

static bool take_string_value(struct json_walk *w, uint64_t wanted, unsigned depth)
{
    struct nd_json_value value = {.kind = ND_JSON_STRING};
    struct nd_view inside;

    if (!take_string(w, &inside))
        return false;
    if (!wanted)
        return nd_json_escapes_valid(inside.data, inside.len) ||
               fail(w, "a string has an invalid escape");
    if (!unescape(w, inside, &value.bytes, &value.has_surrogates))
        return false;
    value.raw = inside;
    store(w, wanted, depth, value);
    return true;
}

static bool take_scalar(struct json_walk *w, uint64_t wanted, unsigned depth)
{
    struct nd_view token = take_token(w);
    enum nd_json_kind kind;

    if (nd_view_is(token, "null"))
        kind = ND_JSON_NULL;
    else if (nd_view_is(token, "true") || nd_view_is(token, "false"))
        kind = ND_JSON_BOOL;
    else if (nd_json_number_valid(token.data, token.len))
        kind = ND_JSON_NUMBER;
    else
        return fail(w, "a value is not a string, number, object, array, true, false or null");
    store(w, wanted, depth, (struct nd_json_value){.kind = kind, .bytes = token, .raw = token});
    return true;
}

static bool take_value(struct json_walk *w, uint64_t wanted, uint64_t below, unsigned depth);

/* Which of the paths `open` at this depth end with the key, and which continue below it. */
static void match_key(const struct json_walk *w, struct nd_view key, uint64_t open,
                      uint64_t *wanted, uint64_t *below)
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

static void shorten(struct json_walk *w, uint64_t below, size_t by)
{
    for (; below; below &= below - 1) {
        unsigned i = (unsigned)__builtin_ctzll(below);

        w->rest[i].data += by;
        w->rest[i].len -= by;
    }
}

/* Read a value below which paths continue, each shorter by `by` bytes. */
static bool take_below(struct json_walk *w, uint64_t wanted, uint64_t below, size_t by,
                       unsigned depth)
{
    bool ok;

    shorten(w, below, by);
    ok = take_value(w, wanted, below, depth);
    for (; below; below &= below - 1) { /* restore the lengths of the paths */
        unsigned i = (unsigned)__builtin_ctzll(below);

        w->rest[i].data -= by;
        w->rest[i].len += by;
    }
    return ok;
}

static bool take_member(struct json_walk *w, uint64_t open, unsigned depth)
{
    struct nd_view raw, key;
    uint64_t wanted = 0, below = 0;
    unsigned char ignored;

    if (next_byte(w) != '"')
        return fail(w, w->i < w->n ? "a key is not a string" : "it ends too early");
    if (!take_string(w, &raw) || !unescape(w, raw, &key, &ignored))
        return false;
    if (next_byte(w) != ':')
        return fail(w, w->i < w->n ? "a ':' is missing" : "it ends too early");
    w->i++;
    if (open)
        match_key(w, key, open, &wanted, &below);
    return take_below(w, wanted, below, key.len + 1, depth);
}

/* Begin or end the elements of an array that paths go through. */
static void pass_elements(struct json_walk *w, uint64_t paths, bool begin)
{
    for (; paths; paths &= paths - 1) {
        struct json_list *list = &w->list[__builtin_ctzll(paths)];

        list->element += begin;
        list->open += begin;
        list->open -= !begin;
    }
}

/* Read an element of an array, in which the paths `open` continue. */
static bool take_element(struct json_walk *w, uint64_t open, unsigned depth)
{
    static const struct nd_view star = {"*", 1};
    uint64_t wanted, below;
    bool ok;

    match_key(w, star, open, &wanted, &below);
    pass_elements(w, wanted | below, true);
    ok = take_below(w, wanted, below, star.len + 1, depth);
    pass_elements(w, wanted | below, false);
    return ok;
}

/* The first of equal keys counts, so later arrays are ignored. */
static void complete_lists(struct json_walk *w, uint64_t paths)
{
    for (; paths; paths &= paths - 1) {
        struct json_list *list = &w->list[__builtin_ctzll(paths)];

        list->is_complete |= !list->open && list->last;
    }
}

/* Read an object or array from its bracket on; `open`: paths to look for among its members. */
static bool take_container(struct json_walk *w, uint64_t open, unsigned depth)
{
    bool is_object = next_byte(w) == '{';
    char close = is_object ? '}' : ']';

    if (depth > ND_JSON_DEPTH_MAX)
        return fail(w, "it is nested too deeply");
    w->i++;
    if (next_byte(w) == close) {
        w->i++;
        return true;
    }
    for (;;) {
        char c;

        if (!(is_object ? take_member(w, open, depth)
              : open    ? take_element(w, open, depth)
                        : take_value(w, 0, 0, depth)))
            return false;
        c = next_byte(w);
        if (c != ',' && c != close)
            return fail(w, w->i < w->n ? "a ',' is missing" : "it ends too early");
        w->i++;
        if (c == close)
            return true;
    }
}

static bool take_value(struct json_walk *w, uint64_t wanted, uint64_t below, unsigned depth)
{
    char c = next_byte(w);
    struct nd_json_value value = {.kind = c == '{' ? ND_JSON_OBJECT : ND_JSON_ARRAY};
    size_t begin;

    if (w->i == w->n)
        return fail(w, "it ends too early");
    if (c == '"')
        return take_string_value(w, wanted, depth);
    if (c != '{' && c != '[')
        return take_scalar(w, wanted, depth);
    begin = w->at[w->i];
    if (c == '[')
        below &= w->lists;
    if (!take_container(w, below, depth + 1))
        return false;
    if (c == '[' && below)
        complete_lists(w, below);
    value.bytes = value.raw = (struct nd_view){w->text + begin, w->at[w->i - 1] + 1 - begin};
    store(w, wanted, depth, value);
    return true;
}

static bool take_record(struct json_walk *w)
{
    uint64_t all = w->n_paths == 64 ? UINT64_MAX : (UINT64_C(1) << w->n_paths) - 1;

    if (next_byte(w) != '{')
        return fail(w, "it does not begin with '{'");
    if (!take_container(w, all, 1))
        return false;
    return w->i == w->n || fail(w, "something follows the object");
}

/* Whether "*" is one of the path's parts. */
static bool goes_through_arrays(struct nd_view path)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.data[i] == '*' && (i == 0 || path.data[i - 1] == '.') &&
            (i + 1 == path.len || path.data[i + 1] == '.'))
            return true;
    return false;
}

static void begin_path(struct json_walk *w, size_t i, struct nd_view path, bool may_list)
{
    w->rest[i] = path;
    w->found_at[i] = 0;
    w->values[i] = (struct nd_json_value){.kind = ND_JSON_ABSENT};
    if (!may_list || !goes_through_arrays(path))
        return;
    w->lists |= UINT64_C(1) << i;
    w->list[i] = (struct json_list){.last = NULL};
}

enum nd_json_found nd_json_walk(struct nd_json_indexer *indexer, const char *text, size_t len,
                                const struct nd_view *paths, size_t n_paths, size_t n_lists,
                                struct nd_arena *arena, struct nd_json_value *values,
                                const char **reason)
{
    struct json_walk w;
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
    w.lists = 0;
    for (size_t i = 0; i < n_paths; i++)
        begin_path(&w, i, paths[i], i < n_lists);
    if (take_record(&w) && !w.no_memory)
        return ND_JSON_INDEXED;
    *reason = w.reason;
    return w.no_memory ? ND_JSON_NO_MEMORY : ND_JSON_NOTHING;
}
