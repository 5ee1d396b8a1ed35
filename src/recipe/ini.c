/*
 * ini.c - the text of a recipe: its sections and keys read, checked, written canonically
 *
 * A recipe is written as sections and "key = value"; a comment is a line that begins with # or ;.
 * All here follows from the rows of the two tables of recipe_keys.c: no function knows a key by
 * name; one value is read and written by value.c.  `values` is the struct that a table's keys are
 * in: struct nd_recipe for [sketch] and [decide], struct nd_recipe_signature for [signature NAME].
 *
 * From top to bottom: the canonical text; keys without effect; the lines of a text; one assignment;
 * the public functions.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/ini_lines.h"
#include "base/memory.h"
#include "base/view.h"
#include "recipe/recipe_keys.h"

static const char *half_name(enum nd_recipe_half half)
{
    return half == ND_HALF_SKETCH ? "sketch" : "decide";
}

/* The key of this name in a table.  NULL: there is none. */
static const struct nd_recipe_key *find_key(const struct nd_recipe_key *table, struct nd_view name)
{
    for (const struct nd_recipe_key *key = table; key->name; key++)
        if (nd_view_is(name, key->name))
            return key;
    return NULL;
}

/* ---- The canonical text: one spelling for each recipe, so that equal recipes are equal bytes --- */

struct ini_writer {
    struct nd_buffer *out;
    bool is_hashed; /* for the fingerprint: leave out what says only where something is */
    struct nd_error *err;
};

/* The key of this half whose name follows `after` in the alphabet; NULL: none does. */
static const struct nd_recipe_key *next_key(const struct nd_recipe_key *table,
                                            enum nd_recipe_half half, const char *after)
{
    const struct nd_recipe_key *next = NULL;

    for (const struct nd_recipe_key *key = table; key->name; key++)
        if (key->half == half && strcmp(key->name, after) > 0 &&
            (!next || strcmp(key->name, next->name) < 0))
            next = key;
    return next;
}

static bool append(struct ini_writer *w, const char *text)
{
    return nd_buffer_append(w->out, text, strlen(text));
}

static enum nd_status write_key(struct ini_writer *w, const struct nd_recipe_key *key,
                                const void *values)
{
    enum nd_status status;

    if (!append(w, key->name) || !append(w, " = "))
        return nd_fail(w->err, ND_ENOMEM, "out of memory");
    status = nd_key_write(key, values, w->out, w->err);
    if (status != ND_OK)
        return status;
    if (w->out->data[w->out->len - 1] == ' ') /* an empty value */
        w->out->len--;
    return append(w, "\n") ? ND_OK : nd_fail(w->err, ND_ENOMEM, "out of memory");
}

/* The heading, and all keys that are read, in alphabetical order, defaults too. */
static enum nd_status write_section(struct ini_writer *w, const struct nd_recipe_key *table,
                                    enum nd_recipe_half half, const char *kind, const char *name,
                                    const void *values)
{
    const struct nd_recipe_key *key = next_key(table, half, "");
    enum nd_status status = ND_OK;

    if (!append(w, "[") || !append(w, kind) || !append(w, *name ? " " : "") || !append(w, name) ||
        !append(w, "]\n"))
        return nd_fail(w->err, ND_ENOMEM, "out of memory");
    for (; key && status == ND_OK; key = next_key(table, half, key->name))
        if ((!key->is_read || key->is_lax || key->is_read(values)) &&
            !(key->is_unsaid && key->is_unsaid(values)) && !(w->is_hashed && key->is_place))
            status = write_key(w, key, values);
    return status;
}

/* Sections are in alphabetical order too: decide, signature NAME, sketch.  The text to hash is that
 * without [decide]. */
static enum nd_status write_recipe(struct ini_writer *w, const struct nd_recipe *recipe)
{
    const struct nd_method *m = &recipe->method;
    enum nd_status status = ND_OK;

    if (!w->is_hashed)
        status = write_section(w, nd_recipe_keys, ND_HALF_DECIDE, "decide", "", recipe);
    for (unsigned i = 0; i < m->n_signatures && status == ND_OK; i++)
        status = write_section(w, nd_signature_keys, ND_HALF_SKETCH, "signature",
                               m->signature[i].name, &m->signature[i]);
    if (status == ND_OK)
        status = write_section(w, nd_recipe_keys, ND_HALF_SKETCH, "sketch", "", recipe);
    return status;
}

/* ---- No key without effect: one that nothing reads must have its default ----------------------- */

