/* canonical.c - one spelling for each recipe, so that equal recipes are equal bytes */
#include "recipe/keys.h"

#include <string.h>

const char *nd_recipe_half_name(enum nd_recipe_half half)
{
    return half == ND_HALF_SKETCH ? "sketch" : "decide";
}

struct writer {
    const struct nd_recipe_schema *schema;
    bool is_hashed;
    struct nd_buffer *out;
    struct nd_error *err;
};

/* The key of this half whose name follows `after` in the alphabet; NULL: none does. */
static const struct nd_recipe_key *next_key(const struct nd_key_table *const *table, size_t n,
                                            enum nd_recipe_half half, const char *after)
{
    const struct nd_recipe_key *next = NULL;

    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < table[t]->n; i++) {
            const struct nd_recipe_key *key = &table[t]->key[i];

            if (key->half == half && strcmp(key->name, after) > 0 &&
                (!next || strcmp(key->name, next->name) < 0))
                next = key;
        }
    return next;
}

static bool append(struct writer *w, const char *text)
{
    return nd_buffer_append(w->out, text, strlen(text));
}

static enum nd_status write_key(struct writer *w, const struct nd_recipe_key *key,
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

static enum nd_status write_section(struct writer *w, const struct nd_key_table *const *table,
                                    size_t n, enum nd_recipe_half half, const char *kind,
                                    const char *name, const void *values)
{
    const struct nd_recipe_key *key = next_key(table, n, half, "");
    enum nd_status status = ND_OK;

    if (key && (!append(w, "[") || !append(w, kind) || !append(w, *name ? " " : "") ||
                !append(w, name) || !append(w, "]\n")))
        return nd_fail(w->err, ND_ENOMEM, "out of memory");
    for (; key && status == ND_OK; key = next_key(table, n, half, key->name))
        if ((!key->is_read || key->is_lax || key->is_read(values)) &&
            !(w->is_hashed && key->is_place))
            status = write_key(w, key, values);
    return status;
}

static enum nd_status write_named(struct writer *w, const void *values)
{
    const struct nd_recipe_schema *s = w->schema;
    enum nd_status status = ND_OK;
    const void *section;
    const char *name;

    for (size_t i = 0; status == ND_OK && s->nth && (name = s->nth(values, i, &section)); i++)
        status = write_section(w, s->named, s->n_named, ND_HALF_SKETCH, s->section, name, section);
    return status;
}

static enum nd_status write_half(struct writer *w, enum nd_recipe_half half, const void *values)
{
    return write_section(w, &w->schema->plain, 1, half, nd_recipe_half_name(half), "", values);
}

/* "decide" < "signature" < "sketch". */
enum nd_status nd_keys_canonical(const struct nd_recipe_schema *schema, unsigned halves,
                                 bool is_hashed, const void *values, struct nd_buffer *out,
                                 struct nd_error *err)
{
    struct writer w = {schema, is_hashed, out, err};
    enum nd_status status = ND_OK;

    if (halves & ND_HALF_DECIDE)
        status = write_half(&w, ND_HALF_DECIDE, values);
    if (status == ND_OK && (halves & ND_HALF_SKETCH))
        status = write_named(&w, values);
    if (status == ND_OK && (halves & ND_HALF_SKETCH))
        status = write_half(&w, ND_HALF_SKETCH, values);
    return status;
}
