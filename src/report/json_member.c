/* json_member.c - a JSON object with one member more, everything else byte for byte */

/*
 * The object is not parsed and written again: the new member is put before the closing brace. The
 * records are known to be well-formed, because the reader has checked them.
 */
#include "report/json_member.h"

#include "base/system/c_functions.h"
#include "input/formats/json_walk.h"

#include <string.h>

/* One byte of a key is spelt with at most six, as \u0041; nd_json_unescape reads and writes beyond. */
enum { SPELT_MAX = 6 * ND_MEMBER_KEY_MAX, BEYOND = 64 };

static void put(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

/* The position after the string that begins at `from`. */
static size_t string_end(const char *text, size_t from, size_t len)
{
    size_t i = from + 1;

    while (i < len && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i < len ? i + 1 : len;
}

/* The end of the member that begins at `from`: at the comma after it, or at the closing brace. */
static size_t member_end(const char *text, size_t from, size_t len)
{
    unsigned depth = 0;

    for (size_t i = from; i < len; i++) {
        char c = text[i];

        if (c == '"') {
            i = string_end(text, i, len) - 1;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}'))
            return i;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
    }
    return len;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Check whether what stands between the quotes of a key, with its escapes, is this key. */
static bool spells(struct nd_view raw, struct nd_view key)
{
    char in[SPELT_MAX + BEYOND] = {0}, out[SPELT_MAX + BEYOND];
    unsigned char has_surrogates = 0;
    size_t len;

    if (!memchr(raw.data, '\\', raw.len))
        return raw.len == key.len && memcmp(raw.data, key.data, key.len) == 0;
    if (raw.len > SPELT_MAX)
        return false;
    memcpy(in, raw.data, raw.len);
    len = nd_json_unescape(in, raw.len, out, &has_surrogates);
    return len == key.len && !has_surrogates && memcmp(out, key.data, len) == 0;
}

static bool is_named(struct nd_view member, struct nd_view key)
{
    size_t at = 0, end;

    while (at < member.len && is_space(member.data[at]))
        at++;
    if (at == member.len || member.data[at] != '"')
        return false;
    end = string_end(member.data, at, member.len);
    return spells((struct nd_view){member.data + at + 1, end - at - 2}, key);
}

/* Tell by its bytes that an object lacks a member, as nearly all do. False: it may have it. */
static bool lacks(struct nd_view object, struct nd_view key)
{
    return !nd_find_bytes(object.data, object.len, key.data, key.len) &&
           !memchr(object.data, '\\', object.len);
}

/* Find the members of an object, between its braces. False: there are no braces. */
static bool find_members(struct nd_view object, size_t *from, size_t *end)
{
    const char *open = memchr(object.data, '{', object.len);

    *from = open ? (size_t)(open - object.data) + 1 : object.len;
    *end = object.len;
    while (*end > *from && object.data[*end - 1] != '}')
        --*end;
    if (*end == *from)
        return false;
    --*end;
    return true;
}

bool nd_json_has_member(struct nd_view object, struct nd_view key)
{
    size_t from, end;

    if (lacks(object, key) || !find_members(object, &from, &end))
        return false;
    while (from < end) {
        size_t stop = member_end(object.data, from, end);

        if (is_named((struct nd_view){object.data + from, stop - from}, key))
            return true;
        from = stop + 1;
    }
    return false;
}

/* Copy the members, leaving out those of the name. */
static bool put_others(struct nd_json *out, struct nd_view object, size_t from, size_t end,
                       struct nd_view key)
{
    bool has_member = false;

    while (from < end) {
        size_t stop = member_end(object.data, from, end);
        const struct nd_view member = {object.data + from, stop - from};

        if (!is_named(member, key)) {
            if (has_member)
                put(out, ",");
            nd_json_bytes(out, member.data, member.len);
            has_member = true;
        }
        from = stop + 1;
    }
    return has_member;
}

void nd_json_put_member(struct nd_json *out, struct nd_view object, struct nd_view key,
                        void (*put_value)(struct nd_json *out, const void *context),
                        const void *context)
{
    size_t from, end;
    bool has_member;

    if (!find_members(object, &from, &end)) {
        nd_json_bytes(out, object.data, object.len);
        return;
    }
    nd_json_bytes(out, object.data, from);
    if (nd_json_has_member(object, key)) {
        has_member = put_others(out, object, from, end, key);
    } else {
        nd_json_bytes(out, object.data + from, end - from);
        while (from < end && is_space(object.data[from]))
            from++;
        has_member = from < end;
    }
    out->after_value = has_member;
    nd_json_name(out, key);
    put_value(out, context);
    out->after_value = false;
    nd_json_bytes(out, object.data + end, object.len - end);
}