/* Compare both values in their one spelling.  ND_EINVAL: they differ; ND_ENOMEM. */
static enum nd_status check_default(const struct nd_recipe_key *key, const void *values,
                                    const void *defaults, const char *signature,
                                    struct nd_error *err)
{
    struct nd_buffer text[2] = {{0}, {0}};
    char reader[ND_READER_MAX];
    struct nd_error reason;
    enum nd_status status = nd_key_write(key, values, &text[0], &reason);

    if (status == ND_OK)
        status = nd_key_write(key, defaults, &text[1], &reason);
    nd_key_reader(key, reader);
    if (status != ND_OK)
        nd_fail(err, status, "%s", reason.message);
    else if (text[0].len != text[1].len ||
             (text[0].len && memcmp(text[0].data, text[1].data, text[0].len) != 0))
        status = nd_fail(err, ND_EINVAL, "%s%s%s%s = %.*s is used only %s (its default: %.*s)",
                         signature ? "signature " : "", signature ? signature : "",
                         signature ? ": " : "", key->name, (int)text[0].len,
                         text[0].len ? text[0].data : "", reader,
                         text[1].len ? (int)text[1].len : 5, text[1].len ? text[1].data : "empty");
    nd_buffer_release(&text[0]);
    nd_buffer_release(&text[1]);
    return status;
}

/* `signature` is the section's name; NULL: the keys are those of [sketch] and [decide]. */
static enum nd_status check_defaults(const struct nd_recipe_key *table, const void *values,
                                     const void *defaults, const char *signature,
                                     struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (const struct nd_recipe_key *key = table; status == ND_OK && key->name; key++)
        if (key->is_read && !key->is_lax && !key->is_read(values))
            status = check_default(key, values, defaults, signature, err);
    return status;
}

enum nd_status nd_recipe_check(const struct nd_recipe *recipe, struct nd_error *err)
{
    const struct nd_recipe defaults = nd_recipe_default();
    const struct nd_recipe_signature section = nd_recipe_signature_default();
    enum nd_status status = nd_recipe_has_ends(recipe, err);
    struct nd_error reason;

    if (status == ND_OK)
        status = check_defaults(nd_recipe_keys, recipe, &defaults, NULL, err);
    for (unsigned i = 0; status == ND_OK && i < recipe->method.n_signatures; i++) {
        const struct nd_recipe_signature *s = &recipe->method.signature[i];

        status = check_defaults(nd_signature_keys, s, &section, s->name, err);
        if (status == ND_OK && nd_signature_fits(s, &reason) != ND_OK)
            status = nd_fail(err, reason.status, "signature %s: %s", s->name, reason.message);
    }
    if (status == ND_OK && nd_recipe_fits(recipe, &reason) != ND_OK)
        status = nd_fail(err, reason.status, "%s", reason.message);
    return status;
}

int nd_recipe_warning(const struct nd_recipe *recipe, size_t i, struct nd_error *warning)
{
    const struct nd_recipe defaults = nd_recipe_default();

    if (nd_recipe_has_ends(recipe, warning) != ND_OK)
        return 0; /* nd_recipe_check says so */
    for (const struct nd_recipe_key *key = nd_recipe_keys; key->name; key++)
        if (key->is_lax && !key->is_read(recipe) &&
            check_default(key, recipe, &defaults, NULL, warning) == ND_EINVAL && i-- == 0)
            return 1;
    if (i != 0 || !recipe->method.n_signatures || recipe->dedup.candidates == ND_CANDIDATES_MATCH)
        return 0;
    nd_fail(warning, ND_EINVAL, "the signatures are not used: candidates is not match");
    return 1;
}

/* ---- The lines of a text ------------------------------------------------------------------------ */

struct parser {
    struct nd_recipe *recipe;
    const char *name;                    /* of the text, for messages */
    struct nd_view folder;               /* of the text, with its slash */
    unsigned long line;                  /* from 1; 0: an assignment of its own */
    bool in_section;                     /* false: before the first heading */
    enum nd_recipe_half half;            /* of the section at hand */
    struct nd_recipe_signature *section; /* NULL: it is [sketch] or [decide] */
    unsigned long heading;               /* the line of the section's heading */
    /* By the place of a key in its table: the line that gave it, 0: none. */
    unsigned long seen[ND_KEYS_MAX];
    unsigned long seen_in_section[ND_KEYS_MAX];
    struct {
        struct nd_view name;
        unsigned long line;
    } given[ND_RECIPE_SIGNATURES]; /* the sections [signature NAME] so far */
    size_t n_given;
    struct nd_error *err;
};

