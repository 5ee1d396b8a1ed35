/* recipe_keys.c - the keys of a recipe, and where in its struct their values stand */
#include <neardup/index.h>
#include <neardup/recipe.h>

#include <string.h>

#include "base/hash.h"
#include "engine/params.h"
#include "engine/recipe_keys.h"

#define WORDS ND_KEY_WORDS
#define SKETCH(field) ND_HALF_SKETCH, .offset = offsetof(struct nd_recipe, dedup.sketch.field)
#define LAX(condition, where) .is_read = (condition), .is_lax = true, .reader = (where)
#define DECIDE(field) ND_HALF_DECIDE, .offset = offsetof(struct nd_recipe, dedup.field)

enum { CHECKS_MAX = 1000000 };

static bool has_rule(const void *values)
{
    return ((const struct nd_recipe *)values)->dedup.candidates == ND_CANDIDATES_MATCH;
}

static const struct nd_dedup_params *dedup_of(const void *values)
{
    return &((const struct nd_recipe *)values)->dedup;
}

static bool has_bands(const void *values)
{
    return dedup_of(values)->candidates == ND_CANDIDATES_MINHASH;
}

static bool has_recall(const void *values)
{
    return has_bands(values) && !dedup_of(values)->bands;
}

static bool has_distance(const void *values)
{
    return dedup_of(values)->candidates == ND_CANDIDATES_SIMHASH;
}

static bool has_threshold(const void *values)
{
    return has_recall(values) || dedup_of(values)->verify != ND_VERIFY_NONE;
}

static bool has_checks(const void *values)
{
    return dedup_of(values)->candidates != ND_CANDIDATES_ALL;
}

/* The words of an enum stand in the order of its values in neardup/dedup.h and neardup/sketch.h. */
static const struct nd_recipe_key keys[] = {
    {ND_HALF_SKETCH, "unicode", ND_KEY_FIXED, WORDS("15.0")},
    {ND_HALF_SKETCH, "minima", ND_KEY_FIXED, WORDS("128")},
    {SKETCH(unit), .name = "unit", .type = ND_KEY_ENUM, WORDS("words", "characters")},
    {SKETCH(w), .name = "shingle", .type = ND_KEY_INT, .least = 1, .greatest = ND_SHINGLE_MAX},
    {DECIDE(candidates), .name = "candidates", .type = ND_KEY_ENUM,
     WORDS("minhash", "simhash", "identity", "all", "match")},
    {DECIDE(verify), .name = "verify", .type = ND_KEY_ENUM,
     WORDS("jaccard", "containment", "cosine", "none")},
    {DECIDE(cluster), .name = "cluster", .type = ND_KEY_ENUM,
     WORDS("star", "components", "complete")},
    {DECIDE(short_policy), .name = "short", .type = ND_KEY_ENUM,
     WORDS("identical", "keep", "tokens")},
    {DECIDE(threshold), .name = "threshold", .type = ND_KEY_RATIO, .least = 0, .greatest = 1,
     LAX(has_threshold, "where verify is not none, or where bands are chosen")},
    {DECIDE(recall), .name = "recall", .type = ND_KEY_REAL, .least = 0, .greatest = ND_RECALL_MAX,
     LAX(has_recall, "where candidates is minhash and bands are chosen")},
    {DECIDE(bands), .name = "bands", .type = ND_KEY_INT, .least = 0, .greatest = ND_MINHASH_COUNT,
     LAX(has_bands, "where candidates is minhash")},
    {DECIDE(rows), .name = "rows", .type = ND_KEY_INT, .least = 0, .greatest = ND_MINHASH_COUNT,
     LAX(has_bands, "where candidates is minhash")},
    {DECIDE(simhash_bits), .name = "simhash_bits", .type = ND_KEY_INT, .least = 0,
     .greatest = ND_SIMHASH_BITS_MAX, LAX(has_distance, "where candidates is simhash")},
    {DECIDE(max_checks), .name = "max_checks", .type = ND_KEY_INT, .least = 1,
     .greatest = CHECKS_MAX, LAX(has_checks, "where candidates is not all")},
    {ND_HALF_DECIDE, "keep", ND_KEY_STRING, .offset = offsetof(struct nd_recipe, keep), .least = 1,
     .greatest = ND_KEEP_MAX},
    {ND_HALF_DECIDE, "match", ND_KEY_STRING, .offset = offsetof(struct nd_recipe, method.match),
     .greatest = ND_MATCH_MAX, .tidy = nd_match_tidy, .is_read = has_rule,
     .reader = "where candidates is match"},
};

