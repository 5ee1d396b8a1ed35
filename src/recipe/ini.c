/* ini.c - the text of a recipe: sections, "key = value", comments from # or ; at a line's start */
#include "recipe/keys.h"

#include <string.h>

enum { SECTIONS_MAX = 16 }; /* named ones in a text that are told apart for messages */

struct parse {
    const struct nd_recipe_schema *schema;
    const char *name;                      /* of the text, for messages */
    struct nd_view folder;                 /* of it, with the slash */
    unsigned long line;                    /* from 1; 0: a command line's assignment */
    unsigned half;                         /* of the section, 0 before the first */
    unsigned long heading;                 /* the line of its heading */
    void *section;                         /* values of the named section, NULL in another */
    unsigned long seen[ND_KEYS_MAX];       /* the line that gave the key, 0: none yet */
    unsigned long seen_named[ND_KEYS_MAX]; /* in this named section */
    struct {
        struct nd_view name;
        unsigned long line;
    } given[SECTIONS_MAX];
    size_t n_given;
    struct nd_error *err;
};

struct nd_view nd_view_trim(const char *data, const char *end)
{
    while (data < end && strchr(" \t\r", *data) && *data)
        data++;
    while (data < end && strchr(" \t\r", end[-1]) && end[-1])
        end--;
    return (struct nd_view){data, (size_t)(end - data)};
}

bool nd_view_is(struct nd_view view, const char *word)
{
    return view.len == strlen(word) && memcmp(view.data, word, view.len) == 0;
}

const struct nd_recipe_key *nd_key_find(const struct nd_key_table *const *table, size_t n,
                                        struct nd_view name, size_t *place)
{
    *place = 0;
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < table[t]->n; i++, ++*place)
            if (nd_view_is(name, table[t]->key[i].name))
                return &table[t]->key[i];
    return NULL;
}