/* Fail with "name:line: reason"; without a line, where it is 0. */
static enum nd_status fail_at(const struct parser *p, unsigned long line, const char *format, ...)
    ND_PRINTF(3, 4);

static enum nd_status fail_at(const struct parser *p, unsigned long line, const char *format, ...)
{
    char reason[sizeof p->err->message];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (line)
        return nd_fail(p->err, ND_EINVAL, "%s:%lu: %s", p->name, line, reason);
    return nd_fail(p->err, ND_EINVAL, "%s: %s", p->name, reason);
}

/* Report the failure of a called function.  What failed for want of memory says nothing of the
 * recipe. */
static enum nd_status fail_as(const struct parser *p, unsigned long line,
                              const struct nd_error *reason)
{
    if (reason->status == ND_ENOMEM)
        return nd_fail(p->err, ND_ENOMEM, "%s: %s", p->name, reason->message);
    return fail_at(p, line, "%s", reason->message);
}

/* The keys of the section at hand. */
static const struct nd_recipe_key *keys_of(const struct parser *p)
{
    return p->section ? nd_signature_keys : nd_recipe_keys;
}

/* No key of the section has this name: it belongs elsewhere, is nowhere, or is mistyped. */
static enum nd_status fail_unknown(const struct parser *p, struct nd_view name)
{
    const struct nd_recipe_key *table = keys_of(p), *other;
    const char *names[ND_KEYS_MAX], *nearest;
    size_t n = 0;

