/* ini.c - the text of a recipe: sections, "key = value", comments from # or ; at a line's start */
#include "recipe/keys.h"

#include <string.h>

struct parse {
    const struct nd_recipe_key *keys;
    size_t n_keys;
    const char *name;                /* of the text, for messages */
    unsigned long line;              /* from 1; 0: a command line's assignment */
    unsigned half;                   /* of the section, 0 before the first */
    unsigned long seen[ND_KEYS_MAX]; /* the line that gave the key, 0: none yet */
    struct nd_error *err;
};

static struct nd_view trim(const char *data, const char *end)
{
    while (data < end && strchr(" \t\r", *data) && *data)
        data++;
    while (data < end && strchr(" \t\r", end[-1]) && end[-1])
        end--;
    return (struct nd_view){data, (size_t)(end - data)};
}

static int equals(struct nd_view view, const char *word)
{
    return view.len == strlen(word) && memcmp(view.data, word, view.len) == 0;
}

/* Fail with "name:line: reason". */
static enum nd_status fail_at(const struct parse *p, const char *reason)
{
    char copy[sizeof p->err->message]; /* the reason may stand in err itself */

    strncpy(copy, reason, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    if (p->line)
        return nd_fail(p->err, ND_EINVAL, "%s:%lu: %s", p->name, p->line, copy);
    return nd_fail(p->err, ND_EINVAL, "%s: %s", p->name, copy);
}

static enum nd_status fail_unknown(const struct parse *p, struct nd_view name)
{
    const char *names[ND_KEYS_MAX], *nearest;
    struct nd_error reason;
    size_t n = 0;

    for (size_t i = 0; i < p->n_keys; i++)
        names[n++] = p->keys[i].name;
    nearest = nd_name_nearest(name.data, name.len, names, n);
    nd_fail(&reason, ND_EINVAL, "no key '%.*s'%s%s%s", nd_view_shown(name), name.data,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return fail_at(p, reason.message);
}

static enum nd_status enter_section(struct parse *p, struct nd_view line)
{
    struct nd_view name;

    if (line.data[line.len - 1] != ']')
        return fail_at(p, "a section wants its closing ']'");
    name = trim(line.data + 1, line.data + line.len - 1);
    for (unsigned half = ND_HALF_SKETCH; half <= ND_HALF_DECIDE; half <<= 1)
        if (equals(name, nd_recipe_half_name((enum nd_recipe_half)half))) {
            p->half = half;
            return ND_OK;
        }
    return fail_at(p, "no such section: there are [sketch] and [decide]");
}

/* Whether the key may stand here: in its section, and once. */
static enum nd_status check_place(struct parse *p, size_t key)
{
    struct nd_error reason;

    if (!p->half)
        return fail_at(p, "a key before the first section, [sketch] or [decide]");
    if (p->keys[key].half != p->half) {
        nd_fail(&reason, ND_EINVAL, "'%s' belongs in the section [%s]", p->keys[key].name,
                nd_recipe_half_name(p->keys[key].half));
        return fail_at(p, reason.message);
    }
    if (p->seen[key]) {
        nd_fail(&reason, ND_EINVAL, "'%s' is given twice, first on line %lu", p->keys[key].name,
                p->seen[key]);
        return fail_at(p, reason.message);
    }
    p->seen[key] = p->line;
    return ND_OK;
}

static enum nd_status assign(struct parse *p, struct nd_view line, void *values)
{
    const char *equal = memchr(line.data, '=', line.len), *end = line.data + line.len;
    struct nd_error reason;
    struct nd_view name, value;
    size_t key = 0;

    if (!equal)
        return fail_at(p, "neither a [section] nor a 'key = value'");
    name = trim(line.data, equal);
    value = trim(equal + 1, end);
    while (key < p->n_keys && !equals(name, p->keys[key].name))
        key++;
    if (key == p->n_keys)
        return fail_unknown(p, name);
    if (p->line && check_place(p, key) != ND_OK)
        return ND_EINVAL;
    if (nd_key_read(&p->keys[key], value, values, &reason) != ND_OK)
        return fail_at(p, reason.message);
    return ND_OK;
}

/* Bytes that would make a message or the canonical form something else than one line. */
static int has_control(struct nd_view line)
{
    for (size_t i = 0; i < line.len; i++)
        if (((unsigned char)line.data[i] < 0x20 && line.data[i] != '\t') || line.data[i] == 0x7f)
            return 1;
    return 0;
}

static enum nd_status parse_line(struct parse *p, struct nd_view line, void *values)
{
    if (!line.len || *line.data == '#' || *line.data == ';')
        return ND_OK;
    if (has_control(line))
        return fail_at(p, "a control character");
    if (*line.data == '[')
        return enter_section(p, line);
    return assign(p, line, values);
}

enum nd_status nd_keys_parse(const struct nd_recipe_key *keys, size_t n_keys, const char *name,
                             const char *text, size_t len, void *values, struct nd_error *err)
{
    struct parse p = {.keys = keys, .n_keys = n_keys, .name = name, .err = err};
    const char *end;

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        len -= 3;
    }
    end = text + len;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        enum nd_status status;

        p.line++;
        status = parse_line(&p, trim(text, newline ? newline : end), values);
        if (status != ND_OK)
            return status;
        text = newline ? newline + 1 : end;
    }
    return ND_OK;
}

enum nd_status nd_keys_set(const struct nd_recipe_key *keys, size_t n_keys, const char *assignment,
                           void *values, struct nd_error *err)
{
    struct parse p = {.keys = keys, .n_keys = n_keys, .name = "recipe", .err = err};
    struct nd_view line = trim(assignment, assignment + strlen(assignment));

    if (has_control(line))
        return fail_at(&p, "a control character");
    return assign(&p, line, values);
}