/* Fail with "name:line: reason".  What failed for want of memory says nothing of the recipe. */
static enum nd_status fail_as(const struct parse *p, unsigned long line, enum nd_status status,
                              const char *reason)
{
    char copy[sizeof p->err->message]; /* the reason may stand in err itself */

    strncpy(copy, reason, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    if (status == ND_ENOMEM)
        return nd_fail(p->err, status, "%s: %s", p->name, copy);
    if (line)
        return nd_fail(p->err, ND_EINVAL, "%s:%lu: %s", p->name, line, copy);
    return nd_fail(p->err, ND_EINVAL, "%s: %s", p->name, copy);
}

static enum nd_status fail_at(const struct parse *p, unsigned long line, const char *reason)
{
    return fail_as(p, line, ND_EINVAL, reason);
}

/* What keys the section has. */
static const struct nd_key_table *const *tables_of(const struct parse *p, size_t *n)
{
    *n = p->section ? p->schema->n_named : 1;
    return p->section ? p->schema->named : &p->schema->plain;
}

/* The key belongs elsewhere, is nowhere, or is mistyped. */
static enum nd_status fail_unknown(const struct parse *p, struct nd_view name)
{
    const char *names[ND_KEYS_MAX], *nearest;
    const struct nd_recipe_key *other;
    struct nd_error reason;
    size_t n = 0, n_tables, place;
    const struct nd_key_table *const *table = tables_of(p, &n_tables);

    other = p->section ? nd_key_find(&p->schema->plain, 1, name, &place)
                       : nd_key_find(p->schema->named, p->schema->n_named, name, &place);
    for (size_t t = 0; t < n_tables; t++)
        for (size_t i = 0; i < table[t]->n; i++)
            names[n++] = table[t]->key[i].name;
    nearest = nd_name_nearest(name.data, name.len, names, n);
    if (other && p->section)
        nd_fail(&reason, ND_EINVAL, "'%s' belongs in the section [%s]", other->name,
                nd_recipe_half_name(other->half));
    else if (other)
        nd_fail(&reason, ND_EINVAL, "'%s' belongs in a section [%s NAME]%s%s", other->name,
                p->schema->section, p->line ? "" : "; say NAME.", p->line ? "" : other->name);
    else
        nd_fail(&reason, ND_EINVAL, "no key '%.*s'%s%s%s", nd_view_shown(name), name.data,
                nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return fail_at(p, p->line, reason.message);
}

/* The first key of the section just left that nothing reads. */
static enum nd_status check_read(const struct parse *p, const unsigned long *seen,
                                 const struct nd_key_table *const *table, size_t n,
                                 const void *values)
{
    struct nd_error reason;
    size_t place = 0;

    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < table[t]->n; i++, place++) {
            const struct nd_recipe_key *key = &table[t]->key[i];

            if (!seen[place] || key->is_lax || !key->is_read || key->is_read(values))
                continue;
            nd_fail(&reason, ND_EINVAL, "'%s' is read only %s", key->name, key->reader);
            return fail_at(p, seen[place], reason.message);
        }
    return ND_OK;
}

/* The line of the key that a message begins with; `other` where it is none of those given. */
static unsigned long line_of(const char *message, const struct nd_key_table *const *table, size_t n,
                             const unsigned long *seen, unsigned long other)
{
    struct nd_view name = {message, strspn(message, "abcdefghijklmnopqrstuvwxyz_")};
    size_t place;

    return nd_key_find(table, n, name, &place) && seen[place] ? seen[place] : other;
}

static enum nd_status leave_section(struct parse *p)
{
    const struct nd_recipe_schema *s = p->schema;
    const void *section = p->section;
    struct nd_error reason;

    p->section = NULL;
    if (!section)
        return ND_OK;
    if (check_read(p, p->seen_named, s->named, s->n_named, section) != ND_OK)
        return ND_EINVAL;
    if (s->section_fits && s->section_fits(section, &reason) != ND_OK)
        return fail_as(p, line_of(reason.message, s->named, s->n_named, p->seen_named, p->heading),
                       reason.status, reason.message);
    return ND_OK;
}

/* The last section is left: what holds of the whole. */
static enum nd_status leave_text(struct parse *p, const void *values)
{
    const struct nd_recipe_schema *s = p->schema;
    enum nd_status status = leave_section(p);
    struct nd_error reason;

    if (status == ND_OK)
        status = check_read(p, p->seen, &s->plain, 1, values);
    if (status != ND_OK)
        return status;
    if (s->fits && s->fits(values, &reason) != ND_OK)
        return fail_as(p, line_of(reason.message, &s->plain, 1, p->seen, 0), reason.status,
                       reason.message);
    return ND_OK;
}

static enum nd_status enter_named(struct parse *p, struct nd_view name, void *values)
{
    struct nd_error reason;

    for (size_t i = 0; i < p->n_given; i++)
        if (p->given[i].name.len == name.len &&
            memcmp(p->given[i].name.data, name.data, name.len) == 0) {
            nd_fail(&reason, ND_EINVAL, "the section [%s %.*s] is given twice, first on line %lu",
                    p->schema->section, nd_view_shown(name), name.data, p->given[i].line);
            return fail_at(p, p->line, reason.message);
        }
    p->section = p->schema->add(values, name, &reason);
    if (!p->section)
        return fail_as(p, p->line, reason.status, reason.message);
    if (p->n_given < SECTIONS_MAX) {
        p->given[p->n_given].name = name;
        p->given[p->n_given++].line = p->line;
    }
    memset(p->seen_named, 0, sizeof p->seen_named);
    p->heading = p->line;
    p->half = ND_HALF_SKETCH;
    return ND_OK;
}

static enum nd_status enter_section(struct parse *p, struct nd_view line, void *values)
{
    struct nd_error reason;
    struct nd_view name;
    size_t len = strlen(p->schema->section);
    enum nd_status status = leave_section(p);

    if (status != ND_OK)
        return status;
    if (line.data[line.len - 1] != ']')
        return fail_at(p, p->line, "a section wants its closing ']'");
    name = nd_view_trim(line.data + 1, line.data + line.len - 1);
    for (unsigned half = ND_HALF_SKETCH; half <= ND_HALF_DECIDE; half <<= 1)
        if (nd_view_is(name, nd_recipe_half_name((enum nd_recipe_half)half))) {
            p->half = half;
            return ND_OK;
        }
    if (name.len > len && memcmp(name.data, p->schema->section, len) == 0 &&
        (name.data[len] == ' ' || name.data[len] == '\t'))
        return enter_named(p, nd_view_trim(name.data + len, name.data + name.len), values);
    nd_fail(&reason, ND_EINVAL, "no such section: there are [sketch], [decide] and [%s NAME]",
            p->schema->section);
    return fail_at(p, p->line, reason.message);
}

/* Whether the key may stand here: in its section, and once. */
static enum nd_status check_place(struct parse *p, const struct nd_recipe_key *key, size_t place)
{
    unsigned long *seen = p->section ? p->seen_named : p->seen;
    struct nd_error reason;

    if (key->half != p->half) {
        nd_fail(&reason, ND_EINVAL, "'%s' belongs in the section [%s]", key->name,
                nd_recipe_half_name(key->half));
        return fail_at(p, p->line, reason.message);
    }
    if (seen[place]) {
        nd_fail(&reason, ND_EINVAL, "'%s' is given twice, first on line %lu", key->name,
                seen[place]);
        return fail_at(p, p->line, reason.message);
    }
    seen[place] = p->line;
    return ND_OK;
}

/* Cut "key = value" at the sign. */
static bool split(struct nd_view line, struct nd_view *name, struct nd_view *value)
{
    const char *equal = line.len ? memchr(line.data, '=', line.len) : NULL;

    if (!equal)
        return false;
    *name = nd_view_trim(line.data, equal);
    *value = nd_view_trim(equal + 1, line.data + line.len);
    return true;
}

static enum nd_status assign(struct parse *p, struct nd_view name, struct nd_view value,
                             void *values)
{
    const struct nd_recipe_key *key;
    const struct nd_key_table *const *table;
    struct nd_error reason;
    size_t n, place;

    table = tables_of(p, &n);
    key = nd_key_find(table, n, name, &place);
    if (!key)
        return fail_unknown(p, name);
    if (p->line && check_place(p, key, place) != ND_OK)
        return ND_EINVAL;
    if (nd_key_read(key, value, p->folder, p->section ? p->section : values, &reason) != ND_OK)
        return fail_as(p, p->line, reason.status, reason.message);
    return ND_OK;
}

/* Bytes that would make a message or the canonical form something else than one line. */
static bool has_control(struct nd_view line)
{
    for (size_t i = 0; i < line.len; i++)
        if (((unsigned char)line.data[i] < 0x20 && line.data[i] != '\t') || line.data[i] == 0x7f)
            return true;
    return false;
}

static enum nd_status parse_line(struct parse *p, struct nd_view line, void *values)
{
    struct nd_view name, value;

    if (!line.len || *line.data == '#' || *line.data == ';')
        return ND_OK;
    if (has_control(line))
        return fail_at(p, p->line, "a control character");
    if (*line.data == '[')
        return enter_section(p, line, values);
    if (!split(line, &name, &value))
        return fail_at(p, p->line, "neither a [section] nor a 'key = value'");
    if (!p->half)
        return fail_at(p, p->line, "a key before the first section, [sketch] or [decide]");
    return assign(p, name, value, values);
}

enum nd_status nd_keys_parse(const struct nd_recipe_schema *schema, const char *name,
                             const char *text, size_t len, void *values, struct nd_error *err)
{
    const char *slash = strrchr(name, '/'), *end;
    struct parse p = {.schema = schema,
                      .name = name,
                      .folder = {name, slash ? (size_t)(slash + 1 - name) : 0},
                      .err = err};

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        len -= 3;
    }
    end = text + len;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        enum nd_status status;

        p.line++;
        status = parse_line(&p, nd_view_trim(text, newline ? newline : end), values);
        if (status != ND_OK)
            return status;
        text = newline ? newline + 1 : end;
    }
    return leave_text(&p, values);
}

