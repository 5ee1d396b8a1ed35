/*
 * recipe.c - the handle: made, copied, freed; read from a file or by name; its signatures
 *
 * The syntax of a recipe's text is in ini.c, the checks of its values are in params.c.
 */
#include <neardup/sketch_file.h>

#include <stdlib.h>
#include <string.h>

#include "base/ini_lines.h"
#include "base/memory.h"
#include "base/view.h"
#include "match/rule.h"
#include "recipe/recipe_struct.h"
#include "recipe/shipped_recipes.h"

struct nd_recipe nd_recipe_default(void)
{
    struct nd_recipe recipe;

    memset(&recipe, 0, sizeof recipe); /* padding too, so that equal recipes are equal bytes */
    recipe.dedup = nd_dedup_params_default();
    memcpy(recipe.keep, "first", sizeof "first");
    return recipe;
}

struct nd_recipe *nd_recipe_new(struct nd_error *err)
{
    const struct nd_recipe recipe = nd_recipe_default();

    return nd_recipe_copy(&recipe, err);
}

struct nd_recipe *nd_recipe_copy(const struct nd_recipe *recipe, struct nd_error *err)
{
    struct nd_recipe *copy = malloc(sizeof *copy);

    if (copy)
        memcpy(copy, recipe, sizeof *copy);
    else
        nd_fail(err, ND_ENOMEM, "out of memory");
    return copy;
}

void nd_recipe_free(struct nd_recipe *recipe)
{
    free(recipe);
}

enum { RECIPE_BYTES_MAX = 1 << 20 };

enum nd_status nd_recipe_load(struct nd_recipe *recipe, const char *path, struct nd_error *err)
{
    struct nd_buffer text = {0};
    enum nd_status status = nd_ini_load(path, "a recipe", RECIPE_BYTES_MAX, &text, err);

    if (status == ND_OK)
        status = nd_recipe_parse(recipe, path, text.len ? text.data : "", text.len, err);
    nd_buffer_release(&text);
    return status;
}

/* ---- The shipped recipes ------------------------------------------------------------------------ */

const char *nd_recipe_name(size_t i)
{
    return i < nd_n_recipe_texts ? nd_recipe_texts[i].name : NULL;
}

static const struct nd_recipe_text *find(const char *name)
{
    for (size_t i = 0; i < nd_n_recipe_texts; i++)
        if (strcmp(nd_recipe_texts[i].name, name) == 0)
            return &nd_recipe_texts[i];
    return NULL;
}

const char *nd_recipe_text(const char *name, size_t *len)
{
    const struct nd_recipe_text *text = find(name);

    if (text && len)
        *len = text->len;
    return text ? text->text : NULL;
}

/* The text begins with "# name.ini - what it is". */
struct nd_view nd_recipe_about(const char *name)
{
    const struct nd_recipe_text *text = find(name);
    const char *about = text ? strstr(text->text, " - ") : NULL;
    const char *end = about ? strchr(about, '\n') : NULL;

    return end ? (struct nd_view){about + 3, (size_t)(end - about - 3)} : (struct nd_view){"", 0};
}

/* The name that is near, or the first that begins with what was typed. */
const char *nd_recipe_nearest(const char *name)
{
    const char *names[64], *nearest;
    size_t n = 0, len = strlen(name);

    while (n < sizeof names / sizeof *names && (names[n] = nd_recipe_name(n)))
        n++;
    nearest = nd_name_nearest(name, len, names, n);
    for (size_t i = 0; !nearest && len && i < n; i++)
        if (strncmp(names[i], name, len) == 0)
            nearest = names[i];
    return nearest;
}

enum nd_status nd_recipe_by_name(struct nd_recipe *recipe, const char *name, struct nd_error *err)
{
    const struct nd_recipe_text *text = find(name);
    const char *nearest;

