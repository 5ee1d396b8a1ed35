/* recipe_keys.c - the keys of a recipe, and where in its struct their values stand */
#include <neardup/index.h>
#include <neardup/recipe.h>

#include "base/hash.h"
#include "recipe/keys.h"

#define WORDS(...)                                                                                 \
    .values = (const char *const[]){__VA_ARGS__},                                                  \
    .n_values = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)
#define SKETCH(field) ND_HALF_SKETCH, .offset = offsetof(struct nd_recipe, dedup.sketch.field)
#define DECIDE(field) ND_HALF_DECIDE, .offset = offsetof(struct nd_recipe, dedup.field)

enum { CHECKS_MAX = 1000000 };

/* The words of an enum stand in the order of its values in neardup/dedup.h and neardup/sketch.h. */
static const struct nd_recipe_key keys[] = {
    {ND_HALF_SKETCH, "unicode", ND_KEY_FIXED, WORDS("15.0")},
    {ND_HALF_SKETCH, "minima", ND_KEY_FIXED, WORDS("128")},
    {SKETCH(unit), .name = "unit", .type = ND_KEY_ENUM, WORDS("words", "characters")},
    {SKETCH(w), .name = "shingle", .type = ND_KEY_INT, .least = 1, .greatest = ND_SHINGLE_MAX},
    {DECIDE(candidates), .name = "candidates", .type = ND_KEY_ENUM,
     WORDS("minhash", "simhash", "identity", "all")},
    {DECIDE(verify), .name = "verify", .type = ND_KEY_ENUM,
     WORDS("jaccard", "containment", "cosine", "none")},
    {DECIDE(cluster), .name = "cluster", .type = ND_KEY_ENUM, WORDS("star", "components")},
    {DECIDE(short_policy), .name = "short", .type = ND_KEY_ENUM,
     WORDS("identical", "keep", "tokens")},
    {DECIDE(threshold), .name = "threshold", .type = ND_KEY_RATIO, .least = 0, .greatest = 1},
    {DECIDE(recall), .name = "recall", .type = ND_KEY_REAL, .least = 0, .greatest = 0.9999},
    {DECIDE(bands), .name = "bands", .type = ND_KEY_INT, .least = 0, .greatest = ND_MINHASH_COUNT},
    {DECIDE(rows), .name = "rows", .type = ND_KEY_INT, .least = 0, .greatest = ND_MINHASH_COUNT},
    {DECIDE(simhash_bits), .name = "simhash_bits", .type = ND_KEY_INT, .least = 0,
     .greatest = ND_SIMHASH_BITS_MAX},
    {DECIDE(max_checks), .name = "max_checks", .type = ND_KEY_INT, .least = 1,
     .greatest = CHECKS_MAX},
    {ND_HALF_DECIDE, "keep", ND_KEY_STRING, .offset = offsetof(struct nd_recipe, keep),
     .greatest = ND_KEEP_MAX},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

enum nd_status nd_recipe_parse(struct nd_recipe *recipe, const char *name, const char *text,
                               size_t len, struct nd_error *err)
{
    struct nd_recipe parsed = *recipe;
    enum nd_status status = nd_keys_parse(keys, N_KEYS, name, text, len, &parsed, err);

    if (status == ND_OK)
        *recipe = parsed;
    return status;
}

enum nd_status nd_recipe_set(struct nd_recipe *recipe, const char *assignment, struct nd_error *err)
{
    return nd_keys_set(keys, N_KEYS, assignment, recipe, err);
}

static enum nd_status fingerprint_of(const struct nd_recipe *recipe, uint64_t *fingerprint,
                                     struct nd_error *err)
{
    struct nd_buffer half = {0};
    enum nd_status status = nd_keys_canonical(keys, N_KEYS, ND_HALF_SKETCH, recipe, &half, err);

    if (status == ND_OK)
        *fingerprint = nd_hash_bytes(half.data, half.len);
    nd_buffer_release(&half);
    return status;
}

enum nd_status nd_recipe_canonical(const struct nd_recipe *recipe, char **text, size_t *len,
                                   uint64_t *fingerprint, struct nd_error *err)
{
    struct nd_buffer whole = {0};
    uint64_t hash = 0;
    enum nd_status status =
        nd_keys_canonical(keys, N_KEYS, ND_HALF_SKETCH | ND_HALF_DECIDE, recipe, &whole, err);

    if (status == ND_OK && fingerprint)
        status = fingerprint_of(recipe, &hash, err);
    if (status == ND_OK && !nd_buffer_append(&whole, "", 1))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status != ND_OK) {
        nd_buffer_release(&whole);
        return status;
    }
    *text = whole.data;
    *len = whole.len - 1;
    if (fingerprint)
        *fingerprint = hash;
    return ND_OK;
}