/* "NAME." before a key: the section must be there. */
static enum nd_status find_named(struct parse *p, struct nd_view name, void *values)
{
    const struct nd_recipe_schema *s = p->schema;
    const char *names[SECTIONS_MAX], *nearest;
    struct nd_error reason;
    const void *section;
    size_t n = 0;

    for (; n < SECTIONS_MAX && (names[n] = s->nth(values, n, &section)); n++)
        if (nd_view_is(name, names[n])) {
            p->section = (char *)values + ((const char *)section - (const char *)values);
            return ND_OK;
        }
    nearest = nd_name_nearest(name.data, name.len, names, n);
    nd_fail(&reason, ND_EINVAL, "the recipe has no %s '%.*s'%s%s%s", s->section,
            nd_view_shown(name), name.data, nearest ? "; did you mean '" : "",
            nearest ? nearest : "", nearest ? "'?" : "");
    return fail_at(p, 0, reason.message);
}

enum nd_status nd_keys_set(const struct nd_recipe_schema *schema, const char *assignment,
                           void *values, struct nd_error *err)
{
    struct parse p = {.schema = schema, .name = "recipe", .folder = {"", 0}, .err = err};
    struct nd_view line = nd_view_trim(assignment, assignment + strlen(assignment)), name, value;
    const char *dot;

    if (has_control(line))
        return fail_at(&p, 0, "a control character");
    if (!split(line, &name, &value))
        return fail_at(&p, 0, "neither a [section] nor a 'key = value'");
    dot = name.len ? memchr(name.data, '.', name.len) : NULL;
    if (dot) {
        if (find_named(&p, nd_view_trim(name.data, dot), values) != ND_OK)
            return ND_EINVAL;
        name = nd_view_trim(dot + 1, name.data + name.len);
    }
    return assign(&p, name, value, values);
}