    if (text)
        return nd_recipe_parse(recipe, text->name, text->text, text->len, err);
    nearest = nd_recipe_nearest(name);
    return nd_fail(err, ND_EINVAL, "there is no recipe '%.40s'%s%s%s", name,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* ---- What it says, for the engine and for others ------------------------------------------------ */

struct nd_dedup_params nd_recipe_dedup_params(const struct nd_recipe *recipe)
{
    struct nd_dedup_params params = recipe->dedup;

    params.method = recipe->method.n_signatures ? &recipe->method : NULL;
    return params;
}

struct nd_sketch_params nd_recipe_sketch_params(const struct nd_recipe *recipe)
{
    return recipe->dedup.sketch;
}

size_t nd_recipe_signatures(const struct nd_recipe *recipe)
{
    return recipe->method.n_signatures;
}

/* ---- The sections [signature NAME], in the order of their names --------------------------------- */

struct nd_recipe_signature nd_recipe_signature_default(void)
{
    struct nd_recipe_signature section;

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
    return name.len > 0 && name.len <= ND_RECIPE_NAME_MAX;
}

/* The order of memcmp; of two names of which one begins the other, the shorter comes first. */
static int order(struct nd_view a, const char *b)
{
    size_t len = strlen(b), shared = a.len < len ? a.len : len;
    int first = memcmp(a.data, b, shared);

    return first ? first : a.len < len ? -1 : a.len > len;
}

struct nd_recipe_signature *nd_recipe_section(struct nd_recipe *recipe, struct nd_view name,
                                              struct nd_error *err)
{
    struct nd_method *method = &recipe->method;
    unsigned i = 0;

    if (!is_name(name)) {
        nd_fail(err, ND_EINVAL, "'%.*s' cannot name a signature: 1 to %d letters, digits, - and _",
                nd_view_shown(name), name.data, ND_RECIPE_NAME_MAX);
        return NULL;
    }
    while (i < method->n_signatures && order(name, method->signature[i].name) > 0)
        i++;
    if (i < method->n_signatures && order(name, method->signature[i].name) == 0)
        return &method->signature[i];
    if (method->n_signatures == ND_RECIPE_SIGNATURES) {
        nd_fail(err, ND_EINVAL, "a recipe has at most %d signatures", ND_RECIPE_SIGNATURES);
        return NULL;
    }
    memmove(&method->signature[i + 1], &method->signature[i],
            (method->n_signatures - i) * sizeof *method->signature);
    method->n_signatures++;
    method->signature[i] = nd_recipe_signature_default();
    memcpy(method->signature[i].name, name.data, name.len);
    return &method->signature[i];
}

/* NULL: there are not so many. */
static const struct nd_recipe_signature *signature_of(const struct nd_recipe *recipe, size_t i)
{
    return i < recipe->method.n_signatures ? &recipe->method.signature[i] : NULL;
}

const char *nd_recipe_signature_name(const struct nd_recipe *recipe, size_t i)
{
    const struct nd_recipe_signature *s = signature_of(recipe, i);

    return s ? s->name : NULL;
}

const struct nd_signature_params *nd_recipe_signature_params(const struct nd_recipe *recipe,
                                                             size_t i)
{
    const struct nd_recipe_signature *s = signature_of(recipe, i);

    return s ? &s->signature : NULL;
}

int nd_recipe_needs_df(const struct nd_recipe *recipe, size_t i)
{
    const struct nd_recipe_signature *s = signature_of(recipe, i);

    return s && nd_signature_needs_df(s);
}

int nd_recipe_needs_template(const struct nd_recipe *recipe, size_t i)
{
    const struct nd_recipe_signature *s = signature_of(recipe, i);

    return s && nd_signature_needs_template(s);
}

static enum nd_status no_signature(const struct nd_recipe *recipe, size_t i, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "there is no signature %zu: the recipe has %u", i,
                   recipe->method.n_signatures);
}

enum nd_status nd_recipe_use_df(struct nd_recipe *recipe, size_t i, const struct nd_df *table,
                                struct nd_error *err)
{
    if (!signature_of(recipe, i))
        return no_signature(recipe, i, err);
    return nd_signature_use_df(&recipe->method.signature[i], table, err);
}

enum nd_status nd_recipe_use_template(struct nd_recipe *recipe, size_t i, const struct nd_df *table,
                                      struct nd_error *err)
{
    if (!signature_of(recipe, i))
        return no_signature(recipe, i, err);
    return nd_signature_use_template(&recipe->method.signature[i], table, err);
}

enum nd_status nd_recipe_set_df(struct nd_recipe *recipe, const char *path, struct nd_error *err)
{
    size_t len = strlen(path), n = 0;
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    if (status != ND_OK)
        return status;
    if (len > ND_FEATURE_PATH_MAX)
        return nd_fail(err, ND_EINVAL, "the path is longer than %d bytes", ND_FEATURE_PATH_MAX);
    for (unsigned i = 0; i < recipe->method.n_signatures; i++)
        if (nd_signature_needs_df(&recipe->method.signature[i])) {
            memcpy(recipe->method.signature[i].df, path, len + 1);
            n++;
        }
    return n ? ND_OK : nd_fail(err, ND_EINVAL, "nothing in the recipe needs a df table");
}

/* ---- Which fingerprint is for a Hamming index, and how many of its bits may differ --------------- */

/* The most bits that any test of the rule lets differ in this signature. */
static unsigned distance_of(const struct nd_method *m, unsigned signature)
{
    unsigned bits = m->signature[signature].signature.bits, max = 0;
    struct nd_rule rule;

    if (!m->match[0] || nd_rule_parse(&rule, m, NULL) != ND_OK)
        return 0;
    for (unsigned i = 0; i < rule.n; i++) {
        const struct nd_rule_node *n = &rule.node[i];
        uint64_t bound = n->bound.q ? n->bound.p / n->bound.q : 0;
        unsigned differ = 0;

        if (n->kind != ND_RULE_TEST || n->signature != signature)
            continue;
        if (n->value == ND_RULE_DISTANCE && n->at_most)
            differ = bound < bits ? (unsigned)bound : bits;
        else if (n->value == ND_RULE_AGREE && !n->at_most)
            differ = bound < bits ? bits - (unsigned)bound : 0;
        max = differ > max ? differ : max;
    }
    return max;
}

enum nd_status nd_recipe_simhash_of(const struct nd_recipe *recipe, struct nd_recipe_simhash *out,
                                    struct nd_error *err)
{
    const struct nd_method *m = &recipe->method;
    struct nd_recipe_simhash found = {-1, 64, recipe->dedup.simhash_bits};
    enum nd_status status = nd_method_check(m, err);
    unsigned n = 0;

    if (status != ND_OK)
        return status;
    for (unsigned i = 0; i < m->n_signatures; i++)
        if (m->signature[i].signature.kind == ND_SIGNATURE_SIMHASH) {
            found = (struct nd_recipe_simhash){(int)i, m->signature[i].signature.bits,
                                               distance_of(m, i)};
            n++;
        }
    if (m->n_signatures && n != 1)
        return nd_fail(
            err, ND_EINVAL,
            n ? "%u signatures of the recipe are simhashes, but a fingerprint is one simhash"
              : "no signature of the recipe is a simhash, so it has no fingerprints",
            n);
    *out = found;
    return ND_OK;
}

struct nd_sketch_kept nd_sketch_kept_of(const struct nd_recipe *recipe)
{
    const bool by_rule = recipe->dedup.candidates == ND_CANDIDATES_MATCH;

    return (struct nd_sketch_kept){.minima = !by_rule,
                                   .shingles = !by_rule || recipe->dedup.verify != ND_VERIFY_NONE};
}
