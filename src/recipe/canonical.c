/* canonical.c - one spelling for each recipe, so that equal recipes are equal bytes */
#include "recipe/keys.h"

#include <string.h>

const char *nd_recipe_half_name(enum nd_recipe_half half)
{
    return half == ND_HALF_SKETCH ? "sketch" : "decide";
}

/* The key of this half whose name follows `after` in the alphabet; NULL: none does. */
static const struct nd_recipe_key *next_key(const struct nd_recipe_key *keys, size_t n_keys,
                                            enum nd_recipe_half half, const char *after)
{
    const struct nd_recipe_key *next = NULL;

    for (size_t i = 0; i < n_keys; i++)
        if (keys[i].half == half && strcmp(keys[i].name, after) > 0 &&
            (!next || strcmp(keys[i].name, next->name) < 0))
            next = &keys[i];
    return next;
}

static bool append(struct nd_buffer *out, const char *text)
{
    return nd_buffer_append(out, text, strlen(text));
}

static enum nd_status write_section(const struct nd_recipe_key *keys, size_t n_keys,
                                    enum nd_recipe_half half, const void *values,
                                    struct nd_buffer *out, struct nd_error *err)
{
    const struct nd_recipe_key *key = next_key(keys, n_keys, half, "");

    if (key &&
        (!append(out, "[") || !append(out, nd_recipe_half_name(half)) || !append(out, "]\n")))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (; key; key = next_key(keys, n_keys, half, key->name)) {
        enum nd_status status;

        if (!append(out, key->name) || !append(out, " = "))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        status = nd_key_write(key, values, out, err);
        if (status != ND_OK)
            return status;
        if (!append(out, "\n"))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return ND_OK;
}

enum nd_status nd_keys_canonical(const struct nd_recipe_key *keys, size_t n_keys, unsigned halves,
                                 const void *values, struct nd_buffer *out, struct nd_error *err)
{
    static const enum nd_recipe_half alphabet[] = {ND_HALF_DECIDE, ND_HALF_SKETCH};

    for (size_t i = 0; i < sizeof alphabet / sizeof *alphabet; i++) {
        enum nd_status status = ND_OK;

        if (halves & alphabet[i])
            status = write_section(keys, n_keys, alphabet[i], values, out, err);
        if (status != ND_OK)
            return status;
    }
    return ND_OK;
}
