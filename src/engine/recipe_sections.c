/* recipe_sections.c - the sections [signature NAME] of a recipe, in the order of their names */
#include <string.h>

#include "engine/recipe_keys.h"

struct nd_named_signature nd_named_signature_default(void)
{
    struct nd_named_signature section;

    memset(&section, 0, sizeof section); /* padding too, so that equal sections are equal bytes */
    section.feature = nd_feature_params_default();
    section.weight = nd_weight_params_default();
    section.signature = nd_signature_params_default();
    return section;
}

static bool is_name(struct nd_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '-' && c != '_')
            return false;
    }
    return name.len > 0 && name.len <= ND_METHOD_NAME_MAX;
}

/* memcmp's order, the shorter first. */
static int order(struct nd_view a, const char *b)
{
    size_t len = strlen(b), least = a.len < len ? a.len : len;
    int first = memcmp(a.data, b, least);

    return first ? first : a.len < len ? -1 : a.len > len;
}

void *nd_recipe_section(void *values, struct nd_view name, struct nd_error *err)
{
    struct nd_method *method = &((struct nd_recipe *)values)->method;
    unsigned at = 0;

    if (!is_name(name)) {
        nd_fail(err, ND_EINVAL,
                "'%.*s' is no name of a signature: 1 to %d letters, digits, - and _",
                nd_view_shown(name), name.data, ND_METHOD_NAME_MAX);
        return NULL;
    }
    while (at < method->n_signatures && order(name, method->signature[at].name) > 0)
        at++;
    if (at < method->n_signatures && order(name, method->signature[at].name) == 0)
        return &method->signature[at];
    if (method->n_signatures == ND_METHOD_SIGNATURES) {
        nd_fail(err, ND_EINVAL, "a recipe has at most %d signatures", ND_METHOD_SIGNATURES);
        return NULL;
    }
    memmove(&method->signature[at + 1], &method->signature[at],
            (method->n_signatures - at) * sizeof *method->signature);
    method->n_signatures++;
    method->signature[at] = nd_named_signature_default();
    memcpy(method->signature[at].name, name.data, name.len);
    return &method->signature[at];
}

const char *nd_recipe_nth_section(const void *values, size_t i, const void **section)
{
    const struct nd_method *method = &((const struct nd_recipe *)values)->method;

    if (i >= method->n_signatures || i >= ND_METHOD_SIGNATURES)
        return NULL;
    *section = &method->signature[i];
    return method->signature[i].name;
}