    other = find_key(p->section ? nd_recipe_keys : nd_signature_keys, name);
    if (other && p->section)
        return fail_at(p, p->line, "'%s' belongs in the section [%s]", other->name,
                       half_name(other->half));
    if (other)
        return fail_at(p, p->line, "'%s' belongs in a section [signature NAME]%s%s", other->name,
                       p->line ? "" : "; say NAME.", p->line ? "" : other->name);
    for (; table[n].name; n++)
        names[n] = table[n].name;
    nearest = nd_name_nearest(name.data, name.len, names, n);
    return fail_at(p, p->line, "no key '%.*s'%s%s%s", nd_view_shown(name), name.data,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Report the first of the given keys that nothing reads. */
static enum nd_status check_given(const struct parser *p, const unsigned long *seen,
                                  const struct nd_recipe_key *table, const void *values)
{
    char reader[ND_READER_MAX];

    for (const struct nd_recipe_key *key = table; key->name; key++) {
        if (!seen[key - table] || key->is_lax || !key->is_read || key->is_read(values))
            continue;
        nd_key_reader(key, reader);
        return fail_at(p, seen[key - table], "'%s' is used only %s", key->name, reader);
    }
    return ND_OK;
}

/* The line of the key that a message begins with; `other` where that key was not given. */
static unsigned long line_of(const char *message, const struct nd_recipe_key *table,
                             const unsigned long *seen, unsigned long other)
{
    struct nd_view name = {message, strspn(message, "abcdefghijklmnopqrstuvwxyz_")};
    const struct nd_recipe_key *key = find_key(table, name);

    return key && seen[key - table] ? seen[key - table] : other;
}

/* A section ends: what is given in it is read, and fits together. */
static enum nd_status leave_section(struct parser *p)
{
    const struct nd_recipe_signature *section = p->section;
    const struct nd_recipe_key *table = nd_signature_keys;
    struct nd_error reason;

    p->section = NULL;
    if (!section)
        return ND_OK;
    if (check_given(p, p->seen_in_section, table, section) != ND_OK)
        return ND_EINVAL;
    if (nd_signature_fits(section, &reason) != ND_OK)
        return fail_as(p, line_of(reason.message, table, p->seen_in_section, p->heading), &reason);
    return ND_OK;
}

/* The last section is left: what holds of the whole. */
static enum nd_status leave_text(struct parser *p)
{
    enum nd_status status = leave_section(p);
    struct nd_error reason;

    if (status == ND_OK)
        status = check_given(p, p->seen, nd_recipe_keys, p->recipe);
    if (status == ND_OK && nd_recipe_fits(p->recipe, &reason) != ND_OK)
        status = fail_as(p, line_of(reason.message, nd_recipe_keys, p->seen, 0), &reason);
    return status;
}

static enum nd_status enter_signature(struct parser *p, struct nd_view name)
{
    struct nd_error reason;

    for (size_t i = 0; i < p->n_given; i++)
        if (nd_view_equal(p->given[i].name, name))
            return fail_at(p, p->line,
                           "the section [signature %.*s] is given twice, first on line %lu",
                           nd_view_shown(name), name.data, p->given[i].line);
    p->section = nd_recipe_section(p->recipe, name, &reason);
    if (!p->section)
        return fail_as(p, p->line, &reason);
    p->given[p->n_given].name = name;
    p->given[p->n_given++].line = p->line;
    memset(p->seen_in_section, 0, sizeof p->seen_in_section);
    p->heading = p->line;
    p->half = ND_HALF_SKETCH;
    return ND_OK;
}

static enum nd_status enter_section(struct parser *p, struct nd_view name)
{
    static const char kind[] = "signature";
    const size_t len = sizeof kind - 1;
    enum nd_status status = leave_section(p);

    if (status != ND_OK)
        return status;
    p->in_section = true;
    for (enum nd_recipe_half half = ND_HALF_SKETCH; half <= ND_HALF_DECIDE; half++)
        if (nd_view_is(name, half_name(half))) {
            p->half = half;
            return ND_OK;
        }
    if (name.len > len && memcmp(name.data, kind, len) == 0 &&
        (name.data[len] == ' ' || name.data[len] == '\t'))
        return enter_signature(p, nd_view_trim(name.data + len, name.data + name.len));
    return fail_at(p, p->line, "unknown section; expected [sketch], [decide] or [signature NAME]");
}

/* Whether the key may stand here: in its section, and once. */
static enum nd_status check_place(struct parser *p, const struct nd_recipe_key *key)
{
    unsigned long *seen = (p->section ? p->seen_in_section : p->seen) + (key - keys_of(p));

    if (key->half != p->half)
        return fail_at(p, p->line, "'%s' belongs in the section [%s]", key->name,
                       half_name(key->half));
    if (*seen)
        return fail_at(p, p->line, "'%s' is given twice, first on line %lu", key->name, *seen);
    *seen = p->line;
    return ND_OK;
}

static enum nd_status assign(struct parser *p, struct nd_view name, struct nd_view value)
{
    const struct nd_recipe_key *key = find_key(keys_of(p), name);
    struct nd_error reason;

    if (!key)
        return fail_unknown(p, name);
    if (p->line && check_place(p, key) != ND_OK)
        return ND_EINVAL;
    if (nd_key_read(key, value, p->folder, p->section ? (void *)p->section : p->recipe, &reason) !=
        ND_OK)
        return fail_as(p, p->line, &reason);
    return ND_OK;
}

static enum nd_status parse_text(struct parser *p, const char *text, size_t len)
{
    struct nd_ini ini = nd_ini_begin(text, len);
    enum nd_status status = ND_OK;
    enum nd_ini_kind kind;

    while (status == ND_OK && (kind = nd_ini_next(&ini)) != ND_INI_END) {
        p->line = ini.line;
        if (kind == ND_INI_MISTAKE)
            status = fail_at(p, p->line, "%s", ini.mistake);
        else if (kind == ND_INI_SECTION)
            status = enter_section(p, ini.name);
        else if (!p->in_section)
            status = fail_at(p, p->line, "a key before the first section, [sketch] or [decide]");
        else
            status = assign(p, ini.name, ini.value);
    }
    return status == ND_OK ? leave_text(p) : status;
}

/* Tell the signatures which part of pages is read: they share df tables only with those of the same. */
static void share_boilerplate(struct nd_recipe *recipe)
{
    for (unsigned i = 0; i < recipe->method.n_signatures; i++)
        recipe->method.signature[i].feature.boilerplate = recipe->dedup.sketch.boilerplate;
}

enum nd_status nd_recipe_parse(struct nd_recipe *recipe, const char *name, const char *text,
                               size_t len, struct nd_error *err)
{
    const char *slash = strrchr(name, '/');
    struct nd_recipe parsed = *recipe; /* so that a failure leaves the recipe as it was */
    struct parser p = {.recipe = &parsed,
                       .name = name,
                       .folder = {name, slash ? (size_t)(slash + 1 - name) : 0},
                       .err = err};
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    if (status == ND_OK)
        status = parse_text(&p, text, len);
    if (status != ND_OK)
        return status;
    *recipe = parsed;
    share_boilerplate(recipe);
    return ND_OK;
}

/* ---- One key: "key" or "NAME.key", and "= value" ------------------------------------------------ */

/* Take "NAME." off a key, where it has one: the section at hand becomes that of this name. */
static enum nd_status take_section(struct parser *p, struct nd_view *key)
{
    struct nd_method *m = &p->recipe->method;
    const char *dot = key->len ? memchr(key->data, '.', key->len) : NULL, *nearest;
    const char *names[ND_RECIPE_SIGNATURES] = {NULL};
    struct nd_view name;

    if (!dot)
        return ND_OK;
    name = nd_view_trim(key->data, dot);
    *key = nd_view_trim(dot + 1, key->data + key->len);
    for (unsigned i = 0; i < m->n_signatures; i++) {
        names[i] = m->signature[i].name;
        if (nd_view_is(name, names[i])) {
            p->section = &m->signature[i];
            return ND_OK;
        }
    }
    nearest = nd_name_nearest(name.data, name.len, names, m->n_signatures);
    return fail_at(p, 0, "the recipe has no signature '%.*s'%s%s%s", nd_view_shown(name), name.data,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

enum nd_status nd_recipe_set(struct nd_recipe *recipe, const char *assignment, struct nd_error *err)
{
    struct parser p = {.recipe = recipe, .name = "recipe", .folder = {"", 0}, .err = err};
    struct nd_view line = nd_view_trim(assignment, assignment + strlen(assignment));
    enum nd_status status = nd_recipe_has_ends(recipe, err);
    struct nd_ini ini = {.line = 0};
    enum nd_ini_kind kind;

    if (status != ND_OK)
        return status;
    kind = nd_ini_read_line(line, &ini);
    if (kind == ND_INI_MISTAKE)
        return fail_at(&p, 0, "%s", ini.mistake);
    if (kind == ND_INI_SECTION)
        return fail_at(&p, 0, "a [section], not a 'key = value'");
    if (take_section(&p, &ini.name) != ND_OK)
        return ND_EINVAL;
    status = assign(&p, ini.name, ini.value);
    if (status == ND_OK)
        share_boilerplate(recipe);
    return status;
}

/* Append the value of a key. */
static enum nd_status write_named(const struct nd_recipe *recipe, const char *name,
                                  struct nd_buffer *out, struct nd_error *err)
{
    /* The parser writes through `recipe` only where it assigns. */
    struct parser p = {.recipe = (struct nd_recipe *)(uintptr_t)recipe,
                       .name = "recipe",
                       .folder = {"", 0},
                       .err = err};
    struct nd_view rest = nd_view_trim(name, name + strlen(name));
    const struct nd_recipe_key *key;
    struct nd_error reason;

    if (take_section(&p, &rest) != ND_OK)
        return ND_EINVAL;
    key = find_key(keys_of(&p), rest);
    if (!key)
        return fail_unknown(&p, rest);
    if (nd_key_write(key, p.section ? (void *)p.section : p.recipe, out, &reason) != ND_OK)
        return fail_as(&p, 0, &reason);
    return ND_OK;
}

/* ---- Texts that are the caller's ---------------------------------------------------------------- */

/* Hand the text on, or free it where something failed. */
static enum nd_status give(struct nd_buffer *text, enum nd_status status, char **out, size_t *len,
                           struct nd_error *err)
{
    if (status == ND_OK && !nd_buffer_append(text, "", 1))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status != ND_OK) {
        nd_buffer_release(text);
        return status;
    }
    *out = text->data;
    *len = text->len - 1;
    return ND_OK;
}

enum nd_status nd_recipe_get(const struct nd_recipe *recipe, const char *key, char **value,
                             struct nd_error *err)
{
    struct nd_buffer text = {0};
    enum nd_status status = nd_recipe_has_ends(recipe, err);
    size_t len;

    if (status == ND_OK)
        status = write_named(recipe, key, &text, err);
    return give(&text, status, value, &len, err);
}

static enum nd_status hash_recipe(const struct nd_recipe *recipe, uint64_t *fingerprint,
                                  struct nd_error *err)
{
    struct nd_buffer text = {0};
    enum nd_status status = write_recipe(&(struct ini_writer){&text, true, err}, recipe);

    if (status == ND_OK)
        *fingerprint = nd_hash_bytes(text.data, text.len);
    nd_buffer_release(&text);
    return status;
}

enum nd_status nd_recipe_canonical(const struct nd_recipe *recipe, char **text, size_t *len,
                                   uint64_t *fingerprint, struct nd_error *err)
{
    struct nd_buffer whole = {0};
    uint64_t hash = 0;
    enum nd_status status = nd_recipe_check(recipe, err);

    if (status == ND_OK)
        status = write_recipe(&(struct ini_writer){&whole, false, err}, recipe);
    if (status == ND_OK)
        status = hash_recipe(recipe, &hash, err);
    status = give(&whole, status, text, len, err);
    if (status == ND_OK && fingerprint)
        *fingerprint = hash;
    return status;
}