static const struct nd_key_table plain = {keys, sizeof keys / sizeof *keys};
static const struct nd_key_table *const named[] = {&nd_feature_keys, &nd_weight_keys,
                                                   &nd_signature_keys};
const struct nd_recipe_schema nd_recipe_schema = {
    .plain = &plain,
    .section = "signature",
    .named = named,
    .n_named = sizeof named / sizeof *named,
    .add = nd_recipe_section,
    .nth = nd_recipe_nth_section,
    .section_fits = nd_signature_fits,
    .fits = nd_recipe_fits,
};

enum nd_status nd_recipe_parse(struct nd_recipe *recipe, const char *name, const char *text,
                               size_t len, struct nd_error *err)
{
    struct nd_recipe parsed = *recipe;
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    if (status == ND_OK)
        status = nd_keys_parse(&nd_recipe_schema, name, text, len, &parsed, err);
    if (status == ND_OK)
        *recipe = parsed;
    return status;
}

enum nd_status nd_recipe_set(struct nd_recipe *recipe, const char *assignment, struct nd_error *err)
{
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    return status == ND_OK ? nd_keys_set(&nd_recipe_schema, assignment, recipe, err) : status;
}

static enum nd_status fingerprint_of(const struct nd_recipe *recipe, uint64_t *fingerprint,
                                     struct nd_error *err)
{
    struct nd_buffer half = {0};
    enum nd_status status =
        nd_keys_canonical(&nd_recipe_schema, ND_HALF_SKETCH, true, recipe, &half, err);

    if (status == ND_OK)
        *fingerprint = nd_hash_bytes(half.data, half.len);
    nd_buffer_release(&half);
    return status;
}

enum nd_status nd_recipe_check(const struct nd_recipe *recipe, struct nd_error *err)
{
    struct nd_recipe defaults = nd_recipe_default();
    struct nd_named_signature section = nd_named_signature_default();
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    return status == ND_OK ? nd_keys_check(&nd_recipe_schema, recipe, &defaults, &section, err)
                           : status;
}

int nd_recipe_warning(const struct nd_recipe *recipe, size_t i, struct nd_error *warning)
{
    struct nd_recipe defaults = nd_recipe_default();
    size_t n = 0;

    if (nd_recipe_has_ends(recipe, warning) != ND_OK)
        return 0; /* nd_recipe_check says so */
    if (nd_keys_warning(&nd_recipe_schema, recipe, &defaults, i, warning))
        return 1;
    while (n < i && nd_keys_warning(&nd_recipe_schema, recipe, &defaults, n, warning))
        n++;
    if (n != i || !recipe->method.n_signatures || has_rule(recipe))
        return 0;
    nd_fail(warning, ND_EINVAL,
            "no rule reads the signatures: candidates is not match, so they decide nothing");
    return 1;
}

enum nd_status nd_recipe_canonical(const struct nd_recipe *recipe, char **text, size_t *len,
                                   uint64_t *fingerprint, struct nd_error *err)
{
    struct nd_buffer whole = {0};
    uint64_t hash = 0;
    enum nd_status status = nd_recipe_check(recipe, err);

    if (status == ND_OK)
        status = nd_keys_canonical(&nd_recipe_schema, ND_HALF_SKETCH | ND_HALF_DECIDE, false,
                                   recipe, &whole, err);
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
