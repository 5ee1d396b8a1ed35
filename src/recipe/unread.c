/* unread.c - no option that does nothing: a key that nothing reads holds its default; and the rest
 * fits together */
#include "recipe/keys.h"

#include <string.h>

/* Both values in their one spelling. */
static enum nd_status compare(const struct nd_recipe_key *key, const void *values,
                              const void *defaults, const char *section, const char *name,
                              struct nd_buffer text[2], struct nd_error *err)
{
    struct nd_error reason;
    enum nd_status status;

    text[0].len = text[1].len = 0;
    status = nd_key_write(key, values, &text[0], &reason);
    if (status == ND_OK)
        status = nd_key_write(key, defaults, &text[1], &reason);
    if (status != ND_OK)
        return nd_fail(err, status, "%s", reason.message);
    if (text[0].len == text[1].len &&
        (!text[0].len || memcmp(text[0].data, text[1].data, text[0].len) == 0))
        return ND_OK;
    return nd_fail(err, ND_EINVAL, "%s%s%s%s%s = %.*s is read only %s (its default: %.*s)",
                   name ? section : "", name ? " " : "", name ? name : "", name ? ": " : "",
                   key->name, (int)text[0].len, text[0].len ? text[0].data : "", key->reader,
                   text[1].len ? (int)text[1].len : 5, text[1].len ? text[1].data : "empty");
}

static enum nd_status check(const struct nd_key_table *const *table, size_t n, const void *values,
                            const void *defaults, const char *section, const char *name,
                            struct nd_error *err)
{
    struct nd_buffer text[2] = {{0}, {0}};
    enum nd_status status = ND_OK;

    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; status == ND_OK && i < table[t]->n; i++) {
            const struct nd_recipe_key *key = &table[t]->key[i];

            if (key->is_read && !key->is_lax && !key->is_read(values))
                status = compare(key, values, defaults, section, name, text, err);
        }
    nd_buffer_release(&text[0]);
    nd_buffer_release(&text[1]);
    return status;
}

static enum nd_status check_fit(const struct nd_recipe_schema *schema, const void *section,
                                const char *name, struct nd_error *err)
{
    struct nd_error reason;
    enum nd_status status = ND_OK;

    if (schema->section_fits)
        status = schema->section_fits(section, &reason);
    if (status == ND_OK)
        return ND_OK;
    return nd_fail(err, status, "%s %s: %s", schema->section, name, reason.message);
}

enum nd_status nd_keys_check(const struct nd_recipe_schema *schema, const void *values,
                             const void *defaults, const void *named_defaults, struct nd_error *err)
{
    enum nd_status status = check(&schema->plain, 1, values, defaults, "", NULL, err);
    struct nd_error reason;
    const void *section;
    const char *name;

    for (size_t i = 0; status == ND_OK && (name = schema->nth(values, i, &section)); i++) {
        status = check(schema->named, schema->n_named, section, named_defaults, schema->section,
                       name, err);
        if (status == ND_OK)
            status = check_fit(schema, section, name, err);
    }
    if (status != ND_OK || !schema->fits)
        return status;
    status = schema->fits(values, &reason);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "%s", reason.message);
}

bool nd_keys_warning(const struct nd_recipe_schema *schema, const void *values,
                     const void *defaults, size_t i, struct nd_error *warning)
{
    struct nd_buffer text[2] = {{0}, {0}};
    bool found = false;

    for (size_t k = 0; k < schema->plain->n && !found; k++) {
        const struct nd_recipe_key *key = &schema->plain->key[k];

        found = key->is_lax && !key->is_read(values) &&
                compare(key, values, defaults, "", NULL, text, warning) == ND_EINVAL && i-- == 0;
    }
    nd_buffer_release(&text[0]);
    nd_buffer_release(&text[1]);
    return found;
}
